"""What L2P guarantees on a ball, its parameters, and the preset of Theorem 3.12."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import lazy_plain as plain
from dpol.studies.convex.accounting import (
    ConvexGame,
    choose_convex_parameters,
    convex_epsilon,
    theorem_3_12,
)

DELTA = 1e-6
GAME: dict[str, Any] = {
    "n_rounds": 1000,
    "dimension": 3,
    "diameter": 2.0,
    "lipschitz": 1.5,
    "delta": DELTA,
}
POINTS = [
    # B, eta, p, beta, lambda
    (1, 0.03, 0.05, 0.01, 200.0),
    (7, 0.01, 0.3, 0.02, 30.0),  # 1000 is no multiple of 7
    (20, 0.06, 0.46, 0.02, 150.0),
    (1000, 0.5, 1.0, 0.3, 5.0),
    (2, 0.2, 0.9, 1e-4, 1.0),
]


def names_of(point: tuple[int, float, float, float, float]) -> dict[str, Any]:
    names = ("batch_size", "eta", "fake_switch", "beta", "regulariser")
    return dict(zip(names, point, strict=True))


def by_hand(game: ConvexGame, point: tuple[int, float, float, float, float], c: float) -> float:
    """The accounting as it is stated, with quantiles and conversion that share no code."""
    B, eta, p, beta, weight = point
    L, D, delta = game.lipschitz, game.diameter, game.delta
    change = 2 * beta * L * D
    switch = max(change, math.log(1 + (1 - p) * (1 - math.exp(-change)) / p))
    batches = math.ceil(game.n_rounds / B)
    redraw = 1 - (1 - p) * math.exp(-c * B * eta - beta * B * L * D)
    count = sum(plain.binomial_quantile(batches, rate, delta / 4) for rate in (redraw, p))
    gdp = L * math.sqrt(2 * beta / weight)
    rho = count * gdp**2 / 2
    return min(
        plain.zcdp_to_epsilon(switch**2 / 2 + rho, delta / 2),
        switch + plain.zcdp_to_epsilon(rho, delta / 2),
    )


@functools.lru_cache
def chosen(n_rounds: int, dimension: int, epsilon: float, scale: float = 1.0) -> Any:
    game = ConvexGame(n_rounds, dimension, 2.0 * scale, 1.0 / scale**2, DELTA)
    return game, choose_convex_parameters(game, epsilon=epsilon)


# ---- the accountant ------------------------------------------------------------------------------


@pytest.mark.parametrize("c", [1.0, 2.0])
@pytest.mark.parametrize("point", POINTS)
def test_epsilon_is_its_definition(point: tuple[int, float, float, float, float], c: float) -> None:
    """The library's orders are a grid: it may be larger by half a percent, never smaller."""
    game = ConvexGame(**GAME)
    expected = by_hand(game, point, c)
    found = convex_epsilon(game, **names_of(point), normaliser=c)
    assert expected * (1 - 1e-9) <= found <= expected * 1.005 + 1e-12


@pytest.mark.parametrize("point", POINTS[:3])
def test_epsilon_rises_with_temperature_and_step_and_falls_with_the_regulariser(
    point: tuple[int, float, float, float, float],
) -> None:
    def values(name: str, numbers: np.ndarray) -> list[float]:
        facts = names_of(point)
        return [
            convex_epsilon(ConvexGame(**GAME), **{**facts, name: float(number)})
            for number in numbers
        ]

    for rising in (
        values("beta", np.geomspace(1e-4, 1, 25)),
        values("regulariser", np.geomspace(1e5, 1, 25)),
    ):
        assert (np.diff(rising) >= 0).all()
        assert rising[-1] > 1.2 * rising[0]
    # eta only decides how often x is redrawn at most.
    assert (np.diff(values("eta", np.geomspace(1e-4, 1, 25))) >= 0).all()


