"""Learners of distributions, each a client and a server; private WMA and EXP3.

The client turns labels into messages. The server sees only messages, and turns them into changes
of its log-weights over the hypotheses.

In rounds with the same feature the changes are independent and identical, so a block of n rounds
does not need n messages: counts of labels or answers are multinomial, and a sum of n Laplace
numbers is the difference of two Gamma numbers of shape n. The distribution is the same as for
single messages; the random numbers differ.
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
from dpol.labels.clients import LabelClient, Messages, SampledClient, VectorClient
from dpol.labels.clipping import Clipping, SensitivityRule
from dpol.labels.hypotheses import HypothesisClass, Ints, draw_categories
from dpol.privacy.guarantee import Origin

# Rounds in a block per category above which counts are faster than single draws.
_MANY = 0.25


@dataclass(frozen=True)
class Terms:
    """Number of rounds T, and privacy (epsilon, delta) of a message; epsilon may be inf.

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
    """A learner of distributions: a client, and a rule for how its messages change log-weights.

    Messages never depend on weights, so a learner has no state: its weights are a softmax of the
    running sum of its `scores`.

    Args:
        hypotheses: class to learn.
        terms: number of rounds and privacy of a message.
        rule: sensitivity rule, one of `rules`.
    """

    hypotheses: HypothesisClass
    terms: Terms
    rule: SensitivityRule = "exact"

    title: ClassVar[str]
    """Name of the learner in tables and figures."""
    origin: ClassVar[Origin]
    """Origin of the learner; `standard` means a textbook. Figures mark what no paper has."""
    rules: ClassVar[tuple[SensitivityRule, ...]] = ("exact",)
    """Sensitivity rules of the learner; each makes a variant of it."""
    settles: ClassVar[bool] = False
    """Whether weights that are almost all on one hypothesis may be assumed to stay there.

    This holds for a posterior: the expected odds against the true hypothesis never rise.
    """

    @property
    @abstractmethod
    def client(self) -> LabelClient:
        """Client that privatises labels."""

    @cached_property
    def clipping(self) -> Clipping:
        """Clipped class, for messages about log-likelihoods."""
        return Clipping(self.hypotheses, self.terms.n_rounds, self.rule)

    @property
    def masses(self) -> Floats:
        """(X, K, M) distributions that a prediction mixes by weight."""
        return self.hypotheses.masses

    @abstractmethod
    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Return the (R, B, K) changes of log-weights by messages of rounds with (B,) features."""


class BlockLearner(LabelLearner):
    """Base class of learners that can draw changes of log-weights for many rounds at once."""

    @abstractmethod
    def sums(
        self, truths: Floats, feature: int, rounds: Ints, generators: ReplicateGenerators
    ) -> Floats:
        """Draw (R, n, K) changes of log-weights over n blocks of rounds with one feature.

        They have the distribution of sums of `scores`.

        Args:
            truths: (R, M) distributions of the label.
            feature: feature of all rounds.
            rounds: (n,) rounds of each block.
            generators: one for each replicate, for labels and clients.
        """


class LossLearner(BlockLearner):
    """Weights proportional to exp(-rate * sum of losses): base class of private WMA and EXP3.

    A loss is -scale (message + log M - offset), which is in [0, 1] unless the noise is extreme.
    The constants are the same for every hypothesis and round, since different constants would
    bias the weights.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithms 1 and 2 with
    gamma = log T; `scale` is their c, `offset` their c'.
    """

    origin = "paper"
    rules = ("exact", "published")

    @property
    @abstractmethod
    def client(self) -> VectorClient | SampledClient:
        """Client that sends noisy log-likelihoods."""

    @property
    def masses(self) -> Floats:
        """(X, K, M) probabilities of the blocks under the clipped hypotheses."""
        return self.clipping.block_masses

    @property
    def rate(self) -> float:
        """Learning rate: sqrt(2 log K / T), or sqrt(2 K log K / T) if messages have an index."""
        K = self.hypotheses.n_hypotheses
        sampled = K if isinstance(self.client, SampledClient) else 1
        return math.sqrt(2 * sampled * math.log(K) / self.terms.n_rounds)

    @property
    def offset(self) -> float:
        """Largest noise for which a loss lies in [0, 1], from the bound s for all hypotheses."""
        K, T = self.hypotheses.n_hypotheses, self.terms.n_rounds
        return self.client.factor * self.clipping.bound * (2 * math.log(T) + math.log(K))

    @property
    def scale(self) -> float:
        """Loss per nat of a log-likelihood."""
        return 1 / (self.clipping.bound + 2 * self.offset)

    def losses(self, values: Floats, times: Ints | int = 1) -> Floats:
        """Return the losses of noisy log-likelihoods, or of sums of `times` of them; any shape."""
        centred = values + times * math.log(self.hypotheses.n_labels) - times * self.offset
        return -self.scale * centred

    def sums(
        self, truths: Floats, feature: int, rounds: Ints, generators: ReplicateGenerators
    ) -> Floats:
        """Draw (R, n, K) changes of log-weights over blocks of rounds; see `BlockLearner`."""
        clipping, K = self.clipping, self.hypotheses.n_hypotheses
        # An empty block is never drawn.
        logs = np.where(clipping.cells[feature] > 0, clipping.log_cells[feature], 0.0)
        scales = self.client.factor * clipping.sensitivity[feature]
        times = np.empty((len(truths), len(rounds), K), dtype=np.int64)
        sums = np.empty(times.shape)
        for r, generator in enumerate(generators.generators):
            blocks = clipping.masses_of_blocks(truths[r], feature)
            if isinstance(self.client, VectorClient):
                times[r] = rounds[:, None]
                sums[r] = sums_of_draws(blocks, logs.T, rounds, generator)
            else:
                times[r] = generator.multinomial(rounds, np.full(K, 1 / K))
                for j in range(K):
                    own = sums_of_draws(blocks, logs[j, :, None], times[r, :, j], generator)
                    sums[r, :, j] = own[:, 0]
            noise = generator.standard_gamma(times[r]) - generator.standard_gamma(times[r])
            sums[r] += scales * noise
        return np.asarray(-self.rate * self.losses(sums, times))


class PrivateWMA(LossLearner):
    """Weighted majority on the losses of all hypotheses.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 1.
    """

    title = "private WMA"

    @cached_property
    def client(self) -> VectorClient:
        """Client that sends the log-likelihoods of all hypotheses."""
        return VectorClient(self.clipping, self.terms.epsilon, self.terms.delta)

    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Return the (R, B, K) changes of log-weights."""
        return np.asarray(-self.rate * self.losses(messages.values))


