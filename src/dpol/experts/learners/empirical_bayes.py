"""Kalman filters averaged by what the noisy gains say about their models.

No process variance, reversion or prior variance has to be chosen: a grid of models is
weighted by how well each predicted the noisy gains so far. All of it is a function of the
noisy gains and of public numbers, hence post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import (
    Actions,
    Forecast,
    LearnerBank,
    LocalSetup,
    Observation,
    ReadsNoise,
)
from dpol.experts.learners.state_space import (
    MODELS,
    Filter,
    StateSpaceModel,
    advance,
    as_models,
    shared_level,
    start,
)
from dpol.experts.parameters import check_number

Pooling = Literal["expert", "common"]
"""The experts whose data weigh the models."""


@dataclass(frozen=True)
class EmpiricalBayesState:
    """The state that the average carries from round to round.

    Args:
        filters: prediction of every model.
        fits: (K, R, n) log likelihood of each expert's gains so far, or (K, R, 1) of all
            experts' together; older rounds count less, if they are forgotten.
        shares: (K, R, 1) estimated share of the experts that follow each model.
        weights: of the models in that average, in the shape of `fits`.
        predicted: (R, n) averaged prediction of the next deviations.
        level: (R, 1) of the last round.
        unit: the gain range.
    """

    filters: tuple[Filter, ...]
    fits: Floats
    shares: Floats
    weights: Floats
    predicted: Floats
    level: Floats
    unit: float


@dataclass(frozen=True)
class EmpiricalBayesBank(LearnerBank[EmpiricalBayesState]):
    """One learner: the average over models of their Kalman filters' predictions.

    `pooling` says whose data weigh the models. With `common`, all experts follow the same
    model, whose posterior probabilities, without forgetting, are exact Bayesian model averaging
    from equal prior weights. With `expert`, every expert follows its own: its posterior weights
    come from its own likelihood and from the shares of the models among all experts, which are
    estimated from the same noisy gains, one step of expectation maximisation a round
    (empirical Bayes; Efron and Morris, "Stein's estimation rule and its competitors", 1973).
    Each share counts one expert more, so that none is ever lost.

    A round's log likelihood counts `forgetting` times as much every round later, because how
    fast an expert moves changes with time (Raftery, Karny and Ettler, "Online prediction under
    model uncertainty via dynamic model averaging", 2010).

    Args:
        models: the grid, all different; also as blocks of parameters.
        pooling: `expert` or `common`.
        forgetting: in (0, 1]; 1 forgets nothing.

    Raises:
        ValueError: a parameter is unknown or out of range, or `models` has one twice.
    """

    models: tuple[StateSpaceModel, ...] = MODELS
    pooling: Pooling = "expert"
    forgetting: float = 0.95

    reads_noise: ClassVar[ReadsNoise] = "chains"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", as_models(self.models))
        if self.pooling not in ("expert", "common"):
            raise ValueError(f"pooling must be expert or common, got {self.pooling!r}")
        check_number("forgetting", self.forgetting, "(0, 1]")

    @property
    def labels(self) -> tuple[str, ...]:
        return ("empirical-bayes" if self.pooling == "expert" else "bayesian-average",)

    def init(self, setup: LocalSetup) -> EmpiricalBayesState:
        replicates, n, count = setup.n_replicates, setup.n_experts, len(self.models)
        each = n if self.pooling == "expert" else 1
        return EmpiricalBayesState(
            filters=tuple(start(model, setup) for model in self.models),
            fits=np.zeros((count, replicates, each)),
            shares=np.full((count, replicates, 1), 1 / count),
            weights=np.full((count, replicates, each), 1 / count),
            predicted=np.zeros((replicates, n)),
            level=np.zeros((replicates, 1)),
            unit=setup.gain_range,
        )

    def step(
        self, state: EmpiricalBayesState, observation: Observation | None
    ) -> tuple[EmpiricalBayesState, Actions]:
        if observation is not None:
            state = self._learn(state, observation)
        return state, state.predicted.argmax(axis=1).astype(np.int32)[:, None]

    def _learn(self, state: EmpiricalBayesState, seen: Observation) -> EmpiricalBayesState:
        level = state.level if seen.silent else shared_level(seen, state.unit)
        own = seen.gains - level
        fits = self.forgetting * state.fits
        filters = []
        for model, old, fit in zip(self.models, state.filters, fits, strict=True):
            following, error, variance = advance(model, old, own, seen, state.unit)
            filters.append(following)
            gained = seen.known * log_likelihood(error, variance)
            fit += gained if self.pooling == "expert" else gained.sum(axis=1, keepdims=True)
        weights = posterior_weights(fits, state.shares)
        predicted = np.zeros_like(own)
        for weight, it in zip(weights, filters, strict=True):
            predicted += weight * it.means[0]
        shares = state.shares
        if self.pooling == "expert":
            count, n = len(weights), weights.shape[2]
            shares = (weights.sum(axis=2, keepdims=True) + 1) / (n + count)
        kept = weights, predicted, level, state.unit
        return EmpiricalBayesState(tuple(filters), fits, shares, *kept)

    def forecast(self, state: EmpiricalBayesState, place: int) -> Forecast:
        spread = np.zeros_like(state.predicted)
        for weight, model, it in zip(state.weights, self.models, state.filters, strict=True):
            own = it.covariance[0, 0] + state.unit**2 * model.transient_variance
            spread += weight * (own + (it.means[0] - state.predicted) ** 2)
        return Forecast(state.predicted, state.level, spread)


def log_likelihood(error: Floats, variance: Floats) -> Floats:
    """(R, n) log density of innovations of a variance, (n,), up to a constant."""
    gained = np.square(error)
    gained *= -0.5 / variance
    gained -= 0.5 * np.log(variance)
    return gained


def posterior_weights(fits: Floats, shares: Floats) -> Floats:
    """Weights of the models, summing to 1 over the first axis, in the shape of `fits`."""
    weights = fits + np.log(shares)
    weights -= weights.max(axis=0)
    np.exp(weights, out=weights)
    # One model after the other: NumPy's own order of summation depends on the shape, and a
    # replicate must not depend on how many others are in its block.
    total = weights[0].copy()
    for weight in weights[1:]:
        total += weight
    weights /= total
    return np.asarray(weights)
