"""Losses on a ball, L2P over regularised weights, and DP-FTRL."""

from __future__ import annotations

import math
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy import integrate, stats

from dpol.core.errors import DataError
from dpol.core.randomness import Floats, ReplicateGenerators, replicate_generators
from dpol.lazy.convex.ball import Ball
from dpol.lazy.convex.comparators import NOISES, best_regulariser, private_ftrl
from dpol.lazy.convex.losses import LinearLosses, LogisticLosses, drifting_losses, total_loss
from dpol.lazy.convex.measure import Absorbed, LogisticWeights, RegularisedWeights, measure_for
from dpol.lazy.transform import LazyParameters, play_measure
from dpol.privacy.matrix_mechanism import decayed_sums
from dpol.privacy.tree_noise import tree_nodes
from grids import each_and_corners
from replicates import many


def test_values_batches_and_least_totals_by_hand() -> None:
    losses = LinearLosses(np.array([[1.0, 2.0], [0.0, -1.0], [2.0, 0.0]]), 3.0)
    points = np.array([[1.0, 1.0], [2.0, 0.5]])
    np.testing.assert_allclose(losses.value(1, points), [-1.0, -0.5])
    np.testing.assert_allclose(total_loss(losses, [points, points, 0 * points]), [2.0, 2.5])
    batches = [batch.tolist() for batch in losses.batches(2)]
    assert batches == [[[1.0, 2.0], [0.0, -1.0]], [[2.0, 0.0]]]
    assert LinearLosses(np.diag([3.0, 4.0]), 4.0).least_total(Ball(2, 2.0)) == pytest.approx(-5.0)
    assert LinearLosses(np.array([[1.0], [-1.0]]), 1.0).least_total(Ball(1, 2.0)) == 0.0
    with pytest.raises(ValueError, match="lipschitz must bound the norms of vectors, got 1.25"):
        LinearLosses(np.array([[1.0, 0.0], [0.8, 1.0]]), 1.25)


@pytest.mark.parametrize("lipschitz", [1.0, 0.3])
def test_drifting_losses_have_the_size_asked_for_and_depend_on_the_seed(lipschitz: float) -> None:
    gradients = drifting_losses(500, 3, lipschitz, 4).vectors
    assert gradients.shape == (500, 3)
    assert 0.97 * lipschitz < np.linalg.norm(gradients, axis=1).max() <= lipschitz
    for seed in (4, 5):
        again = drifting_losses(500, 3, lipschitz, seed).vectors
        assert np.array_equal(again, gradients) == (seed == 4)


@pytest.mark.parametrize("seed", range(3))
def test_the_drift_is_three_tenths(seed: int) -> None:
    """The root mean square norm of the mean of T unit vectors times 0.7 is 0.7 / sqrt(T)."""
    drift = np.linalg.norm(drifting_losses(10_000, 3, 2.0, seed).vectors.mean(axis=0))
    assert drift == pytest.approx(2.0 * 0.3, abs=6 * 2.0 * 0.7 / 100)


# ---- logistic losses -----------------------------------------------------------------------------


def example(T: int = 80, dimension: int = 3) -> LogisticLosses:
    return LogisticLosses(drifting_losses(T, dimension, 1.5, seed=2).vectors, 1.5)


def test_a_logistic_loss_is_its_formula_convex_and_lipschitz() -> None:
    losses = example()
    x, y = np.random.default_rng(0).standard_normal((2, 200, 3))
    for t in (0, 7):
        value, gradient = losses.value(t, x), losses.gradient(t, x)
        np.testing.assert_allclose(value, np.log(1 + np.exp(x @ losses.vectors[t])), rtol=1e-12)
        # The tangent at x is nowhere above the loss.
        assert (losses.value(t, y) >= value + ((y - x) * gradient).sum(axis=1) - 1e-12).all()
        assert np.linalg.norm(gradient, axis=1).max() <= 1.5


