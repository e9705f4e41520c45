"""Guarantee and parameters of L2P on a ball, and the preset of Theorem 3.12."""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import pytest

import lazy_plain as plain
from dpol.lazy.convex.accounting import (
    ConvexGame,
    ConvexParameters,
    choose_convex_parameters,
    convex_epsilon,
    theorem_3_12,
)

Point = tuple[int, float, float, float, float]
GAME = ConvexGame(n_rounds=1000, dimension=3, diameter=2.0, lipschitz=1.5, delta=1e-6)
POINTS: list[Point] = [
    # B, eta, p, beta, lambda
    (1, 0.03, 0.05, 0.01, 200.0),
    (7, 0.01, 0.3, 0.02, 30.0),  # 1000 is not a multiple of 7
    (20, 0.06, 0.46, 0.02, 150.0),
    (1000, 0.5, 1.0, 0.3, 5.0),
    (2, 0.2, 0.9, 1e-4, 1.0),
]


def by_hand(game: ConvexGame, point: Point, c: float) -> float:
    """Return epsilon by the stated accounting; divergences and conversion share no code."""
    B, eta, p, beta, weight = point
    spread = beta * game.lipschitz * game.diameter
    gdp = game.lipschitz * math.sqrt(2 * beta / weight)
    batches, lost = math.ceil(game.n_rounds / B), B * (c * eta + spread)
    return plain.redraws_epsilon(
        batches, game.delta, p, 2 * spread, lost, lambda order: order * gdp**2 / 2
    )


def point_of(best: ConvexParameters) -> Point:
    return best.batch_size, best.eta, best.fake_switch, best.beta, best.regulariser


@functools.lru_cache
def chosen(T: int, d: int, epsilon: float) -> tuple[ConvexGame, ConvexParameters]:
    game = replace(GAME, n_rounds=T, dimension=d, lipschitz=1.0)
    return game, choose_convex_parameters(game, epsilon=epsilon)


# ---- the accountant ------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1.0, 2.0])
@pytest.mark.parametrize("point", POINTS)
def test_epsilon_is_its_definition(point: Point, c: float) -> None:
    """The library has a grid of orders, so it may be larger by half a percent, never smaller."""
    expected = by_hand(GAME, point, c)
    assert expected * (1 - 1e-9) <= convex_epsilon(GAME, *point, c) <= expected * 1.005 + 1e-12


# ---- the choice of parameters --------------------------------------------------------------------

CASES = [(1, 2, 1.0), (3, 1, 0.2), (2, 2, 4.0), (4, 10, 1.0)]


@pytest.mark.parametrize(("T", "d", "epsilon"), CASES)
def test_chosen_parameters_reach_the_epsilon_asked_for(T: int, d: int, epsilon: float) -> None:
    game, best = chosen(T, d, epsilon)
    assert isinstance(best.batch_size, int)
    assert 1 <= best.batch_size <= T
    assert 0 < best.fake_switch <= 1
    L, D, B = game.lipschitz, game.diameter, best.batch_size
    # B eta bounds the log ratio of x and y, so no keep probability is capped.
    assert best.eta == pytest.approx(best.beta * L * D, rel=1e-12)
    assert best.epsilon == convex_epsilon(game, *point_of(best))
    assert by_hand(game, point_of(best), 1.0) <= best.epsilon * (1 + 1e-9)
    assert 0.9 * epsilon < best.epsilon <= epsilon  # the budget is used up
    bound = best.regulariser * D**2 / 4 + B * T * L**2 / (2 * best.regulariser) + d / best.beta
    assert best.objective == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(("T", "d", "epsilon"), CASES[1:3])
def test_no_point_of_a_random_search_is_better(T: int, d: int, epsilon: float) -> None:
    """No point is better by more than 10%, the coarseness of the grid."""
    game, parameters = chosen(T, d, epsilon)
    rng = np.random.default_rng(0)
    best = math.inf
    for _ in range(1500):
        B = int(rng.integers(1, T + 1))
        p, beta = float(rng.uniform(0.01, 1)), parameters.beta * float(np.exp(rng.uniform(-1, 1)))
        weight = parameters.regulariser * float(np.exp(rng.uniform(-1.5, 1.5)))
        bound = weight * game.diameter**2 / 4 + d / beta
        bound += B * T * game.lipschitz**2 / (2 * weight)
        if bound < best:
            eta = beta * game.lipschitz * game.diameter
            if convex_epsilon(game, B, eta, p, beta, weight) <= epsilon:
                best = bound
    assert best < 1.5 * parameters.objective  # the search comes close
    assert parameters.objective <= 1.1 * best


def test_the_choice_does_not_depend_on_the_units_of_losses_and_of_space() -> None:
    game, best = chosen(2, 2, 4.0)
    other = replace(game, lipschitz=30.0, diameter=0.01)
    objective = choose_convex_parameters(other, epsilon=4.0).objective
    assert objective / (30.0 * 0.01) == pytest.approx(best.objective / game.diameter, rel=1e-6)


# ---- the preset of the paper ---------------------------------------------------------------------


def test_theorem_3_12_by_hand() -> None:
    """T = 1000, delta = 1000/e^20, eps = 1/8: eta = 1/4 / (10 * 20) = 1/800, p = 1/100.

    B = 1/(2/8 * (20 - log 1000)) = 0.31, which becomes 1. For d = 3, sqrt(3 log 1000) * 800 is more
    than sqrt 1000. L/D = 1.5/2.
    """
    game = replace(GAME, delta=1000 * math.exp(-20))
    preset = theorem_3_12(game, epsilon=0.125)
    weight = 0.75 * 800 * math.sqrt(3 * math.log(1000))
    expected = (1, 1 / 800, 1 / 100, weight / (800**2 * 20 * 1.5**2), weight)
    assert point_of(preset) == pytest.approx(expected, rel=1e-12)
    assert preset.epsilon == pytest.approx(by_hand(game, point_of(preset), 2.0), rel=0.005)
    assert math.isnan(preset.objective)
    # delta = e^-10: B = 1/(20 eps); 2.5 is rounded to even.
    game = replace(GAME, delta=math.exp(-10))
    sizes = [theorem_3_12(game, epsilon=epsilon).batch_size for epsilon in (1, 0.05, 0.02, 0.005)]
    assert sizes == [1, 1, 2, 10]
    # A probability.
    game = ConvexGame(n_rounds=2, dimension=1, diameter=2.0, lipschitz=1.0, delta=0.9)
    assert theorem_3_12(game, epsilon=0.01).fake_switch == 1.0
