"""A live game: `random-effects` learns period by period from the reports that arrive, and ranks.

The steps are the same as in experiments (`dpol.experts.play`), with one replicate. The number of
rounds is not known.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.intervals import NORMAL_90
from dpol.core.randomness import Floats
from dpol.experts.interface import LocalSetup, Observation
from dpol.experts.learners.random_effects import RandomEffectsBank
from dpol_weekly.coordinator.evidence import Reports
from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.deployment import Deployment

LEVEL_CHANGE = 0.02
"""Standard deviation of a period's change of the level before any was seen, in gain ranges."""
_LEAST_NOISE = 1e-9


@dataclass(frozen=True)
class Prediction:
    """The joint distribution of the true shares of a period, as a filter predicts it.

    All shares move with one common level, which widens every interval and changes no rank. Around
    the level they are independent and normal, because the filter of an expert sees the reports of
    others only through the level.

    Args:
        scores: (n,) means less the level, by which experts are ranked.
        share: (n,) means.
        apart: (n,) standard deviations around the level.
        deviation: (n,) standard deviations of the shares.
    """

    scores: Floats
    share: Floats
    apart: Floats
    deviation: Floats

    def interval(self, place: int) -> tuple[float, float, float]:
        """Return the predicted share of an expert, and the ends of its 90% interval."""
        share, width = float(self.share[place]), NORMAL_90 * float(self.deviation[place])
        return share, share - width, share + width


def play(reports: Reports) -> Iterator[Prediction]:
    """Play a game from the first period with a report; yield each next period's distribution.

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
    bank = RandomEffectsBank()
    state: Any = None
    level: float | None = None
    seen = changes = 0
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
            state, _ = bank.step(bank.init(setup), None)
        observation = Observation(
            gains=np.where(reported, shares, mean[0])[None],
            noise_scale=np.where(reported, noise, mean[1]),
            reported=None if reported.all() else reported.astype(float),
        )
        state, _ = bank.step(state, observation)
        forecast = bank.forecast(state)
        if not observation.silent:
            before, level = level, float(forecast.level[0, 0])
            if before is not None:
                change += (level - before) ** 2 / (period - seen)
                changes += 1
            seen = period
        scores, apart = forecast.scores[0], np.sqrt(forecast.variance[0])
        moved = math.sqrt((period + 1 - seen) * ((change + LEVEL_CHANGE**2) / (changes + 1)))
        yield Prediction(scores, forecast.level[0] + scores, apart, np.hypot(apart, moved))


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


def choose(
    deployment: Deployment, coordination: Coordination, reports: Reports, number: int
) -> tuple[list[int], Prediction]:
    """Return the indices of the entities that may be chosen, best first, and what is predicted.

    Args:
        deployment: the entities.
        coordination: the question. For the count question, the game and the predicted shares use
            counts / bound.
        reports: the reports of all earlier periods.
        number: number of the period.

    Raises:
        ValueError: fewer than two entities have reported, or none may be chosen.
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
    last = deque(play(reports), maxlen=1).pop()
    order = np.argsort(-last.scores, kind="stable")
    return order[among[order]].tolist(), last


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
