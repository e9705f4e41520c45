from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.studies.labels.clipping import Clipping
from dpol.studies.labels.hypotheses import HypothesisClass
from dpol.studies.labels.message_loss import laplace_message_loss


def clipped(F, T):
    """log pbar (K, M), c (M,) and the ranges of log pbar (K,) of a class."""
    clipping = Clipping(HypothesisClass(F), T)
    return clipping.log_cells[0], clipping.cells[0], clipping.ranges[0]


def on_a_grid(logs, c, keep, scales, points=4001):
    """The largest log ratio over all pairs of labels and a grid of values, label by label."""
    K, M = logs.shape
    N = c.sum()
    found = []
    for j in range(K):
        used = [y for y in range(M) if c[y]]
        inner = [logs[j, y] for y in used]
        grid = np.linspace(min(inner) - 3 * scales[j], max(inner) + 3 * scales[j], points)
        grid = np.concatenate([grid, inner])
        densities = []
        for y in range(M):
            own = keep if c[y] else 0.0
            chances = {z: (1 - own) * c[z] / N for z in used}
            if c[y]:
                chances[y] += own
            densities.append(
                sum(
                    chance * np.exp(-np.abs(grid - logs[j, z]) / scales[j]) / (2 * scales[j])
                    for z, chance in chances.items()
                )
            )
        logged = np.log(densities)
        found.append((logged.max(axis=0) - logged.min(axis=0)).max())
    return np.array(found)


def point_against_uniform(M):
    uniform, point = np.full(M, 1 / (M - 1)), np.zeros(M)
    uniform[-1], point[-1] = 0.0, 1.0
    return np.array([uniform, point])


@st.composite
def classes(draw):
    """Random classes of the kinds of spec 6.2; some labels have no mass under any hypothesis."""
    K, M = draw(st.integers(2, 5)), draw(st.integers(2, 11))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    F = rng.dirichlet(np.full(M, draw(st.sampled_from([0.05, 0.2, 1.0]))), size=K)
    if M > 2 and draw(st.booleans()):
        F[:, draw(st.integers(0, M - 1))] = 0.0
        F[F.sum(axis=1) == 0, 0] = 1.0
        F /= F.sum(axis=1, keepdims=True)
        F[~np.isfinite(F)] = 0.0
    return F, draw(st.integers(2, 300))


@pytest.mark.parametrize(
    ("F", "T", "expected"),
    [
        ([[0.5, 0.5, 0], [0, 0, 1]], 10, 0.920),
        ([[0.5, 0.5, 0], [0, 0, 1]], 300, 1.0200),
        (point_against_uniform(50), 1000, 1.050),
    ],
)
def test_the_published_sensitivity_does_not_give_its_epsilon(F, T, expected):
    """The counterexamples to the range log(KT), at eps = 1."""
    F = np.array(F)
    logs, c, ranges = clipped(F, T)
    scales = np.full(2, math.log(2 * T))
    found = laplace_message_loss(logs, c, keep=1 - 1 / T, scales=scales)
    assert found.max() == pytest.approx(expected, abs=0.0005)
    np.testing.assert_allclose(found, on_a_grid(logs, c, 1 - 1 / T, scales), rtol=1e-12)
    exact = laplace_message_loss(logs, c, keep=1 - 1 / T, scales=ranges)
    assert exact.max() <= 1


@given(classes(), st.sampled_from([0.25, 1.0, 4.0]))
def test_loss_is_that_of_a_dense_grid(class_, epsilon):
    """All pairs of labels and many values; the grid holds the knots, so nothing is larger."""
    F, T = class_
    logs, c, ranges = clipped(F, T)
    for scales in (np.full(len(F), math.log(len(F) * T) / epsilon), ranges / epsilon + 1e-3):
        found = laplace_message_loss(logs, c, keep=1 - 1 / T, scales=scales)
        expected = on_a_grid(logs, c, 1 - 1 / T, scales, points=301)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@given(classes(), st.floats(0.05, 20))
