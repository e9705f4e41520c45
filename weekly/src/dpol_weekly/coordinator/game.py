"""A game that goes on: an algorithm that learns a period at a time, with whatever was reported.

The steps are those of experiments (`dpol.experts.play`), with one replicate. How many rounds there
will be is not known.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.intervals import NORMAL_90
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.experts.interface import Forecast, LocalAlgorithm, LocalSetup, Observation
from dpol.experts.registry import label_of
from dpol_weekly.coordinator.settings import unfit

LEVEL_CHANGE = 0.02
"""Standard deviation of a period's change of the level before any was seen, in gain ranges."""
_LEAST_NOISE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Law:
    """The joint law of the true shares of a period, as a filter predicts it.

    All shares lie above one level, whose change is the same for all: it moves them together, so it
    widens every interval and changes no rank. Around the level they are independent and normal, for
    a filter of each expert reads no other's reports but through the level.

    Args:
        share: (n,) means.
        apart: (n,) standard deviations around the level.
        level: standard deviation of the level.
    """

    share: Floats
    apart: Floats
    level: float

    @cached_property
    def deviation(self) -> Floats:
        """(n,) standard deviations of the shares."""
        return np.hypot(self.apart, self.level)

    def interval(self, place: int) -> tuple[float, float, float]:
        """The predicted share of an expert, and the ends of its 90% interval."""
        share, width = float(self.share[place]), NORMAL_90 * float(self.deviation[place])
        return share, share - width, share + width


