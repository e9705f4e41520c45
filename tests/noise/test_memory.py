"""Correlated noise on a stream: its distribution and its record."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpol.noise import NOISES, privatize
from dpol.noise.noises import memory_of

MU = 0.25
ROUNDS, RUNS = 4, 20_000
PAIR = 0.2, 0.6


@pytest.fixture(scope="module")
def stream(random_stream):
    return random_stream(ROUNDS, 2)


def noise_of(stream):
    """Return the (runs, T, n) noise on counts over its fresh scale, with the norm by hand."""
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=RUNS, memory=PAIR)
    a, b = PAIR
    fresh = math.sqrt(2) * stream.count_sensitivity / MU * math.sqrt(1 + (b - a) ** 2 / (1 - b**2))
    return (noisy.gains - stream.gains) * stream.capacity / fresh


def drawn_by(noise, a, b):
    """Return the (runs, T) fresh noise that `noise` is made of, if its memory is (a, b)."""
    u, fresh = 0.0, []
    for week in noise.T:
        fresh.append(week - u)
        u = b * u + (a - b) * week
    return np.column_stack(fresh)


def test_the_noise_has_its_law_and_no_other(stream, checks):
    """Error probability 1e-6; a wrong a or b, and a memory that is never used, are rejected."""
    noise = noise_of(stream)
    for hospital in range(2):
        weeks = noise[:, :, hospital]
        assert checks.columns_are_unit_normals(drawn_by(weeks, *PAIR))
        for wrong in ((0.3, 0.6), (0.2, 0.7), (0.2, 0.2)):
            assert not checks.columns_are_unit_normals(drawn_by(weeks, *wrong))
    assert checks.columns_are_unit_normals(drawn_by(noise.reshape(RUNS, -1)[:, ::2], *PAIR))
    between = np.column_stack([noise[:, 0, 0], noise[:, 0, 1]])
    assert checks.columns_are_unit_normals(between)


def test_the_initial_noise_is_no_noise_of_a_round(stream, checks):
    """Otherwise an algorithm that adds z_0 to its sums takes the noise of a round out of them."""
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=range(RUNS), memory=PAIR)
    weeks = (noisy.gains - stream.gains) / noisy.fresh_scale
    for hospital in range(2):
        initial = noisy.initial[:, hospital] / noisy.fresh_scale[0, hospital]
        drawn = drawn_by(weeks[:, :, hospital], *PAIR)
        assert checks.columns_are_unit_normals(np.column_stack([initial, drawn]))


@pytest.mark.parametrize("week", range(ROUNDS))
def test_memory_is_designed_from_the_capacities_of_the_first_week_alone(stream, week):
    """Later capacities are unknown when the memory is designed."""
    capacity = stream.capacity.copy()
    capacity[week] *= 3
    other = dataclasses.replace(stream, capacity=capacity)
    noise = NOISES["capacity-memory"]
    before, after = (memory_of(noise, each, MU, "designed").b for each in (stream, other))
    assert (before == after).all() == (week > 0)


def test_memory_is_designed_for_gains_of_any_range(stream):
    per_100 = dataclasses.replace(
        stream, gains=100 * stream.gains, capacity=stream.capacity / 100, gain_range=100.0
    )
    one, hundred = (
        memory_of(NOISES["capacity-memory"], each, MU, "designed").b for each in (stream, per_100)
    )
    np.testing.assert_array_equal(one, hundred)


def test_no_memory_is_independent_noise_of_the_capacity_noise(stream):
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=2, memory="none")
    plain = privatize(stream, "capacity", MU, seed=1, replicates=2)
    np.testing.assert_array_equal(noisy.noise_scale, plain.noise_scale)
    assert noisy.guarantee.mu == plain.guarantee.mu


def test_the_scale_that_learners_see_is_that_of_the_noise(stream, checks):
    noisy = privatize(stream, "capacity-memory", MU, seed=1, replicates=range(RUNS))
    standard = (noisy.gains - stream.gains) / noisy.noise_scale
    # Weeks are not independent, so each week is tested by itself.
    assert all(checks.unit_variance(week, 2 * ROUNDS) for week in standard.reshape(RUNS, -1).T)
    fresh = (noisy.gains - stream.gains)[:, 1] / noisy.fresh_scale[1]
    assert not checks.unit_variance(fresh)


def test_the_record_names_the_memory(stream):
    told = privatize(stream, "capacity-memory", MU, seed=1, replicates=1, memory=PAIR).guarantee
    assert (told.memory, told.as_dict()["memory"]) == ("a = 0.2, b = 0.6",) * 2
    assert told.mu == pytest.approx(MU, rel=0.01)
    designed = privatize(stream, "capacity-memory", MU, seed=1, replicates=1).guarantee
    assert designed.memory.startswith("a = 0, b = 0.")
    assert (
        "memory" not in privatize(stream, "capacity", MU, seed=1, replicates=1).guarantee.as_dict()
    )
