"""Bayesian averaging over the hypotheses, by the exact distribution of the messages.

The weights are the posterior of the hypotheses given the messages, from a uniform prior. The
messages are already private, so this costs no privacy. For randomised response it is the learner
of Wu et al., "Learning functional distributions with private labels"; for raw labels it is the
Bayes mixture, whose risk is at most log K; for the other messages it is not in the paper.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.labels.clients import MembershipClient, Messages, ResponseClient, SampledClient
from dpol.labels.hypotheses import Ints
from dpol.labels.learners import BlockLearner, LabelLearner, sums_of_draws

# Log-likelihood of an impossible message: finite, so that weights stay numbers even if every
# hypothesis is refuted, and too low for other messages to make up for it.
_REFUTED = -1e30
# Above this epsilon, densities of messages overflow.
_LARGEST_EPSILON = 300.0


class AnswerBayes(BlockLearner):
    """Base class of learners with posterior weights from messages with few values."""

    settles = True

    @property
    @abstractmethod
    def client(self) -> ResponseClient | MembershipClient:
        """Client that sends one of few values."""

    @cached_property
    def _logs(self) -> Floats:
        chances = self.client.chances(self.hypotheses.masses)
        refuted = np.full_like(chances, _REFUTED)
        return np.asarray(np.log(chances, out=refuted, where=chances > 0))

    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Return the (R, B, K) changes of log-weights."""
        return np.asarray(self._logs[features, messages.index, messages.values])

    def sums(
        self, truths: Floats, feature: int, rounds: Ints, generators: ReplicateGenerators
    ) -> Floats:
        """Draw (R, n, K) changes of log-weights over blocks of rounds; see `BlockLearner`."""
        every = np.broadcast_to(truths, (self.hypotheses.n_features, *truths.shape))
        chances = self.client.chances(every)
        index, values = np.indices(chances.shape[1:3]).reshape(2, 1, -1)
        scores = self.scores(Messages(values, index), np.full(index.shape[1], feature))[0]
        joint = chances[feature] * (1 / chances.shape[1])  # indices are uniform
        pairs = zip(joint.reshape(-1, len(truths)).T, generators.generators, strict=True)
        return np.stack([sums_of_draws(own, scores, rounds, coins) for own, coins in pairs])


class ResponseBayes(AnswerBayes):
    """Posterior weights from randomised response."""

    title = "randomised response"
    origin = "standard"

    @cached_property
    def client(self) -> ResponseClient:
        """Client that sends the label or another label."""
        return ResponseClient(self.hypotheses.n_labels, self.terms.epsilon)


class OpenBayes(ResponseBayes):
    """Posterior weights from the labels themselves, without privacy."""

    title = "Bayes, no privacy"

    @cached_property
    def client(self) -> ResponseClient:
        """Client that always sends the label, whatever epsilon the terms have."""
        return ResponseClient(self.hypotheses.n_labels, math.inf)


class MembershipBayes(AnswerBayes):
    """Posterior weights from noisy answers about membership of random sets (not in the paper)."""

    title = "membership response"
    origin = "dpol"

    @cached_property
    def client(self) -> MembershipClient:
        """Client that answers whether the label is in a set."""
        return MembershipClient(self.hypotheses, self.terms.epsilon)


@dataclass(frozen=True, eq=False)
class MessageBayes(LabelLearner):
    """Posterior weights from the messages of private EXP3 (not in the paper).

    Under hypothesis j, a message about hypothesis J has the density sum_y m_j(y) Lap(v - a_y),
    where a_y is log pbar_J of a cell of block y and m_j(y) is the probability of the block.
    Sorted by a_y, the sums below and above v are prefix sums.

    Raises:
        ValueError: epsilon is above 300.
    """

    title = "EXP3 messages, Bayes learner"
    origin = "dpol"
    settles = True

    @cached_property
    def client(self) -> SampledClient:
        """Client of private EXP3."""
        return SampledClient(self.clipping, self.terms.epsilon)

    def __post_init__(self) -> None:
        if self.terms.epsilon > _LARGEST_EPSILON:
            raise ValueError(
                f"epsilon must be at most {_LARGEST_EPSILON:g}, got {self.terms.epsilon:g}:"
                " the density of messages with so little noise cannot be computed"
            )

    @cached_property
    def _scales(self) -> Floats:
        """(X, K) scales; 1 if a message is constant and so has no noise."""
        return np.where(self.client.scales > 0, self.client.scales, 1.0)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats, Floats]:
        """(X, K, M) knots, their (X, K) centres, and (X, K, M + 1, K) sums below and above."""
        clipping = self.clipping
        full = np.isfinite(clipping.log_cells)
        knots = np.where(full, clipping.log_cells, np.inf) / self._scales[:, :, None]
        order = np.argsort(knots, axis=2)
        knots = np.take_along_axis(knots, order, axis=2)
        centres = np.where(np.isfinite(knots), knots, 0).sum(axis=2) / full.sum(axis=2)
        # Block masses of all hypotheses, with blocks in the order of their knots.
        blocks = clipping.block_masses.transpose(0, 2, 1)
        X, K, M = knots.shape
        ordered = blocks[np.arange(X)[:, None, None], order]
        away = np.where(np.isfinite(knots), knots - centres[:, :, None], 0)[..., None]
        below, above = np.zeros((2, X, K, M + 1, K))
        np.cumsum(ordered * np.exp(away), axis=2, out=below[:, :, 1:])
        above[:, :, :-1] = np.cumsum((ordered * np.exp(-away))[:, :, ::-1], axis=2)[:, :, ::-1]
        return knots, centres, below, above

    def scores(self, messages: Messages, features: Ints) -> Floats:
        """Return the (R, B, K) changes of log-weights, up to a constant over the hypotheses."""
        knots, centres, below, above = self._sums
        index = messages.index
        features = np.broadcast_to(features, index.shape)
        value = messages.values / self._scales[features, index]
        place = np.empty(value.shape, dtype=np.int64)
        for x in np.unique(features):
            for j in range(knots.shape[1]):
                here = (features == x) & (index == j)
                place[here] = np.searchsorted(knots[x, j], value[here], side="right")
        distance = (value - centres[features, index])[..., None]
        left, right = below[features, index, place], above[features, index, place]
        far = np.exp(-2 * np.abs(distance))
        density = np.where(distance > 0, far * left + right, left + far * right)
        return np.asarray(np.log(density))