def test_the_exact_sensitivity_always_gives_its_epsilon(class_, epsilon):
    F, T = class_
    logs, c, ranges = clipped(F, T)
    scales = ranges / epsilon
    found = laplace_message_loss(logs, c, keep=1 - 1 / T, scales=scales)
    assert (found <= epsilon * (1 + 1e-12)).all()
    half = laplace_message_loss(logs, c, keep=1 - 1 / T, scales=2 * scales)
    assert (half <= found).all()


def test_half_of_the_noise_breaks_the_claim():
    logs, c, ranges = clipped(point_against_uniform(50), 1000)
    found = laplace_message_loss(logs, c, keep=0.999, scales=ranges / 2)
    assert found.max() > 1.5


def test_without_mixing_the_loss_is_the_range_over_the_scale():
    logs, c, ranges = clipped(np.random.default_rng(0).dirichlet(np.ones(6), size=4), 50)
    scales = np.array([0.5, 1.0, 2.0, 1e-3])
    found = laplace_message_loss(logs, c, keep=1.0, scales=scales)
    np.testing.assert_allclose(found, ranges / scales, rtol=1e-12)


def test_a_message_that_never_depends_on_the_label_loses_nothing():
    logs, c, _ranges = clipped(np.array([[0.5, 0.5, 0], [0, 0, 1]]), 10)
    assert laplace_message_loss(logs, c, keep=0.0, scales=np.ones(2)).tolist() == [0, 0]


def test_a_hypothesis_that_tells_no_cells_apart_needs_no_noise():
    logs = np.array([[-1.0, -1.0, np.nan], [-1.0, -2.0, np.nan]])
    found = laplace_message_loss(logs, np.array([1, 2, 0]), keep=0.9, scales=np.zeros(2))
    assert found.tolist() == [0, math.inf]


def test_a_label_that_nobody_expects_adds_no_loss():
    logs, c, _ranges = clipped(np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0]]), 10)
    assert c[3] == 0
    scales = np.full(2, 2.0)
    with_it = laplace_message_loss(logs, c, keep=0.9, scales=scales)
    without = laplace_message_loss(logs[:, :3], c[:3], keep=0.9, scales=scales)
    np.testing.assert_array_equal(with_it, without)
    np.testing.assert_allclose(with_it, on_a_grid(logs, c, 0.9, scales), rtol=1e-12)


def test_many_labels():
    F = np.random.default_rng(1).dirichlet(np.full(1000, 0.1), size=16)
    logs, c, ranges = clipped(F, 10**4)
    scales = ranges
    found = laplace_message_loss(logs, c, keep=1 - 1e-4, scales=scales)
    assert (found <= 1).all()
    assert (found > 0.9).all()
    near = np.exp(-np.abs(logs[0][:, None] - logs[0]) / scales[0])
    densities = np.log((1 - 1e-4) * near + 1e-4 * (c / c.sum()) @ near)
    assert found[0] == pytest.approx(np.ptp(densities, axis=0).max(), rel=1e-9)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"log_cells": np.zeros(3)}, "do not fit"),
        ({"cells": np.ones(4, dtype=int)}, "do not fit"),
        ({"cells": np.zeros(3, dtype=int)}, "not all 0"),
        ({"cells": np.array([1, -1, 1])}, "at least 0"),
        ({"keep": 1.1}, "keep must lie in .0, 1., got 1.1"),
        ({"keep": math.nan}, "keep must lie"),
        ({"scales": np.ones(3)}, "2 numbers"),
        ({"scales": np.array([1.0, -1.0])}, "at least 0"),
        ({"log_cells": np.full((2, 3), -np.inf)}, "finite"),
    ],
)
def test_arguments_out_of_range_are_refused(changed, message):
    arguments = {"log_cells": np.zeros((2, 3)), "cells": np.ones(3, dtype=int)}
    arguments |= {"keep": 0.9, "scales": np.ones(2), **changed}
    with pytest.raises(ValueError, match=message):
        laplace_message_loss(
            arguments["log_cells"],
            arguments["cells"],
            keep=arguments["keep"],
            scales=arguments["scales"],
        )
