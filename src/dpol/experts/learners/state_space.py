"""Kalman filters of every expert's gain that use the known variance of the local noise.

A model describes how far an expert's gain lies above the level that all experts share, and
how that deviation moves. The shared level of a round is estimated by the precision-weighted
mean of its noisy gains, so a model whose deviations revert to 0 reverts to that mean, and an
epidemic wave that lifts everybody does not count as anybody's own movement. The noise of the
estimated level is neglected. Filters of this kind are textbook: Harvey, "Forecasting,
Structural Time Series Models and the Kalman Filter" (1989), chapters 2 and 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.experts.interface import (
    Actions,
    Forecast,
    LearnerBank,
    LocalSetup,
    Observation,
    ReadsNoise,
)
from dpol.experts.parameters import check_number
from dpol.privacy.chains import Chains

PRIOR_VARIANCE = 0.01
"""Variance of a deviation before any data, in squared gain ranges, if it does not revert."""

BETWEEN_VARIANCE = 0.01
"""Spread of the experts' gains that the weights of the shared level allow for, likewise."""


@dataclass(frozen=True)
class StateSpaceModel:
    """A Gaussian model of one expert's deviation from the shared level.

    The deviation d and its slope v move as d' = persistence * d + v + N(0, process_variance),
    v' = damping * v + N(0, slope_variance); d is seen with the local noise and, if
    `transient_variance` is above 0, a disturbance of one round. All variances are in squared
    gain ranges. Without slope variance there is no slope: a local level (persistence 1) or a
    reverting level (below 1). With it, a damped local trend.

    Args:
        process_variance: of a round's lasting change of the deviation; above 0.
        persistence: what is left of a deviation a round later, in (0, 1].
        prior_variance: of the deviation before round 1; by default its stationary variance
            without slope, or `PRIOR_VARIANCE` for persistence 1.
        transient_variance: of the change that lasts one round only.
        slope_variance: of a round's change of the slope.
        damping: what is left of a slope a round later, in [0, 1).

    Raises:
        ValueError: a parameter is out of range.
    """

    process_variance: float
    persistence: float = 1.0
    prior_variance: float | None = None
    transient_variance: float = 0.0
    slope_variance: float = 0.0
    damping: float = 0.8

    def __post_init__(self) -> None:
        check_number("process_variance", self.process_variance, "(0, inf)")
        check_number("persistence", self.persistence, "(0, 1]")
        if self.prior_variance is not None:
            check_number("prior_variance", self.prior_variance, "(0, inf)")
        check_number("transient_variance", self.transient_variance, "[0, inf)")
        check_number("slope_variance", self.slope_variance, "[0, inf)")
        check_number("damping", self.damping, "[0, 1)")

    @property
    def label(self) -> str:
        """A name made of the parameters, such as reverting-0.9-0.001."""
        kind = "level" if self.persistence == 1 else f"reverting-{self.persistence:g}"
        label = f"{kind}-{self.process_variance:g}"
        if self.slope_variance:
            label += f"-trend-{self.damping:g}-{self.slope_variance:g}"
        if self.transient_variance:
            label += f"-transient-{self.transient_variance:g}"
        if self.prior_variance is not None:
            label += f"-prior-{self.prior_variance:g}"
        return label

    @property
    def transition(self) -> Floats:
        """(d, d) matrix of the state's expected move; d = 2 with a slope, otherwise 1."""
        if not self.slope_variance:
            return np.array([[self.persistence]])
        return np.array([[self.persistence, 1.0], [0.0, self.damping]])

    @property
    def disturbance(self) -> Floats:
        """(d, d) covariance of the state's random move."""
        variances = [self.process_variance, self.slope_variance]
        return np.diag(variances[: len(self.transition)])

    @property
    def prior(self) -> Floats:
        """(d, d) covariance of the state before round 1."""
        level = self.prior_variance
        if level is None:
            level = PRIOR_VARIANCE
            if self.persistence < 1:
                level = self.process_variance / (1 - self.persistence**2)
        variances = [level, self.slope_variance / (1 - self.damping**2)]
        return np.diag(variances[: len(self.transition)])


MODELS = (
    *(StateSpaceModel(variance, 0.9) for variance in (1e-5, 1e-4, 1e-3, 1e-2)),
    *(StateSpaceModel(variance) for variance in (1e-4, 1e-3, 1e-2)),
    StateSpaceModel(1e-5, transient_variance=1e-3),
)
"""Deviations, from those that hardly exist to ones that are new every week.

Set on simulated streams (benchmarks/learner_design.py) and checked on the first 20 weeks of
config/panel.yaml's.
"""

