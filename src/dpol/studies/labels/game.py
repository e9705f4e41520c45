"""The game of distribution learning, and the one loop that plays it.

Messages never depend on weights, so the weights of all rounds are a softmax of a running sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpol.core.randomness import Floats, Key, ReplicateGenerators, replicate_generators
from dpol.studies.labels.categorical import Categorical
from dpol.studies.labels.hypotheses import HypothesisClass, Ints
from dpol.studies.labels.learners.base import LabelLearner
from dpol.studies.labels.risk import round_risks

# Entries of the largest array of weights that is held at once (8 MB of them).
_CHUNK = 1 << 20


@dataclass(frozen=True, eq=False)
class LabelGame:
    """What Nature does in R independent plays.

    Args:
        hypotheses: the class that learners know.
        features: (T,) which of the X features each round shows.
        laws: (L, X, M) distributions that labels may come from.
        law: (R,) which of them is true in a replicate.

    Raises:
        ValueError: shapes do not fit, a feature or law does not exist, or the law of a
            feature that occurs is no distribution.
    """

    hypotheses: HypothesisClass
    features: Ints
    laws: Floats
    law: Ints

    def __post_init__(self) -> None:
        X, M = self.hypotheses.n_features, self.hypotheses.n_labels
        if self.laws.shape[1:] != (X, M):
            raise ValueError(f"laws must have shape (L, {X}, {M}), got {self.laws.shape}")
        for name, values, size in (("features", self.features, X), ("law", self.law, self.n_laws)):
            sound = values.ndim == 1 and values.size and np.issubdtype(values.dtype, np.integer)
            if not sound or values.min() < 0 or values.max() >= size:
                raise ValueError(f"{name} must be a vector of integers in 0..{size - 1}, not empty")
        used = self.laws[:, np.unique(self.features)]
        if not (used >= 0).all() or (abs(used.sum(axis=2) - 1) > 1e-9).any():
            raise ValueError("laws must be distributions: masses of at least 0 that sum to 1")

    @property
    def n_laws(self) -> int:
        """L."""
        return len(self.laws)

    @property
    def n_rounds(self) -> int:
        """T."""
        return len(self.features)

    @property
    def n_replicates(self) -> int:
        """R."""
        return len(self.law)


def realisable(hypotheses: HypothesisClass, features: Ints, replicates: int) -> LabelGame:
    """The game of the paper: in replicate r, hypothesis r mod K is the truth.

    Source: "Online Distribution Learning with Local Privacy Constraints", section 2.1.

    Args:
        hypotheses: the class.
        features: (T,) which of the X features each round shows.
        replicates: R, the number of replicates.

    Raises:
        ValueError: a feature does not exist.
    """
    law = np.arange(replicates) % hypotheses.n_hypotheses
    return LabelGame(hypotheses, features, hypotheses.masses.transpose(1, 0, 2), law)


@dataclass(frozen=True)
class LabelGenerators:
    """Randomness of a game: Nature's draws of labels, and the clients' own coins."""

    nature: ReplicateGenerators
    clients: ReplicateGenerators


def label_generators(seed: int, key: Key, replicates: int, client: str) -> LabelGenerators:
    """Generators of a game: algorithms with the same key meet the same labels."""
    rows = range(replicates)
    return LabelGenerators(
        replicate_generators(seed, key, rows, "labels"),
        replicate_generators(seed, key, rows, f"messages of {client}"),
    )


@dataclass(frozen=True, eq=False)
class LabelRun:
    """What a learner achieved.

    Args:
        kl: (R,) sums over rounds of KL(truth || prediction), in nats.
        tv: (R,) sums over rounds of the total variation between truth and prediction.
        mean_weights: (R, K) weights, averaged over rounds.
        final_weights: (R, K) weights after the last message.
    """

    kl: Floats
    tv: Floats
    mean_weights: Floats
    final_weights: Floats


def play_labels(
    learner: LabelLearner[Any], game: LabelGame, generators: LabelGenerators
) -> LabelRun:
    """Play a whole game; exact risks, no sampling of them.

    Weights do not depend on how the rounds are cut into chunks.

    Args:
        learner: such as `make_learner` makes.
        game: what Nature does.
        generators: of Nature and of the clients.

    >>> from dpol.studies.labels.classes import random_class
    >>> from dpol.studies.labels.registry import Terms, make_learner
    >>> hypotheses = random_class(4, 10, seed=1)
    >>> learner = make_learner("exp3", hypotheses, Terms(n_rounds=500, epsilon=1.0))
    >>> game = realisable(hypotheses, np.zeros(500, dtype=int), replicates=2)
    >>> run = play_labels(learner, game, label_generators(1, ("example",), 2, "exp3"))
    >>> run.kl.shape, run.final_weights.shape
    ((2,), (2, 4))
    """
    R, K = game.n_replicates, game.hypotheses.n_hypotheses
    truth = game.laws[game.law]
    table = Categorical(game.laws.reshape(-1, game.hypotheses.n_labels))
    first_row = game.law[:, None] * game.hypotheses.n_features
    kl, tv, used = np.zeros(R), np.zeros(R), np.zeros((R, K))
    logs = np.zeros((R, K))
    length = max(64, _CHUNK // (R * K))
    for start in range(0, game.n_rounds, length):
        features = game.features[start : start + length]
        labels = table.draw(first_row + features, generators.nature.uniforms(len(features)))
        messages = learner.client.privatize(labels, features, generators.clients)
        running = np.concatenate([logs[:, None], learner.scores(messages, features)], axis=1)
        np.cumsum(running, axis=1, out=running)
        logs = running[:, -1]
        weights = softmax(running[:, :-1])
        used += weights.sum(axis=1)
        for x in np.unique(features):
            risks = round_risks(weights[:, features == x], learner.masses[x], truth[:, x])
            kl += risks.kl.sum(axis=1)
            tv += risks.tv.sum(axis=1)
    return LabelRun(kl, tv, used / game.n_rounds, softmax(logs))


def softmax(logs: Floats) -> Floats:
    """exp(logs) / sum over the last axis, without overflow."""
    weights = logs - logs.max(axis=-1, keepdims=True)
    np.exp(weights, out=weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.asarray(weights)
