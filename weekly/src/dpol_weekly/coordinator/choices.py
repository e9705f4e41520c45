"""Playing again what was reported: what an algorithm chooses for a period."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpol.core.intervals import NORMAL_90
from dpol.experts.registry import label_of
from dpol_weekly.coordinator.evidence import Reports
from dpol_weekly.coordinator.game import Choice, Game
from dpol_weekly.coordinator.settings import Coordination, algorithm_of
from dpol_weekly.deployment import Deployment


def choose(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> Choice:
    """The choice for a period, from the reports before it.

    An algorithm that does not rank plays with the entities only that may be chosen.

    Args:
        deployment: the entities, and the key of all random numbers.
        coordination: the algorithm, the question, and how many are named. Asked for counts, the
            game is played with counts / bound, and so are the predicted shares of its choice.
        reports: of all periods before; somebody must have reported.
        number: of the period.

    Raises:
        ValueError: as `Game` and `algorithm_of`; nobody may be chosen; or the algorithm does not
            rank, and several entities are to be named.
    """
    among = may_be_chosen(deployment, coordination, reports, number)
    if not among.any():
        raise ValueError(
            "no entity may be chosen that takes part, has reported, and has reported capacities"
            " large enough; lower min_capacity, or shorten cannot_be_chosen"
        )
    if coordination.question.bound is not None:
        reports = reports.as_counts(coordination.question.bound)
    everybody = np.ones(len(among), dtype=bool)
    game, compared, inside = _played(deployment, coordination, reports, everybody)
    if not game.ranks:
        if among.sum() <= coordination.names:
            return Choice(ranked=tuple(among.nonzero()[0].tolist()), ordered=False)
        if coordination.names > 1:
            raise ValueError(
                f"{label_of(game.algorithm)} does not rank, and {coordination.names} are to be"
                " named; name 1, or take another algorithm"
            )
        game, *_ = _played(deployment, coordination, reports, among)
        (place,) = game.decide().ranked
        return Choice(ranked=(int(among.nonzero()[0][place]),), ordered=False)
    return replace(game.decide(among), compared=compared, inside=inside)


def may_be_chosen(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> NDArray[np.bool_]:
    """(n,) flags of the entities that take part in a period, have reported, and may be chosen.

    They are large enough in all reports.
    """
    day, never = deployment.period_of(number), coordination.cannot_be_chosen
    entities = deployment.entities.items()
    among = np.array([it.takes_part(day) and name not in never for name, it in entities])
    least = coordination.question.min_capacity or 0.0
    large = ~(reports.capacity < least).any(axis=0)
    return np.asarray(among & large & reports.there.any(axis=0))


def _played(
    deployment: Deployment,
    coordination: Coordination,
    reports: Reports,
    places: NDArray[np.bool_],
) -> tuple[Game, int, int]:
    """The game of some entities after all reports; how many were compared, and were inside."""
    game = Game(
        algorithm_of(coordination.algorithm),
        tuple(np.array(list(deployment.entities), dtype=object)[places]),
        capacity=reports.first_capacity()[places],
        seed=coordination.seed,
        name=deployment.name,
    )
    compared = inside = 0
    for period, (shares, noise) in enumerate(
        zip(reports.share[:, places], reports.noise[:, places], strict=True)
    ):
        if game.played is not None and game.law is not None:
            at = game.played.joined & ~np.isnan(shares)
            width = NORMAL_90 * np.hypot(game.law.deviation[at], noise[at])
            compared += int(at.sum())
            inside += int((np.abs(shares[at] - game.law.share[at]) <= width).sum())
        game = game.learn(period, shares, noise)
    return game, compared, inside
