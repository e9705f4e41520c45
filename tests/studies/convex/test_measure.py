"""Regularised multiplicative weights, alone and under L2P."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpol.studies.convex.losses import LinearLosses, LogisticLosses
from dpol.studies.convex.measure import RegularisedLogisticWeights, RegularisedWeights
from dpol.lazy import LazyParameters, advance, start
from dpol.randomness import Floats, replicate_generators
from replicates import many

ERROR = 1e-6


def vectors(rounds: int, d: int, seed: int = 0) -> Floats:
    rows = np.random.default_rng(seed).standard_normal((rounds, d)) + 0.5
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def logistic(rounds: int, d: int, **fields: float) -> RegularisedLogisticWeights:
    labels = np.random.default_rng(5).choice([-1.0, 1.0], rounds, p=[0.2, 0.8])
    losses = LogisticLosses(vectors(rounds, d), labels, 1.0)
    given = {"diameter": 3.0, "beta": 0.7, "regulariser": 0.4, "steps": 30, **fields}
    return RegularisedLogisticWeights(losses, **given)


def test_log_ratio_is_the_difference_of_log_densities() -> None:
    points = 0.5 * vectors(6, 4, seed=1)
    linear = RegularisedWeights(4, 2.0, 0.7, 0.4)
    state, batch = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.3, 0.1, -2.0, 0.7])
    rise = linear.log_density(linear.absorb(state, batch), points) - linear.log_density(
        state, points
    )
    np.testing.assert_allclose(linear.log_ratio(batch, points), rise, rtol=1e-12)
    np.testing.assert_allclose(linear.log_ratio(batch, points), -0.7 * points @ batch)
    other = logistic(9, 4)
    for first, stop in ((0, 3), (3, 4), (4, 9)):
        after = other.absorb(first, (first, stop))
        rise = other.log_density(after, points) - other.log_density(first, points)
        np.testing.assert_allclose(other.log_ratio((first, stop), points), rise, rtol=1e-10)
        margins = points @ (other.losses.features * other.losses.labels[:, None])[first:stop].T
        wanted = -0.7 * np.log1p(np.exp(-margins)).sum(axis=1)
        np.testing.assert_allclose(other.log_ratio((first, stop), points), wanted)


def test_log_density_by_hand() -> None:
    measure = RegularisedWeights(2, 2.0, 2.0, 3.0)
    found = measure.log_density(np.array([1.0, 4.0]), np.array([[0.5, -0.5]]))
    np.testing.assert_allclose(found, [-2 * (0.5 - 2.0 + 3 * 0.5)])


@pytest.mark.parametrize(
    ("gradient", "beta", "regulariser"), [(1.5, 2.0, 0.7), (-9.0, 0.3, 2.0), (40.0, 1.0, 5.0)]
)
def test_linear_law_in_one_dimension(gradient: float, beta: float, regulariser: float) -> None:
    measure = RegularisedWeights(1, 3.0, beta, regulariser)
    points = measure.sample(np.array([gradient]), many(30_000))
    grid = np.linspace(-1.5, 1.5, 100_001)
    log_density = -beta * (gradient * grid + regulariser * grid**2)
    mass = integrate.cumulative_simpson(np.exp(log_density - log_density.max()), x=grid, initial=0)
    uniform = np.interp(points[:, 0], grid, mass / mass[-1])
    assert stats.kstest(uniform, "uniform").pvalue > ERROR


@pytest.mark.parametrize("state", [0, 1, 40])
def test_logistic_law_in_one_dimension(state: int) -> None:
    measure = logistic(60, 1, steps=20)
    points = measure.sample(state, many(4_000))
    grid = np.linspace(-1.5, 1.5, 4_001)
    log_density = measure.log_density(state, grid[:, None])
    mass = integrate.cumulative_simpson(np.exp(log_density - log_density.max()), x=grid, initial=0)
    uniform = np.interp(points[:, 0], grid, mass / mass[-1])
    assert stats.kstest(uniform, "uniform").pvalue > ERROR


def test_logistic_mean_in_two_dimensions() -> None:
    """Against a sum over a grid of the disc."""
    measure = logistic(30, 2, steps=40, beta=2.0)
    points = measure.sample(25, many(2_500))
    side = np.linspace(-1.5, 1.5, 201)
    grid = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    grid = grid[(grid**2).sum(axis=1) <= 1.5**2]
    log_density = measure.log_density(25, grid)
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    for power in (1, 2):
        error = points.mean(axis=0) if power == 1 else (points**2).mean(axis=0)
        error = np.abs(error - weights @ grid**power)
        assert (error < 5.5 * (points**power).std(axis=0) / 50 + 2e-3).all()


def test_mixing_flags_too_few_steps() -> None:
    few = logistic(200, 8, steps=15, beta=20.0).mixing(200, many(8))
    enough = logistic(200, 8, steps=1_500, beta=20.0).mixing(200, many(8))
    assert not few.mixed
    assert enough.mixed


def test_l2p_runs_over_linear_losses() -> None:
    losses = LinearLosses(vectors(41, 3), 1.0)
    measure = RegularisedWeights(3, 2.0, 0.5, 2.0)
    parameters = LazyParameters(batch_size=2, eta=0.5, fake_switch=0.1)
    generators = replicate_generators(0, ("l2p",), range(6), "points")
    state = start(measure, generators)
    for first in range(0, 41, 2):
        batch = losses.total(slice(first, first + 2))
        state = advance(measure, parameters, state, batch, generators)
        assert state.played.shape == (6, 3)
        assert np.linalg.norm(state.played, axis=1).max() <= 1 + 1e-12
    np.testing.assert_allclose(state.measure, losses.gradients.sum(axis=0))
    assert (state.redraws > 0).all()
    assert (state.redraws < 21).all()


def test_l2p_keeps_the_law_of_the_measure() -> None:
    """What is played after some batches is distributed like nu itself: c = 2 keeps rho <= 1."""
    losses = LinearLosses(vectors(5, 1), 1.0)
    measure = RegularisedWeights(1, 2.0, 0.4, 0.3)
    # |log ratio| <= beta D/2 at a point, so eta = beta D/2 a round.
    parameters = LazyParameters(batch_size=1, eta=0.4, fake_switch=0.05, normaliser="published")
    generators = many(20_000)
    state = start(measure, generators)
    for t in range(5):
        state = advance(measure, parameters, state, losses.gradients[t], generators)
    assert 0.1 < (state.redraws < 5).mean() < 1
    grid = np.linspace(-1, 1, 20_001)
    log_density = measure.log_density(state.measure, grid[:, None])
    mass = integrate.cumulative_simpson(np.exp(log_density), x=grid, initial=0)
    uniform = np.interp(state.played[:, 0], grid, mass / mass[-1])
    assert stats.kstest(uniform, "uniform").pvalue > ERROR


def test_l2p_runs_over_logistic_losses_and_is_reproducible() -> None:
    measure = logistic(12, 3, steps=8)
    parameters = LazyParameters(batch_size=5, eta=0.3, fake_switch=0.2)

    def run(replicates: list[int]) -> Floats:
        generators = replicate_generators(0, ("l2p",), replicates, "points")
        state = start(measure, generators)
        for batch in ((0, 5), (5, 10), (10, 12)):
            state = advance(measure, parameters, state, batch, generators)
        assert state.measure == 12
        return state.played

    together = run([0, 1, 2, 3])
    assert np.linalg.norm(together, axis=1).max() <= 1.5 * (1 + 1e-12)
    np.testing.assert_array_equal(together[[2]], run([2]))


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="a batch of rounds 3..5 cannot follow round 0 of 9"):
        logistic(9, 2).absorb(0, (2, 5))
    with pytest.raises(ValueError, match="rounds 9..10 cannot follow round 8 of 9"):
        logistic(9, 2).absorb(8, (8, 10))
    with pytest.raises(ValueError, match="beta must be a positive number, got 0"):
        RegularisedWeights(2, 1.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="regulariser must be a positive number, got inf"):
        logistic(3, 2, regulariser=math.inf)
    with pytest.raises(ValueError, match="steps must be a whole number"):
        logistic(3, 2, steps=0)
    with pytest.raises(ValueError, match="dimension must be a whole number"):
        RegularisedWeights(0, 1.0, 1.0, 1.0)
