"""RW-AdaBatch: the guarantee of a random batch size, the sizes themselves, and whole games."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

import adabatch_plain as plain
import laplace_noise
from dpol.experts import amplification
from dpol.experts.adabatch import RWAdaBatch, play_batches
from dpol.experts.amplification import (
    BatchMixture,
    containing_batch,
    gap_density,
    gap_survival,
    heuristic_batch,
    observed_batches,
)
from dpol.experts.batches import BOUNDS, BatchRule
from dpol.experts.games import play
from dpol.noise import privatize
from dpol.privacy.gaussian_dp import delta_of_epsilon, epsilon_of_delta
from grids import each_and_corners

ERROR = 1e-6
NAMES = pytest.mark.parametrize("name", BOUNDS)


def rule_of(name, n, eta, *, alpha=0.1, rounds=1_000, r=1.0):
    return BatchRule(
        bound=name, alpha=alpha, n_experts=n, longest=rounds, gain_range=r, noise_scale=eta
    )


def bound_of(name="reflection", n=2, mu=1.0, t=500, **changes):
    return containing_batch(t, rule_of(name, n, math.sqrt(n) / mu, **changes), mu)


def exceeds(mixture, size):
    return float(mixture.weights[mixture.sizes > size].sum())


def survival_at(mixture, sizes):
    return np.array([exceeds(mixture, size) for size in sizes])


# ---- the gap of independent normals --------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "x"), each_and_corners((2, 3, 10, 300), (0.0, 0.003, 0.517, 2.0, 7.7071))
)
def test_the_law_of_the_gap_is_right_to_nine_digits(n, x):
    assert float(gap_survival(x, n)) == pytest.approx(plain.gap_survival(x, n), rel=1e-9)
    assert float(gap_density(x, n)) == pytest.approx(plain.gap_density(x, n), rel=1e-9)


def test_outside_its_support_the_gap_has_no_density():
    assert gap_survival([-3.0, 0.0, 12.1, np.inf], 4) == pytest.approx([1, 1, 0, 0], abs=1e-12)
    assert gap_density([-1e-9, 12.1], 4).tolist() == [0, 0]


# ---- the lower bound on the containing batch -----------------------------------------------------


@NAMES
@pytest.mark.parametrize(
    ("n", "mu", "t", "b"),
    [
        (2, 0.1, 1, 1),
        (2, 0.1, 500, 1),
        (2, 0.1, 500, 64),
        (2, 0.1, 40, 45),
        (10, 0.1, 500, 7),
        (10, 1.0, 1000, 3),
        (10, 0.01, 30, 32),
    ],
)
def test_exceeding_equals_a_direct_quadrature(name, n, mu, t, b):
    """It agrees to nine digits for the rule's gap; the smaller exact gap never gives less."""
    rule = rule_of(name, n, math.sqrt(n) / mu)
    size = np.arange(1, 200)
    exceeding = amplification._exceeding(size, t, rule)[b - 1]
    bound, facts = plain.BOUNDS[name], {"n": n, "eta": rule.noise_scale, "r": 1.0}
    gaps = rule.required_gap(b + 1, t), plain.required_gap(bound, b + 1, t, alpha=0.1, **facts)
    rounded, exact = (plain.exceeding(bound, b, t, float(gap), **facts) for gap in gaps)
    assert exceeding == pytest.approx(rounded, abs=1e-9)
    assert exact - 1e-6 < exceeding < exact + 1e-9


@NAMES
def test_weights_are_the_falls_of_the_best_bound_over_larger_sizes(name):
    rule = rule_of(name, 2, math.sqrt(2) / 0.1, rounds=200)
    mixture = bound_of(name, 2, 0.1, 150, rounds=200)
    reach = amplification._exceeding(np.arange(1, 200), 150, rule)
    expected = [reach[b - 1 :].max() for b in range(1, 200)]
    assert survival_at(mixture, range(1, 200)) == pytest.approx(expected, abs=1e-13)
    assert mixture.sizes.tolist() == list(range(1, 201))
    assert mixture.weights.sum() == pytest.approx(1, abs=1e-12)
    assert mixture.mean() == pytest.approx(1 + sum(expected))


def refuted(bounds, sample):
    """Return sizes b whose lower bound on P(batch > b) exceeds the upper Clopper-Pearson limit.

    All limits of four such calls hold together with probability 1 - 1e-6.
    """
    wrong = []
    for b, bound in bounds.items():
        hits, runs = int((sample > b).sum()), len(sample)
        confidence = 1 - ERROR / (4 * len(bounds))
        limit = special.betaincinv(hits + 1, runs - hits, confidence) if hits < runs else 1.0
        if bound > limit:
            wrong.append(b)
    return wrong


@NAMES
@pytest.mark.parametrize("b", [16, 24])
def test_the_window_withstands_the_worst_drift_and_is_needed(name, b, make_noisy, crowd):
    """The bound holds in round 500 if all but the leader at the window's start gain from there on.

    No expert stands out before the window, so the bound from the gap at its start holds for sizes
    from b on; without the window's dip the bound is refuted.
    """
    rule, start, rng = rule_of(name, 2, math.sqrt(2)), 500 - b, np.random.default_rng(2)
    eta = rule.noise_scale
    initial = eta * rng.standard_normal((6_000, 2))
    gains = np.zeros((1_000, 6_000, 2))
    gains[:500] = eta * rng.standard_normal((500, 6_000, 2))
    leader = (initial + gains[:start].sum(axis=0)).argmax(axis=1)
    gains[start:500] += np.arange(2) != leader[:, None]
    noisy = make_noisy(gains.swapaxes(0, 1), eta, initial)
    sizes = play_batches(RWAdaBatch(0.1, name), noisy, crowd(6_000))[1][:, 499]
    reach = amplification._exceeding(np.arange(1, 200), 500, rule)
    assert refuted({size: reach[size - 1] for size in (b, 24, 32, 64, 128)}, sizes) == []
    needed = float(rule.required_gap(b + 1, 500))
    blind = plain.exceeding(plain.BOUNDS[name], b, 500, needed, n=2, eta=eta, r=1.0, window=0)
    assert refuted({b: blind}, sizes) == [b]


