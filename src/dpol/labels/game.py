"""The game of distribution learning, the one loop that plays it, and exact risks.

Messages never depend on weights, so the weights of all rounds are a softmax of a running sum.
In a long game most rounds hardly move them: then a block of rounds is played at once, and the
risk in its middle stands for that of every round of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from dpol.core.randomness import Floats, Key, ReplicateGenerators, replicate_generators
from dpol.core.words import one_line
from dpol.labels.hypotheses import HypothesisClass, Ints, check_laws, draw_categories
from dpol.labels.learners import BlockLearner, LabelLearner

# Entries of the largest array of weights that is held at once (8 MB of them).
_CHUNK = 1 << 20
# Predictions that are held at once: few enough to stay in the cache.
_BLOCK = 1 << 17
# A game has at least so many blocks; twice as many rounds are a long game.
_LEAST = 5000
# How far log-weights may move in a block: the root of the mean square. The mean risk of a round
# is smooth in its number, so that of the middle is off by a share of the order of its fourth power.
_STEP = 0.1
# Rounds of every replicate from which that is found.
_PILOT = 500
# Odds, as a logarithm, from which on weights may be taken to stay: in 10^7 rounds each of the
# other hypotheses is expected to cost less than 10^-14.
_SETTLED = 50.0
# An adversary looks at the messages again after a part of the rounds so far: this one.
_LOOK = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelGame:
    """Nature's moves in R independent plays.

    Args:
        hypotheses: the class that learners know.
        features: (T,) which of the X features each round shows.
        laws: (L, X, M) distributions that labels may come from.
        law: (R,) which of them is true in a replicate.

    Raises:
        ValueError: laws do not fit, or the law of a feature that occurs is not a distribution.
    """

    hypotheses: HypothesisClass
    features: Ints
    laws: Floats
    law: Ints

    __repr__ = one_line

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
    return LabelGame(
        hypotheses=hypotheses, features=features, laws=hypotheses.masses.transpose(1, 0, 2), law=law
    )


@dataclass(frozen=True)
class LabelGenerators:
    """Randomness of a game: Nature's draws of labels, and the clients' own coins."""

    nature: ReplicateGenerators
    clients: ReplicateGenerators


def label_generators(seed: int, key: Key, replicates: int, client: str) -> LabelGenerators:
    """Generators of a game: algorithms with the same key meet the same labels.

    Where a learner draws sums over blocks of rounds, its clients' coins draw the labels too.
    """
    rows = range(replicates)
    return LabelGenerators(
        replicate_generators(seed, key, rows, "labels"),
        replicate_generators(seed, key, rows, f"messages of {client}"),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelRun:
    """The risks and weights that a learner achieved.

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

    __repr__ = one_line


