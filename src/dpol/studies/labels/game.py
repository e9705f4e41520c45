"""The game of distribution learning, the one loop that plays it, and exact risks.

Messages never depend on weights, so the weights of all rounds are a softmax of a running sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from dpol.core.randomness import Floats, Key, ReplicateGenerators, replicate_generators
from dpol.studies.labels.hypotheses import HypothesisClass, Ints, check_laws, draw_categories
from dpol.studies.labels.learners import LabelLearner

# Entries of the largest array of weights that is held at once (8 MB of them).
_CHUNK = 1 << 20
# Predictions that are held at once: few enough to stay in the cache.
_BLOCK = 1 << 17


@dataclass(frozen=True, eq=False)
class LabelGame:
    """What Nature does in R independent plays.

    Args:
        hypotheses: the class that learners know.
        features: (T,) which of the X features each round shows.
        laws: (L, X, M) distributions that labels may come from.
        law: (R,) which of them is true in a replicate.

    Raises:
        ValueError: laws do not fit, or the law of a feature that occurs is no distribution.
    """

    hypotheses: HypothesisClass
    features: Ints
    laws: Floats
    law: Ints

    def __post_init__(self) -> None:
        X, _, M = self.hypotheses.masses.shape
        if self.laws.ndim != 3 or self.laws.shape[1:] != (X, M):
            raise ValueError(f"laws must have shape (L, {X}, {M}), got {self.laws.shape}")
        check_laws(self.laws[:, np.unique(self.features)], "the masses of a law")

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return len(self.features)

    @property
    def n_replicates(self) -> int:
        """Number of replicates R."""
        return len(self.law)


def realisable(hypotheses: HypothesisClass, features: Ints, replicates: int) -> LabelGame:
    """The game of the paper: in replicate r, hypothesis r mod K is the truth.

    Source: "Online Distribution Learning with Local Privacy Constraints", section 2.1.

    Args:
        hypotheses: the class.
        features: (T,) which of the X features each round shows.
        replicates: R, the number of replicates.
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


def play_labels(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> LabelRun:
    """Play a whole game; exact risks, no sampling of them.

    Weights do not depend on how the rounds are cut into chunks.

    Args:
        learner: such as `make_learner` makes.
        game: what Nature does.
        generators: of Nature and of the clients.

    >>> from dpol.studies.labels.hypotheses import random_class
    >>> from dpol.studies.labels.registry import Terms, make_learner
    >>> hypotheses = random_class(4, 10, seed=1)
    >>> learner = make_learner("exp3", hypotheses, Terms(n_rounds=500, epsilon=1.0))
    >>> game = realisable(hypotheses, np.zeros(500, dtype=int), replicates=2)
    >>> run = play_labels(learner, game, label_generators(1, ("example",), 2, "exp3"))
    >>> run.kl.shape, run.final_weights.shape
    ((2,), (2, 4))
    """
    R, K = game.n_replicates, game.hypotheses.n_hypotheses
    truth, laws = game.laws[game.law], game.laws.reshape(-1, game.hypotheses.n_labels)
    first_row = game.law[:, None] * game.hypotheses.n_features
    kl, tv, used, logs = np.zeros(R), np.zeros(R), np.zeros((R, K)), np.zeros((R, K))
    length = max(64, _CHUNK // (R * K))
    for start in range(0, game.n_rounds, length):
        features = game.features[start : start + length]
        uniforms = generators.nature.uniforms(len(features))
        labels = draw_categories(laws, first_row + features, uniforms)
        messages = learner.client.privatize(labels, features, generators.clients)
        running = np.concatenate([logs[:, None], learner.scores(messages, features)], axis=1)
        np.cumsum(running, axis=1, out=running)
        logs = running[:, -1]
        weights = softmax(running[:, :-1], axis=-1)
        used += weights.sum(axis=1)
        for x in np.unique(features):
            risks = round_risks(weights[:, features == x], learner.masses[x], truth[:, x])
            kl += risks[0].sum(axis=1)
            tv += risks[1].sum(axis=1)
    return LabelRun(kl, tv, used / game.n_rounds, softmax(logs, axis=-1))


# ---- risks ---------------------------------------------------------------------------------------


def round_risks(weights: Floats, masses: Floats, laws: Floats) -> tuple[Floats, Floats]:
    """(R, B) divergences KL(truth || prediction) in nats, and total variations.

    Args:
        weights: (R, B, K), not negative, last axis sums to 1; predictions mix `masses` by them.
        masses: (K, M), rows are distributions.
        laws: (R, M), the true distributions.

    >>> kl, tv = round_risks(np.array([[[0.5, 0.5]]]), np.eye(2), np.array([[1.0, 0.0]]))
    >>> kl.round(6).tolist(), tv.tolist()
    ([[0.693147]], [[0.5]])
    """
    R, B, K = weights.shape
    M = masses.shape[1]
    positive = laws > 0
    negative_entropy = expected_log(laws, laws)
    kl, tv = np.empty((R, B)), np.empty((R, B))
    step = max(1, _BLOCK // (R * M))
    for here in (slice(start, start + step) for start in range(0, B, step)):
        predicted = (weights[:, here].reshape(-1, K) @ masses).reshape(R, -1, M)
        # Labels that cannot come add nothing to either risk, whatever is predicted there.
        if not positive.all():
            predicted += ~positive[:, None]
        tv[:, here] = 1 - np.minimum(predicted, laws[:, None]).sum(axis=2)
        with np.errstate(divide="ignore"):
            logs = np.log(predicted, out=predicted)
        kl[:, here] = negative_entropy[:, None] - (logs @ laws[:, :, None])[:, :, 0]
    return kl, tv


def expected_log(laws: Floats, values: Floats) -> Floats:
    """Means of log(values) over the last axis by laws; what has no mass adds nothing."""
    logs = np.log(values, out=np.zeros_like(values), where=laws > 0)
    return np.asarray((laws * logs).sum(axis=-1))


def total_variation(one: Floats, other: Floats) -> Floats:
    """Total variation between distributions along the last axis."""
    return np.asarray(np.abs(one - other).sum(axis=-1) / 2)


def median_estimate(estimates: Floats) -> Floats:
    """Of G independent estimates (R, G, M) the one with the least median distance to all, (R, M).

    If more than half of them lie within a distance of the truth, so does this one within three
    times that distance: an expected error becomes one with high probability.
    """
    distances = total_variation(estimates[:, :, None], estimates[:, None])
    chosen = np.median(distances, axis=2).argmin(axis=1)
    return np.asarray(estimates[np.arange(len(estimates)), chosen])
