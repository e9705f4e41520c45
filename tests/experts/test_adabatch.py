"""RW-AdaBatch: batch sizes, whole games, and the bounds on a change of the leader."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adabatch_plain as plain
from checks import scales
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.batches import BOUNDS, BatchRule
from dpol.experts.games import play
from dpol.noise import privatize

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


def test_the_paper_is_told_from_ours():
    assert (RWAdaBatch().bound, RWAdaBatch().origin) == ("borell-tis", "paper")
    assert RWAdaBatch(bound="reflection").origin == "ours"


def test_it_refuses_noise_of_another_law(random_stream):
    """Also of another package, which has a scale and no mechanism."""
    name = f"checks.scales:HONEST_{[*scales.HONEST].index('Laplace by pure epsilon')}"
    noisy = privatize(random_stream(4, 4), name, 1.0, seed=1, replicates=2)
    assert noisy.mechanism is None
    with pytest.raises(ValueError, match="RWAdaBatch needs Gaussian noise"):
        play(RWAdaBatch(), noisy)


# ---- the switching bounds ------------------------------------------------------------------------


@NAMES
@pytest.mark.parametrize("n", [2, 3, 10, 1_000])
def test_tails_are_right_to_ten_digits_down_to_1e_280(name, n):
    """One step of variance 1/2 has z as its gap."""
    z = np.concatenate([[1e-9, 1e-3, 0.1, 0.5, 0.85, 1.0], np.arange(1.5, 41.0, 0.75)])
    exact = np.array([plain.BOUNDS[name](at, 1, n, math.sqrt(0.5)) for at in z.tolist()])
    assert 1e-280 < exact[exact > 1e-280].min() < 1e-250
    tails = BOUNDS[name].tail(z, n)[exact > 1e-280]
    np.testing.assert_allclose(tails, exact[exact > 1e-280], rtol=1e-10)


@NAMES
@pytest.mark.parametrize("n", [2, 7, 500])
def test_thresholds_are_inverses_and_never_on_the_unsafe_side(name, n):
    p = np.concatenate([10.0 ** np.linspace(-290, -1, 40_001), np.linspace(0.1, 1, 40_001)[:-1]])
    bound = BOUNDS[name]
    z = bound.threshold(p, n)
    rounding = 1e-13 * np.maximum(1.0, -np.log10(p) / 16)  # as exponents grow
    assert (bound.tail(z, n) <= p * (1 + rounding)).all()
    assert ((z == 0) | (bound.tail(z - 1e-6, n) > p)).all()
    assert np.diff(z).max() < 1e-12


@pytest.mark.parametrize("n", [2, 3, 10, 100, 10**4, 10**6, 10**7])
def test_our_bound_is_below_the_papers_where_that_is_below_one_half(n):
    z = np.linspace(0.05, 36.0, 4000)
    paper = BOUNDS["borell-tis"].tail(z, n)
    useful = (paper < 0.5) & (paper > 1e-290)
    assert (BOUNDS["reflection"].tail(z, n) <= paper)[useful].all()