TRENDS = (
    StateSpaceModel(1e-4, slope_variance=1e-5),
    StateSpaceModel(1e-3, slope_variance=1e-4),
)
"""Damped local trends; on simulated data they add nothing to `MODELS`."""


@dataclass(frozen=True)
class Filter:
    """Means and variances that a model predicts for the next round.

    Args:
        means: d arrays (R, n): expected deviation, slope if there is one, and where noise has a
            memory what is left of earlier noise, in units of fresh noise.
        covariance: (d, d, n); it does not depend on the data, so replicates share it.
        memory: the memory of the noise, if it has one.
    """

    means: tuple[Floats, ...]
    covariance: Floats
    memory: Chains | None = None


def start(model: StateSpaceModel, setup: LocalSetup) -> Filter:
    """The state of a model before round 1; every deviation is expected to be 0."""
    prior, memory = setup.gain_range**2 * model.prior, None
    if isinstance(setup.memory, Chains):  # which begin without a past
        prior, memory = np.pad(prior, (0, 1)), setup.memory
    zeros = np.zeros((setup.n_replicates, setup.n_experts))
    covariance = np.repeat(prior[:, :, None], setup.n_experts, axis=2)
    return Filter((zeros,) * len(prior), covariance, memory)


def advance(
    model: StateSpaceModel, state: Filter, deviations: Floats, seen: Observation, unit: float
) -> tuple[Filter, Floats, Floats]:
    """Learn from a round: the prediction of the next one, and what this one adds.

    The latter is the innovation: (R, n) errors, observed minus predicted, and their (n,) variance.

    Args:
        model: the model.
        state: its prediction for this round.
        deviations: (R, n) noisy gains minus their shared level.
        seen: the round, for the scale of its noise, which may be 0.
        unit: the gain range, whose square the model's variances are in.
    """
    if state.memory is not None and seen.fresh_scale is not None:
        return _advance_chains(model, state, state.memory, deviations, seen, unit)
    transition, covariance = model.transition, state.covariance
    variance = covariance[0, 0] + seen.noise_scale**2 + unit**2 * model.transient_variance
    gain = seen.known * covariance[0] / variance
    left = covariance - gain[:, None] * covariance[0]
    ahead = np.einsum("ij,jkn,lk->iln", transition, left, transition)
    ahead += unit**2 * model.disturbance[:, :, None]
    error = deviations - state.means[0]
    filtered = [mean + own * error for mean, own in zip(state.means, gain, strict=True)]
    means = [_combine(row, filtered) for row in transition]
    if seen.joined is not None:  # who never reported is as before round 1
        ahead = np.where(seen.joined, ahead, covariance)
    return Filter(tuple(means), ahead), error, variance


def _advance_chains(
    model: StateSpaceModel,
    state: Filter,
    memory: Chains,
    deviations: Floats,
    seen: Observation,
    unit: float,
) -> tuple[Filter, Floats, Floats]:
    """The next filter where u, what is left of earlier noise, is part of the state.

    A deviation is seen as d + fresh (z + u), z ~ N(0, 1), and z also moves u: u' = a u + (a - b) z.
    A round without a report leaves u as it is.
    """
    state = state if seen.begun is None else _forget(state, seen.begun)
    covariance, d, known = state.covariance, len(model.transition), seen.known
    fresh = seen.noise_scale if seen.fresh_scale is None else seen.fresh_scale
    fades, echo = known * memory.a + (1 - known), known * (memory.a - memory.b)
    transition, disturbance = np.zeros((2, *covariance.shape))
    transition[:d, :d] = model.transition[:, :, None]
    disturbance[:d, :d] = unit**2 * model.disturbance[:, :, None]
    transition[d, d], disturbance[d, d] = fades, echo**2
    shown = covariance[:, 0] + fresh * covariance[:, d]
    variance = shown[0] + fresh * shown[d] + fresh**2 + unit**2 * model.transient_variance
    gain = np.einsum("ijn,jn->in", transition, shown)
    gain[d] += echo * fresh
    gain *= known / variance
    ahead = np.einsum("ijn,jkn,lkn->iln", transition, covariance, transition) + disturbance
    ahead -= gain[:, None] * gain * variance
    error = deviations - state.means[0] - fresh * state.means[d]
    moved = [_combine(row, state.means[:d]) for row in model.transition]
    moved.append(fades * state.means[d])
    means = tuple(mean + own * error for mean, own in zip(moved, gain, strict=True))
    if seen.joined is not None:
        ahead = np.where(seen.joined, ahead, covariance)
    return Filter(means, ahead, memory), error, variance


