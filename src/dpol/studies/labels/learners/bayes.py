"""Bayesian averaging over the hypotheses, by the exact law of the messages.

The weights are the posterior of the hypotheses given the messages, from a uniform prior. The
messages are private already, so this costs nothing. For randomised response it is the learner
of Wu et al., "Learning functional distributions with private labels"; with labels as they are
it is the Bayes mixture, whose risk is at most log K; for the other messages it is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from dpol.core.randomness import Floats
from dpol.studies.labels.clients import (
    LabelMessages,
    MembershipClient,
    MembershipMessages,
    ResponseClient,
    SampledClient,
    SampledMessages,
)
from dpol.studies.labels.clipping import Clipping, SensitivityRule
from dpol.studies.labels.hypotheses import HypothesisClass, Ints
from dpol.studies.labels.learners.base import LabelLearner, Origin, Terms

# The log-likelihood of what cannot be: finite, so that weights are numbers even where every
# hypothesis is refuted, and beyond all that other messages could make up for.
_REFUTED = -1e30
# Beyond it, densities of messages overflow.
_LARGEST_EPSILON = 300.0


@dataclass(frozen=True, eq=False)
class ResponseBayes(LabelLearner[LabelMessages]):
    """Posterior weights from randomised response."""

    client: ResponseClient
    hypotheses: HypothesisClass

    origin: ClassVar[Origin] = "standard"

    @classmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """The learner of a class."""
        return cls(ResponseClient(hypotheses.n_labels, terms.epsilon), hypotheses)

    @property
    def masses(self) -> Floats:
        """(X, K, M): the hypotheses."""
        return self.hypotheses.masses

    @cached_property
    def _logs(self) -> Floats:
        """(X, M, K) log-likelihoods of a reported label."""
        keep, masses = self.client.keep, self.hypotheses.masses
        other = (1 - keep) / (self.hypotheses.n_labels - 1)
        return _log(other + (keep - other) * masses.transpose(0, 2, 1))

    def scores(self, messages: LabelMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        return np.asarray(self._logs[features, messages.labels])


@dataclass(frozen=True, eq=False)
class OpenBayes(ResponseBayes):
    """Posterior weights from the labels themselves: no privacy."""

    @classmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """The learner of a class, whatever epsilon is asked for."""
        return cls(ResponseClient(hypotheses.n_labels, math.inf), hypotheses)


@dataclass(frozen=True, eq=False)
class MembershipBayes(LabelLearner[MembershipMessages]):
    """Posterior weights from noisy answers about membership of random sets (ours)."""

    client: MembershipClient

    origin: ClassVar[Origin] = "ours"

    @classmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """The learner of a class."""
        return cls(MembershipClient(hypotheses, terms.epsilon))

    @property
    def masses(self) -> Floats:
        """(X, K, M): the hypotheses."""
        return self.client.hypotheses.masses

    @cached_property
    def _logs(self) -> Floats:
        """(X, K, 2, K) log-likelihoods of an answer no or yes about the set of an index."""
        sets = self.client.sets.astype(float)
        inside = sets @ self.client.hypotheses.masses.transpose(0, 2, 1)
        yes = (1 - self.client.keep) + (2 * self.client.keep - 1) * inside
        return _log(np.stack([1 - yes, yes], axis=2))

    def scores(self, messages: MembershipMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K)."""
        return np.asarray(self._logs[features, messages.index, messages.member.astype(int)])


@dataclass(frozen=True, eq=False)
class MessageBayes(LabelLearner[SampledMessages]):
    """Posterior weights from the messages of private EXP3 (ours).

    Under hypothesis j a message about hypothesis J has the density sum_y m_j(y) Lap(v - a_y),
    where a_y is log pbar_J of a cell of block y and m_j(y) the probability of that block.
    Sorted by a_y, the sum up to v and the sum from v on are prefix sums.

    Raises:
        ValueError: the client's epsilon is above 300.
    """

    client: SampledClient

    origin: ClassVar[Origin] = "ours"

    @classmethod
    def make(cls, hypotheses: HypothesisClass, terms: Terms, rule: SensitivityRule) -> Self:
        """The learner of a class."""
        return cls(SampledClient(Clipping(hypotheses, terms.n_rounds, rule), terms.epsilon))

    def __post_init__(self) -> None:
        if self.client.epsilon > _LARGEST_EPSILON:
            raise ValueError(
                f"epsilon must be at most {_LARGEST_EPSILON:g}, got {self.client.epsilon:g}:"
                " messages with so little noise have no density that can be computed"
            )

    @property
    def masses(self) -> Floats:
        """(X, K, M): the hypotheses."""
        return self.client.clipping.hypotheses.masses

    @cached_property
    def _scales(self) -> Floats:
        """(X, K) scales; any where a message has no noise because it is always the same."""
        return np.where(self.client.scales > 0, self.client.scales, 1.0)

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Knots (X, K, M) and their centres (X, K); sums below and above, (X, K, M + 1, K)."""
        clipping = self.client.clipping
        scales = self._scales[:, :, None]
        full = np.isfinite(clipping.log_cells)
        knots = np.where(full, clipping.log_cells, np.inf) / scales
        order = np.argsort(knots, axis=2)
        knots = np.take_along_axis(knots, order, axis=2)
        centres = np.where(np.isfinite(knots), knots, 0).sum(axis=2) / full.sum(axis=2)
        # The block masses of all hypotheses, blocks in the order of their knots.
        blocks = clipping.block_masses.transpose(0, 2, 1)
        X, K, M = knots.shape
        ordered = blocks[np.arange(X)[:, None, None], order]
        away = np.where(np.isfinite(knots), knots - centres[:, :, None], 0)[..., None]
        below, above = np.zeros((2, X, K, M + 1, K))
        np.cumsum(ordered * np.exp(away), axis=2, out=below[:, :, 1:])
        above[:, :, :-1] = np.cumsum((ordered * np.exp(-away))[:, :, ::-1], axis=2)[:, :, ::-1]
        return knots, centres, below, above

    def scores(self, messages: SampledMessages, features: Ints) -> Floats:
        """Changes of log-weights, (R, B, K), up to a number that all hypotheses share."""
        knots, centres, below, above = self._sums
        features = np.broadcast_to(features, messages.index.shape)
        value = messages.value / self._scales[features, messages.index]
        place = np.empty(value.shape, dtype=np.int64)
        for x in np.unique(features):
            for j in range(knots.shape[1]):
                here = (features == x) & (messages.index == j)
                place[here] = np.searchsorted(knots[x, j], value[here], side="right")
        distance = (value - centres[features, messages.index])[..., None]
        left = below[features, messages.index, place]
        right = above[features, messages.index, place]
        far = np.exp(-2 * np.abs(distance))
        density = np.where(distance > 0, far * left + right, left + far * right)
        return np.asarray(np.log(density))


def _log(probabilities: Floats) -> Floats:
    refuted = np.full_like(probabilities, _REFUTED)
    return np.asarray(np.log(probabilities, out=refuted, where=probabilities > 0))