def test_sums_slopes_and_batches_agree_with_the_rounds() -> None:
    losses = example(T=7)
    points = np.random.default_rng(1).standard_normal((5, 3))
    expected = total_loss(losses, [points] * 7)
    np.testing.assert_allclose(losses.sum_at(points), expected)
    slopes = sum(losses.gradient(t, points[:1])[0] for t in range(7))
    np.testing.assert_allclose(losses.slope_at(points[0]), slopes)
    batches = list(losses.batches(3))
    assert [batch.n_rounds for batch in batches] == [3, 3, 1]
    np.testing.assert_allclose(sum(batch.sum_at(points) for batch in batches), expected)
    again = batches[0].followed_by(batches[1]).followed_by(batches[2])
    np.testing.assert_array_equal(again.vectors, losses.vectors)


@pytest.mark.parametrize("d", [1, 2, 6])
@pytest.mark.parametrize("D", [0.5, 2.0, 20.0])
def test_the_least_total_agrees_with_a_conic_solver(d: int, D: float) -> None:
    """With the best point inside the ball, and at its surface."""
    losses, ball, x = example(dimension=d), Ball(d, D), cp.Variable(d)
    total = cp.sum(cp.logistic(losses.vectors @ x))
    problem = cp.Problem(cp.Minimize(total), [cp.norm(x) <= D / 2])
    problem.solve(solver=cp.CLARABEL)
    least, tolerance = losses.least_total(ball), 1e-3 * 1.5 * D * np.sqrt(80)
    assert problem.value - 1e-4 <= least <= problem.value + tolerance
    # The certificate is needed: the centre is farther away.
    assert losses.sum_at(ball.centre[None])[0] > problem.value + 10 * tolerance


def test_a_search_without_a_bound_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpol.lazy.convex.losses.SLOWEST", 1)
    with pytest.raises(ArithmeticError, match="no bound within"):
        example().least_total(Ball(3, 2.0))


# ---- regularised weights, alone and with L2P -----------------------------------------------------


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


# ---- DP-FTRL -------------------------------------------------------------------------------------


NAMES = pytest.mark.parametrize("name", NOISES)
BALL = Ball(4, 2.0)


def vectors(rounds: int, d: int, drift: float = 0.5) -> Floats:
    rows = np.random.default_rng(0).standard_normal((rounds, d)) + drift
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def losses_of(problem: int, rounds: int, d: int) -> LinearLosses:
    """Return losses with a drift, with alternating signs, and weak losses twice as large."""
    if problem == 2:
        return LinearLosses(2 * vectors(rounds, d, drift=0.05), 2.0)
    signs = np.where(np.arange(rounds) % 2, 1, -1)[:, None]
    return LinearLosses(vectors(rounds, d) * (signs if problem else 1), 1.0)


def played(
    losses: LinearLosses,
    mu: float,
    weight: float,
    generators: ReplicateGenerators,
    D: float = 2.0,
    name: str = "dp-ftrl",
) -> Floats:
    """Return the (R, T, d) points of DP-FTRL on a ball."""
    ball, noise = Ball(losses.dimension, D), NOISES[name]
    points = private_ftrl(losses, ball, noise, mu=mu, regulariser=weight, generators=generators)
    return np.stack(list(points), axis=1)


@pytest.mark.parametrize("problem", range(3))
@NAMES
def test_without_noise_it_is_follow_the_regularised_leader(problem: int, name: str) -> None:
    losses = losses_of(problem, 60, 3)
    before = np.cumsum(losses.vectors, axis=0) - losses.vectors
    wanted = -before / 14.0
    wanted /= np.maximum(np.linalg.norm(wanted, axis=1, keepdims=True), 1.0)
    for replicate in played(losses, math.inf, 7.0, many(2), name=name):
        np.testing.assert_allclose(replicate, wanted, atol=1e-12)


