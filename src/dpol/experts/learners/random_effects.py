"""Random effects and autoregressive deviations of every expert, read through noise with memory.

A linear mixed model, filtered week by week: the share of an expert lies above or below the level
that all share by an effect that stays and a deviation that fades. Both are the larger, the higher
the level and the smaller the expert. Mixed models of this kind: Laird and Ware, "Random-effects
models for longitudinal data" (1982); their filters: Harvey, "Forecasting, Structural Time Series
Models and the Kalman Filter" (1989), chapter 3; the weights of filters are those of
`empirical_bayes`. All is a function of noisy gains and public numbers, hence post-processing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, LocalSetup, Observation, ReadsNoise
from dpol.experts.learners.empirical_bayes import log_likelihood, posterior_weights
from dpol.experts.parameters import check_number
from dpol.privacy.chains import Chains

LEVEL_FLOOR = 0.01
"""The least that the shared level is taken for, as a share of the gain range."""

LEVEL_BEFORE = 0.1
"""What it is taken for before any data, likewise."""

SCALE_SHARE = 0.1
"""The scale of the deviations is the root of this share of the gain range, times the level."""

SMALLEST = 0.05
"""Smaller experts count as so large, as a share of the median capacity."""


@dataclass(frozen=True)
class EffectsFilter:
    """What one model predicts of every expert for the next round.

    The state of an expert is its effect and its deviation, both over the scale of the level, and
    what is left of earlier noise, over that of fresh noise.

    Args:
        stationary: (n,) variance of the deviation in the long run.
        means: effect, deviation, noise; (R, n) each.
        covariance: of effect and effect, effect and deviation, effect and noise, deviation and
            deviation, deviation and noise, noise and noise; (R, n) each.
    """

    stationary: Floats
    means: tuple[Floats, ...]
    covariance: tuple[Floats, ...]

    @property
    def predicted(self) -> Floats:
        """(R, n) effect plus deviation."""
        return self.means[0] + self.means[1]

    @property
    def spread(self) -> Floats:
        """(R, n) variance of effect plus deviation."""
        return self.covariance[0] + 2 * self.covariance[1] + self.covariance[3]


@dataclass(frozen=True)
class RandomEffectsState:
    """What the average of the filters carries from round to round.

    Args:
        filters: one of each model.
        fits: (K, R, n) log likelihood of each expert's gains so far; older rounds count less.
        shares: (K, R, 1) estimated share of the experts that follow each model.
        predicted: (R, n) averaged prediction of effect plus deviation.
        spread: (R, n) its variance.
        noise: (R, n) averaged prediction of what is left of earlier noise.
        scale: (R, 1) scale of the level in the last round.
        memory: (a, b) of the noise.
        unit: the gain range.
    """

    filters: tuple[EffectsFilter, ...]
    fits: Floats
    shares: Floats
    predicted: Floats
    spread: Floats
    noise: Floats
    scale: Floats
    memory: tuple[Floats, Floats]
    unit: float


@dataclass(frozen=True)
class RandomEffectsBank(LearnerBank[RandomEffectsState]):
    """One learner: effects that stay and deviations that fade, averaged over how large they are.

    The gain of an expert is modelled as m + s (p + x): m the level that all share, s the root of
    m times a tenth of the gain range, p an effect with standard deviation `effect` times e, and x
    a deviation of which `persistence` is left a round later, with standard deviation k e in the
    long run. There is a Kalman filter for every k of `scales` and every beta of `exponents`, where
    e = (capacity over the median capacity)^-beta: small experts differ more. Filters are weighted
    by expert as in `EmpiricalBayesBank`. The level of a round is the precision-weighted mean of
    what the prediction of the deviations leaves; the noise of that estimate is neglected. Action 0
    in round 1.

    Where noise has a memory of one number (`Chains`), the filters predict and take off what this
    round's noise has left of earlier noise.

    Args:
        scales: standard deviations of the deviation; all different.
        exponents: of the capacity; all different. Without capacities all experts are equal.
        effect: standard deviation of the effect.
        persistence: in [0, 1).
        forgetting: as in `EmpiricalBayesBank`.

    Raises:
        ValueError: a parameter is out of range, or listed twice.
    """

    scales: tuple[float, ...] = (0.15, 0.5, 1.5)
    exponents: tuple[float, ...] = (0.1, 0.4)
    effect: float = 0.3
    persistence: float = 0.85
    forgetting: float = 0.97

    reads_noise: ClassVar[ReadsNoise] = "chains"

    def __post_init__(self) -> None:
        for name, bounds in (("scales", "(0, inf)"), ("exponents", "[0, 1]")):
            values = getattr(self, name)
            for value in values:
                check_number(name, value, bounds)
            if not values or len(set(values)) < len(values):
                raise ValueError(f"{name} must be different numbers, got {values}")
        check_number("effect", self.effect, "(0, inf)")
        check_number("persistence", self.persistence, "[0, 1)")
        check_number("forgetting", self.forgetting, "(0, 1]")

    @property
    def labels(self) -> tuple[str, ...]:
        return ("random-effects",)

    def init(self, setup: LocalSetup) -> RandomEffectsState:
        shape = setup.n_replicates, setup.n_experts
        relative = np.ones(setup.n_experts)
        if setup.capacity is not None:
            first = setup.capacity[0]
            relative = np.maximum(first / np.median(first), SMALLEST)
        zeros, filters = np.zeros(shape), []
        for exponent in self.exponents:
            size = relative**-exponent
            effect = np.broadcast_to((self.effect * size) ** 2, shape)
            for scale in self.scales:
                own = (scale * size) ** 2
                covariance = (effect, zeros, zeros, np.broadcast_to(own, shape), zeros, zeros)
                filters.append(EffectsFilter(own, (zeros,) * 3, covariance))
        count, none = len(filters), np.zeros(setup.n_experts)
        memory = (none, none)
        if isinstance(setup.memory, Chains):
            memory = setup.memory.a, setup.memory.b
        shares, fits = np.full((count, shape[0], 1), 1 / count), np.zeros((count, *shape))
        predicted, spread, noise = _averages(filters, np.broadcast_to(shares, fits.shape))
        before = np.sqrt(SCALE_SHARE * LEVEL_BEFORE) * setup.gain_range
        return RandomEffectsState(
            filters=tuple(filters),
            fits=fits,
            shares=shares,
            predicted=predicted,
            spread=spread,
            noise=noise,
            scale=np.full((shape[0], 1), before),
            memory=memory,
            unit=setup.gain_range,
        )

    def step(
        self, state: RandomEffectsState, observation: Observation | None
    ) -> tuple[RandomEffectsState, Actions]:
        if observation is not None:
            state = self._learn(state, observation)
        return state, state.predicted.argmax(axis=1).astype(np.int32)[:, None]

    def _learn(self, state: RandomEffectsState, seen: Observation) -> RandomEffectsState:
        fresh = seen.noise_scale if seen.fresh_scale is None else seen.fresh_scale
        level = _level(state, seen, fresh)
        scale = np.sqrt(SCALE_SHARE * state.unit * level)
        own, fits, filters = seen.gains - level, self.forgetting * state.fits, []
        for old, fit in zip(state.filters, fits, strict=True):
            following, error, variance = self._advance(old, own, scale, fresh, state.memory)
            filters.append(following)
            fit += log_likelihood(error, variance)
        weights = posterior_weights(fits, state.shares)
        shares = (weights.sum(axis=2, keepdims=True) + 1) / (own.shape[1] + len(filters))
        predicted, spread, noise = _averages(filters, weights)
        return RandomEffectsState(
            *(tuple(filters), fits, shares, predicted, spread, noise, scale),
            *(state.memory, state.unit),
        )

    def _advance(
        self,
        old: EffectsFilter,
        own: Floats,
        scale: Floats,
        fresh: Floats,
        memory: tuple[Floats, Floats],
    ) -> tuple[EffectsFilter, Floats, Floats]:
        """Learn from a round: the next prediction, the (R, n) innovations and their variance.

        The gain is seen as scale (p + x) + fresh (z + u), z ~ N(0, 1), which also moves u:
        u' = a u + (a - b) z. Written out, because replicates do not share a covariance.
        """
        (p, x, u), (a, b), kept = old.means, memory, self.persistence
        pp, px, pu, xx, xu, uu = old.covariance
        seen_p = scale * (pp + px) + fresh * pu
        seen_x = scale * (px + xx) + fresh * xu
        seen_u = scale * (pu + xu) + fresh * uu
        variance = scale * (seen_p + seen_x) + fresh * seen_u + fresh**2
        error = own - scale * (p + x) - fresh * u
        to_p, to_x = seen_p / variance, kept * seen_x / variance
        to_u = (a * seen_u + (a - b) * fresh) / variance
        means = p + to_p * error, kept * x + to_x * error, a * u + to_u * error
        moved_p, moved_x = to_p * variance, to_x * variance
        covariance = (
            pp - to_p * moved_p,
            kept * px - to_x * moved_p,
            a * pu - to_u * moved_p,
            kept**2 * xx + (1 - kept**2) * old.stationary - to_x * moved_x,
            a * kept * xu - to_u * moved_x,
            a**2 * uu + (a - b) ** 2 - to_u**2 * variance,
        )
        return EffectsFilter(old.stationary, means, covariance), error, variance


def _level(state: RandomEffectsState, seen: Observation, fresh: Floats) -> Floats:
    """(R, 1) level of a round: the weighted mean of what the predictions leave of the gains."""
    weights = 1 / (seen.noise_scale**2 + state.scale**2 * state.spread)
    weights /= weights.sum(axis=1, keepdims=True)
    left = seen.gains - fresh * state.noise - state.scale * state.predicted
    level = (weights * left).sum(axis=1, keepdims=True)
    return np.asarray(np.maximum(level, LEVEL_FLOOR * state.unit))


def _averages(filters: Sequence[EffectsFilter], weights: Floats) -> tuple[Floats, Floats, Floats]:
    """(R, n) each: the mixture's mean and variance of effect plus deviation, and mean noise."""
    zeros = np.zeros(weights.shape[1:])
    predicted, spread, noise = zeros, zeros, zeros
    for weight, it in zip(weights, filters, strict=True):
        predicted = predicted + weight * it.predicted
        noise = noise + weight * it.means[2]
    for weight, it in zip(weights, filters, strict=True):
        spread = spread + weight * (it.spread + (it.predicted - predicted) ** 2)
    return predicted, spread, noise
