"""Private EXP3: weights from the noisy log-likelihood of one random hypothesis a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dpol.core.randomness import Floats
from dpol.studies.labels.clients import SampledClient, SampledMessages
from dpol.studies.labels.clipping import Clipping, SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass, Ints
from dpol.studies.labels.learners.base import Terms
from dpol.studies.labels.learners.losses import LossLearner


@dataclass(frozen=True, eq=False)
class PrivateEXP3(LossLearner[SampledMessages]):
    """Weighted majority where the loss is 0 except at the index J of the message.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2.
    """

    client: SampledClient

    @classmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """The learner of a class; it needs no delta."""
        return cls(SampledClient(Clipping(hypotheses, terms.n_rounds, rule), terms.epsilon))

    @property
    def n_sampled(self) -> int:
        """K."""
        return self.client.clipping.hypotheses.n_hypotheses

    def scores(self, messages: SampledMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        changes = np.zeros((*messages.index.shape, self.n_sampled))
        own = -self.rate * self.losses(messages.value)
        np.put_along_axis(changes, messages.index[..., None], own[..., None], axis=2)
        return changes
