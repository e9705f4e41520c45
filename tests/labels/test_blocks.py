"""Long games played in blocks of rounds, compared with single rounds."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import ks_2samp

from conftest import ERROR
from dpol.core.randomness import ReplicateGenerators
from dpol.labels import game as module
from dpol.labels import learners
from dpol.labels.clipping import Clipping
from dpol.labels.game import LabelGame, label_generators, play_labels, realisable
from dpol.labels.hypotheses import HypothesisClass
from dpol.labels.learners import BlockLearner, LossLearner, Terms
from dpol.labels.registry import LEARNERS, make_learner, variants
from replicates import many

# No hypothesis gives label 4 any mass at feature 1.
CLASS = HypothesisClass(
    [
        [[0.2, 0.2, 0.2, 0.2, 0.2], [0.1, 0.2, 0.3, 0.2, 0.2], [0.6, 0.1, 0.1, 0.1, 0.1]],
        [[0.1, 0.2, 0.3, 0.4, 0.0], [0.7, 0.1, 0.1, 0.1, 0.0], [0.05, 0.25, 0.45, 0.25, 0.0]],
    ]
)
LAW = np.array([0.4, 0.3, 0.15, 0.05, 0.1])
N, ROUNDS, FEATURE = 20_000, 5, 1
MEMBERS = [variant for variant in variants() if issubclass(LEARNERS[variant[0]], BlockLearner)]


def law_for(name):
    """Return a distribution of labels; without privacy, no label refutes all hypotheses."""
    law = LAW * (np.arange(5) < 4) if name == "bayes" else LAW
    return law / law.sum()


class Quiet(np.random.Generator):
    """A generator with a tenth of the variance of the noise."""

    def standard_gamma(self, shape):
        return super().standard_gamma(np.asarray(shape) / 10)


def sums_of(name, rule, *, law=None, rounds=ROUNDS, kind=np.random.Generator):
    """Return (N, K) draws; T = 3, so that h moves a third of the labels."""
    learner = make_learner(name, CLASS, Terms(3, 4.0), rule)
    generators = ReplicateGenerators((kind(np.random.PCG64(1)),))
    laws = (law_for(name) if law is None else law)[None]
    return learner.sums(laws, FEATURE, np.full(N, rounds), generators)[0]


def sums_of_single_rounds(name, rule):
    learner = make_learner(name, CLASS, Terms(3, 4.0), rule)
    labels = np.random.default_rng(2).choice(5, p=law_for(name), size=(1, N * ROUNDS))
    features = np.full(N * ROUNDS, FEATURE)
    messages = learner.client.privatize(labels, features, many(1, 3))
    return learner.scores(messages, features).reshape(N, ROUNDS, -1).sum(axis=1)


def of_one_law(one, other):
    """Run Kolmogorov-Smirnov tests of all coordinates and of all their differences."""
    K = one.shape[1]
    pairs = [np.eye(K)[j] for j in range(K)]
    pairs += [pairs[i] - pairs[j] for i, j in itertools.combinations(range(K), 2)]
    # Rounded, so that the order of a sum does not matter.
    values = [ks_2samp(*((sums @ pair).round(9) for sums in (one, other))).pvalue for pair in pairs]
    return min(values) > ERROR / len(pairs)


# ---- sums ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "rule"), MEMBERS, ids=map("-".join, MEMBERS))
@pytest.mark.parametrize("many", [0.0, math.inf], ids=["counts", "single-draws"])
def test_sums_of_blocks_are_distributed_like_sums_of_single_rounds(name, rule, many, monkeypatch):
    monkeypatch.setattr(learners, "_MANY", many)
    expected = sums_of_single_rounds(name, rule)
    assert of_one_law(sums_of(name, rule), expected)
    assert not of_one_law(sums_of(name, rule, rounds=ROUNDS + 1), expected)
    if issubclass(LEARNERS[name], LossLearner):
        assert not of_one_law(sums_of(name, rule, kind=Quiet), expected)
    if rule == "exact":  # the published noise hides more
        other = law_for(name)[[3, 2, 1, 0, 4]]
        assert not of_one_law(sums_of(name, rule, law=other), expected)
    if name in ("wma", "exp3") and rule == "exact":
        monkeypatch.setattr(Clipping, "masses_of_blocks", lambda self, truth, feature: truth)
        assert not of_one_law(sums_of(name, rule), expected)


# ---- games ---------------------------------------------------------------------------------------


def long_game(T, R, feature=0):
    return realisable(CLASS, np.full(T, feature), R)


def play(name, game, epsilon=1.0, rule="exact", seed=1):
    learner = make_learner(name, game.hypotheses, Terms(game.n_rounds, epsilon), rule)
    return play_labels(learner, game, label_generators(seed, ("long",), game.n_replicates, name))


def test_blocks_are_as_long_as_log_weights_may_move():
    """The root mean square is 0.1, computed from the distribution of the answers."""
    T = 1_000_000
    game = long_game(T, 3)
    learner = make_learner("randomised-response", CLASS, Terms(T, 0.1))
    chances = learner.client.chances(CLASS.masses)[0, 0]
    moves = np.log(chances) - np.log(chances).mean(axis=1, keepdims=True)
    longest = 0.01 / (chances.T @ moves**2).max()
    generators = label_generators(1, ("long",), 3, "own")
    before = [generator.bit_generator.state for generator in generators.clients.generators]
    assert 20 < 0.7 * longest < module.block_length(learner, game, generators)
    assert module.block_length(learner, game, generators) < 1.4 * longest < 100
    assert [generator.bit_generator.state for generator in generators.clients.generators] == before
    calm = make_learner("wma", CLASS, Terms(T, 0.1))
    assert module.block_length(calm, game, generators) == 200
    assert module.block_length(calm, long_game(9_999, 3), generators) == 1
    wild = make_learner("bayes", CLASS, Terms(T, 0.1))
    assert module.block_length(wild, game, generators) == 1


@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_a_block_is_of_one_feature_and_no_longer_than_its_size(size):
    rng = np.random.default_rng(size)
    features = np.repeat(rng.integers(0, 3, 40), rng.integers(1, 12, 40))
    middles, rounds = module._blocks(features, size)
    assert features[middles].repeat(rounds).tolist() == features.tolist()
    assert rounds.max() <= size
    runs = [len(list(run)) for _, run in itertools.groupby(features)]
    assert len(rounds) == sum(math.ceil(run / size) for run in runs)
    assert (middles == np.cumsum(rounds) - rounds + rounds // 2).all()


@pytest.mark.parametrize("feature", [0, FEATURE])
def test_the_middle_of_a_block_stands_for_its_rounds(feature, monkeypatch):
    """All rounds and the middles see the same messages; longer blocks fail."""
    game = long_game(20_000, 6, feature)
    monkeypatch.setattr(module, "_LEAST", 200)
    short = play("exp3-bayes", game, 0.1)
    monkeypatch.setattr(module, "_LEAST", 20)
    monkeypatch.setattr(module, "_STEP", 10.0)
    long = play("exp3-bayes", game, 0.1)
    monkeypatch.setattr(module, "_LEAST", 20_000)
    exact = play("exp3-bayes", game, 0.1)
    for field in ("kl", "tv"):
        want = getattr(exact, field)
        off, far = (np.abs(getattr(run, field) / want - 1) for run in (short, long))
        assert (off > 0).all()
        assert off.max() < 0.02 < far.max()
    np.testing.assert_allclose(short.mean_weights, exact.mean_weights, rtol=0.01, atol=1e-3)
    np.testing.assert_allclose(short.final_weights, exact.final_weights, rtol=1e-9, atol=1e-12)


def rounds_played(name, game, monkeypatch, settles=True):
    """Return a run and the number of rounds whose messages it drew, without the pilot."""
    played, kind = [], LEARNERS[name]
    scores = module._scores

    def counted(learner, game, features, generators):
        played.append(len(features))
        return scores(learner, game, features, generators)

    with monkeypatch.context() as patch:
        patch.setattr(module, "_scores", counted)
        patch.setattr(module, "_CHUNK", 1000 * game.n_replicates * 3)
        patch.setattr(kind, "settles", settles)
        return play(name, game, 2.0), sum(played[1:])


@pytest.mark.parametrize("name", ["exp3-bayes", "membership", "bayes"])
def test_a_posterior_that_has_settled_stays(name, monkeypatch):
    """A settled posterior ends the game early, since the other rounds would add nothing."""
    game = long_game(30_000, 3)
    run, few = rounds_played(name, game, monkeypatch)
    want, every = rounds_played(name, game, monkeypatch, settles=False)
    assert few < 15_000 < every == 30_000
    for field in ("kl", "tv", "mean_weights", "final_weights"):
        expected = getattr(want, field)
        np.testing.assert_allclose(getattr(run, field), expected, rtol=1e-9, atol=1e-9)


def test_without_a_true_hypothesis_no_posterior_settles(monkeypatch):
    """It does not settle with several features either."""
    wrong = LabelGame(
        hypotheses=CLASS,
        features=np.zeros(10_000, int),
        truths=np.array([[LAW, LAW]]),
        truth=np.zeros(2, int),
    )
    several = realisable(CLASS, np.arange(10_000) % 2, 2)
    for game in (wrong, several):
        assert rounds_played("bayes", game, monkeypatch)[1] == 10_000