@dataclass(frozen=True, kw_only=True)
class Played:
    """The state of a game.

    Args:
        period: the last one learned.
        state: of the algorithm.
        action: its choice for the next period.
        joined: (n,) who has ever reported.
        mean: precision-weighted mean of the shares that were reported last, and the standard
            deviation of its noise.
        level: that the algorithm saw last, and in which period; None if it tells none.
        change: sum of the squared changes of the level so far, each over its periods.
        changes: their number.
        forecast: of the algorithm for the next period; None if it has none.
    """

    period: int
    state: Any
    action: int
    joined: NDArray[np.bool_]
    mean: tuple[float, float]
    level: tuple[float, int] | None = None
    change: float = 0.0
    changes: int = 0
    forecast: Forecast | None = None

    @property
    def law(self) -> Law | None:
        """The law of the next period; None where the algorithm predicts none."""
        forecast = self.forecast
        if forecast is None or forecast.level is None or forecast.variance is None:
            return None
        change = (self.change + LEVEL_CHANGE**2) / (self.changes + 1)
        ahead = 1 if self.level is None else self.period + 1 - self.level[1]
        return Law(
            share=forecast.level[0] + forecast.scores[0],
            apart=np.sqrt(forecast.variance[0]),
            level=math.sqrt(ahead * change),
        )


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The choice of a game for the next period.

    Args:
        ranked: experts that may be chosen, best first; one only where the algorithm does not rank.
        ordered: whether they are in an order at all.
        law: of the true shares; None where the algorithm predicts none.
        compared: how many later reports the earlier laws were compared with: all but the first
            one of each entity.
        inside: how many of them lay inside their 90% interval, noise included.
    """

    ranked: tuple[int, ...]
    ordered: bool = True
    law: Law | None = None
    compared: int = 0
    inside: int = 0


@dataclass(frozen=True, eq=False)
class Game:
    """A live game; a value: `learn` returns the next one.

    Who reports nothing in a period is left out by learners that filter. For all others the gain is
    filled with the precision-weighted mean of those who report, and the noise with that mean's. A
    period without any report keeps the last mean.

    Args:
        algorithm: a local one that does not need to know the number of rounds.
        entities: identifiers of the n experts.
        capacity: (n,) first capacities, for algorithms that read them.
        seed: root of the algorithm's random numbers.
        name: these are keyed by it, and by the period.
        played: state of the game; None before the first period.

    Raises:
        ValueError: the algorithm cannot play a live game, or there are fewer than 2 experts.

    >>> import dpol
    >>> game = Game(dpol.LearnerAlone(dpol.EmpiricalBayesBank()), ("north", "south", "west"))
    >>> noise = np.array([0.01, 0.01, 0.01])
    >>> for period in range(4):
    ...     game = game.learn(period, np.array([0.2, 0.3, np.nan]), noise)
    >>> [game.entities[place] for place in game.decide().ranked]
    ['south', 'west', 'north']
    """

    algorithm: LocalAlgorithm[Any]
    entities: tuple[str, ...]
    _: KW_ONLY
    capacity: Floats | None = None
    seed: int = 0
    name: str = "live"
    played: Played | None = None

    def __post_init__(self) -> None:
        if wrong := unfit(self.algorithm):
            raise ValueError(wrong)
        if len(self.entities) < 2:
            raise ValueError(f"at least 2 entities are needed, got {len(self.entities)}")

    @property
    def ranks(self) -> bool:
        """True if `decide` ranks all experts; False before the first period."""
        return self.played is not None and self.played.forecast is not None

    @property
    def law(self) -> Law | None:
        """The law of the next period; None where the algorithm predicts none."""
        return None if self.played is None else self.played.law

    def learn(self, period: int, shares: Floats, noise_scale: Floats) -> Game:
        """The game after a period; periods in between that are left out had no reports.

        Args:
            period: its number, above that of the last one.
            shares: (n,) noisy shares; NaN: no report.
            noise_scale: (n,) standard deviation of their noise.

        Raises:
            ValueError: the period is over, an array has another shape, or the noise of a report is
                not a number from 0 on.
        """
        reported, n = ~np.isnan(shares), len(self.entities)
        scale = np.where(reported, noise_scale, 1.0)
        if shares.shape != (n,) or scale.shape != (n,):
            raise ValueError(f"shares and noise_scale must have shape {(n,)}, got {shares.shape}")
        if not ((scale >= 0) & np.isfinite(scale) & (np.isfinite(shares) | ~reported)).all():
            raise ValueError("shares and their noise_scale must be finite, noise from 0 on")
        played = self.played
        if played is None:
            if not reported.any():
                return self
            played = _start(self, period, shares, noise_scale)
        elif period <= played.period:
            raise ValueError(f"period {period} must be above the last one, {played.period}")
        nothing = np.full(n, np.nan)
        for _ in range(played.period + 1, period):
            played = _step(self, played, nothing, nothing)
        return dataclasses.replace(self, played=_step(self, played, shares, noise_scale))

    def decide(self, among: NDArray[np.bool_] | None = None) -> Choice:
        """The choice for the period after the last one.

        Args:
            among: (n,) who may be chosen; None: all.

        Raises:
            ValueError: fewer than two have ever reported, or the algorithm does not rank and its
                only choice is not among them.
        """
        played, n = self.played, len(self.entities)
        if played is None or played.joined.sum() < 2:
            count = 0 if played is None else int(played.joined.sum())
            raise ValueError(f"two entities must have reported before a decision, not {count}")
        among = np.ones(n, dtype=bool) if among is None else among
        if played.forecast is None:
            if not among[played.action]:
                raise ValueError(
                    f"{label_of(self.algorithm)} names one entity of all, and"
                    f" {self.entities[played.action]} is not among those that may be chosen"
                )
            return Choice(ranked=(played.action,), ordered=False)
        order = np.argsort(-played.forecast.scores[0], kind="stable")
        return Choice(ranked=tuple(order[among[order]].tolist()), law=played.law)


def _start(game: Game, period: int, shares: Floats, noise_scale: Floats) -> Played:
    """The game before its first period, in which these are reported."""
    n, mean = len(game.entities), _mean(shares, noise_scale)
    first = np.where(np.isnan(shares), mean[1], noise_scale)[None]
    key = replicate_generators(game.seed, (game.name,), [0], "initial noise")
    setup = LocalSetup(
        n_replicates=1,
        n_rounds=0,
        n_experts=n,
        gain_range=1.0,
        initial=key.standard_normal(n) * first,
        noise_scale=first,
        capacity=None if game.capacity is None else game.capacity[None],
    )
    state, actions = game.algorithm.step(
        game.algorithm.init(setup), None, _generators(game, period - 1)
    )
    return Played(
        period=period - 1,
        state=state,
        action=int(actions[0]),
        joined=np.zeros(n, dtype=bool),
        mean=mean,
    )


def _step(game: Game, before: Played, shares: Floats, noise_scale: Floats) -> Played:
    """The game one period later; arguments as of `Game.learn`."""
    period, reported = before.period + 1, ~np.isnan(shares)
    joined = before.joined | reported
    mean = _mean(shares, noise_scale) if reported.any() else before.mean
    observation = Observation(
        gains=np.where(reported, shares, mean[0])[None],
        noise_scale=np.where(reported, noise_scale, mean[1]),
        reported=None if reported.all() else reported.astype(float),
        joined=None if joined.all() else joined,
    )
    state, actions = game.algorithm.step(before.state, observation, _generators(game, period))
    forecast = game.algorithm.forecast(state)
    level, change, changes = before.level, before.change, before.changes
    if forecast is not None and forecast.level is not None and not observation.silent:
        level = float(forecast.level[0, 0]), period
        if before.level is not None:
            change += (level[0] - before.level[0]) ** 2 / (period - before.level[1])
            changes += 1
    return Played(
        period=period,
        state=state,
        action=int(actions[0]),
        joined=joined,
        mean=mean,
        level=level,
        change=change,
        changes=changes,
        forecast=forecast,
    )


def _generators(game: Game, period: int) -> ReplicateGenerators:
    """The random numbers of the choice that is made after a period."""
    return replicate_generators(game.seed, (game.name, period + 1), [0], "decision")


def _mean(shares: Floats, noise_scale: Floats) -> tuple[float, float]:
    """Precision-weighted mean of what was reported, and the standard deviation of its noise."""
    reported = ~np.isnan(shares)
    precision = 1 / np.maximum(noise_scale[reported], _LEAST_NOISE) ** 2
    mean = float((precision * shares[reported]).sum() / precision.sum())
    return mean, 1 / math.sqrt(precision.sum())
