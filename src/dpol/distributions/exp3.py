"""Private EXP3: weights from the noisy log-likelihood of one random hypothesis a round."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpol.core.randomness import Floats
from dpol.distributions.play import Origin
from dpol.distributions.wma import LossScale, loss_scale
from dpol.local.hypotheses import Ints
from dpol.local.label_messages import SampledClient, SampledMessages


@dataclass(frozen=True, eq=False)
class PrivateEXP3:
    """Weights proportional to exp(-e sum of losses), e = sqrt(2 K log K / T); loss 0 except at J.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2.
    """

    client: SampledClient

    origin: ClassVar[Origin] = "paper"

    @cached_property
    def loss_scale(self) -> LossScale:
        """Its constants."""
        return loss_scale(self.client.sensitivity, 1 / self.client.epsilon)

    @property
    def masses(self) -> Floats:
        """(X, K, M): the blocks of the clipped hypotheses."""
        return self.client.sensitivity.clipping.block_masses

    @property
    def rate(self) -> float:
        """The learning rate e."""
        clipping = self.client.sensitivity.clipping
        K = clipping.hypotheses.n_hypotheses
        return math.sqrt(2 * K * math.log(K) / clipping.n_rounds)

    def scores(self, messages: SampledMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        K = self.client.sensitivity.clipping.hypotheses.n_hypotheses
        changes = np.zeros((*messages.index.shape, K))
        own = -self.rate * self.loss_scale.losses(messages.value)
        np.put_along_axis(changes, messages.index[..., None], own[..., None], axis=2)
        return changes
