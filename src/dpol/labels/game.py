"""The game of distribution learning, the loop that plays it, and exact risks.

Messages never depend on weights, so the weights of all rounds are a softmax of a running sum.
In a long game most rounds hardly move the weights, so blocks of rounds are played at once, and the
risk in the middle of a block counts for all its rounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from dpol.core.randomness import (
    Floats,
    ReplicateGenerators,
    SeedKey,
    replicate_generators,
    replicate_numbers,
)
from dpol.labels.hypotheses import HypothesisClass, Ints, check_masses, draw_categories
from dpol.labels.learners import BlockLearner, LabelLearner

# Most entries of an array of weights in memory (8 MB).
_CHUNK = 1 << 20
# Predictions computed at once, few enough to stay in the cache.
_BLOCK = 1 << 17
# Smallest number of blocks of a game; twice as many rounds make a long game.
_LEAST = 5000
# Largest root mean square move of log-weights in a block. The mean risk is smooth in the round,
# so the relative error of the risk in the middle is of the order of the fourth power of this.
_STEP = 0.1
# Rounds of every replicate that estimate the moves.
_PILOT = 500
# Log odds above which weights count as settled: in 10^7 rounds each of the other hypotheses is
# expected to cost less than 10^-14.
_SETTLED = 50.0
# An adversary looks at the messages again every t / _LOOK rounds, t the rounds so far.
_LOOK = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelGame:
    """Nature's moves in R independent replicates of a game.

    Args:
        hypotheses: class that learners know.
        features: (T,) feature of each round, 0..X-1.
        truths: (L, X, M) distributions from which labels may come.
        truth: (R,) index in `truths` of the truth of each replicate.

    Raises:
        ValueError: `truths` has another shape, or is no distribution at a feature that occurs.
    """

    hypotheses: HypothesisClass
    features: Ints
    truths: Floats
    truth: Ints

    def __post_init__(self) -> None:
        X, _, M = self.hypotheses.masses.shape
        if self.truths.ndim != 3 or self.truths.shape[1:] != (X, M):
            raise ValueError(f"truths must have shape (L, {X}, {M}), got {self.truths.shape}")
        check_masses(self.truths[:, np.unique(self.features)], "the masses of `truths`")

    @property
    def n_rounds(self) -> int:
        """T, the number of rounds."""
        return len(self.features)

    @property
    def n_replicates(self) -> int:
        """R, the number of replicates."""
        return len(self.truth)


def realisable(
    hypotheses: HypothesisClass, features: Ints, replicates: int | Sequence[int]
) -> LabelGame:
    """Return the game of the paper, in which hypothesis r mod K is the truth of replicate r.

    Source: "Online Distribution Learning with Local Privacy Constraints", section 2.1.

    Args:
        hypotheses: hypothesis class.
        features: (T,) feature of each round, 0..X-1.
        replicates: R, the number of replicates, or their numbers.
    """
    truth = np.array(replicate_numbers(replicates)) % hypotheses.n_hypotheses
    truths = hypotheses.masses.transpose(1, 0, 2)
    return LabelGame(hypotheses=hypotheses, features=features, truths=truths, truth=truth)


@dataclass(frozen=True)
class LabelGenerators:
    """Random generators of a game: for Nature's labels, and for the clients' messages."""

    nature: ReplicateGenerators
    clients: ReplicateGenerators


def label_generators(
    seed: int, key: SeedKey, replicates: int | Sequence[int], client: str
) -> LabelGenerators:
    """Return the generators of a game; learners with the same key get the same labels.

    A learner that draws sums over blocks of rounds draws labels from its clients' generators. The
    replicates are given by their numbers, or by how many there are.
    """
    rows = replicate_numbers(replicates)
    return LabelGenerators(
        replicate_generators(seed, key, rows, "labels"),
        replicate_generators(seed, key, rows, f"messages of {client}"),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRun:
    """Risks and weights of a learner in a game.

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
    """Play a whole game; the risk of each round is computed, not sampled.

    How rounds are split into chunks does not change the weights. Games of 10,000 rounds or more
    are played in blocks of up to `block_length` rounds; the risk of the round in the middle counts
    for all rounds of a block.

    Args:
        learner: learner, for example from `make_learner`.
        game: Nature's moves.
        generators: random generators of Nature and of the clients.

    >>> from dpol.labels.hypotheses import random_class
    >>> from dpol.labels.registry import Terms, make_learner
    >>> hypotheses = random_class(4, 10, seed=1)
    >>> learner = make_learner("exp3", hypotheses, Terms(n_rounds=500, epsilon=1.0))
    >>> game = realisable(hypotheses, np.zeros(500, dtype=int), replicates=2)
    >>> run = play_labels(learner, game, label_generators(1, ("example",), 2, "exp3"))
    >>> run.kl.shape, run.final_weights.shape
    ((2,), (2, 4))
    """
    return _played(learner, game, _parts(learner, game, generators))


