"""Kalman filters of every expert's gain that use the known variance of the local noise.

A model describes how far an expert's gain lies above the level that all experts share, and
how that deviation moves. The shared level of a round is estimated by the precision-weighted
mean of its noisy gains. So a model whose deviations revert to 0 reverts to this mean, and an
epidemic wave that lifts all experts is no deviation of any of them. The noise of the
estimated level is neglected. Filters of this kind are textbook: Harvey, "Forecasting,
Structural Time Series Models and the Kalman Filter" (1989), chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats
from dpol.experts.interface import (
    Actions,
    Forecast,
    LearnerBank,
    LocalSetup,
    Observation,
    ReadsNoise,
)
from dpol.experts.learners.typical import TypicalLevel, before_round_1
from dpol.privacy.chains import Chains

PRIOR_VARIANCE = 1.0
"""Variance before any data of a deviation that does not revert, in squared typical levels."""

BETWEEN_VARIANCE = 1.0
"""Variance between experts in the weights of the shared level, in squared typical levels."""


@dataclass(frozen=True)
class StateSpaceModel:
    """Gaussian model of one expert's deviation from the shared level.

    The deviation d moves as d' = persistence * d + N(0, process_variance): a local level
    (persistence 1) or a reverting level (below 1). It is observed with the local noise and, if
    `transient_variance` is above 0, a disturbance of one round. Gains are in units of the
    typical level, and all variances in its squares.

    Args:
        process_variance: variance of a round's lasting change of the deviation; above 0.
        persistence: share of a deviation that is left a round later, in (0, 1].
        transient_variance: variance of the change that lasts one round only.

    Raises:
        ValueError: a parameter is out of range.
    """

    process_variance: float
    persistence: float = 1.0
    _: KW_ONLY
    transient_variance: float = 0.0

    def __post_init__(self) -> None:
        check_number("process_variance", self.process_variance, "(0, inf)")
        check_number("persistence", self.persistence, "(0, 1]")
        check_number("transient_variance", self.transient_variance, "[0, inf)")

    @property
    def label(self) -> str:
        """Name made of the parameters, such as reverting-0.9-0.001."""
        kind = "level" if self.persistence == 1 else f"reverting-{self.persistence:g}"
        label = f"{kind}-{self.process_variance:g}"
        if self.transient_variance:
            label += f"-transient-{self.transient_variance:g}"
        return label

    @property
    def variance_before(self) -> float:
        """Variance of the deviation before round 1; if it reverts, the stationary one."""
        if self.persistence == 1:
            return PRIOR_VARIANCE
        return self.process_variance / (1 - self.persistence**2)


MODELS = (
    *(StateSpaceModel(variance, 0.9) for variance in (0.001, 0.01, 0.1, 1.0)),
    *(StateSpaceModel(variance) for variance in (0.01, 0.1, 1.0)),
    StateSpaceModel(0.001, transient_variance=0.1),
)
"""Models of deviations, from almost none to new ones every week.

