"""RW-AdaBatch: batch sizes, whole games, and the longer batches of the reflection bound."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

import adabatch_plain as plain
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import containing_batch
from dpol.experts.batches import BatchRule
from dpol.experts.ftpl import RandomWalkFTPL
from dpol.experts.play import amplification_of, play_rounds, setup_of
from dpol.experts.switching import BOUNDS
from dpol.noise import privatize

ERROR = 1e-6
NAMES = pytest.mark.parametrize("name", BOUNDS)


def rule_of(name, *, n=4, rounds=60, alpha=0.3, eta=0.8, r=1.0):
    return BatchRule(
        bound=name, alpha=alpha, n_experts=n, longest=rounds, gain_range=r, noise_scale=eta
    )


def batched(algorithm, noisy, crowd):
    return play_batches(algorithm, noisy, crowd(noisy.n_replicates))


games = st.fixed_dictionaries(
    {
        "alpha": st.floats(-6, 1.5).map(lambda x: 10.0**x),
        "n": st.integers(2, 60),
        "rounds": st.integers(1, 90),
        "eta": st.floats(-2, 1.5).map(lambda x: 10.0**x) | st.just(0.0),
        "r": st.floats(0.01, 3.0),
    }
)


@NAMES
@given(game=games, t=st.integers(1, 90), gaps=st.lists(st.floats(0, 150), min_size=1, max_size=4))
def test_batch_sizes_equal_a_scan_of_all_sizes(name, game, t, gaps):
    """The scan evaluates the bound itself, so it also shows that no larger size is allowed.

    If the bound is within 1e-6 of its target, the threshold may be rounded up.
    """
    t, bound = min(t, game["rounds"]), plain.BOUNDS[name]
    sizes = rule_of(name, **game).batch_sizes(np.array(gaps), t)
    for gap, size in zip(gaps, sizes.tolist(), strict=True):
        expected = plain.batch_size(bound, gap, t, **game)
        if size != expected:
            assert size == expected - 1
            reached = bound(gap - game["r"] * expected, expected, game["n"], game["eta"])
            target = plain.target(expected, t, game["n"], game["alpha"])
            assert reached == pytest.approx(target, rel=1e-6)


@NAMES
@given(game=games, t=st.integers(1, 90), size=st.integers(1, 90))
def test_the_required_gap_is_the_root_of_the_bound_or_a_little_above(name, game, t, size):
    t, size = min(t, game["rounds"]), min(size, game["rounds"])
    required = float(rule_of(name, **game).required_gap(size, t))
    if plain.target(size, t, game["n"], game["alpha"]) >= 1:
        assert required == -math.inf
        return
    if game["eta"] == 0:
        assert required == pytest.approx(game["r"] * size)
        return
    facts = {key: game[key] for key in ("n", "alpha", "eta", "r")}
    exact = plain.required_gap(plain.BOUNDS[name], size, t, **facts)
    step = game["eta"] * math.sqrt(2 * size)
    assert -1e-10 * (1 + exact) <= required - exact <= 1e-6 * step + 1e-10 * exact


@NAMES
@pytest.mark.parametrize(("alpha", "n", "rounds"), [(2.0, 3, 40), (5.0, 10, 40), (1.3, 8, 9)])
def test_a_target_of_one_or_more_allows_every_gap(name, alpha, n, rounds):
    """The target alpha sqrt(log n / (t + B)) is 1 or more for every B up to alpha^2 log n - t."""
    rule = rule_of(name, alpha=alpha, n=n, rounds=rounds)
    longest = alpha**2 * math.log(n)
    for t in range(1, rounds + 1):
        expected = min(max(1, math.floor(longest - t)), rounds)
        assert rule.batch_sizes(np.zeros(2), t).tolist() == [expected, expected]
    assert rule.batch_sizes(np.zeros(1), 1)[0] > 1


@NAMES
def test_planned_sizes_run_past_the_last_round_but_are_at_most_its_number(name):
    rule = rule_of(name)
    assert rule.batch_sizes(np.array([20.0]), 58)[0] > 3
    assert rule.batch_sizes(np.array([1e6]), 60)[0] == 60
    assert rule.batch_sizes(np.array([1e6, 0.0, 20.0]), 1)[[0, 1]].tolist() == [60, 1]


@NAMES
def test_without_noise_a_batch_lasts_while_its_lead_cannot_be_lost(name):
    rule = rule_of(name, eta=0.0, r=0.5, alpha=0.01)
    gaps = np.array([0.0, 0.5, 1.0, 1.01, 5.0, 5.2, 29.9, 1e9])
    assert rule.batch_sizes(gaps, 4).tolist() == [1, 1, 1, 2, 9, 10, 59, 60]


@NAMES
def test_a_game_without_noise_by_hand(name, make_noisy, crowd):
    """A lead of k gives a batch of k - 1 rounds, because it may be lost after k rounds."""
    gains = np.zeros((1, 20, 2))
    gains[:, :, 1] = 1.0
    actions, sizes = batched(RWAdaBatch(0.01, name), make_noisy(gains), crowd)
    # Leads 0, 1, 2, 3, 5, 9, 17 at the starts 1, 2, 3, 4, 6, 10, 18.
    starts = [(1, 1), (1, 1), (1, 1), (2, 2), (4, 4), (8, 8), (16, 3)]
    assert sizes[0].tolist() == [size for size, shown in starts for _ in range(shown)]
    assert actions[0].tolist() == [0] + 19 * [1]


@NAMES
@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize(("alpha", "eta"), [(0.1, 3.0), (0.8, 0.5), (0.01, 30.0)])
def test_the_whole_game_equals_the_plain_one(name, n, alpha, eta, draw_noisy, crowd):
    raw = np.random.default_rng(n).random((50, n)) * np.arange(n) / n
    noisy = draw_noisy(raw, eta, 6, seed=n)
    actions, sizes = batched(RWAdaBatch(alpha, name), noisy, crowd)
    games = [
        plain.rw_adabatch(gains, initial, plain.BOUNDS[name], alpha=alpha, eta=eta)
        for gains, initial in zip(noisy.gains, noisy.initial, strict=True)
    ]
    assert actions.tolist() == [expected[0] for expected in games]
    assert sizes.tolist() == [expected[1] for expected in games]


def test_the_games_above_have_batches_and_changes_of_leader(draw_noisy, crowd):
    noisy = draw_noisy(np.zeros((50, 3)), 3.0, 30)
    actions, sizes = batched(RWAdaBatch(0.1, "reflection"), noisy, crowd)
    assert (sizes == 1).any()
    assert (sizes > 4).any()
    assert (np.diff(actions) != 0).sum() > 30


@pytest.mark.parametrize(("name", "alpha"), [("reflection", 1e-300), ("borell-tis", 1e-15)])
def test_for_alpha_near_zero_it_is_rw_ftpl(name, alpha, draw_noisy, crowd):
    noisy = draw_noisy(np.random.default_rng(4).random((12, 5)), 10.0, 200, seed=4)
    actions, sizes = batched(RWAdaBatch(alpha, name), noisy, crowd)
    assert (sizes == 1).all()
    np.testing.assert_array_equal(actions, play_rounds(RandomWalkFTPL(), noisy, crowd(200)))
    assert (batched(RWAdaBatch(0.5, name), noisy, crowd)[1] > 1).any()


@pytest.mark.parametrize(
    ("n", "mu", "replicates", "expected"),
    [
        (2, 0.1, 6_000, {"borell-tis": (22.2, 0.6), "reflection": (41.5, 1.0)}),
        (10, 0.1, 2_000, {"borell-tis": (5.1, 0.2), "reflection": (10.8, 0.3)}),
    ],
)
def test_the_mean_containing_batch_is_that_of_the_reference(
    n, mu, replicates, expected, make_noisy, crowd
):
    """Round 500 of 1,000 on all-zero gains, alpha = 0.1.

    Two-sided normal test with both standard errors: error below 1e-6 for each pair.
    """
    rng, eta = np.random.default_rng(n), math.sqrt(n) / mu
    gains = np.zeros((1_000, replicates, n))  # later rounds are not read
    gains[:499] = eta * rng.standard_normal((499, replicates, n))
    initial = eta * rng.standard_normal((replicates, n))
    noisy = make_noisy(gains.transpose(1, 0, 2), eta, initial)
    for name, (mean, error) in expected.items():
        sizes = batched(RWAdaBatch(0.1, name), noisy, crowd)[1][:, 499]
        sampling = sizes.std(ddof=1) / math.sqrt(replicates)
        limit = -special.ndtri(ERROR / 2) * math.hypot(sampling, error)
        assert abs(sizes.mean() - mean) < limit
        assert limit < mean / 3


def test_the_paper_is_told_from_ours():
    assert (RWAdaBatch().bound, RWAdaBatch().origin) == ("borell-tis", "paper")
    assert RWAdaBatch(bound="reflection").origin == "ours"
    assert RWAdaBatch.model == "local"


@NAMES
def test_the_amplification_of_a_game_holds_for_each_of_its_rounds(name, make_stream, make_noisy):
    stream = make_stream(np.zeros((30, 3)), 2.0)
    noisy = privatize(stream, "isotropic-constant", 0.1, seed=1, replicates=[0])
    algorithm = RWAdaBatch(0.3, name)
    mixture = amplification_of(algorithm, noisy)
    assert mixture.mu == pytest.approx(0.1)
    rule = algorithm.rule(setup_of(noisy))
    each = [containing_batch(t, rule, mixture.mu) for t in range(1, 31)]
    least = np.array([one.weights[::-1].cumsum()[::-1] for one in each]).min(axis=0)
    np.testing.assert_allclose(mixture.weights[::-1].cumsum()[::-1], least, atol=1e-12)
    assert mixture.mean() > 1
    assert amplification_of(RandomWalkFTPL(), noisy) is None
    assert amplification_of(algorithm, make_noisy(np.zeros((1, 8, 3)))) is None


def test_the_amplified_guarantee_holds_for_the_last_round_as_for_the_first(make_noisy):
    """Here the smallest batch is that of the last round."""
    algorithm = RWAdaBatch(alpha=2.0, bound="reflection")
    noisy = make_noisy(np.zeros((1, 5, 5)), noise_scale=5.0)
    noisy = dataclasses.replace(noisy, guarantee=dataclasses.replace(noisy.guarantee, mu=0.7))
    told, rule = amplification_of(algorithm, noisy), algorithm.rule(setup_of(noisy))
    each = [containing_batch(t, rule, 0.7) for t in range(1, 6)]
    at_least = np.array([mixture.weights[::-1].cumsum() for mixture in each])
    np.testing.assert_allclose(told.weights[::-1].cumsum(), at_least.min(axis=0), atol=1e-12)
    assert told.mu == 0.7
    assert (at_least[-1] < at_least[:-1].min(axis=0) - 0.5).any()
