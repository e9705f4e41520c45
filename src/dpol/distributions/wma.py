"""Private WMA: weights from noisy log-likelihoods of all hypotheses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpol.core.randomness import Floats
from dpol.distributions.play import Origin
from dpol.local.clipping import LikelihoodSensitivity
from dpol.local.hypotheses import Ints
from dpol.local.label_messages import VectorClient, VectorMessages


@dataclass(frozen=True)
class LossScale:
    """The line that takes a noisy log-likelihood into [0, 1], unless the noise is extreme.

    loss = -scale (message + log M - offset), the same for every hypothesis and round: other
    constants for other hypotheses would bias their weights.
    """

    scale: float
    offset: float
    n_labels: int

    def losses(self, messages: Floats) -> Floats:
        """The losses of noisy log-likelihoods; any shape."""
        return -self.scale * (messages + math.log(self.n_labels) - self.offset)


def loss_scale(sensitivity: LikelihoodSensitivity, factor: float) -> LossScale:
    """The constants c and c' of the paper's Algorithms 1 and 2, with gamma = log T.

    Args:
        sensitivity: of the clipped class; its one bound s for all hypotheses counts.
        factor: Laplace scale over sensitivity: c' = factor s (gamma + log K + log T) and
            c = 1 / (s + 2 c').
    """
    clipping = sensitivity.clipping
    K, T = clipping.hypotheses.n_hypotheses, clipping.n_rounds
    offset = factor * sensitivity.bound * (2 * math.log(T) + math.log(K))
    return LossScale(1 / (sensitivity.bound + 2 * offset), offset, clipping.hypotheses.n_labels)


@dataclass(frozen=True, eq=False)
class PrivateWMA:
    """Weights proportional to exp(-e sum of losses), e = sqrt(2 log K / T).

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 1.
    """

    client: VectorClient

    origin: ClassVar[Origin] = "paper"

    @cached_property
    def loss_scale(self) -> LossScale:
        """Its constants."""
        return loss_scale(self.client.sensitivity, self.client.factor)

    @property
    def masses(self) -> Floats:
        """(X, K, M): the blocks of the clipped hypotheses."""
        return self.client.sensitivity.clipping.block_masses

    @property
    def rate(self) -> float:
        """The learning rate e."""
        clipping = self.client.sensitivity.clipping
        return math.sqrt(2 * math.log(clipping.hypotheses.n_hypotheses) / clipping.n_rounds)

    def scores(self, messages: VectorMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        return np.asarray(-self.rate * self.loss_scale.losses(messages.values))
