"""Regularised multiplicative weights, alone and with L2P."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats

from dpol.core.errors import DataError
from dpol.core.randomness import Floats, replicate_generators
from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.losses import LinearLosses, LogisticLosses, drifting_losses
from dpol.lazy.convex.measure import Absorbed, LogisticWeights, RegularisedWeights, measure_for
from dpol.lazy.transform import LazyParameters, play_measure
from replicates import many

ERROR = 1e-6


def log_density(measure: RegularisedWeights, state: Floats, points: Floats) -> Floats:
    """Return log nu, unnormalised."""
    loss = points @ state + measure.regulariser * (points * points).sum(axis=1)
    return -measure.beta * loss


def test_log_ratio_is_the_difference_of_log_densities() -> None:
    points = 0.5 * np.random.default_rng(1).uniform(-1, 1, (6, 4))
    measure = RegularisedWeights(ball=Ball(4, 2.0), beta=0.7, regulariser=0.4)
    state, batch = np.array([1.0, -2.0, 0.5, 3.0]), np.array([0.3, 0.1, -2.0, 0.7])
    after = measure.absorb(state, batch)
    rise = log_density(measure, after, points) - log_density(measure, state, points)
    np.testing.assert_allclose(measure.log_ratio(batch, points), rise, rtol=1e-12)
    np.testing.assert_allclose(measure.loss(batch, points), points @ batch, rtol=1e-12)


# ---- logistic losses -----------------------------------------------------------------------------


def logistic_example(
    d: int, beta: float, regulariser: float, T: int = 8
) -> tuple[LogisticWeights, Absorbed, LogisticLosses]:
    """Return a measure and its state after T rounds in batches of 5."""
    losses = LogisticLosses(drifting_losses(T, d, 2.0, 4).vectors, 2.0)
    measure = measure_for(losses, Ball(d, 2.0), beta=beta, regulariser=regulariser)
    assert isinstance(measure, LogisticWeights)
    state = measure.initial()
    for batch in losses.batches(5):
        state = measure.absorb(state, batch)
    return measure, state, losses


def first_coordinate(measure: LogisticWeights, losses: LogisticLosses) -> tuple[Floats, Floats]:
    """Return a grid of x_1 and its distribution function, by quadrature of the definition."""
    d, share = measure.linear.ball.dimension, np.linspace(0, 1, 601)
    grid = 2 * share - 1
    chord = np.sqrt(1 - grid**2)
    points = grid[:, None, None]
    if d == 2:
        second = chord[:, None] * (2 * share - 1)
        points = np.stack([grid[:, None] + 0 * second, second], axis=2)
    flat = points.reshape(-1, d)
    total = sum(losses.value(t, flat) for t in range(losses.n_rounds))
    log_f = -measure.linear.beta * (total + measure.linear.regulariser * (flat**2).sum(axis=1))
    f = np.exp(log_f - log_f.max()).reshape(points.shape[:2])
    density = f[:, 0] if d == 1 else integrate.simpson(f, x=share, axis=1) * chord
    mass = integrate.cumulative_simpson(density, x=grid, initial=0)
    return grid, mass / mass[-1]


@pytest.mark.parametrize(
    ("d", "beta", "regulariser"),  # interior modes, edges, and nearly uniform measures
    [(1, 0.8, 1.0), (1, 0.02, 3.0), (2, 0.8, 0.3), (2, 0.4, 5.0)],
)
def test_draws_for_logistic_losses_follow_the_definition(
    d: int, beta: float, regulariser: float
) -> None:
    """The anchor does not matter. 15,000 draws; a sound sampler fails with probability 1e-6."""
    measure, state, losses = logistic_example(d, beta, regulariser)
    grid, law = first_coordinate(measure, losses)
    corner = measure.linear.ball.best(-np.ones(d) / np.arange(1, d + 1))
    for anchor in (state.anchor, 0.8 * state.anchor + 0.2 * corner):
        x = measure.sample(replace(state, anchor=anchor), many(15_000))
        assert stats.kstest(np.interp(x[:, 0], grid, law), "uniform").pvalue > ERROR


def test_a_draw_that_needs_too_many_proposals_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpol.lazy.convex.measure.MOST_TRIES", 2)
    measure, state, _ = logistic_example(2, 50.0, 1e-3, T=400)
    far = replace(state, anchor=np.array([0.9, 0.0]))
    with pytest.raises(DataError, match="too few proposals are accepted; take fewer rounds"):
        measure.sample(far, many(20))


@pytest.mark.parametrize("kind", [LinearLosses, LogisticLosses])
def test_replicates_with_losses_of_their_own_play_as_each_does_alone(
    kind: type[LinearLosses | LogisticLosses],
) -> None:
    vectors = [drifting_losses(60, 3, 1.0, 4, r).vectors for r in range(4)]
    parameters = LazyParameters(batch_size=7, eta=0.2, fake_switch=0.2)

    def run(replicates: range, shown: Floats) -> Floats:
        losses, generators = kind(shown, 1.0), replicate_generators(3, (), replicates, "L2P")
        measure = measure_for(losses, Ball(3, 2.0), beta=2.0, regulariser=0.5)
        return np.array(play_measure(measure, parameters, losses, generators))

    total, redraws = together = run(range(4), np.stack(vectors, axis=1))
    alone = [run(range(r, r + 1), vectors[r]) for r in range(4)]
    np.testing.assert_allclose(together, np.concatenate(alone, axis=1), rtol=1e-10)
    assert len(np.unique(total)) == 4
    assert redraws.min() > 0
