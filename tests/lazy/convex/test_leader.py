"""Couple the regularised leader: its minimisers, its ratios of densities, and the law it keeps."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.core.randomness import replicate_generators
from dpol.lazy.convex.accounting import ConvexGame
from dpol.lazy.convex.bodies import Ball, Box, Simplex
from dpol.lazy.convex.leader import (
    CoupledLeader,
    CoupledParameters,
    choose_coupled,
    smoothness,
    theorem_6,
)
from dpol.lazy.convex.losses import drifting_losses, linked_losses

BODIES = [Ball(3, 2.0), Box(3, 3.0)]


def parameters(**fields):
    given = {"fake_switch": 0.1, "sigma": 1.5, "log_phi": 2.5, "limit": math.inf, **fields}
    return CoupledParameters(1, 0.7, shadow=False, epsilon=1.0, objective=0.0, **given)


def leader_of(body, kind, T=12, **fields):
    linear = drifting_losses(T, body.dimension, 1.2, 3)
    losses = linear if kind == "linear" else linked_losses("logistic", linear, body, 3)
    return CoupledLeader(losses=losses, body=body, parameters=parameters(**fields))


def objective(leader, n_rounds, x):
    """Losses so far, |x|^2/(2 eta) and the barrier at one point, written out."""
    body, T = leader.body, leader.losses.n_rounds
    scale = leader.losses.lipschitz * body.diameter / math.log(T**2 / (2 * T - 1))
    if isinstance(body, Ball):
        barrier = -scale * math.log(1 - float(x @ x) / body.radius**2)
    else:
        barrier = -scale * np.log(1 - (x / body.half_edge) ** 2).mean()
    past = sum(float(leader.losses.value(t, x[None])[0]) for t in range(n_rounds))
    return past + float(x @ x) / (2 * 0.7) + barrier


@pytest.mark.parametrize("body", BODIES, ids=["ball", "box"])
@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_slopes_and_hessians_are_derivatives_of_the_objective(body, kind):
    leader, x, h = leader_of(body, kind), np.array([0.3, -0.2, 0.4]), 1e-5
    steps = h * np.eye(3)
    slope = [(objective(leader, 7, x + e) - objective(leader, 7, x - e)) / (2 * h) for e in steps]
    np.testing.assert_allclose(leader.slope(7, x[None])[0], slope, rtol=1e-7, atol=1e-8)
    bends = (leader.slope(7, x + steps) - leader.slope(7, x - steps)) / (2 * h)
    np.testing.assert_allclose(leader.hessian(7, x[None])[0], bends, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("body", BODIES, ids=["ball", "box"])
@pytest.mark.parametrize("kind", ["linear", "logistic"])
@pytest.mark.parametrize("sigma", [0.1, 1e5])
def test_z_and_the_leader_are_inverse(body, kind, sigma):
    leader = leader_of(body, kind)
    noise = sigma * np.random.default_rng(0).standard_normal((50, 3))
    points = leader.leader(9, noise)
    np.testing.assert_array_equal(body.project(points), points)
    np.testing.assert_allclose(-leader.slope(9, points), noise, atol=1e-7 * max(sigma, 1))


def test_the_barrier_is_at_most_g_d_one_part_in_t_inside():
    for body in BODIES:
        leader, edge = leader_of(body, "linear"), body.best(np.ones(3))
        inside = (1 - 1 / 12) * edge
        barrier = objective(leader, 0, inside) - float(inside @ inside) / 1.4
        assert barrier == pytest.approx(1.2 * body.diameter)


@pytest.mark.parametrize("body", BODIES, ids=["ball", "box"])
@pytest.mark.parametrize("kind", ["linear", "logistic"])
def test_ratios_of_densities_follow_from_lemma_2(body, kind):
    leader = leader_of(body, kind, log_phi=0.3)
    points = (
        0.9 * body.half_edge * (1 - 2 * np.random.default_rng(1).random((40, 3)))
        if isinstance(body, Box)
        else body.sample(np.zeros(3), 0.4, replicate_generators(0, ("x",), range(40), "x"))
    )

    def log_density(t):
        size = (leader.slope(t, points) ** 2).sum(axis=1) / (2 * 1.5**2)
        return np.linalg.slogdet(leader.hessian(t, points))[1] - size

    ratio = log_density(6) - log_density(5)
    assert (np.abs(ratio) > 0.3).any()
    assert (np.abs(ratio) < 0.3).any()
    np.testing.assert_allclose(leader.log_ratio(5, points), np.clip(ratio, -0.3, 0.3) - 0.3)
    # Without the determinants it would be another ratio, except for linear losses.
    step = leader.losses.gradient(5, points)
    without = -((2 * leader.slope(5, points) + step) * step).sum(axis=1) / (2 * 1.5**2)
    assert (np.abs(ratio - without).max() < 1e-9) == (kind == "linear")


# ---- parameters ----------------------------------------------------------------------------------


def game_of(**fields):
    facts = {"n_rounds": 1000, "dimension": 2, "diameter": 3.0, "lipschitz": 0.5, "delta": 1e-6}
    return ConvexGame(**{**facts, **fields})


def test_theorems_4_and_6_by_hand():
    game, beta, eta, sigma = game_of(), 0.1, 0.01, 300.0
    best, delta = theorem_6(game, beta, eta, sigma), 1e-6 / 60 / 1e6
    phi = 2 * (0.01 * 0.2 * 2 + (2.25 + 900 * math.sqrt(4 * math.log(2 / delta))) / (2 * 300**2))
    often = 0.1 + 1 - math.exp(-2 * phi)
    squares = 700 * phi**2 + 2000 * phi**3 + (0.5 / 300**2 + 4e-6) ** 2 * 1e5
    assert (best.log_phi, best.fake_switch) == pytest.approx((phi, 0.1))
    assert best.limit == math.ceil(3000 * often)
    expected = 1.5 * squares + math.sqrt(6 * squares * math.log(2e6))
    assert best.epsilon == pytest.approx(expected)
    bound = 450 + 5 + 300 * math.sqrt(2) * 3 + 3 + 3000 * (math.exp(-1000 * often) + 3000 * delta)
    assert best.objective == pytest.approx(bound)


@pytest.mark.parametrize("n_rounds", [2, 5])
def test_its_regret_bound_counts_the_rounds_in_which_the_coupling_fails(n_rounds):
    """In few rounds the failure is likely: 2 G D in each, by the words of Theorem 4."""
    game, eta, sigma = game_of(n_rounds=n_rounds), 0.1, 50.0
    made, T, D, G = theorem_6(game, 0.0, eta, sigma), n_rounds, game.diameter, game.lipschitz
    failure = math.exp(-T * (T ** (-1 / 3) + 1 - math.exp(-2 * made.log_phi)))
    lost = 2 * G * D * T * (failure + game.delta / (20 * T))
    rest = D**2 / (2 * eta) + 2 * G**2 * eta * T + sigma * math.sqrt(game.dimension) * D + 2 * G * D
    assert lost > 1e-6 * rest
    assert made.objective == pytest.approx(rest + lost, rel=1e-12)


def test_it_has_no_epsilon_outside_the_conditions_of_theorem_6():
    for fields in ({"n_rounds": 165}, {"delta": 0.6}, {"n_rounds": 9, "delta": 0.5}):
        assert theorem_6(game_of(**fields), 0.0, 0.1, 1e9).epsilon == math.inf
    assert theorem_6(game_of(n_rounds=166), 0.0, 0.1, 1e9).epsilon < math.inf


@pytest.mark.parametrize("beta", [0.0, 0.25])
def test_chosen_parameters_reach_epsilon(beta):
    best = choose_coupled(game_of(), beta, epsilon=2.0)
    assert 1.98 < best.epsilon <= 2.0
    for eta in (best.eta / 2, best.eta * 2):
        other = theorem_6(game_of(), beta, eta, best.sigma)
        assert other.epsilon > 2.0 or other.objective > best.objective
    with pytest.raises(ValueError, match=r"CTRL cannot be \(2, 1e-06\)-private by Theorem 6"):
        choose_coupled(game_of(n_rounds=100), beta, epsilon=2.0)


def test_only_smooth_losses_on_a_ball_or_a_box_are_played():
    linear = drifting_losses(5, 3, 2.0, 0)
    logistic, absolute = (
        linked_losses(name, linear, BODIES[0], 0) for name in ("logistic", "absolute")
    )
    assert smoothness(linear, BODIES[0]) == 0
    assert smoothness(logistic, BODIES[1]) == 1  # L^2 / 4
    assert smoothness(absolute, BODIES[0]) is None
    assert smoothness(linear, Simplex(3, 1.0)) is None
