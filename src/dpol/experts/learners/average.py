"""Averages of models, weighted for each expert by how well they predicted the noisy gains.

Both banks of this kind derive from `ModelAverage`. The bank defines how its models learn from a
round and predict; this file weighs the models.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, Observation, ReadsNoise
from dpol.experts.learners.typical import TypicalLevel

Pooling = Literal["expert", "common"]
"""Experts whose data weigh the models: each expert by itself, or all in common."""


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """Weights of K models, and the likelihoods and shares that they follow from.

    Args:
        fits: (K, R, n) log likelihood of each expert's gains so far, or (K, R, 1) log likelihood
            of all experts' gains; with forgetting, older rounds count less.
        shares: (K, R, 1) estimated share of the experts that follow each model.
        weights: weights of the models, in the shape of `fits`.
    """

    fits: Floats
    shares: Floats
    weights: Floats

    def after(
        self,
        innovations: Sequence[tuple[Floats, Floats]],
        seen: Observation,
        forgetting: float,
        pooling: Pooling = "expert",
    ) -> Weighing:
        """Return the weights after a round.

        With `common`, all experts follow the same model. Without forgetting, its posterior
        probabilities are exact Bayesian model averaging from equal prior weights. With `expert`,
        every expert follows its own model. Its posterior weights come from its own likelihood and
        from the shares of the models among all experts, estimated from the same noisy gains by one
        step of expectation maximisation a round (empirical Bayes; Efron and Morris, "Stein's
        estimation rule and its competitors", 1973). Each share counts one extra expert, so that no
        model is ever lost.

        Args:
            innovations: errors (R, n) of each model, and their variance.
            seen: observation of the round.
            forgetting: factor on a round's log likelihood for every later round.
            pooling: `expert` or `common`, see above.
        """
        fits = forgetting * self.fits
        for fit, (error, variance) in zip(fits, innovations, strict=True):
            gained = seen.known * _log_likelihood(error, variance)
            fit += gained if pooling == "expert" else gained.sum(axis=1, keepdims=True)
        weights, shares = _posterior(fits, self.shares), self.shares
        if pooling == "expert":
            count, n = len(weights), weights.shape[2]
            shares = (weights.sum(axis=2, keepdims=True) + 1) / (n + count)
        return Weighing(fits=fits, shares=shares, weights=weights)


def equal_weights(count: int, replicates: int, each: int) -> Weighing:
    """Return equal weights of `count` models before round 1, for `each` experts (1: all as one)."""
    weights = np.full((count, replicates, each), 1 / count)
    return Weighing(fits=np.zeros_like(weights), shares=weights[:, :, :1], weights=weights)


@dataclass(frozen=True, kw_only=True)
class AverageState:
    """State that an average of models carries from round to round.

    Args:
        filters: prediction of every model.
        weighing: weights of the models.
        typical: typical level, the unit of all other numbers.
        predicted: (R, n) averaged prediction of how far the next gains will lie above the level.
        level: (R, 1) shared level of the last round.
    """

    filters: tuple[Any, ...]
    weighing: Weighing
    typical: TypicalLevel
    predicted: Floats
    level: Floats


AnyAverage = TypeVar("AnyAverage", bound=AverageState)


class ModelAverage(LearnerBank[AnyAverage]):
    """One learner that plays the largest averaged prediction, and expert 0 in round 1."""

    reads_noise: ClassVar[ReadsNoise] = "chains"

    @abstractmethod
    def learn(self, state: AnyAverage, seen: Observation) -> AnyAverage:
        """Return the state after a round."""

    def step(
        self, state: AnyAverage, observation: Observation | None
    ) -> tuple[AnyAverage, Actions]:
        if observation is not None:
            state = self.learn(state, observation)
        return state, state.predicted.argmax(axis=1).astype(np.int32)[:, None]


def _log_likelihood(error: Floats, variance: Floats) -> Floats:
    """Return the (R, n) log density of innovations, up to a constant, for an (R, n) variance."""
    gained = np.square(error)
    gained *= -0.5 / variance
    gained -= 0.5 * np.log(variance)
    return gained


def _posterior(fits: Floats, shares: Floats) -> Floats:
    """Return the models' weights in the shape of `fits`; they sum to 1 over the first axis."""
    weights = fits + np.log(shares)
    weights -= weights.max(axis=0)
    np.exp(weights, out=weights)
    # Summed one by one: NumPy's order of summation depends on the shape, and a replicate must not
    # depend on the number of others in its block.
    total = weights[0].copy()
    for weight in weights[1:]:
        total += weight
    weights /= total
    return np.asarray(weights)
