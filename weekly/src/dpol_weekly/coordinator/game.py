"""A live game: `random-effects` learns period by period from the reports that arrive.

The steps are the same as in experiments (`dpol.experts.play`), with one replicate. The number of
rounds is not known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.intervals import NORMAL_90
from dpol.core.randomness import Floats, replicate_generators
from dpol.experts.interface import LocalSetup, Observation
from dpol.experts.registry import make_members
from dpol_weekly.coordinator.evidence import Reports

LEVEL_CHANGE = 0.02
"""Standard deviation of a period's change of the level before any was seen, in gain ranges."""
_LEAST_NOISE = 1e-9


@dataclass(frozen=True)
class Law:
    """The joint distribution of the true shares of a period, as a filter predicts it.

    All shares move with one common level, which widens every interval and changes no rank. Around
    the level they are independent and normal, because the filter of an expert sees the reports of
    others only through the level.

    Args:
        share: (n,) means.
        apart: (n,) standard deviations around the level.
        deviation: (n,) standard deviations of the shares.
    """

    share: Floats
    apart: Floats
    deviation: Floats

    def interval(self, place: int) -> tuple[float, float, float]:
        """Return the predicted share of an expert, and the ends of its 90% interval."""
        share, width = float(self.share[place]), NORMAL_90 * float(self.deviation[place])
        return share, share - width, share + width


@dataclass(frozen=True, kw_only=True)
class Played:
    """A game after a period.

    Args:
        scores: (n,) scores that rank the experts.
        law: distribution of the true shares in the next period.
        compared: number of reports compared with predictions: all but each expert's first one.
        inside: number of these inside their 90% interval, noise included.
    """

    scores: Floats
    law: Law
    compared: int
    inside: int


def play(reports: Reports) -> Iterator[Played]:
    """Play a game from the first period with a report.

    The filter skips an expert without a report.

    Args:
        reports: of all periods.

    >>> share = np.full((4, 3), [0.2, 0.3, np.nan])
    >>> noise, capacity = np.full((4, 3), 0.01), np.full((4, 3), 20.0)
    >>> reports = Reports(share=share, noise=noise, capacity=capacity)
    >>> *_, last = play(reports)
    >>> np.argsort(-last.scores).tolist()
    [1, 2, 0]
    """
    joined = np.zeros(reports.share.shape[1], dtype=bool)
    (member,) = make_members("random-effects")
    algorithm: Any = member.algorithm
    unused = replicate_generators(0, ("live",), [0], "unused")  # it draws nothing
    state: Any = None
    law: Law | None = None
    level: float | None = None
    seen = changes = compared = inside = 0
    change = 0.0
    for period, (shares, noise) in enumerate(zip(reports.share, reports.noise, strict=True)):
        reported = ~np.isnan(shares)
        if reported.any():
            mean = _mean(shares[reported], noise[reported])
        if state is None:
            if not reported.any():
                continue
            first = np.where(reported, noise, mean[1])[None]
            setup = _setup(first, reports.known_capacity()[period:])
            state, _ = algorithm.step(algorithm.init(setup), None, unused)
        if law is not None:
            at = joined & reported
            width = NORMAL_90 * np.hypot(law.deviation[at], noise[at])
            compared += int(at.sum())
            inside += int((np.abs(shares[at] - law.share[at]) <= width).sum())
        joined = joined | reported
        observation = Observation(
            gains=np.where(reported, shares, mean[0])[None],
            noise_scale=np.where(reported, noise, mean[1]),
            reported=None if reported.all() else reported.astype(float),
        )
        state, _ = algorithm.step(state, observation, unused)
        forecast = algorithm.forecast(state)
        if not observation.silent:
            before, level = level, float(forecast.level[0, 0])
            if before is not None:
                change += (level - before) ** 2 / (period - seen)
                changes += 1
            seen = period
        apart = np.sqrt(forecast.variance[0])
        moved = math.sqrt((period + 1 - seen) * ((change + LEVEL_CHANGE**2) / (changes + 1)))
        law = Law(forecast.level[0] + forecast.scores[0], apart, np.hypot(apart, moved))
        yield Played(scores=forecast.scores[0], law=law, compared=compared, inside=inside)


def _setup(noise: Floats, capacity: Floats) -> LocalSetup:
    """What the algorithm knows before the first period: (1, n) noise and (T, n) capacities.

    The noise and capacities of later periods are known in time.
    """
    return LocalSetup(
        n_replicates=1,
        n_rounds=0,
        n_experts=noise.shape[1],
        gain_range=1.0,
        initial=np.zeros_like(noise),
        noise_scale=noise,
        capacity=capacity,
    )


def _mean(shares: Floats, noise: Floats) -> tuple[float, float]:
    """Precision-weighted mean of what was reported, and the standard deviation of its noise."""
    precision = 1 / np.maximum(noise, _LEAST_NOISE) ** 2
    return float((precision * shares).sum() / precision.sum()), 1 / math.sqrt(precision.sum())
