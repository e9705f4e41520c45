"""Learners of distributions, each a client and a server; private WMA and EXP3.

The client turns labels into messages; the server turns messages into changes of its log-weights
over the hypotheses, and sees nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.labels.blocks import likelihood_sums
from dpol.labels.clients import LabelClient, Messages, SampledClient, VectorClient
from dpol.labels.clipping import Clipping, SensitivityRule
from dpol.labels.hypotheses import HypothesisClass, Ints
from dpol.privacy.guarantee import Origin


@dataclass(frozen=True)
class Terms:
    """The terms of a learner: the number of rounds T and the privacy of a message.

    Raises:
        ValueError: a number is out of range.
    """

    n_rounds: int
    epsilon: float
    delta: float = 1e-6

    def __post_init__(self) -> None:
        check_whole("n_rounds", self.n_rounds)
        check_number("epsilon", self.epsilon, "(0, inf]")
        check_number("delta", self.delta, "(0, 1)")


@dataclass(frozen=True, eq=False)
class LabelLearner(ABC):
    """A learner of distributions: a client, and how its messages change log-weights.

    Messages never depend on weights, so a learner has no state: its weights are a softmax of the
    running sum of its `scores`.

    Args:
        hypotheses: the class to learn.
        terms: rounds and privacy.
        rule: of the sensitivity; one of `rules`.
    """

    hypotheses: HypothesisClass
    terms: Terms
    rule: SensitivityRule = "exact"

    title: ClassVar[str]
    """Its name, for people."""
    origin: ClassVar[Origin]
    """Origin of the learner; `standard` is a textbook's; ours are marked in tables and figures."""
    rules: ClassVar[tuple[SensitivityRule, ...]] = ("exact",)
    """The sensitivity rules that it can be made with; each is a variant of the learner."""
    settles: ClassVar[bool] = False
    """True if its weights, once all but nothing is on one hypothesis, may be taken to stay.

    They may if they are a posterior: the expected odds against a hypothesis that is true never
    rise.
    """

    @property
    @abstractmethod
    def client(self) -> LabelClient:
        """The client, which privatises labels."""

    @cached_property
    def clipping(self) -> Clipping:
        """The clipped class, where messages are about its log-likelihoods."""
        return Clipping(self.hypotheses, self.terms.n_rounds, self.rule)

    @property
    def masses(self) -> Floats:
        """(X, K, M): what each hypothesis adds to a prediction, by its weight."""
        return self.hypotheses.masses

    @abstractmethod
    def scores(self, messages: Messages, features: Ints) -> Floats:
        """The change of log-weights (R, B, K) by messages of rounds with (B,) features."""


class BlockLearner(LabelLearner):
    """Base of the learners whose changes of log-weights can be drawn for many rounds at once."""

    @abstractmethod
    def sums(
        self, laws: Floats, feature: int, rounds: Ints, generators: ReplicateGenerators
    ) -> Floats:
        """Draws of the change of log-weights (R, n, K) by n blocks of rounds of one feature.

        Their law is that of sums of `scores`.

        Args:
            laws: (R, M) laws of the label.
            feature: what all rounds show.
            rounds: (n,) rounds of each block.
            generators: of the clients and of the labels.
        """


class LossLearner(BlockLearner):
    """Weights proportional to exp(-rate * sum of losses): what private WMA and EXP3 share.

    A loss is -scale (message + log M - offset): in [0, 1] unless the noise is extreme, and by the
    same line for every hypothesis and round: other constants for other hypotheses would bias
    their weights.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithms 1 and 2 with
    gamma = log T; `scale` is their c, `offset` their c'.
    """

    origin = "paper"
    rules = ("exact", "published")
    sampled: ClassVar[bool]
    """True if a message is about one hypothesis, not about all of them."""

    @property
    @abstractmethod
    def client(self) -> VectorClient | SampledClient:
        """The client, which sends log-likelihoods."""

    @property
    def masses(self) -> Floats:
        """(X, K, M): the blocks of the clipped hypotheses."""
        return self.clipping.block_masses

    @property
    def rate(self) -> float:
        """The learning rate: sqrt(2 log K / T), or sqrt(2 K log K / T) if sampled."""
        K = self.hypotheses.n_hypotheses
        return math.sqrt(2 * (K if self.sampled else 1) * math.log(K) / self.terms.n_rounds)

    @property
    def offset(self) -> float:
        """Noise up to which a loss lies in [0, 1], by the one bound s for all hypotheses."""
        K, T = self.hypotheses.n_hypotheses, self.terms.n_rounds
        return self.client.factor * self.clipping.bound * (2 * math.log(T) + math.log(K))

    @property
    def scale(self) -> float:
        """Loss for each nat of a log-likelihood."""
        return 1 / (self.clipping.bound + 2 * self.offset)

    def losses(self, values: Floats, times: Ints | int = 1) -> Floats:
        """The losses of noisy log-likelihoods, or of sums of so many of them; any shape."""
        centred = values + times * math.log(self.hypotheses.n_labels) - times * self.offset
        return -self.scale * centred

    def sums(
        self, laws: Floats, feature: int, rounds: Ints, generators: ReplicateGenerators
    ) -> Floats:
        """Changes of log-weights by blocks of rounds, (R, n, K)."""
        values = likelihood_sums(self.client, laws, feature, rounds, generators)
        return np.asarray(-self.rate * self.losses(*values))


class PrivateWMA(LossLearner):
    """Weighted majority on the losses of all hypotheses.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 1.
    """

    title = "private WMA"
    sampled = False

    @cached_property
    def client(self) -> VectorClient:
        """The client, which sends the log-likelihoods of all hypotheses."""
        return VectorClient(self.clipping, self.terms.epsilon, self.terms.delta)

    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        return np.asarray(-self.rate * self.losses(messages.values))


class PrivateEXP3(LossLearner):
    """Weighted majority where the loss is 0 except at the index J of the message.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2.
    """

    title = "private EXP3"
    sampled = True

    @cached_property
    def client(self) -> SampledClient:
        """The client, which sends the log-likelihood of one random hypothesis."""
        return SampledClient(self.clipping, self.terms.epsilon)

    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        changes = np.zeros((*messages.index.shape, self.hypotheses.n_hypotheses))
        changed = -self.rate * self.losses(messages.values)
        np.put_along_axis(changes, messages.index[..., None], changed[..., None], axis=2)
        return changes