They were chosen on simulated streams, and checked on the first 20 weeks of config/beyond.yaml.
"""


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """Prediction of the remainder of earlier noise, in units of fresh noise.

    Args:
        memory: memory of the noise.
        mean: (R, n) mean.
        variance: (R, n) variance.
        covariance: (R, n) covariance with the deviation.
    """

    memory: Chains
    mean: Floats
    variance: Floats
    covariance: Floats


@dataclass(frozen=True)
class Filter:
    """Prediction of a model for the next round.

    Args:
        mean: (R, n) mean of the deviation.
        variance: (R, n) variance of the deviation.
        noise: prediction of the remainder of earlier noise; None for independent noise.
    """

    mean: Floats
    variance: Floats
    noise: Remembered | None = None


def start(model: StateSpaceModel, setup: LocalSetup) -> Filter:
    """Return the state of a model before round 1; every deviation is expected to be 0."""
    zeros = np.zeros((setup.n_replicates, setup.n_experts))
    variance = np.full_like(zeros, model.variance_before)
    if isinstance(setup.memory, Chains):  # a chain begins without earlier noise
        return Filter(
            zeros,
            variance,
            Remembered(memory=setup.memory, mean=zeros, variance=zeros, covariance=zeros),
        )
    return Filter(zeros, variance)


def advance(
    model: StateSpaceModel, state: Filter, deviations: Floats, seen: Observation
) -> tuple[Filter, Floats, Floats]:
    """Return the prediction of the next round, and the innovation of this round.

    The innovation is the (R, n) errors, observed minus predicted, and their (R, n) variance.

    Args:
        model: model of the deviation.
        state: its prediction for this round.
        deviations: (R, n) noisy gains minus their shared level.
        seen: observation of this round; its noise scale may be 0.
    """
    if state.noise is not None:
        return _advance_chains(model, state, state.noise, deviations, seen)
    kept = model.persistence
    variance = state.variance + seen.noise_scale**2 + model.transient_variance
    gain = seen.known * state.variance / variance
    error = deviations - state.mean
    ahead = kept * (state.variance - gain * state.variance) * kept
    ahead += model.process_variance
    if seen.joined is not None:  # an expert that never reported stays as before round 1
        ahead = np.where(seen.joined, ahead, state.variance)
    return Filter(kept * (state.mean + gain * error), ahead), error, variance


def _advance_chains(
    model: StateSpaceModel,
    state: Filter,
    noise: Remembered,
    deviations: Floats,
    seen: Observation,
) -> tuple[Filter, Floats, Floats]:
    """Return the result of `advance` where u, the remainder of earlier noise, is part of the state.

    The observed deviation is d + fresh (z + u), z ~ N(0, 1). z also moves u: u' = a u + (a - b) z.
    A round without a report leaves u unchanged.
    """
    dd, du, uu, u = state.variance, noise.covariance, noise.variance, noise.mean
    kept, known, fresh, memory = model.persistence, seen.known, seen.fresh, noise.memory
    fades, echo = known * memory.a + (1 - known), known * (memory.a - memory.b)
    seen_d, seen_u = dd + fresh * du, du + fresh * uu
    variance = seen_d + fresh * seen_u + fresh**2 + model.transient_variance
    gain_d = kept * seen_d * (known / variance)
    gain_u = (fades * seen_u + echo * fresh) * (known / variance)
    ahead_dd = kept**2 * dd + model.process_variance - gain_d**2 * variance
    ahead_du = kept * fades * du - gain_d * gain_u * variance
    ahead_uu = fades**2 * uu + echo**2 - gain_u**2 * variance
    if seen.joined is not None:
        ahead_dd = np.where(seen.joined, ahead_dd, dd)
        ahead_du = np.where(seen.joined, ahead_du, du)
        ahead_uu = np.where(seen.joined, ahead_uu, uu)
    error = deviations - state.mean - fresh * u
    left = Remembered(
        memory=memory, mean=fades * u + gain_u * error, variance=ahead_uu, covariance=ahead_du
    )
    return Filter(kept * state.mean + gain_d * error, ahead_dd, left), error, variance


def shared_level(seen: Observation) -> Floats:
    """Return the (R, 1) precision-weighted mean of the gains reported in a round.

    The weights, 1 / (noise variance + `BETWEEN_VARIANCE`), are equal without noise.
    """
    weights = seen.known / (seen.noise_scale**2 + BETWEEN_VARIANCE)
    weights /= 1.0 if seen.silent else weights.sum(axis=1, keepdims=True)
    return np.asarray((seen.gains * weights).sum(axis=1, keepdims=True))


def deviations_from_level(seen: Observation) -> Floats:
    """Return the (R, n) gains minus their shared level."""
    return np.asarray(seen.gains - shared_level(seen))


@dataclass(frozen=True)
class KalmanState:
    """Filters of all models, and the typical level, their unit."""

    filters: tuple[Filter, ...]
    typical: TypicalLevel


@dataclass(frozen=True)
class KalmanBank(LearnerBank[KalmanState]):
    """A Kalman filter for every model; each acts on the largest predicted gain.

    The noisier the past, the more the predicted gain shrinks it towards the shared level, so
    that no expert wins by luck alone. Action 0 in round 1.

    Args:
        models: different models, one learner for each; also as blocks of parameters.

    Raises:
        ValueError: `as_models` refuses the models.
    """

    models: tuple[StateSpaceModel, ...] = MODELS

    reads_noise: ClassVar[ReadsNoise] = "chains"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", as_models(self.models))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"kalman-{model.label}" for model in self.models)

    def single(self, place: int) -> tuple[KalmanBank, int]:
        """Return a bank with the filter of one model."""
        return KalmanBank((self.models[place],)), 0

    def init(self, setup: LocalSetup) -> KalmanState:
        return KalmanState(
            tuple(start(model, setup) for model in self.models), before_round_1(setup)
        )

    def step(
        self, state: KalmanState, observation: Observation | None
    ) -> tuple[KalmanState, Actions]:
        if observation is not None:
            typical = state.typical.after(observation)
            seen = typical.relative(observation)
            deviations = deviations_from_level(seen)
            filters = tuple(
                advance(model, old, deviations, seen)[0]
                for model, old in zip(self.models, state.filters, strict=True)
            )
            state = KalmanState(filters, typical)
        columns = [kalman.mean.argmax(axis=1) for kalman in state.filters]
        return state, np.stack(columns, axis=1).astype(np.int32)

    def forecast(self, state: KalmanState, place: int) -> Forecast:
        return Forecast(state.typical.unit * state.filters[place].mean)


def as_models(specs: object) -> tuple[StateSpaceModel, ...]:
    """Return a list of models as a tuple; an element may be a config's block of parameters.

    Raises:
        ValueError: the list is empty, an element is no model or block, the parameters of a block
            are unfit, or a model is listed twice.

    >>> as_models([{"process_variance": 0.001, "persistence": 0.9}])[0].label
    'reverting-0.9-0.001'
    """
    listed = tuple(specs) if isinstance(specs, list | tuple) else ()
    if not listed or not all(isinstance(spec, StateSpaceModel | Mapping) for spec in listed):
        raise ValueError(f"models must be a list of state-space models, got {specs!r}")
    try:
        models = tuple(StateSpaceModel(**m) if isinstance(m, Mapping) else m for m in listed)
    except TypeError as error:
        raise ValueError(f"a state-space model's parameters do not fit: {error}") from None
    if len(set(models)) < len(models):
        raise ValueError("a state-space model is listed twice")
    return models
