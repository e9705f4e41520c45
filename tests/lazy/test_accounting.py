import itertools
import math
from dataclasses import replace
from functools import partial

import mpmath
import numpy as np
import pytest

import lazy_plain as plain
from dpol.lazy.accounting import (
    ACCOUNTANTS,
    LazyGame,
    Redraws,
    published_epsilon,
    sound_epsilon,
    sound_loss,
)
from dpol.lazy.dartboard import choose_dartboard, theorem_5_epsilon
from dpol.lazy.parameters import choose_parameters, theorem_3_10
from dpol.lazy.transform import LazyParameters
from grids import each_and_corners
from lazy_exact import neighbours, output_masses

NORMALISERS = (1.0, 2.0)

# ---- the published accountant --------------------------------------------------------------------


def published_by_hand(T, delta, B, eta, p):
    """Return Theorem 3.2 with 30 digits."""
    with mpmath.workdps(30):
        T, delta, B, eta, p = (mpmath.mpf(value) for value in (T, delta, B, eta, p))
        log = mpmath.log(1 / (delta / (2 * T)))
        terms = [2 * eta / p, eta, 3 * T * eta**2 * p * log / (2 * B)]
        return float(sum(terms) + mpmath.sqrt(6 * T * eta**2 * p * log**2 / B))


@pytest.mark.parametrize(
    ("T", "delta", "B", "eta", "p"),
    [(1000, 1e-6, 1, 0.001, 0.1), (10**4, 1e-6, 28, 0.001, 0.7), (10, 0.1, 2, 0.05, 1.0)],
)
def test_published_epsilon_is_the_theorems_formula(T, delta, B, eta, p):
    """It does not depend on how far one person can move a loss."""
    expected = published_by_hand(T, delta, B, eta, p)
    for s in (0.01, 1.0):
        epsilon = published_epsilon(LazyGame(T, delta, largest_change=s), B, eta, p)
        assert epsilon == pytest.approx(expected, rel=1e-13)


def test_the_published_epsilon_is_inf_outside_its_preconditions():
    game = LazyGame(1000, 1e-6)
    log = math.log(2e9)
    for B, p in [(1, 0.1), (7, 0.5), (100, 1.0)]:
        limit = p / (B * log)
        assert math.isfinite(published_epsilon(game, B, limit * 0.9999, p))
        assert math.isinf(published_epsilon(game, B, limit * 1.0001, p))
    assert math.isfinite(published_epsilon(game, 100, 1e-6, 0.1001))  # T p / B > 1
    assert math.isinf(published_epsilon(game, 100, 1e-6, 0.0999))
    assert math.isinf(published_epsilon(game, 1, 1e-6, 0.0))


# ---- the sound accountant ------------------------------------------------------------------------

POINTS = [
    (10**4, 1e-6, 8, 0.008, 0.07),
    (1000, 1e-6, 1, 0.03, 0.05),
    (1000, 1e-5, 7, 0.001, 0.3),  # 1000 is not a multiple of 7.
    (148, 1e-6, 1, 0.2, 0.01),
    (5, 0.01, 2, 0.5, 0.9),
    (3, 1e-9, 5, 2.0, 0.001),
    (50, 0.3, 1, 0.0001, 1.0),
]


@pytest.mark.parametrize(
    ("point", "s", "c"), each_and_corners(POINTS, (0.03, 0.2, 1.0), NORMALISERS)
)
def test_sound_epsilon_is_its_definition(point, s, c):
    """The library has a grid of orders, so it may be larger by half a percent, never smaller."""
    T, delta, B, eta, p = point
    expected = plain.sound_epsilon(T, delta, B=B, eta=eta, p=p, c=c, s=s)
    epsilon = sound_epsilon(LazyGame(T, delta, largest_change=s, normaliser=c), B, eta, p)
    assert expected * (1 - 1e-9) <= epsilon <= expected * 1.005 + 1e-12


@pytest.mark.parametrize("point", [(60, 1e-6, 1, 0.02, 0.1), (148, 1e-3, 4, 0.01, 0.4)])
def test_the_epsilon_of_searches_is_an_upper_bound_on_that_of_the_loss(point):
    """By up to a third, where delta is large and epsilon small."""
    T, delta, B, eta, p = point
    game = LazyGame(T, delta, largest_change=0.3)
    exact = sound_loss(game, LazyParameters(B, eta, p)).epsilon(delta)
    assert exact <= sound_epsilon(game, B, eta, p) <= 1.35 * exact


# ---- exact losses of small games against the record ----------------------------------------------

PAIRS = 3000
RULES = list(itertools.product(((2, 4), (3, 2)), (0.03, 0.3, 1.0), (0.02, 0.2, 0.8)))
"""Experts and batches with a successor, eta and p; the losses of a batch are 0 or 1."""


