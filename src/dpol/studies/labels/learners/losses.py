"""Weights from the losses of noisy log-likelihoods: what private WMA and EXP3 share."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpol.core.randomness import Floats
from dpol.studies.labels.clients import LikelihoodClient, Messages
from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.learners.base import LabelLearner, Origin


@dataclass(frozen=True, eq=False)
class LossLearner(LabelLearner[Messages]):
    """Weights proportional to exp(-rate * sum of losses).

    A loss is -scale (message + log M - offset): in [0, 1] unless the noise is extreme, and by the
    same line for every hypothesis and round: other constants for other hypotheses would bias
    their weights.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithms 1 and 2 with
    gamma = log T; `scale` is their c, `offset` their c'.
    """

    client: LikelihoodClient[Messages]

    origin: ClassVar[Origin] = "paper"
    rules: ClassVar[tuple[SensitivityRule, ...]] = ("exact", "published")

    @property
    @abstractmethod
    def n_sampled(self) -> int:
        """1 if a message is about all hypotheses, K if it is about one of them."""

    @property
    def masses(self) -> Floats:
        """(X, K, M): the blocks of the clipped hypotheses."""
        return self.client.clipping.block_masses

    @property
    def rate(self) -> float:
        """The learning rate: sqrt(2 log K / T), or sqrt(2 K log K / T) if sampled."""
        clipping = self.client.clipping
        log_size = math.log(clipping.hypotheses.n_hypotheses)
        return math.sqrt(2 * self.n_sampled * log_size / clipping.n_rounds)

    @property
    def offset(self) -> float:
        """Noise up to which a loss lies in [0, 1], by the one bound s for all hypotheses."""
        clipping = self.client.clipping
        K, T = clipping.hypotheses.n_hypotheses, clipping.n_rounds
        return self.client.factor * clipping.bound * (2 * math.log(T) + math.log(K))

    @property
    def scale(self) -> float:
        """Loss for each nat of a log-likelihood."""
        return 1 / (self.client.clipping.bound + 2 * self.offset)

    def losses(self, messages: Floats) -> Floats:
        """The losses of noisy log-likelihoods; any shape."""
        n_labels = self.client.clipping.hypotheses.n_labels
        return -self.scale * (messages + math.log(n_labels) - self.offset)
