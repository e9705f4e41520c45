"""Regularised multiplicative weights, alone and under L2P."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from dpol.core.randomness import Floats
from dpol.lazy import LazyParameters, advance, start
from dpol.studies.lazy.convex.bodies import Ball
from dpol.studies.lazy.convex.measure import RegularisedWeights
from replicates import many

ERROR = 1e-6


def log_density(measure: RegularisedWeights, state: Floats, points: Floats) -> Floats:
    """log nu, unnormalised."""
    loss = points @ state + measure.regulariser * (points * points).sum(axis=1)
    return -measure.beta * loss


def uniform_if_drawn_from(measure: RegularisedWeights, state: Floats, points: Floats) -> Floats:
    """The distribution function of nu at the points, d = 1."""
    grid = np.linspace(-measure.body.radius, measure.body.radius, 100_001)
    log_f = log_density(measure, state, grid[:, None])
    mass = integrate.cumulative_simpson(np.exp(log_f - log_f.max()), x=grid, initial=0)
    return np.interp(points[:, 0], grid, mass / mass[-1])


def test_log_ratio_is_the_difference_of_log_densities() -> None:
    points = 0.5 * np.random.default_rng(1).uniform(-1, 1, (6, 4))
    measure = RegularisedWeights(body=Ball(4, 2.0), beta=0.7, regulariser=0.4)
    state, batch = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.3, 0.1, -2.0, 0.7])
    after = measure.absorb(state, batch)
    rise = log_density(measure, after, points) - log_density(measure, state, points)
    np.testing.assert_allclose(measure.log_ratio(batch, points), rise, rtol=1e-12)
    np.testing.assert_allclose(measure.loss(batch, points), points @ batch, rtol=1e-12)


@pytest.mark.parametrize(
    ("gradient", "beta", "regulariser"), [(1.5, 2.0, 0.7), (-9.0, 0.3, 2.0), (40.0, 1.0, 5.0)]
)
def test_the_law_in_one_dimension(gradient: float, beta: float, regulariser: float) -> None:
    measure, state = (
        RegularisedWeights(body=Ball(1, 3.0), beta=beta, regulariser=regulariser),
        np.array([gradient]),
    )
    uniform = uniform_if_drawn_from(measure, state, measure.sample(state, many(30_000)))
    assert stats.kstest(uniform, "uniform").pvalue > ERROR


def test_l2p_keeps_the_law_of_the_measure() -> None:
    """The point played after some batches is distributed like nu itself: c = 2 keeps rho <= 1."""
    measure = RegularisedWeights(body=Ball(1, 2.0), beta=0.4, regulariser=0.3)
    # |log ratio| <= beta D/2 at a point, so eta = beta D/2 a round.
    parameters = LazyParameters(batch_size=1, eta=0.4, fake_switch=0.05, normaliser="published")
    generators = many(20_000)
    state = start(measure, generators)
    for gradient in (1.0, 1.0, -1.0, 1.0, 1.0):
        state = advance(measure, parameters, state, np.array([gradient]), generators)
    assert 0.1 < (state.redraws < 5).mean() < 1
    np.testing.assert_allclose(state.measure, [3.0])
    uniform = uniform_if_drawn_from(measure, state.measure, state.played)
    assert stats.kstest(uniform, "uniform").pvalue > ERROR