@pytest.mark.parametrize("a", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("point", POINTS)
def test_units_of_losses_and_lengths_do_not_matter(
    point: tuple[int, float, float, float, float], a: float
) -> None:
    """beta has unit 1 / loss, lambda loss / length^2, L loss / length, D length."""
    B, eta, p, beta, weight = point
    reference = convex_epsilon(ConvexGame(**GAME), **names_of(point))
    loss = ConvexGame(**{**GAME, "lipschitz": a * GAME["lipschitz"]})
    found = convex_epsilon(loss, **names_of((B, eta, p, beta / a, weight * a)))
    assert found == pytest.approx(reference, rel=1e-12)
    lengths = ConvexGame(
        **{**GAME, "diameter": a * GAME["diameter"], "lipschitz": GAME["lipschitz"] / a}
    )
    found = convex_epsilon(lengths, **names_of((B, eta, p, beta, weight / a**2)))
    assert found == pytest.approx(reference, rel=1e-12)
    assert convex_epsilon(loss, **names_of(point)) != pytest.approx(reference, rel=1e-3)


def test_without_fake_switches_there_is_no_privacy() -> None:
    assert math.isinf(convex_epsilon(ConvexGame(**GAME), **names_of((1, 0.1, 0.0, 0.1, 1.0))))


# ---- the choice of parameters --------------------------------------------------------------------

CASES = [(1, 2, 1.0), (3, 1, 0.2), (2, 2, 4.0), (4, 10, 1.0)]


@pytest.mark.parametrize(("T", "d", "epsilon"), CASES)
def test_chosen_parameters_reach_the_epsilon_asked_for(T: int, d: int, epsilon: float) -> None:
    game, found = chosen(T, d, epsilon)
    assert isinstance(found.batch_size, int)
    assert 1 <= found.batch_size <= T
    assert 0 < found.fake_switch <= 1
    L, D, B = game.lipschitz, game.diameter, found.batch_size
    # e^(-B eta) bounds the log ratio of x and y from above: no keep probability is capped.
    assert found.eta == pytest.approx(found.beta * L * D, rel=1e-12)
    point = (B, found.eta, found.fake_switch, found.beta, found.regulariser)
    assert found.epsilon == convex_epsilon(game, **names_of(point))
    assert by_hand(game, point, 1.0) <= found.epsilon * (1 + 1e-9) <= epsilon * (1 + 1e-9)
    assert found.epsilon <= epsilon
    assert found.epsilon > 0.9 * epsilon  # nothing is left unused
    bound = found.regulariser * D**2 / 4 + B * T * L**2 / (2 * found.regulariser) + d / found.beta
    assert found.objective == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(("T", "d", "epsilon"), CASES[1:3])
def test_no_point_of_a_random_search_is_better(T: int, d: int, epsilon: float) -> None:
    """By more than the grid's coarseness, 10%."""
    game, found = chosen(T, d, epsilon)
    rng = np.random.default_rng(0)
    best = math.inf
    for _ in range(1500):
        B = int(rng.integers(1, T + 1))
        p, beta = float(rng.uniform(0.01, 1)), found.beta * float(np.exp(rng.uniform(-1, 1)))
        weight = found.regulariser * float(np.exp(rng.uniform(-1.5, 1.5)))
        bound = weight * game.diameter**2 / 4 + d / beta
        bound += B * T * game.lipschitz**2 / (2 * weight)
        if bound < best:
            eta = beta * game.lipschitz * game.diameter
            if convex_epsilon(game, **names_of((B, eta, p, beta, weight))) <= epsilon:
                best = bound
    assert best < 1.5 * found.objective  # the search comes close
    assert found.objective <= 1.1 * best


def test_the_choice_does_not_depend_on_units() -> None:
    """D = 2a and L = 1/a^2: losses in units of 1/a, lengths of a."""
    _, one = chosen(3, 1, 0.2)
    _, other = chosen(3, 1, 0.2, 2.0)
    assert other.batch_size == one.batch_size
    for name, factor in [
        ("eta", 1.0),
        ("fake_switch", 1.0),
        ("epsilon", 1.0),
        ("beta", 2.0),
        ("regulariser", 1 / 8),
        ("objective", 1 / 2),
    ]:
        assert getattr(other, name) == pytest.approx(factor * getattr(one, name), rel=1e-9)


def test_more_privacy_costs_regret() -> None:
    values = [chosen(1, 2, epsilon)[1].objective for epsilon in (0.2, 1.0, 5.0)]
    assert values[0] > 1.2 * values[1] > 1.2 * values[2]


def test_what_cannot_be_reached_is_an_error_with_its_remedy() -> None:
    message = (
        "over 3 rounds by the sound accountant; take a larger epsilon or delta, or more rounds"
    )
    with pytest.raises(ValueError, match=message):
        choose_convex_parameters(ConvexGame(3, 2, 2.0, 1.0, DELTA), epsilon=1e-12)


# ---- the preset of the paper ---------------------------------------------------------------------


def test_theorem_3_12_by_hand() -> None:
    """T = 1000, delta = 1000/e^20, eps = 1/8: eta = 1/4 / (10 * 20) = 1/800, p = 1/100.

    B = 1/(2/8 * (20 - log 1000)) = 0.31, so 1. With d = 3, sqrt(3 log 1000) * 800 is more than
    sqrt 1000. L/D = 1.5/2.
    """
    game = ConvexGame(**{**GAME, "delta": 1000 * math.exp(-20)})
    found = theorem_3_12(game, epsilon=0.125)
    weight = 0.75 * 800 * math.sqrt(3 * math.log(1000))
    assert found.batch_size == 1
    assert found.eta == pytest.approx(1 / 800, rel=1e-12)
    assert found.fake_switch == pytest.approx(1 / 100, rel=1e-12)
    assert found.regulariser == pytest.approx(weight, rel=1e-12)
    assert found.beta == pytest.approx(weight / (800**2 * 20 * 1.5**2), rel=1e-12)
    point = (1, found.eta, found.fake_switch, found.beta, found.regulariser)
    assert found.epsilon == pytest.approx(by_hand(game, point, 2.0), rel=0.005)
    assert math.isnan(found.objective)


def test_batches_of_theorem_3_12() -> None:
    """delta = e^-10: B = 1/(20 eps)."""
    game = ConvexGame(**{**GAME, "delta": math.exp(-10)})
    sizes = [theorem_3_12(game, epsilon=epsilon).batch_size for epsilon in (1, 0.05, 0.02, 0.005)]
    assert sizes == [1, 1, 2, 10]  # 2.5 is rounded to even


def test_the_fake_switches_of_theorem_3_12_are_a_probability() -> None:
    found = theorem_3_12(ConvexGame(2, 1, 2.0, 1.0, 0.9), epsilon=0.01)
    assert found.fake_switch == 1.0


@pytest.mark.parametrize(("diameter", "lipschitz"), [(0.1, 7.0), (30.0, 0.5)])
def test_theorem_3_12_does_not_depend_on_units(diameter: float, lipschitz: float) -> None:
    one = theorem_3_12(ConvexGame(500, 4, 1.0, 1.0, DELTA), epsilon=0.5)
    other = theorem_3_12(ConvexGame(500, 4, diameter, lipschitz, DELTA), epsilon=0.5)
    assert other.epsilon == pytest.approx(one.epsilon, rel=1e-12)
    assert other.regulariser == pytest.approx(one.regulariser * lipschitz / diameter, rel=1e-12)
    assert other.beta == pytest.approx(one.beta / (lipschitz * diameter), rel=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"lipschitz": 1.48},
        {"diameter": 1.9},
        {"delta": DELTA / 2},
        {"n_rounds": 900},
        {"beta": 0.0098},
        {"regulariser": 206.0},
        {"fake_switch": 0.06},
        {"batch_size": 2},
    ],
)
def test_the_independent_computation_tells_wrong_numbers_apart(wrong: dict[str, float]) -> None:
    found = convex_epsilon(ConvexGame(**GAME), **names_of(POINTS[0]))
    facts = {**names_of(POINTS[0]), **{k: v for k, v in wrong.items() if k not in GAME}}
    game = ConvexGame(**{**GAME, **{k: v for k, v in wrong.items() if k in GAME}})
    assert abs(found / by_hand(game, tuple(facts.values()), 1.0) - 1) > 0.005
