"""Playing again what was reported, up to each of several periods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.experts.interface import LocalAlgorithm
from dpol.privacy.chains import Chains
from dpol_weekly.coordinator.game import Choice, Game
from dpol_weekly.coordinator.panel import Panel
from dpol_weekly.deployment import Deployment


@dataclass(frozen=True, eq=False)
class Ready:
    """A game that has learned all that was reported before a period.

    Args:
        number: of the period, from 0.
        game: of some entities.
        places: of these among all entities.
        among: which of these may be chosen.
    """

    number: int
    game: Game
    places: NDArray[np.intp]
    among: NDArray[np.bool_]

    def choose(self) -> Choice:
        """The choice for the period. Raises ValueError as `Game.decide`."""
        choice = self.game.decide(self.among)
        return replace(choice, ranked=tuple(int(self.places[it]) for it in choice.ranked))


def games_before(
    deployment: Deployment, algorithm: LocalAlgorithm[Any], panel: Panel, numbers: Iterable[int]
) -> Iterator[Ready]:
    """The game before each of several periods; an algorithm that does not rank plays with those
    only that may be chosen.

    What a game begins with (first capacities, memory) depends on what was reported so far. Where
    that has not changed since the period before, the game goes on; otherwise all is played again.

    Args:
        deployment: the entities, and the key of all random numbers.
        algorithm: that decides.
        panel: all reports; of later periods nothing is read.
        numbers: of the periods, ascending; before each somebody must have reported.

    Raises:
        ValueError: as `Game`.
    """
    everybody = np.arange(len(deployment.entities))
    begun, returned = panel.new_chains()
    # Where a chain is returned to, what is left of its noise is unknown here.
    fresh = np.where(returned, panel.noise, panel.fresh)
    games: dict[bool, Game] = {}

    def played(seen: Panel, places: NDArray[np.intp]) -> Game:
        own = len(places) == len(everybody)
        game = _begin(deployment, algorithm, seen, places)
        if own in games and _same(games[own], game):
            game = games[own]
        games[own] = _learned(game, seen, places, fresh, begun)
        return games[own]

    for number in numbers:
        seen, day = panel.before(number), deployment.period_of(number)
        among = np.array([it.takes_part(day) for it in deployment.entities.values()])
        game = played(seen, everybody)
        if game.ranks or among.all():
            yield Ready(number, game, everybody, among)
        else:
            (places,) = among.nonzero()
            yield Ready(number, played(seen, places), places, among[places])


def _learned(
    game: Game,
    panel: Panel,
    places: NDArray[np.intp],
    fresh: Floats,
    begun: NDArray[np.bool_],
) -> Game:
    """A game of some entities after all periods of a panel that it has not seen yet."""
    for it in range(0 if game.played is None else game.played.period + 1, len(panel.share)):
        own = (fresh[it, places], begun[it, places]) if game.memory else (None, None)
        shares, noise = panel.share[it, places], panel.noise[it, places]
        game = game.learn(it, shares, noise, fresh_scale=own[0], begun=own[1])
    return game


def _begin(
    deployment: Deployment,
    algorithm: LocalAlgorithm[Any],
    panel: Panel,
    places: NDArray[np.intp],
) -> Game:
    """The game of some entities before the first period, as it begins in the light of a panel."""
    memory, names = panel.memory(), list(deployment.entities)
    return Game(
        algorithm,
        tuple(names[place] for place in places),
        capacity=panel.first_capacity()[places],
        memory=None if memory is None else Chains(memory.a[places], memory.b[places]),
        seed=deployment.seed,
        name=deployment.name,
    )


def _same(one: Game, other: Game) -> bool:
    """True if two games begin in the same way."""

    def start(game: Game) -> list[Floats]:
        """Arrays that a game begins with; an empty array stands for nothing."""
        memory = (None, None) if game.memory is None else (game.memory.a, game.memory.b)
        return [np.zeros(0) if it is None else it for it in (game.capacity, *memory)]

    equal = (np.array_equal(a, b) for a, b in zip(start(one), start(other), strict=True))
    return one.entities == other.entities and all(equal)