def _forget(state: Filter, begun: NDArray[np.bool_]) -> Filter:
    """The state where some noise starts from scratch: nothing is left of what was before."""
    covariance = state.covariance.copy()
    covariance[-1, :, begun] = covariance[:, -1, begun] = 0.0
    means = (*state.means[:-1], np.where(begun, 0.0, state.means[-1]))
    return Filter(means, covariance, state.memory)


def shared_level(seen: Observation, unit: float) -> Floats:
    """(R, 1) precision-weighted mean of what was reported in a round.

    The weights, 1 / (noise variance + `BETWEEN_VARIANCE`), are equal without noise.
    """
    weights = seen.known / (seen.noise_scale**2 + unit**2 * BETWEEN_VARIANCE)
    weights /= 1.0 if seen.silent else weights.sum()
    return np.asarray((seen.gains * weights).sum(axis=1, keepdims=True))


def deviations_from_level(seen: Observation, unit: float) -> Floats:
    """(R, n) gains minus their shared level."""
    return np.asarray(seen.gains - shared_level(seen, unit))


@dataclass(frozen=True)
class KalmanState:
    """Filters of all models, and the gain range."""

    filters: tuple[Filter, ...]
    unit: float


@dataclass(frozen=True)
class KalmanBank(LearnerBank[KalmanState]):
    """A Kalman filter for every model; each acts on the largest predicted gain.

    The predicted gain shrinks the noisy past towards the shared level, the more the noisier
    it is: an expert does not win by luck alone. Action 0 in round 1.

    Args:
        models: one learner for each, all different; also as blocks of parameters.

    Raises:
        ValueError: as `as_models`.
    """

    models: tuple[StateSpaceModel, ...] = MODELS + TRENDS

    reads_noise: ClassVar[ReadsNoise] = "chains"

    def __post_init__(self) -> None:
        object.__setattr__(self, "models", as_models(self.models))

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"kalman-{model.label}" for model in self.models)

    def single(self, place: int) -> tuple[KalmanBank, int]:
        """The filter of one model."""
        return KalmanBank((self.models[place],)), 0

    def init(self, setup: LocalSetup) -> KalmanState:
        return KalmanState(tuple(start(model, setup) for model in self.models), setup.gain_range)

    def step(
        self, state: KalmanState, observation: Observation | None
    ) -> tuple[KalmanState, Actions]:
        if observation is not None:
            unit = state.unit
            own = deviations_from_level(observation, unit)
            filters = tuple(
                advance(model, old, own, observation, unit)[0]
                for model, old in zip(self.models, state.filters, strict=True)
            )
            state = KalmanState(filters, unit)
        columns = [it.means[0].argmax(axis=1) for it in state.filters]
        return state, np.stack(columns, axis=1).astype(np.int32)

    def forecast(self, state: KalmanState, place: int) -> Forecast:
        return Forecast(state.filters[place].means[0])


def as_models(specs: object) -> tuple[StateSpaceModel, ...]:
    """Models, of which some may be given as the blocks of parameters that a config has.

    Raises:
        ValueError: there is no model, something else, a block with unfit parameters, or a model
            twice.

    >>> as_models([{"process_variance": 0.001, "persistence": 0.9}])[0].label
    'reverting-0.9-0.001'
    """
    listed = tuple(specs) if isinstance(specs, list | tuple) else ()
    if not listed or not all(isinstance(it, StateSpaceModel | Mapping) for it in listed):
        raise ValueError(f"models must be a list of state-space models, got {specs!r}")
    try:
        models = tuple(StateSpaceModel(**it) if isinstance(it, Mapping) else it for it in listed)
    except TypeError as error:
        raise ValueError(f"a state-space model's parameters do not fit: {error}") from None
    if len(set(models)) < len(models):
        raise ValueError("a state-space model is listed twice")
    return models


def _combine(factors: Floats, arrays: Sequence[Floats]) -> Floats:
    """Sum of factor times array, without the work for factors 0 and 1."""
    terms = [
        array if factor == 1 else factor * array
        for factor, array in zip(factors, arrays, strict=True)
        if factor != 0
    ]
    return np.asarray(sum(terms[1:], start=terms[0]))