@NAMES
def test_a_changed_loss_moves_the_noisy_sums_by_mu_at_most(name: str) -> None:
    """The distance of the sums is measured with the covariance of 20,000 draws of the noise.

    The entries of the covariance are within 5.5 standard errors of the known matrix. A gradient
    that moves by 2L in one round then moves the sums by at most mu, and in some round by nearly mu.
    At half the scale it moves them twice as much, which fails.
    """
    T, mu, R = 9, 0.7, 20_000
    losses = LinearLosses(vectors(T, 1), 1.0)
    scale = NOISES[name].scale(losses, mu)
    drawn = np.stack(list(NOISES[name].draw(T, 1, scale, many(R))), axis=1)[:, :, 0]
    sums = np.tril(np.ones((T - 1, T - 1)))
    if name == "dp-ftrl":
        right = tree_nodes(T)[:, :-1]
        noise = scale * sums @ np.linalg.pinv(right)
    else:
        right, noise = decayed_sums(T - 1).right, scale * decayed_sums(T - 1).left
    expected = noise @ noise.T
    spread = np.sqrt((np.outer(np.diag(expected), np.diag(expected)) + expected**2) / R)
    assert (np.abs(drawn.T @ drawn / R - expected) < 5.5 * spread).all()
    moved = 2 * losses.lipschitz * sums  # column t: what round t does to every sum
    distances = np.sqrt((moved * np.linalg.solve(expected, moved)).sum(axis=0))
    assert distances.max() <= mu * (1 + 1e-9)
    assert 2 * distances.max() > 1.5 * mu


def test_noise_reaches_the_points() -> None:
    """x_4 comes from 3 rounds: two nodes, sd sigma sqrt(2)/(2 lambda), not clipped."""
    losses = LinearLosses(0.5 * vectors(4, 2), 1.0)
    last = played(losses, 1.0, 0.5, many(20_000), D=1e6)[:, 3]
    sigma = 2 * math.sqrt(2)
    centre = -losses.vectors[:3].sum(axis=0)
    assert (np.abs(last.mean(axis=0) - centre) < 5.5 * sigma * math.sqrt(2 / 20_000)).all()
    assert (np.abs(last.var(axis=0) / (2 * sigma**2) - 1) < 5.5 * math.sqrt(2 / 20_000)).all()


def test_gradients_are_taken_at_the_points_played() -> None:
    """In one dimension the slope of log(1 + e^x) is 1/2 at 0, and 1/(1 + e) at -1."""
    noise, losses = NOISES["mf-dp-ftrl"], LogisticLosses(np.ones((3, 1)), 1.0)
    points = private_ftrl(
        losses, Ball(1, 8.0), noise, mu=math.inf, regulariser=0.25, generators=many(1)
    )
    x = np.concatenate(list(points))[:, 0]
    np.testing.assert_allclose(x, [0, -1, -2 * (0.5 + 1 / (1 + math.e))])


@pytest.mark.parametrize(
    ("problem", "name", "mu"), each_and_corners(range(3), [*NOISES], (0.5, 5.0, math.inf))
)
def test_private_ftrl_meets_its_bound_which_the_regulariser_minimises(
    problem: int, mu: float, name: str
) -> None:
    """The bound is lambda D^2/4 + T (L^2 + 2 L sigma sqrt(d v))/(4 lambda).

    The tree has K = 9 levels: sigma = 2L sqrt(9)/mu, v = 9/2. Factorised sums have sigma = 2L/mu,
    and v is at least the mean squared norm of the rows.
    """
    losses, D = losses_of(problem, 500, 4), 2.0
    L, factorised = losses.lipschitz, name == "mf-dp-ftrl"
    sigma = 2 * L * (1 if factorised else 3) / mu
    variance = NOISES[name].rows(500) if factorised else 9 / 2
    assert not factorised or (decayed_sums(499).row_norms ** 2).mean() <= variance < 10
    variation = 500 * (L**2 + 2 * L * sigma * math.sqrt(4 * variance))

    def bound(weight: float) -> float:
        return weight * D**2 / 4 + variation / (4 * weight)

    weight = best_regulariser(losses, BALL, NOISES[name], mu)
    total = total_loss(losses, played(losses, mu, weight, many(10), name=name).swapaxes(0, 1))
    assert (total - losses.least_total(BALL)).mean() <= bound(weight)
    assert bound(weight) == pytest.approx(weight * D**2 / 2)
    assert bound(weight) < min(bound(0.9 * weight), bound(1.1 * weight))