def play_labels(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> LabelRun:
    """Play a whole game; the risk of a round is computed, not sampled.

    Weights do not depend on how the rounds are cut into chunks. Games of 10,000 rounds or more
    are played in blocks of rounds, as long as `block_length` allows; the risk of the round in the
    middle then counts for all rounds of a block.

    Args:
        learner: such as `make_learner` makes.
        game: what Nature does.
        generators: of Nature and of the clients.

    >>> from dpol.labels.hypotheses import random_class
    >>> from dpol.labels.registry import Terms, make_learner
    >>> hypotheses = random_class(4, 10, seed=1)
    >>> learner = make_learner("exp3", hypotheses, Terms(n_rounds=500, epsilon=1.0))
    >>> game = realisable(hypotheses, np.zeros(500, dtype=int), replicates=2)
    >>> run = play_labels(learner, game, label_generators(1, ("example",), 2, "exp3"))
    >>> run.kl.shape, run.final_weights.shape
    ((2,), (2, 4))
    """
    R, K = game.n_replicates, game.hypotheses.n_hypotheses
    truth = game.laws[game.law]
    kl, tv, used = np.zeros(R), np.zeros(R), np.zeros((R, K))
    for part in _parts(learner, game, generators):
        weights = scipy.special.softmax(part.logs[:, :-1], axis=-1)
        used += (weights * part.rounds[:, None]).sum(axis=1)
        for x in np.unique(part.features):
            here = part.features == x
            risks = round_risks(weights[:, here], learner.masses[x], truth[:, x])
            kl += (risks[0] * part.rounds[here]).sum(axis=1)
            tv += (risks[1] * part.rounds[here]).sum(axis=1)
    return LabelRun(
        kl=kl,
        tv=tv,
        mean_weights=used / game.n_rounds,
        final_weights=scipy.special.softmax(part.logs[:, -1], axis=-1),
    )


def play_adversary(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> LabelRun:
    """Play against an adversary that sees all messages, and shows what costs the learner most.

    For each replicate it takes the feature of the largest KL risk under the learner's weights. It
    looks at the messages again after every round, and from round 100 on after every hundredth
    part of the rounds so far.

    Args:
        learner: such as `make_learner` makes.
        game: what Nature does, but for the features: only their number counts.
        generators: of Nature and of the clients.
    """
    R, K = game.n_replicates, game.hypotheses.n_hypotheses
    truth = game.laws[game.law]
    kl, tv, used = np.zeros(R), np.zeros(R), np.zeros((R, K))
    logs, start = np.zeros((R, 1, K)), 0
    while start < game.n_rounds:
        length = min(1 + start // _LOOK, game.n_rounds - start)
        weights = scipy.special.softmax(logs, axis=-1)
        every = zip(learner.masses, truth.transpose(1, 0, 2), strict=True)
        shown = np.argmax([round_risks(weights, *pair)[0][:, 0] for pair in every], axis=0)
        changes = _scores(learner, game, np.repeat(shown[:, None], length, axis=1), generators)
        logs = np.cumsum(np.concatenate([logs, changes], axis=1), axis=1)
        weights, logs = scipy.special.softmax(logs[:, :-1], axis=-1), logs[:, -1:]
        used += weights.sum(axis=1)
        for x in np.unique(shown):
            here = shown == x
            risks = round_risks(weights[here], learner.masses[x], truth[here, x])
            kl[here] += risks[0].sum(axis=1)
            tv[here] += risks[1].sum(axis=1)
        start += length
    return LabelRun(
        kl=kl,
        tv=tv,
        mean_weights=used / game.n_rounds,
        final_weights=scipy.special.softmax(logs[:, 0], axis=-1),
    )


# ---- rounds --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Part:
    """Blocks of rounds: log-weights in the middle of each and at the end, (R, n + 1, K)."""

    logs: Floats
    features: Ints
    rounds: Ints


def _parts(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> Iterator[_Part]:
    """The blocks of a game, as many at once as memory allows."""
    size, length = block_length(learner, game, generators), _CHUNK // game.law.size
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
            laws, steps = game.laws[game.law, features[0]], np.diff([0, *middles, len(features)])
            changes = at_once.sums(laws, int(features[0]), steps, generators.clients)
        else:
            changes = _scores(learner, game, features, generators)
        logs = np.cumsum(np.concatenate([logs[:, -1:], changes], axis=1), axis=1)
        logs = logs[:, 1:] if at_once else logs[:, [*middles, -1]]
        if one and learner.settles and (last := _settled(game, logs[:, :-1])) is not None:
            # The rest of the game is one block.
            rounds[last] = game.n_rounds - start + rounds[last:].sum()
            logs, start = logs[:, [*range(last + 1), last]], game.n_rounds
            middles, rounds = middles[: last + 1], rounds[: last + 1]
        yield _Part(logs, features[middles], rounds)


def block_length(learner: LabelLearner, game: LabelGame, generators: LabelGenerators) -> int:
    """Number of rounds that may be played at once; one in a game of less than 10,000 rounds.

    At most T / 5000, and so few that log-weights move by 0.1 or less: the root of the mean
    square, found in rounds of their own, spread over the game.
    """
    longest = game.n_rounds // _LEAST
    if longest < 2:
        return 1
    nature, clients = (
        ReplicateGenerators(tuple(own.spawn(1)[0] for own in part.generators))
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
    """Changes of log-weights by every round, (R, B, K), at features (B,) or (R, B)."""
    laws = game.laws.reshape(-1, game.hypotheses.n_labels)
    rows = game.law[:, None] * game.hypotheses.n_features + features
    labels = draw_categories(laws, rows, generators.nature.uniforms(features.shape[-1]))
    messages = learner.client.privatize(labels, features, generators.clients)
    return learner.scores(messages, features)


def _blocks(features: Ints, size: int) -> tuple[Ints, Ints]:
    """Middles of blocks of rounds of one feature, and their lengths, at most `size`."""
    B = np.arange(len(features))
    first = np.diff(features, prepend=features[0] - 1) != 0
    since = B - np.maximum.accumulate(np.where(first, B, 0))
    starts = B[since % size == 0]
    rounds = np.diff(starts, append=len(features))
    return starts + rounds // 2, rounds


def _settled(game: LabelGame, logs: Floats) -> int | None:
    """The first of the log-weights (R, n, K) from which on one hypothesis has all weight for good.

    Only if a hypothesis is true.
    """
    x = game.features[0]
    true = (game.laws[game.law, x][:, None] == game.hypotheses.masses[x]).all(axis=2)
    ends = np.sort(logs[:, -1], axis=1)
    if not true.any(axis=1).all() or (ends[:, -1] - ends[:, -2] < _SETTLED).any():
        return None
    largest = np.partition(logs, -2, axis=2)[..., -2:]
    settled = (largest[..., 1] - largest[..., 0] >= _SETTLED).all(axis=0)
    return int(settled.argmax())


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
    """The one of G independent estimates (R, G, M) with the least median distance to all, (R, M).

    If more than half of them lie within a distance of the truth, so does this one within three
    times that distance: an expected error becomes one with high probability.
    """
    distances = total_variation(estimates[:, :, None], estimates[:, None])
    chosen = np.median(distances, axis=2).argmin(axis=1)
    return np.asarray(estimates[np.arange(len(estimates)), chosen])