def shares_of_the_record(kind, loss_of):
    """The largest exact mu and total variation, over those of a record.

    Of pairs of streams that differ in one batch, by the laws of their choices.
    """
    worst, count = np.zeros(2), 0
    for (d, rest), eta, p in RULES:
        loss = loss_of(LazyGame(rest + 1, 1e-6), 1, eta, p)
        sequences, pairs = neighbours(d, rest)
        laws = output_masses(sequences, LazyParameters(1, eta, p, shadow=kind == "l2p"))
        for first, second in pairs:
            some = np.random.default_rng(0).permutation(len(first))
            some = some[: PAIRS // len(RULES) // len(pairs) + 1]
            one, other = laws[first[some]], laws[second[some]]
            variation = np.abs(one - other).sum(axis=1).max() / 2
            found = np.array([plain.largest_mu(one, other), variation])
            worst = np.maximum(worst, found / (loss.mu, loss.delta(0.0)))
            count += len(one)
    return worst, count


@pytest.mark.parametrize("kind", ["l2p", "dartboard"])
def test_no_enumerated_pair_of_streams_loses_more_than_the_record(kind):
    def loss_of(game, *rule):
        return sound_loss(game, LazyParameters(*rule, shadow=kind == "l2p"))

    (mu, variation), count = shares_of_the_record(kind, loss_of)
    assert count >= PAIRS
    assert 0.3 < mu <= 1
    assert 0.3 < variation <= 1


@pytest.mark.parametrize(("kind", "moved", "seen"), [("dartboard", 1, True), ("l2p", 2, False)])
def test_records_that_leave_out_a_part_are_found_out(kind, moved, seen):
    """Power: draws of the dartboard at half their range, and L2P without its indicator.

    A redraw of either stream moves all log odds by up to eta, both ways.
    """

    def lower(game, B, eta, p):
        shadow = kind == "l2p"
        change, log_keep = (1 + shadow) * eta, -(1 + shadow) * eta
        rules = {"batches": game.n_rounds, "fake_switch": p, "change": change, "shadow": shadow}
        redraws = Redraws(**rules, log_keep=log_keep)
        rule = LazyParameters(B, eta, p, shadow=shadow)
        assert redraws.loss(2 * eta) == sound_loss(game, rule)
        return redraws.loss(moved * eta) if seen else replace(redraws, change=0.0).loss(moved * eta)

    assert max(shares_of_the_record(kind, lower)[0]) > 1


# ---- the choice of parameters --------------------------------------------------------------------


def objective(T, d, B, eta, which="sound"):
    stability = {"sound": eta * T * B / 8, "published": eta * T / 2 + T * B**2 * eta**2}
    return math.log(d) / eta + stability[which]


CASES = [
    (T, epsilon, delta, d, s)
    for T, epsilon in ((1, 0.1), (20, 4.0))
    for delta, d, s in ((1e-6, 300, 1.0), (1e-6, 2, 0.05), (1e-2, 10, 1.0))
]


@pytest.mark.parametrize("accountant", sorted(ACCOUNTANTS))
def test_chosen_parameters_reach_the_epsilon_asked_for(accountant):
    for c, (T, epsilon, delta, d, s) in itertools.product(NORMALISERS, CASES):
        game = LazyGame(T, delta, largest_change=s, normaliser=c)
        asked = {"epsilon": epsilon, "n_experts": d, "accountant": accountant}
        chosen = choose_parameters(game, **asked)
        B, eta, p = chosen.batch_size, chosen.eta, chosen.fake_switch
        assert isinstance(B, int)
        assert 1 <= B <= T
        assert 0 < p <= 1
        assert eta > 0
        assert chosen.epsilon == ACCOUNTANTS[accountant](game, B, eta, p) <= epsilon
        assert chosen.objective == pytest.approx(objective(T, d, B, eta, accountant), rel=1e-12)
        if accountant == "sound":
            assert plain.sound_epsilon(T, delta, B=B, eta=eta, p=p, c=c, s=s) <= epsilon
        else:
            assert published_by_hand(T, delta, B, eta, p) <= epsilon


@pytest.mark.parametrize("accountant", sorted(ACCOUNTANTS))
def test_no_private_parameters_have_an_objective_three_percent_smaller(accountant):
    """Compared with a fine grid over p and all B, at the smallest eta with such an objective.

    The objective falls with eta up to its minimiser, and epsilon rises with eta.
    """
    T, epsilon, d = 300, 1.0, 10
    game, etas = LazyGame(T, 1e-6, largest_change=0.5), np.geomspace(1e-6, 10, 20_000)
    asked = {"epsilon": epsilon, "n_experts": d, "accountant": accountant}
    chosen = choose_parameters(game, **asked)
    for B in range(1, T + 1):
        reaching = etas[objective(T, d, B, etas, accountant) < chosen.objective / 1.03].tolist()
        if not reaching:  # The objective rises with B.
            break
        for p in np.geomspace(1e-5, 1, 300).tolist():
            assert ACCOUNTANTS[accountant](game, B, reaching[0], p) > epsilon
    assert B > 1


@pytest.mark.parametrize("accountant", sorted(ACCOUNTANTS))
def test_without_privacy_it_is_multiplicative_weights_at_the_best_step(accountant):
    chosen = choose_parameters(
        LazyGame(800, 1e-6), epsilon=math.inf, n_experts=20, accountant=accountant
    )
    assert (chosen.batch_size, chosen.fake_switch, chosen.epsilon) == (1, 0.0, math.inf)
    steps = np.geomspace(0.5, 2, 2001) * chosen.eta
    assert chosen.objective <= min(objective(800, 20, 1, eta, accountant) for eta in steps) * (
        1 + 1e-9
    )


@pytest.mark.parametrize("accountant", sorted(ACCOUNTANTS))
def test_what_cannot_be_chosen_is_an_error_with_its_remedy(accountant):
    game, message = LazyGame(5, 1e-12), "take a larger epsilon or delta, or more rounds"
    with pytest.raises(ValueError, match=f"{accountant} accountant; {message}"):
        choose_parameters(game, epsilon=1e-12, n_experts=10, accountant=accountant)


# ---- Theorem 3.10 --------------------------------------------------------------------------------


def test_theorem_3_10_by_hand():
    """T = 10^6, d = e^16: eps_0 = 10^-1.5 * 8 = 0.253 > eps = 1/8, so eta = 0.0025 / log."""
    d, game = round(math.exp(16)), LazyGame(10**6, 1e-6, largest_change=1.0, normaliser=2.0)
    log = math.log(1e12)
    preset = theorem_3_10(game, epsilon=0.125, n_experts=d)
    assert preset.batch_size == 8
    assert preset.eta == pytest.approx(0.0025 / log, rel=1e-12)
    assert preset.fake_switch == pytest.approx(0.2 / log, rel=1e-12)
    assert preset.epsilon == sound_epsilon(game, 8, preset.eta, preset.fake_switch)
    larger = theorem_3_10(game, epsilon=1.0, n_experts=d)
    assert larger.batch_size == 1
    least = 10**-1.5 * 8  # eps_0, below eps here
    assert larger.eta == pytest.approx(least ** (2 / 3) / 100 / log, rel=1e-6)
    assert larger.fake_switch == pytest.approx(10 * larger.eta, rel=1e-12)
    value = 16 / larger.eta + larger.eta * 5e5 + 1e6 * larger.eta**2
    assert larger.objective == pytest.approx(value, rel=1e-6)


# ---- parameters of the private shrinking dartboard -----------------------------------------------


def test_theorems_2_and_5_by_hand():
    """5 eta/(Bp) + 100 T p eta^2/B^3 + 20 eta/B sqrt(12 T p/B log(1/delta)), 12 only in batches."""
    game, log_term = LazyGame(1000, math.exp(-9)), 9.0
    eta = -math.log(0.99)
    assert theorem_5_epsilon(game, 1, eta, 0.1) == pytest.approx(0.5 + 1.0 + 0.2 * 30)
    batched = 0.25 + 100 * 1000 * 0.1 * 1e-4 / 8 + 0.1 * math.sqrt(12 * 50 * log_term)
    assert theorem_5_epsilon(game, 2, eta / 2, 0.1) == pytest.approx(batched)
    for step, p in ((0.01, 0.5), (0.5, 0.4), (0.2, 0.1), (0.01, 0.0)):
        assert theorem_5_epsilon(game, 1, -math.log(1 - step), p) == math.inf


@pytest.mark.parametrize("accountant", ["sound", "published"])
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_a_dartboard_reaches_epsilon_with_the_stated_bound(accountant, epsilon):
    """Its batches are no larger than the largest allowed."""
    game = LazyGame(10_000, 1e-6)
    choose = partial(choose_dartboard, game, epsilon=epsilon, n_experts=300, accountant=accountant)
    best = choose()
    B, eta, p = best.batch_size, best.eta, best.fake_switch
    account = {"sound": partial(sound_epsilon, shadow=False), "published": theorem_5_epsilon}[
        accountant
    ]
    assert 0.98 * epsilon < account(game, B, eta, p) == best.epsilon <= epsilon
    limit = math.ceil(4 * 10_000 * p / B) - 1
    assert best.limit == (limit if accountant == "published" else math.inf)
    assert (best.shadow, best.log_scale) == (False, 0.0)
    bound = math.log(300) / eta + eta * 10_000 * B / 8
    if accountant == "published":
        step = 1 - math.exp(-B * eta)
        bound = step * 1e4 + B * math.log(300) / step + 2e4 * math.exp(-1e4 * p / (3 * B))
    assert best.objective == pytest.approx(bound)
    if accountant == "sound":  # less than L2P at the same guarantee
        assert bound < 0.8 * choose_parameters(game, epsilon=epsilon, n_experts=300).objective
    assert B > 10 or epsilon > 1
    for largest in (1, (B + 1) // 2, B):
        assert 1 <= choose(largest_batch=largest).batch_size <= largest
