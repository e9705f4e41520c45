"""Playing again what was reported: what an algorithm chooses for each of several periods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dpol.experts.registry import label_of
from dpol.privacy.chains import Chains
from dpol_weekly.coordinator.evidence import Reports
from dpol_weekly.coordinator.game import Choice, Game
from dpol_weekly.coordinator.settings import Coordination, algorithm_of
from dpol_weekly.deployment import Deployment


def choices_before(
    deployment: Deployment, coordination: Coordination, reports: Reports, numbers: Iterable[int]
) -> Iterator[Choice]:
    """The choice for each of several periods, from the reports before it.

    An algorithm that does not rank plays with the entities only that may be chosen. What a game
    begins with (first capacities, memory) depends on what was reported so far. Where that has not
    changed since the period before, the game goes on; otherwise all is played again.

    Args:
        deployment: the entities, and the key of all random numbers.
        coordination: the algorithm, the question, and how many are named. Asked for counts, the
            game is played with counts / bound, and so are the predicted shares of its choices.
        reports: of later periods nothing is read.
        numbers: of the periods, ascending; before each somebody must have reported.

    Raises:
        ValueError: as `Game` and `algorithm_of`; nobody may be chosen; or the algorithm does not
            rank, and several are to be named.
    """
    algorithm = algorithm_of(coordination.algorithm, deployment)
    gain, capacities = coordination.question, reports
    if gain.bound is not None:
        reports = reports.as_counts(gain.bound)
    everybody = np.arange(len(deployment.entities))
    names = list(deployment.entities)
    begun, returned = reports.new_chains()
    # Where a chain is returned to, what is left of its noise is unknown here.
    fresh = np.where(returned, reports.cells["noise"], reports.cells["fresh"])
    games: dict[tuple[bytes, ...], Game] = {}

    def played(number: int, places: NDArray[np.intp]) -> Game:
        """The game of some entities that has learned all periods before one."""
        seen = Reports(reports.cells[:number])
        capacity, memory = seen.first_capacity()[places], seen.memory()
        if memory is not None:
            memory = Chains(memory.a[places], memory.b[places])
        begins_with = places, capacity, *((memory.a, memory.b) if memory else ())
        start = tuple(it.tobytes() for it in begins_with)
        game = games.get(start) or Game(
            algorithm,
            tuple(names[place] for place in places),
            capacity=capacity,
            memory=memory,
            seed=coordination.seed,
            name=deployment.name,
        )
        for period in range(game.played.period + 1 if game.played else 0, number):
            game = game.learn(
                period,
                reports.cells["share"][period, places],
                reports.cells["noise"][period, places],
                fresh_scale=fresh[period, places] if memory else None,
                begun=begun[period, places] if memory else None,
            )
        games[start] = game
        return game

    for number in numbers:
        among, places = may_be_chosen(deployment, coordination, number, capacities), everybody
        if not among.any():
            raise ValueError(
                "no entity may be chosen that takes part and has reported capacities large enough;"
                " lower min_capacity, or shorten cannot_be_chosen"
            )
        game = played(number, everybody)
        if not (game.ranks or among.all()):
            (places,) = among.nonzero()
            game = played(number, places)
        choice = game.decide(among[places])
        if len(choice.ranked) < min(coordination.names, among.sum()):
            raise ValueError(
                f"{label_of(algorithm)} does not rank, and {coordination.names} are to be named;"
                " name 1, or take another algorithm"
            )
        yield replace(choice, ranked=tuple(int(places[it]) for it in choice.ranked))


def may_be_chosen(
    deployment: Deployment, coordination: Coordination, number: int, reports: Reports
) -> NDArray[np.bool_]:
    """(n,) flags of the entities that take part in a period, may be chosen, and are large enough.

    They are large enough in all reports; one that has not reported is of unknown size.
    """
    day, never = deployment.period_of(number), coordination.cannot_be_chosen
    entities = deployment.entities.items()
    among = np.array([it.takes_part(day) and name not in never for name, it in entities])
    least = coordination.question.min_capacity
    if least is None:
        return among
    capacity, there = reports.cells["capacity"][:number], reports.there[:number]
    large = np.where(there, capacity, np.inf).min(axis=0) >= least
    return np.asarray(among & large & there.any(axis=0))
