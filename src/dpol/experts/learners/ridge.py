"""Rolling ridge regressions of every expert's noisy gains on time.

The paper ("Prediction with Expert Advice under Local Differential Privacy", section 4)
names windows and regularisation but not the regressors. The regressors are a reading: an intercept
without penalty, and the age of a round, scaled by the window, with penalty.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation

WINDOWS = (8, 16, 32, 64)
"""The paper's windows, in rounds."""
PENALTIES: Mapping[str, float] = {"weak": 0.1, "medium": 1.0, "strong": 10.0}
"""Our penalties for the paper's three strengths."""


# Gains are rounded to multiples of about 1e-11 of their range. Such numbers add and subtract
# exactly: a round that leaves a window leaves no trace in its sums, and ties stay ties.
_GRID_BITS = 36


WindowSums = tuple[Floats, Floats]
"""The two (R, n) sums of a window: of gains, and of age times gain (age 1 = last round)."""


RidgeState = tuple[tuple[WindowSums, ...], tuple[Floats, ...], float]
"""Sums of every window, the gains inside the longest window (oldest first), and their grid."""


@dataclass(frozen=True)
class RidgeBank(LearnerBank[RidgeState]):
    """Lines fitted to each expert's last w noisy gains; act on the largest prediction.

    For a window of k = min(w, t - 1) rounds the regressors are 1 and u = (s - t)/w, and the
    prediction is the fitted line at u = 0. This is a fixed linear filter of the window, so
    two sums per window replace every refit. Action 0 in round 1.

    Args:
        windows: window lengths in rounds.
        penalties: ridge penalty on the slope, by name.

    Raises:
        ValueError: there is no window or penalty, one is not positive, or a window is repeated.
    """

    windows: tuple[int, ...] = WINDOWS
    penalties: Mapping[str, float] = field(default_factory=lambda: dict(PENALTIES))

    origin = "paper"

    def __post_init__(self) -> None:
        listed = isinstance(self.windows, list | tuple) and bool(self.windows)
        if not listed or not all(type(w) is int and 1 <= w <= 10_000 for w in self.windows):
            got = f"such as [4, 8], got {self.windows!r}"
            raise ValueError(f"windows must be whole numbers from 1 to 10000, {got}")
        if len(set(self.windows)) < len(self.windows):
            raise ValueError(f"a window is listed twice: {self.windows}")
        if not isinstance(self.penalties, Mapping) or not self.penalties:
            raise ValueError(f"penalties must be named, like {{weak: 0.1}}, got {self.penalties!r}")
        for name, penalty in self.penalties.items():
            check_number(f"penalties.{name}", penalty, "[1e-9, 1e9]")

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"ridge-w{w}-{name}" for w in self.windows for name in self.penalties)

    def single(self, place: int) -> tuple[RidgeBank, int]:
        """The regression of one window and penalty."""
        window, name = list(itertools.product(self.windows, self.penalties))[place]
        return RidgeBank((window,), {name: self.penalties[name]}), 0

    def init(self, setup: LocalSetup) -> RidgeState:
        zeros = np.zeros((setup.n_replicates, setup.n_experts))
        grid = 2.0 ** (math.floor(math.log2(setup.gain_range)) - _GRID_BITS)
        return ((zeros, zeros),) * len(self.windows), (), grid

    def step(
        self, state: RidgeState, observation: Observation | None
    ) -> tuple[RidgeState, Actions]:
        before, past, grid = state
        if observation is None:
            shape = (len(before[0][0]), len(self.labels))
            return state, np.zeros(shape, dtype=np.int32)
        gains = observation.gains / grid
        gains = np.multiply(np.rint(gains, out=gains), grid, out=gains)
        recent = (*past, gains)[-max(self.windows) :]
        shape = (len(self.windows) * len(self.penalties), len(gains))
        actions = np.empty(shape, dtype=np.intp)
        rows, sums, spare = iter(actions), [], np.empty_like(gains)
        for w, old in zip(self.windows, before, strict=True):
            sums.append(_slide(old, w, gains, past, spare))
            # Score now, while the sums are in the processor's cache.
            for scores in self._scores(sums[-1], w, len(recent), spare):
                scores.argmax(axis=1, out=next(rows))
        return (tuple(sums), recent, grid), actions.T.astype(np.int32, order="C")

    def _scores(self, sums: WindowSums, window: int, rounds: int, out: Floats) -> Iterator[Floats]:
        """Yield (R, n) scores for each penalty, in `out`: proportional to its predictions."""
        total, aged = sums
        for penalty in self.penalties.values():
            share = slope_share(min(rounds, window), window, penalty)
            yield np.add(total, np.multiply(share, aged, out=out), out=out)


def _slide(
    old: WindowSums, window: int, gains: Floats, recent: tuple[Floats, ...], spare: Floats
) -> WindowSums:
    """Return the sums one round later; `recent` holds earlier gains, oldest first."""
    # Increment all ages, add the new round at age 1, drop the round that reaches age w + 1.
    total = old[0] + gains
    aged = old[1] + total
    if len(recent) >= window:
        leaving = recent[-window]
        total -= leaving
        aged -= np.multiply(window + 1, leaving, out=spare)
    return total, aged


def slope_share(rounds: int, window: int, penalty: float) -> float:
    """Return q such that the ridge prediction is proportional to sum(x) + q * sum(age * x).

    With k rounds in the window and V = k (k^2 - 1) / (12 w^2), the centred sum of squares
    of u, the prediction is a * sum(x) + b * sum(age * x) where
    b = -h / (w (V + penalty)), a = 1/k + h^2 / (V + penalty), h = (k + 1) / (2 w).
    Only the ratio b / a matters to an argmax, because a > 0.
    """
    half = (rounds + 1) / (2 * window)
    spread = rounds * (rounds**2 - 1) / (12 * window**2) + penalty
    return -half / (window * spread) / (1 / rounds + half**2 / spread)