class PrivateEXP3(LossLearner):
    """Weighted majority with a loss of 0 except at the index J of the message.

    Source: "Online Distribution Learning with Local Privacy Constraints", Algorithm 2.
    """

    title = "private EXP3"

    @cached_property
    def client(self) -> SampledClient:
        """Client that sends the log-likelihood of one random hypothesis."""
        return SampledClient(self.clipping, self.terms.epsilon)

    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Return the (R, B, K) changes of log-weights."""
        changes = np.zeros((*messages.index.shape, self.hypotheses.n_hypotheses))
        changed = -self.rate * self.losses(messages.values)
        np.put_along_axis(changes, messages.index[..., None], changed[..., None], axis=2)
        return changes


def sums_of_draws(
    chances: Floats, values: Floats, rounds: Ints, generator: np.random.Generator
) -> Floats:
    """Return (n, D) sums of rows of `values` (A, D), one drawn by `chances` (A,) in each round."""
    if rounds.sum() >= _MANY * len(rounds) * len(chances):
        return np.asarray(generator.multinomial(rounds, chances / chances.sum()) @ values)
    uniforms = generator.random(rounds.sum())
    drawn = draw_categories(chances[None], np.zeros_like(uniforms, dtype=np.int64), uniforms)
    block = np.repeat(np.arange(len(rounds)), rounds)
    columns = [np.bincount(block, column[drawn], len(rounds)) for column in values.T]
    return np.stack(columns, axis=1)
