"""An average of models, each expert's weighted by how well the models predicted the noisy gains.

Both banks of this kind derive from `ModelAverage`: a bank says how its models learn from a round
and what they predict, and this file weighs them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from dpol.core.randomness import Floats
from dpol.experts.interface import Actions, LearnerBank, Observation, ReadsNoise

Pooling = Literal["expert", "common"]
"""The experts whose data weigh the models."""


@dataclass(frozen=True, kw_only=True)
class Weighing:
    """The weights of K models, and what they follow from.

    Args:
        fits: (K, R, n) log likelihood of each expert's gains so far, or (K, R, 1) of all
            experts' together; older rounds count less, if they are forgotten.
        shares: (K, R, 1) estimated share of the experts that follow each model.
        weights: of the models, in the shape of `fits`.
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
        """The weights after a round.

        With `common`, all experts follow the same model, whose posterior probabilities, without
        forgetting, are exact Bayesian model averaging from equal prior weights. With `expert`,
        every expert follows its own: its posterior weights come from its own likelihood and from
        the shares of the models among all experts, which are estimated from the same noisy gains,
        one step of expectation maximisation a round (empirical Bayes; Efron and Morris, "Stein's
        estimation rule and its competitors", 1973). Each share counts one expert more, so that
        none is ever lost.

        Args:
            innovations: errors (R, n) of each model, and their variance.
            seen: the round.
            forgetting: a round's log likelihood counts so many times as much every round later.
            pooling: see above.
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
    """The weights of so many models before round 1, for each expert or (1) for all together."""
    weights = np.full((count, replicates, each), 1 / count)
    return Weighing(fits=np.zeros_like(weights), shares=weights[:, :, :1], weights=weights)


@dataclass(frozen=True, kw_only=True)
class AverageState:
    """The state that an average of models carries from round to round.

    Args:
        filters: the prediction of every model.
        weighing: of the models.
        predicted: (R, n) averaged prediction of how far the next gains will lie above the level.
        level: (R, 1) of the last round.
        unit: the gain range.
    """

    filters: tuple[Any, ...]
    weighing: Weighing
    predicted: Floats
    level: Floats
    unit: float


AnyAverage = TypeVar("AnyAverage", bound=AverageState)


class ModelAverage(LearnerBank[AnyAverage]):
    """One learner: it acts on the largest averaged prediction, and on expert 0 in round 1."""

    reads_noise: ClassVar[ReadsNoise] = "chains"

    @abstractmethod
    def learn(self, state: AnyAverage, seen: Observation) -> AnyAverage:
        """The state after a round."""

    def step(
        self, state: AnyAverage, observation: Observation | None
    ) -> tuple[AnyAverage, Actions]:
        if observation is not None:
            state = self.learn(state, observation)
        return state, state.predicted.argmax(axis=1).astype(np.int32)[:, None]


def _log_likelihood(error: Floats, variance: Floats) -> Floats:
    """(R, n) log density of innovations of a variance, (n,), up to a constant."""
    gained = np.square(error)
    gained *= -0.5 / variance
    gained -= 0.5 * np.log(variance)
    return gained


def _posterior(fits: Floats, shares: Floats) -> Floats:
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
