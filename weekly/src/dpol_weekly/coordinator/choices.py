"""Replay the reports: what an algorithm chooses for a period."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpol.experts.registry import label_of
from dpol_weekly.coordinator.decision import Coverage
from dpol_weekly.coordinator.evidence import Reports
from dpol_weekly.coordinator.game import Law, Played, play
from dpol_weekly.coordinator.settings import Coordination, algorithm_of
from dpol_weekly.deployment import Deployment


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The choice for a period.

    Args:
        ranked: indices of the entities that may be chosen, best first; a single one if the
            algorithm does not rank.
        ordered: whether the algorithm ranks.
        law: predicted distribution of the true shares; None if the algorithm predicts none.
        coverage: how well earlier predictions fitted; None if there were none.
    """

    ranked: tuple[int, ...]
    ordered: bool = True
    law: Law | None = None
    coverage: Coverage | None = None


def choose(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> Choice:
    """Return the choice for a period, from the reports before it.

    An algorithm that does not rank plays only with the entities that may be chosen.

    Args:
        deployment: the entities, and the key of all random numbers.
        coordination: the algorithm, the question, and the number of entities to name. For the
            count question, the game and the predicted shares use counts / bound.
        reports: the reports of all earlier periods.
        number: number of the period.

    Raises:
        ValueError: as `algorithm_of`; fewer than two entities have reported; no entity may be
            chosen; or several are to be named and the algorithm does not rank.
    """
    count = int(reports.there.any(axis=0).sum())
    if count < 2:
        raise ValueError(f"two entities must have reported before a decision, not {count}")
    among = may_be_chosen(deployment, coordination, reports, number)
    if not among.any():
        raise ValueError(
            "no entity may be chosen that takes part, has reported, and has reported capacities"
            " large enough; lower min_capacity, or shorten cannot_be_chosen"
        )
    if coordination.question.bound is not None:
        reports = reports.as_counts(coordination.question.bound)
    places = among.nonzero()[0]
    last = _played(deployment, coordination, reports)
    if last.scores is not None:
        order = np.argsort(-last.scores, kind="stable")
        coverage = Coverage(reports=last.compared, inside=last.inside) if last.compared else None
        return Choice(ranked=tuple(order[among[order]].tolist()), law=last.law, coverage=coverage)
    if len(places) <= coordination.names:
        return Choice(ranked=tuple(places.tolist()), ordered=False)
    if coordination.names > 1:
        raise ValueError(
            f"{label_of(algorithm_of(coordination.algorithm))} does not rank, and"
            f" {coordination.names} are to be named; name 1, or take another algorithm"
        )
    last = _played(deployment, coordination, reports.of(among))
    return Choice(ranked=(int(places[last.action]),), ordered=False)


def may_be_chosen(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> NDArray[np.bool_]:
    """Return (n,) flags of entities that take part in a period, have reported and may be chosen.

    A chosen entity is large enough in all its reports.
    """
    day, never = deployment.period_of(number), coordination.cannot_be_chosen
    entities = deployment.entities.items()
    among = np.array([it.takes_part(day) and name not in never for name, it in entities])
    least = coordination.question.min_capacity or 0.0
    large = ~(reports.capacity < least).any(axis=0)
    return np.asarray(among & large & reports.there.any(axis=0))


def _played(deployment: Deployment, coordination: Coordination, reports: Reports) -> Played:
    """Return the game after all reports; at least one entity must have reported."""
    algorithm = algorithm_of(coordination.algorithm)
    game = play(algorithm, reports, seed=coordination.seed, name=deployment.name)
    return deque(game, maxlen=1).pop()
