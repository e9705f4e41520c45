"""Parameters of the private shrinking dartboard; `test_algorithm.py` has what it plays."""

from __future__ import annotations

import math
from functools import partial

import pytest

from dpol.lazy.accounting import LazyGame, sound_epsilon
from dpol.lazy.dartboard import choose_dartboard, theorem_5_epsilon
from dpol.lazy.parameters import choose_parameters


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
def test_chosen_parameters_reach_epsilon_with_the_stated_bound(accountant, epsilon):
    game = LazyGame(10_000, 1e-6)
    best = choose_dartboard(game, epsilon=epsilon, n_experts=300, accountant=accountant)
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


@pytest.mark.parametrize("accountant", ["sound", "published"])
def test_batches_are_no_larger_than_the_largest_allowed(accountant):
    game = LazyGame(10_000, 1e-6)
    asked = {"epsilon": 0.5, "n_experts": 300, "accountant": accountant}
    free = choose_dartboard(game, **asked).batch_size
    for largest in (free // 2, free, 1):
        assert 1 <= choose_dartboard(game, **asked, largest_batch=largest).batch_size <= largest
    assert free > 10