def play_adversary(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> LabelRun:
    """Play against an adversary that sees all messages and picks the worst feature.

    In each replicate it picks the feature of the largest KL risk under the learner's weights. It
    looks at the messages again after every round, and from round 100 on every t / 100 rounds,
    where t is the number of rounds so far.

    Args:
        learner: learner, for example from `make_learner`.
        game: Nature's moves; only the number of its features is used, not the features.
        generators: random generators of Nature and of the clients.
    """
    return _played(learner, game, _adversarial_parts(learner, game, generators))


# ---- rounds --------------------------------------------------------------------------------------


Part = tuple[Floats, Ints, Ints]
"""n blocks of rounds: log-weights (R, n + 1, K) in the middle of each and at the end; the feature
of each block (1, n) or of each replicate (R, 1); and the number of rounds of each block (n,)."""


def _played(learner: LabelLearner, game: LabelGame, parts: Iterable[Part]) -> LabelRun:
    """Return the risks and weights of all parts of a game."""
    R, K = game.n_replicates, game.hypotheses.n_hypotheses
    truth = game.truths[game.truth]
    kl, tv, used = np.zeros(R), np.zeros(R), np.zeros((R, K))
    for logs, features, rounds in parts:
        weights = scipy.special.softmax(logs[:, :-1], axis=-1)
        used += (weights * rounds[:, None]).sum(axis=1)
        for x in np.unique(features):
            here = np.broadcast_to(features == x, weights.shape[:2])
            rows, blocks = here.any(axis=1), here.any(axis=0)
            risks = round_risks(weights[np.ix_(rows, blocks)], learner.masses[x], truth[rows, x])
            kl[rows] += (risks[0] * rounds[blocks]).sum(axis=1)
            tv[rows] += (risks[1] * rounds[blocks]).sum(axis=1)
    return LabelRun(
        kl=kl,
        tv=tv,
        mean_weights=used / game.n_rounds,
        final_weights=scipy.special.softmax(logs[:, -1], axis=-1),
    )


def _parts(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> Iterator[Part]:
    """Yield the blocks of a game, as many at once as memory allows."""
    size, length = block_length(learner, game, generators), _CHUNK // game.truth.size
    length //= game.hypotheses.n_hypotheses
    one = game.n_rounds >= 2 * _LEAST and bool((game.features == game.features[0]).all())
    at_once = learner if one and size > 1 and isinstance(learner, BlockLearner) else None
    length = min(max(64, length) * size, _CHUNK) if at_once else max(64, length)
    length = max(length // size, 1) * size
    logs, start = np.zeros((game.n_replicates, 1, game.hypotheses.n_hypotheses)), 0
    while start < game.n_rounds:
        features = game.features[start : start + length]
        start += len(features)
        middles, rounds = _blocks(features, size)
        if at_once:
            steps, first = np.diff([0, *middles, len(features)]), int(features[0])
            changes = at_once.sums(game.truths[game.truth, first], first, steps, generators.clients)
        else:
            changes = _scores(learner, game, features, generators)
        logs = np.cumsum(np.concatenate([logs[:, -1:], changes], axis=1), axis=1)
        logs = logs[:, 1:] if at_once else logs[:, [*middles, -1]]
        if one and learner.settles and (last := _settled(game, logs[:, :-1])) is not None:
            # The rest of the game is one block.
            rounds[last] = game.n_rounds - start + rounds[last:].sum()
            logs, start = logs[:, [*range(last + 1), last]], game.n_rounds
            middles, rounds = middles[: last + 1], rounds[: last + 1]
        yield logs, features[None, middles], rounds


def _adversarial_parts(
    learner: LabelLearner, game: LabelGame, generators: LabelGenerators
) -> Iterator[Part]:
    """Yield the rounds between two looks of the adversary, who picks a feature each time."""
    truth = game.truths[game.truth]
    logs, start = np.zeros((game.n_replicates, 1, game.hypotheses.n_hypotheses)), 0
    while start < game.n_rounds:
        length = min(1 + start // _LOOK, game.n_rounds - start)
        weights = scipy.special.softmax(logs[:, -1:], axis=-1)
        every = zip(learner.masses, truth.transpose(1, 0, 2), strict=True)
        shown = np.argmax([round_risks(weights, *pair)[0] for pair in every], axis=0)
        changes = _scores(learner, game, shown.repeat(length, axis=1), generators)
        logs = np.cumsum(np.concatenate([logs[:, -1:], changes], axis=1), axis=1)
        yield logs, shown, np.ones(length, dtype=np.int64)
        start += length


def block_length(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> int:
    """Return the number of rounds in a block, 1 for games of fewer than 10,000 rounds.

    It is at most T / 5000, and so small that log-weights move by a root mean square of at most 0.1,
    which is estimated in extra rounds spread over the game.
    """
    longest = game.n_rounds // _LEAST
    if longest < 2:
        return 1
    nature, clients = (
        ReplicateGenerators(tuple(generator.spawn(1)[0] for generator in part.generators))
        for part in (generators.nature, generators.clients)
    )
    features = game.features[:: game.n_rounds // _PILOT]
    scores = _scores(learner, game, features, LabelGenerators(nature, clients))
    moves = scores - scores.mean(axis=2, keepdims=True)
    square = float((moves**2).mean(axis=1).max())
    return max(1, int(min(longest, _STEP**2 / max(square, np.finfo(float).tiny))))


def _scores(
    learner: LabelLearner, game: LabelGame, features: Ints, generators: LabelGenerators
) -> Floats:
    """Return the (R, B, K) changes of log-weights by every round, at features (B,) or (R, B)."""
    truths = game.truths.reshape(-1, game.hypotheses.n_labels)
    rows = game.truth[:, None] * game.hypotheses.n_features + features
    labels = draw_categories(truths, rows, generators.nature.uniforms(features.shape[-1]))
    messages = learner.client.privatize(labels, features, generators.clients)
    return learner.scores(messages, features)


def _blocks(features: Ints, size: int) -> tuple[Ints, Ints]:
    """Return the middles and the lengths, at most `size`, of blocks of rounds of one feature."""
    B = np.arange(len(features))
    first = np.diff(features, prepend=features[0] - 1) != 0
    since = B - np.maximum.accumulate(np.where(first, B, 0))
    starts = B[since % size == 0]
    rounds = np.diff(starts, append=len(features))
    return starts + rounds // 2, rounds


def _settled(game: LabelGame, logs: Floats) -> int | None:
    """Return the first of n log-weights (R, n, K) from which one hypothesis keeps all weight.

    None if there is none, or if no hypothesis is true.
    """
    x = game.features[0]
    true = (game.truths[game.truth, x][:, None] == game.hypotheses.masses[x]).all(axis=2)
    ends = np.sort(logs[:, -1], axis=1)
    if not true.any(axis=1).all() or (ends[:, -1] - ends[:, -2] < _SETTLED).any():
        return None
    largest = np.partition(logs, -2, axis=2)[..., -2:]
    settled = (largest[..., 1] - largest[..., 0] >= _SETTLED).all(axis=0)
    return int(settled.argmax())


# ---- risks ---------------------------------------------------------------------------------------


def round_risks(weights: Floats, masses: Floats, truths: Floats) -> tuple[Floats, Floats]:
    """Return the (R, B) divergences KL(truth || prediction) in nats, and (R, B) total variations.

    Args:
        weights: (R, B, K) weights of `masses` in the predictions, >= 0; the last axis sums to 1.
        masses: (K, M) distributions.
        truths: (R, M) true distributions.

    >>> kl, tv = round_risks(np.array([[[0.5, 0.5]]]), np.eye(2), np.array([[1.0, 0.0]]))
    >>> kl.round(6).tolist(), tv.tolist()
    ([[0.693147]], [[0.5]])
    """
    R, B, K = weights.shape
    M = masses.shape[1]
    positive = truths > 0
    negative_entropy = expected_log(truths, truths)
    kl, tv = np.empty((R, B)), np.empty((R, B))
    step = max(1, _BLOCK // (R * M))
    for here in (slice(start, start + step) for start in range(0, B, step)):
        predicted = (weights[:, here].reshape(-1, K) @ masses).reshape(R, -1, M)
        # Labels of probability 0 add nothing to either risk, whatever is predicted for them.
        if not positive.all():
            predicted += ~positive[:, None]
        tv[:, here] = 1 - np.minimum(predicted, truths[:, None]).sum(axis=2)
        with np.errstate(divide="ignore"):
            logs = np.log(predicted, out=predicted)
        kl[:, here] = negative_entropy[:, None] - (logs @ truths[:, :, None])[:, :, 0]
    return kl, tv


def expected_log(truths: Floats, values: Floats) -> Floats:
    """Return the means of log(values) under `truths` along the last axis; no mass adds nothing."""
    logs = np.log(values, out=np.zeros_like(values), where=truths > 0)
    return np.asarray((truths * logs).sum(axis=-1))


def total_variation(one: Floats, other: Floats) -> Floats:
    """Return the total variation between distributions along the last axis."""
    return np.asarray(np.abs(one - other).sum(axis=-1) / 2)
