"""The first paper's twelve linear models with other regressors than time.

The paper names windows and strengths of regularisation, but no regressors. All four choices have
the paper's windows and our penalties: time, as in `RidgeBank`; time with penalties in proportion to
the known noise variance; the last two values; the last two differences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.core.randomness import Floats
from dpol.data.stream import read_stream
from dpol.experts.games import play
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation
from dpol.experts.learners.alone import each_alone
from dpol.experts.learners.leader import LeaderBank
from dpol.experts.learners.ridge import PENALTIES, WINDOWS, RidgeBank, slope_share
from dpol.experts.meta import RWMeta
from dpol.noise.noisy_gains import privatize
from dpol.studies.games.names import BEST_LINEAR, META, PAPER_NOISE
from dpol.studies.robustness.settings import Part, RobustnessPoint
from dpol.studies.study import Inputs

LAGS = 2
SLOPE = 0.1
"""Standard deviation of the change of a share over a window, before any noise is seen."""
OF_TIME = 1 / 12
"""Variance of the regressor of `RidgeBank` in a full window, 0 to 1."""


def forecast(values: Floats, penalty: float) -> Floats:
    """Return the (R, n) forecasts of a ridge regression on the last two values, with an intercept.

    Regressors are scaled to the variance of time, so that a penalty shrinks equally. The forecast
    is the mean of fewer than two pairs, and the last value if there is none.

    Args:
        values: (R, k, n) values of a window, oldest first, k at least 1.
        penalty: penalty on both slopes.
    """
    seen = values[:, LAGS:]
    pairs = seen.shape[1]
    if pairs < 2:
        return seen[:, 0] if pairs else values[:, -1]
    first, second = values[:, 1:-1], values[:, :-LAGS]
    mean, *means = (part.mean(axis=1) for part in (seen, first, second))
    y, a, b = (
        part - middle[:, None]
        for part, middle in zip((seen, first, second), (mean, *means), strict=True)
    )
    grown = 1 + penalty / (pairs * OF_TIME)
    aa, bb = (grown * (part * part).sum(axis=1) for part in (a, b))
    ab, ay, by = (product.sum(axis=1) for product in (a * b, a * y, b * y))
    # Without variance there is no slope.
    whole = aa * bb - ab * ab
    whole = np.where(whole > 0, whole, np.inf)
    slopes = (bb * ay - ab * by) / whole, (aa * by - ab * ay) / whole
    last = values[:, -1] - means[0], values[:, -2] - means[1]
    return np.asarray(mean + slopes[0] * last[0] + slopes[1] * last[1])


def next_value(values: Floats, window: int, penalty: float, scale: float) -> Floats:
    """Return the (R, n) forecasts from the last two values."""
    return forecast(values, penalty)


def next_difference(values: Floats, window: int, penalty: float, scale: float) -> Floats:
    """Return the (R, n) forecasts from the last two differences."""
    last = values[:, -1]
    return last + forecast(np.diff(values, axis=1), penalty) if values.shape[1] > 1 else last


def next_on_line(values: Floats, window: int, penalty: float, scale: float) -> Floats:
    """Return scores, (R, n), that order forecasts of lines whose slopes have a known prior.

    A slope N(0, tau^2) over a window and noise of variance sigma^2 make the penalty
    sigma^2 / tau^2. The prior has tau = `SLOPE` at the medium strength.
    """
    rounds = values.shape[1]
    ages = np.arange(rounds, 0, -1)
    known = penalty * (scale / SLOPE) ** 2
    share = slope_share(rounds, window, max(known, 1e-9))  # a single round tells no slope
    return np.asarray(np.einsum("rkn,k->rn", values, 1 + share * ages))


@dataclass(frozen=True)
class FitBank(LearnerBank[Floats]):
    """Fits to each expert's last noisy gains; act on the largest forecast.

    The state is the (R, k, n) noisy gains so far, oldest first.

    Args:
        fit: returns the (R, n) forecasts of (R, k, n) gains of a window, k at least 1, given the
            window, the penalty and the standard deviation of the noise.
        windows: numbers of gains of a fit.
        penalties: ridge penalties on the slopes, by name.
    """

    fit: Callable[[Floats, int, float, float], Floats]
    windows: tuple[int, ...] = WINDOWS
    penalties: Mapping[str, float] = field(default_factory=lambda: dict(PENALTIES))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"fit-w{w}-{name}" for w in self.windows for name in self.penalties)

    def single(self, place: int) -> tuple[FitBank, int]:
        window, name = list(product(self.windows, self.penalties))[place]
        return FitBank(self.fit, (window,), {name: self.penalties[name]}), 0

    def init(self, setup: LocalSetup) -> Floats:
        return np.zeros((setup.n_replicates, 0, setup.n_experts))

    def step(self, state: Floats, observation: Observation | None) -> tuple[Floats, Actions]:
        if observation is None:
            return state, np.zeros((len(state), len(self.labels)), dtype=np.int32)
        state = np.concatenate([state, observation.gains[:, None]], axis=1)[:, -max(self.windows) :]
        scale = float(observation.noise_scale.mean())
        actions = [
            self.fit(state[:, -window:], window, penalty, scale).argmax(axis=1)
            for window, penalty in product(self.windows, self.penalties.values())
        ]
        return state, np.stack(actions, axis=1).astype(np.int32)


BANKS: Mapping[str, LearnerBank[Any]] = {
    "time": RidgeBank(),
    "time, penalty by the noise": FitBank(next_on_line),
    "last two values": FitBank(next_value),
    "last two differences": FitBank(next_difference),
}
"""Banks of the twelve linear models, by their regressors."""


def play_regressors(block: Part, point: RobustnessPoint, inputs: Inputs) -> pd.DataFrame:
    """Play RW-Meta and the twelve models alone; rows of RW-Meta and of the best model."""
    stream, rows = read_stream(inputs.files["stream"]), []
    runs = range(block.replicates)
    noisy = privatize(stream, PAPER_NOISE, point.mu, seed=inputs.seed, replicates=runs)
    for regressors, bank in BANKS.items():
        algorithms = RWMeta(learners=(bank, LeaderBank())), *each_alone(bank)
        totals = [
            play(each, noisy, label=label).gains(stream).sum(axis=1)
            for label, each in zip((META, *bank.labels), algorithms, strict=True)
        ]
        best = 1 + int(np.argmax([total.mean() for total in totals[1:]]))
        for algorithm, place in ((META, 0), (BEST_LINEAR, best)):
            comparisons = 2 * len(BANKS) * len(block.mus)
            half = float(half_width(totals[place], point.confidence, comparisons))
            cell = {"algorithm": algorithm, "mean_gain": float(totals[place].mean())}
            key = {"stream": stream.label, "regressors": regressors, "mu": point.mu}
            rows.append({**key, **cell, "ci_half_width": half})
    return pd.DataFrame(rows)
