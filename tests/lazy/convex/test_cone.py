"""The cone below absolute losses: it lies below, and its draws are exact and cheap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpol.core.randomness import Floats
from dpol.lazy.convex.accounting import ConvexGame, choose_convex_parameters
from dpol.lazy.convex.bodies import BODIES, Body, BodyName
from dpol.lazy.convex.cone import Cone, cone_below, least_growth
from dpol.lazy.convex.losses import LINKS, LinkedLosses, drifting_losses
from dpol.lazy.convex.measure import Absorbed, LinkedWeights, measure_for
from lazy.convex.test_measure import ERROR, SETTINGS, first_coordinate
from replicates import many

BODY = pytest.mark.parametrize("body_name", BODIES)


def example(body: Body, noise: float, T: int = 12, away: float = 0.3) -> LinkedLosses:
    """Return absolute losses; the targets are met by a point of the body, up to uniform noise."""
    vectors, rng = drifting_losses(T, body.dimension, 1.0, 4).gradients, np.random.default_rng(5)
    met = body.project(away * rng.standard_normal((1, body.dimension)))[0]
    return LinkedLosses(
        link=LINKS["absolute"],
        vectors=vectors,
        targets=vectors @ met + noise * rng.uniform(-1, 1, T),
        lipschitz=1.0,
    )


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 40), st.sampled_from([0.3, 1, 3]))
def test_no_direction_grows_slower(seed: int, d: int, T: int, spread: float) -> None:
    """Directions are random, or each vector, or orthogonal to d - 1 vectors."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((T, d)) * np.exp(spread * rng.standard_normal((T, d)))
    vectors[rng.random(T) < 0.1] = 0.0
    weights = rng.random(T)
    across = [
        np.linalg.svd(vectors[rng.choice(T, min(d - 1, T), replace=False)])[2] for _ in range(20)
    ]
    directions = np.concatenate([rng.standard_normal((200, d)), vectors, *across])
    norms = np.linalg.norm(directions, axis=1)
    growth = np.abs(directions[norms > 0] @ vectors.T) @ weights / norms[norms > 0]
    assert least_growth(vectors, weights) <= growth.min() + 1e-9 * growth.max()


@BODY
@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("away", [0.3, 5.0])
def test_the_cone_lies_below_the_losses(body_name: BodyName, noise: float, away: float) -> None:
    body, weight = BODIES[body_name](3, 2.0), 2.0
    losses = example(body, noise, T=200, away=away)
    cone = cone_below(losses, body, beta=1.0, regulariser=weight, near=body.centre)
    points = np.concatenate([body.sample(cone.peak, width, many(5_000)) for width in (0.03, 1)])
    above = losses.sum_at(points) + weight * (points**2).sum(axis=1) - cone.at(points)
    assert 0 <= above.min() < 8


def draws_by_cone(
    monkeypatch: pytest.MonkeyPatch, body: Body, losses: LinkedLosses, beta: float, weight: float
) -> tuple[LinkedWeights, Floats]:
    """Return 15,000 draws without tangents, and their measure."""
    monkeypatch.setattr(LinkedWeights, "tangents", LinkedWeights.cone)
    measure = measure_for(losses, body, beta=beta, regulariser=weight)
    assert isinstance(measure, LinkedWeights)
    x = measure.sample(Absorbed(losses=losses, anchor=body.centre), many(15_000))
    return measure, x


@pytest.mark.parametrize(("body_name", "d", "beta", "weight"), SETTINGS)
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_draws_by_cone_follow_the_definition(
    monkeypatch: pytest.MonkeyPatch,
    body_name: BodyName,
    d: int,
    beta: float,
    weight: float,
    noise: float,
) -> None:
    """A sound sampler fails with probability 1e-6."""
    body = BODIES[body_name](d, 2.0)
    losses = example(body, noise)
    measure, x = draws_by_cone(monkeypatch, body, losses, 4 * beta, weight)
    grid, law = first_coordinate(measure, losses)
    assert stats.kstest(np.interp(x[:, 0], grid, law), "uniform").pvalue > ERROR


@pytest.mark.parametrize("change", ["level", "slope"])
def test_a_cone_above_the_losses_is_refused(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    """Power of the test above: a cone that is too high, and a cone that is too steep."""
    body = BODIES["ball"](2, 2.0)
    losses = example(body, 0.3)

    def too_much(*args: object, **options: object) -> Cone:
        cone = cone_below(*args, **options)  # type: ignore[arg-type]
        more = cone.level + 1.0 if change == "level" else cone.slope * 3
        return replace(cone, **{change: more})

    monkeypatch.setattr("dpol.lazy.convex.measure.cone_below", too_much)
    measure, x = draws_by_cone(monkeypatch, body, losses, 2.0, 0.5)
    grid, law = first_coordinate(measure, losses)
    assert stats.kstest(np.interp(x[:, 0], grid, law), "uniform").pvalue < ERROR


@pytest.mark.parametrize(
    ("body_name", "T", "noise"),
    [("ball", 3000, 0.0), ("box", 1000, 0.0), ("simplex", 1000, 0.0)],
)
def test_targets_without_noise_are_no_hindrance(body_name: BodyName, T: int, noise: float) -> None:
    """d = 10, epsilon = 4, last state: the tangents accept none of 60,000 proposals."""
    game = ConvexGame(n_rounds=T, dimension=10, diameter=2.0, lipschitz=1.0, delta=1e-6)
    chosen, body = choose_convex_parameters(game, epsilon=4.0), BODIES[body_name](10, 2.0)
    losses = example(body, noise, T=T, away=0.15)
    measure = measure_for(losses, body, beta=chosen.beta, regulariser=chosen.regulariser)
    assert isinstance(measure, LinkedWeights)
    state = measure.initial()
    for batch in losses.batches(chosen.batch_size):
        state = measure.absorb(state, batch)
    x = measure.sample(state, many(3))
    assert np.linalg.norm(body.project(x) - x, axis=1).max() < 1e-12
