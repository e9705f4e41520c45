"""Kalman filters averaged by how well their models predict the noisy gains.

No process variance, reversion or prior variance has to be chosen: each model of a grid is
weighted by how well it predicted the noisy gains so far. The average is a function of the
noisy gains and of public numbers, hence post-processing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpol.core.arguments import check_number
from dpol.experts.interface import Forecast, LocalSetup, Observation
from dpol.experts.learners.average import (
    AverageState,
    ModelAverage,
    Pooling,
    equal_weights,
)
from dpol.experts.learners.state_space import (
    MODELS,
    StateSpaceModel,
    advance,
    as_models,
    shared_level,
    start,
)
from dpol.experts.learners.typical import before_round_1


@dataclass(frozen=True)
class EmpiricalBayesBank(ModelAverage[AverageState]):
    """One learner: the average over models of their Kalman filters' predictions.

    `pooling` says whose data weigh the models, see `Weighing.after`. Every round later, a round's
    log likelihood counts `forgetting` times as much, because the speed of an expert changes with
    time (Raftery, Karny and Ettler, "Online prediction under model uncertainty via dynamic model
    averaging", 2010).

    Args:
        models: grid of different models; also as blocks of parameters.
        pooling: `expert` or `common`.
        forgetting: factor in (0, 1]; 1 forgets nothing.

    Raises:
        ValueError: a parameter is unknown or out of range, or a model is listed twice.
    """

    models: tuple[StateSpaceModel, ...] = MODELS
    pooling: Pooling = "expert"
    forgetting: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", as_models(self.models))
        if self.pooling not in ("expert", "common"):
            raise ValueError(f"pooling must be expert or common, got {self.pooling!r}")
        check_number("forgetting", self.forgetting, "(0, 1]")

    @property
    def labels(self) -> tuple[str, ...]:
        return ("empirical-bayes" if self.pooling == "expert" else "bayesian-average",)

    def init(self, setup: LocalSetup) -> AverageState:
        replicates, n = setup.n_replicates, setup.n_experts
        each = n if self.pooling == "expert" else 1
        return AverageState(
            filters=tuple(start(model, setup) for model in self.models),
            weighing=equal_weights(len(self.models), replicates, each),
            predicted=np.zeros((replicates, n)),
            level=np.zeros((replicates, 1)),
            typical=before_round_1(setup),
        )

    def learn(self, state: AverageState, seen: Observation) -> AverageState:
        typical = state.typical.after(seen)
        seen = typical.relative(seen)
        level = state.level if seen.silent else shared_level(seen)
        above, filters, innovations = seen.gains - level, [], []
        for model, old in zip(self.models, state.filters, strict=True):
            following, error, variance = advance(model, old, above, seen)
            filters.append(following)
            innovations.append((error, variance))
        weighing = state.weighing.after(innovations, seen, self.forgetting, self.pooling)
        predicted = np.zeros_like(above)
        for weight, following in zip(weighing.weights, filters, strict=True):
            predicted += weight * following.mean
        return replace(
            state,
            filters=tuple(filters),
            weighing=weighing,
            typical=typical,
            predicted=predicted,
            level=level,
        )

    def forecast(self, state: AverageState, place: int) -> Forecast:
        spread, weights = np.zeros_like(state.predicted), state.weighing.weights
        for weight, model, kalman in zip(weights, self.models, state.filters, strict=True):
            variance = kalman.variance + model.transient_variance
            spread += weight * (variance + (kalman.mean - state.predicted) ** 2)
        unit = state.typical.unit
        return Forecast(unit * state.predicted, unit * state.level, unit**2 * spread)
