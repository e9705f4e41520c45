"""Online gradient descent and DP-FTRL."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.studies.convex.follow_the_leader import PrivateFTRL
from dpol.studies.convex.gradient_descent import OnlineGradientDescent
from dpol.studies.convex.losses import LinearLosses, LogisticLosses, Losses
from dpol.randomness import Floats, replicate_generators
from replicates import many


def vectors(rounds: int, d: int, seed: int = 0, drift: float = 0.5) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((rounds, d)) + drift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def problems(rounds: int, d: int) -> list[Losses]:
    labels = np.random.default_rng(5).choice([-1.0, 1.0], rounds, p=[0.2, 0.8])
    alternating = vectors(rounds, d) * np.where(np.arange(rounds) % 2, 1, -1)[:, None]
    return [
        LinearLosses(vectors(rounds, d), 1.0),
        LinearLosses(alternating, 1.0),
        LinearLosses(vectors(rounds, d, drift=0.05), 1.0),
        LogisticLosses(2 * vectors(rounds, d), labels, 2.0),
    ]


def regret(total: Floats, losses: Losses, diameter: float) -> Floats:
    best = losses.best_fixed_point(diameter)
    return total - losses.value(slice(None), best[None])[0]


@pytest.mark.parametrize("problem", range(4))
@pytest.mark.parametrize("rounds", [1, 10, 1_000])
def test_gradient_descent_meets_its_bound(problem: int, rounds: int) -> None:
    losses = problems(rounds, 4)[problem]
    for diameter in (0.1, 2.0, 30.0):
        algorithm = OnlineGradientDescent(diameter)
        found = regret(algorithm.play(losses).total_losses, losses, diameter)
        assert found.shape == (1,)
        bound = 1.5 * diameter * losses.lipschitz * math.sqrt(rounds)
        assert algorithm.regret_bound(losses) == pytest.approx(bound)
        assert -1e-6 - bound < found[0] <= bound


def test_gradient_descent_by_hand() -> None:
    """D = 2, L = 1: to the boundary, then back by 2/sqrt(2) to 1 - sqrt(2)."""
    losses = LinearLosses([[-1.0], [1.0], [0.5]], 1.0)
    run = OnlineGradientDescent(2.0).play(losses, keep_points=True)
    assert run.points is not None
    np.testing.assert_allclose(run.points[0, :, 0], [0.0, 1.0, 1 - math.sqrt(2)])
    np.testing.assert_allclose(run.total_losses, [1 + 0.5 * (1 - math.sqrt(2))])
    assert OnlineGradientDescent(2.0).play(losses).points is None


@pytest.mark.parametrize("problem", range(3))
def test_without_noise_it_is_follow_the_regularised_leader(problem: int) -> None:
    losses = problems(60, 3)[problem]
    assert isinstance(losses, LinearLosses)
    algorithm = PrivateFTRL(math.inf, 2.0, regulariser=7.0)
    run = algorithm.play(losses, many(2), keep_points=True)
    before = np.cumsum(losses.gradients, axis=0) - losses.gradients
    wanted = -before / 14.0
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1.0)
    assert run.points is not None
    for replicate in run.points:
        np.testing.assert_allclose(replicate, wanted, atol=1e-12)
    total = (wanted * losses.gradients).sum()
    np.testing.assert_allclose(run.total_losses, [total, total])


@pytest.mark.parametrize(("rounds", "levels"), [(1, 0), (2, 1), (148, 8), (1025, 11)])
def test_scale_of_the_noise(rounds: int, levels: int) -> None:
    losses = LinearLosses(2 * vectors(rounds, 2), 2.0)
    found = PrivateFTRL(0.5, 1.0).node_scale(losses)
    assert found == pytest.approx(4.0 * math.sqrt(levels) / 0.5)


def test_noise_reaches_the_points() -> None:
    """x_4 comes from 3 rounds: two nodes, sd sigma sqrt(2)/(2 lambda), and is not clipped."""
    losses = LinearLosses(0.5 * vectors(4, 2), 1.0)
    algorithm = PrivateFTRL(1.0, 1e6, regulariser=0.5)
    run = algorithm.play(losses, many(20_000), keep_points=True)
    assert run.points is not None
    sigma = 2 * math.sqrt(2)
    last = run.points[:, 3]
    centre = -losses.gradients[:3].sum(axis=0)
    assert (np.abs(last.mean(axis=0) - centre) < 5.5 * sigma * math.sqrt(2 / 20_000)).all()
    assert (np.abs(last.var(axis=0) / (2 * sigma**2) - 1) < 5.5 * math.sqrt(2 / 20_000)).all()


def test_points_stay_in_the_ball() -> None:
    losses = problems(40, 3)[3]
    run = PrivateFTRL(0.1, 2.0).play(losses, many(10), keep_points=True)
    assert run.points is not None
    norms = np.linalg.norm(run.points, axis=2)
    assert norms.max() <= 1 + 1e-12
    unclipped = PrivateFTRL(0.1, 2.0, regulariser=0.01).play(losses, many(10), keep_points=True)
    assert unclipped.points is not None
    np.testing.assert_allclose(np.linalg.norm(unclipped.points[:, 1:], axis=2), 1.0)


@pytest.mark.parametrize("problem", range(4))
@pytest.mark.parametrize("mu", [0.5, 5.0, math.inf])
def test_private_ftrl_meets_its_bound(problem: int, mu: float) -> None:
    losses = problems(500, 4)[problem]
    algorithm = PrivateFTRL(mu, 2.0)
    run = algorithm.play(losses, many(10))
    found = regret(run.total_losses, losses, 2.0)
    bound = algorithm.regret_bound(losses)
    assert found.mean() <= bound
    assert bound == pytest.approx(algorithm.lambda_for(losses) * 2.0)
    for factor in (0.9, 1.1):
        other = PrivateFTRL(mu, 2.0, regulariser=factor * algorithm.lambda_for(losses))
        assert other.regret_bound(losses) > bound


def test_more_privacy_costs_more() -> None:
    losses = problems(500, 4)[0]
    totals = [
        PrivateFTRL(mu, 2.0).play(losses, many(10)).total_losses.mean() for mu in (0.3, 3, 30)
    ]
    assert totals[0] > totals[1] > totals[2]


def test_a_replicate_depends_on_its_own_generator_only() -> None:
    for losses in problems(30, 3):

        def run(replicates: list[int], losses: Losses = losses) -> Floats:
            generators = replicate_generators(3, ("test",), replicates, "tree")
            return PrivateFTRL(1.0, 2.0).play(losses, generators).total_losses

        together = run([0, 1, 2])
        assert len(np.unique(together)) == 3
        for replicate in range(3):
            np.testing.assert_array_equal(together[[replicate]], run([replicate]))


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="mu must be positive, got 0"):
        PrivateFTRL(0.0, 1.0)
    with pytest.raises(ValueError, match="diameter must be a positive number"):
        PrivateFTRL(1.0, -1.0)
    with pytest.raises(ValueError, match="regulariser must be a positive number"):
        PrivateFTRL(1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="diameter must be a positive number"):
        OnlineGradientDescent(math.nan)
