"""Private WMA: weights from noisy log-likelihoods of all hypotheses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dpol.core.randomness import Floats
from dpol.studies.labels.clients import VectorClient, VectorMessages
from dpol.studies.labels.clipping import Clipping, SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass, Ints
from dpol.studies.labels.learners.base import Terms
from dpol.studies.labels.learners.losses import LossLearner


@dataclass(frozen=True, eq=False)
class PrivateWMA(LossLearner[VectorMessages]):
    """Weighted majority on the losses of all hypotheses.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 1.
    """

    client: VectorClient

    n_sampled = 1

    @classmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """With the composition theorem of the same name as the rule."""
        clipping = Clipping(hypotheses, terms.n_rounds, rule)
        return cls(VectorClient(clipping, terms.epsilon, terms.delta, composition=rule))

    def scores(self, messages: VectorMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        return np.asarray(-self.rate * self.losses(messages.values))
