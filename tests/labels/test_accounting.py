"""Composition of Laplace noise, and the exact loss of a message of private EXP3."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.labels.clients import laplace_message_loss, scale_factor
from dpol.privacy.noise_laws import LAPLACE
from grids import each_and_corners
from labels import plain


@pytest.mark.parametrize(
    ("n", "epsilon", "delta"),
    [*each_and_corners((2, 16, 64), (0.25, 1.0, 4.0), (1e-6, 1e-3, 0.1)), (1000, 1.0, 1e-6)],
)
def test_exact_is_enough_and_a_thousandth_less_is_not(n, epsilon, delta):
    """By losses of Laplace noise, which the room of privacy compares with dp_accounting."""
    factor = scale_factor(n, epsilon, delta, "exact")
    assert LAPLACE.loss(1 / factor, n).delta(epsilon) <= delta
    assert LAPLACE.loss(1 / (0.999 * factor), n).delta(epsilon) > delta


def test_the_ends_of_the_range():
    """Basic composition if delta is tiny; no noise without privacy."""
    assert scale_factor(64, 1.0, 1e-300, "exact") == 64
    assert scale_factor(64, 1.0, 1e-10, "exact") < 64
    for rule in ("published", "exact"):
        assert scale_factor(16, math.inf, 1e-6, rule) == 0.0


# ---- the exact loss of a message -----------------------------------------------------------------


def clipped(F, T):
    """Return log pbar (K, M), c (M,) and the ranges of log pbar (K,) of a class."""
    clipping = plain.clipping(F, T)
    return clipping.log_cells[0], clipping.cells[0], clipping.ranges[0]


def on_a_grid(logs, c, keep, scales, points=4001):
    """Return the largest log ratio over all pairs of labels and a grid of values."""
    used, losses = [y for y in range(len(c)) if c[y]], []
    for log, scale in zip(logs, scales, strict=True):
        inner = log[used]
        grid = np.linspace(min(inner) - 3 * scale, max(inner) + 3 * scale, points)
        grid = np.concatenate([grid, inner])
        densities = []
        for y in range(len(c)):
            stays = keep if c[y] else 0.0
            chances = [stays * (y == z) + (1 - stays) * c[z] / c.sum() for z in used]
            parts = zip(chances, inner, strict=True)
            densities.append(sum(p * np.exp(-np.abs(grid - a) / scale) for p, a in parts))
        losses.append(np.ptp(np.log(densities), axis=0).max())
    return np.array(losses)


@given(plain.cases(most_features=1), st.sampled_from([0.25, 1.0, 4.0]))
def test_loss_agrees_with_a_dense_grid(class_, epsilon):
    """For all pairs of labels; the grid holds the knots, so no other value gives more."""
    (F,), T = class_
    logs, c, ranges = clipped(F, T)
    for scales in (np.full(len(F), math.log(len(F) * T) / epsilon), ranges / epsilon + 1e-3):
        loss = laplace_message_loss(logs, c, keep=1 - 1 / T, scales=scales)
        expected = on_a_grid(logs, c, 1 - 1 / T, scales, points=301)
        np.testing.assert_allclose(loss, expected, rtol=1e-9, atol=1e-12)


def test_without_mixing_the_loss_is_the_range_over_the_scale_and_with_nothing_else_zero():
    logs, c, ranges = clipped(np.random.default_rng(0).dirichlet(np.ones(6), size=4), 50)
    scales = np.array([0.5, 1.0, 2.0, 1e-3])
    loss = laplace_message_loss(logs, c, keep=1.0, scales=scales)
    np.testing.assert_allclose(loss, ranges / scales, rtol=1e-12)
    assert laplace_message_loss(logs, c, keep=0.0, scales=np.ones(4)).tolist() == [0] * 4