# ---- the heuristic -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "t", "alpha"),
    [(2, 500, 0.1), (2, 20, 3.0), (2, 900, 1.0), (3, 400, 1.0), (10, 1000, 0.1)],
)
def test_the_heuristic_equals_one_by_root_finding(n, t, alpha):
    """The plain version has another noise scale, which cancels."""
    guess = heuristic_batch(t, rule_of("reflection", n, math.sqrt(n) / 0.3, alpha=alpha), 0.3)
    sizes = range(1, 60)
    expected = [plain.heuristic_exceeding(b, t, n=n, alpha=alpha, eta=7.0) for b in sizes]
    np.testing.assert_allclose(survival_at(guess, sizes), expected, atol=1e-9)
    assert guess.mu == 0.3


# ---- what a mixture guarantees -------------------------------------------------------------------


MIXTURES = {
    "one size": BatchMixture(0.7, np.array([1]), np.array([1.0])),
    "two sizes": BatchMixture(2.0, np.array([1, 100]), np.array([0.25, 0.75])),
    "mostly large": BatchMixture(5.0, np.array([1, 3, 900]), np.array([1e-9, 0.1, 0.9 - 1e-9])),
    "analytic": bound_of(),
    "analytic, ten experts": bound_of("borell-tis", 10, 0.1, 700),
}


@pytest.mark.parametrize(
    ("name", "spread"), each_and_corners([*MIXTURES], (0.0, 0.01, 0.3, 1.0, 3.0))
)
def test_delta_is_the_conjugate_of_the_trade_off_function(name, spread):
    """The best threshold is searched, and equals epsilon; the epsilon of a delta reaches it."""
    mixture = MIXTURES[name]
    epsilon = spread * mixture.mu

    def advantage(threshold):
        false_positive, false_negative = mixture.trade_off_at(threshold)
        return float(1 - false_negative - math.exp(epsilon) * false_positive)

    around = epsilon - 0.5 * mixture.mu, epsilon + 0.7 * mixture.mu
    best = optimize.minimize_scalar(
        lambda c: -advantage(c), bounds=around, method="bounded", options={"xatol": 1e-9}
    )
    delta = float(mixture.delta(epsilon))
    assert delta == pytest.approx(-best.fun, abs=1e-9)
    assert float(mixture.delta(mixture.epsilon(delta))) == pytest.approx(delta, rel=1e-6)


@NAMES
@pytest.mark.parametrize("t", [1, 100])
@pytest.mark.parametrize("mu", [0.01, 10.0])
def test_extreme_settings_are_finite_and_no_worse_than_one_round(name, t, mu):
    mixture = bound_of(name, 2, mu, t, rounds=100)
    curves = mixture.trade_off_at(np.linspace(-6, 6, 61) * mu)
    assert np.isfinite(curves).all()
    epsilon = np.linspace(0, 4 * mu, 21)
    delta = mixture.delta(epsilon)
    assert (np.diff(delta) <= 0).all()
    assert (delta <= delta_of_epsilon(epsilon, mu) * (1 + 1e-12)).all()
    for level in (1e-12, 1e-6, 1e-3, 0.5):  # one is above delta(0)
        assert 0 <= mixture.epsilon(level) <= epsilon_of_delta(level, mu) * (1 + 1e-14)


@NAMES
@pytest.mark.parametrize("t", [1, 2_000, 3_000])
def test_leaving_sizes_out_only_lowers_the_bound(name, t, monkeypatch):
    few = bound_of(name, 2, 0.1, t, rounds=3_000, alpha=1.0)
    monkeypatch.setattr(amplification, "_EXACT_SIZES", 5_000)
    every = bound_of(name, 2, 0.1, t, rounds=3_000, alpha=1.0)
    assert len(every.sizes) == 3_000
    assert 256 < len(few.sizes) < 600
    assert few.sizes[-1] == 3_000
    lost = survival_at(every, every.sizes) - survival_at(few, every.sizes)
    assert lost.min() > -1e-12
    assert lost.max() < 0.02
    assert t == 1 or lost.max() > 1e-6


def test_observed_sizes_are_counted():
    mixture = observed_batches(np.array([[3, 1], [7, 3]]), 0.5)
    assert mixture.mu == 0.5
    assert mixture.sizes.tolist() == [1, 3, 7]
    assert mixture.weights.tolist() == [0.25, 0.5, 0.25]
    assert mixture.mean() == 3.5
    assert mixture.mus == pytest.approx([0.5, 0.5 / math.sqrt(3), 0.5 / math.sqrt(7)])


# ---- batch sizes, games, and bounds on a change of the leader ------------------------------------


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


def test_the_bound_of_the_paper_is_told_from_that_of_dpol():
    assert (RWAdaBatch().bound, RWAdaBatch().origin) == ("borell-tis", "paper")
    assert RWAdaBatch(bound="reflection").origin == "dpol"


def test_adabatch_refuses_noise_of_another_law(random_stream):
    noisy = privatize(random_stream(4, 4), laplace_noise.NAME, 1.0, seed=1, replicates=2)
    with pytest.raises(ValueError, match="RWAdaBatch needs Gaussian noise"):
        play(RWAdaBatch(), noisy)


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
