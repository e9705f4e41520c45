from __future__ import annotations

import math

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.lazy.weights import WeightsMeasure


def sampled(measure, state, uniforms):
    tapes = ReplicateGenerators(tuple(plain.Tape([u]) for u in uniforms))
    return measure.sample(state, tapes)


def test_probabilities_are_normalised_exponential_weights():
    state = np.array([3.0, 1.0, 0.0, 2.5])
    expected = plain.weights(state.tolist(), 0.8)
    np.testing.assert_allclose(WeightsMeasure(4, 0.8).probabilities(state), expected, rtol=1e-14)


def test_log_ratio_agrees_with_the_measures_up_to_normalisation():
    measure, rng = WeightsMeasure(4, 0.3), np.random.default_rng(0)
    state, batch, points = rng.random(4) * 5, rng.random(4), np.arange(4)
    before, after = (measure.probabilities(s) for s in (state, measure.absorb(state, batch)))
    gaps = np.log(after / before) - measure.log_ratio(batch, points)
    assert np.ptp(gaps) < 1e-13
    np.testing.assert_allclose(
        measure.log_ratio(batch, np.array([2, 0, 2])), -0.3 * batch[[2, 0, 2]]
    )


def test_samples_invert_the_distribution_function():
    measure, state = WeightsMeasure(3, math.log(2)), np.array([0.0, 1.0, 1.0])  # 1/2, 1/4, 1/4
    uniforms = [0.0, 0.4999, 0.5001, 0.7499, 0.7501, np.nextafter(1, 0)]
    drawn = sampled(measure, state, uniforms)
    assert drawn.tolist() == [0, 0, 1, 1, 2, 2]
    assert drawn.dtype == np.int32


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_large_losses_neither_overflow_nor_vanish(shift):
    measure, state = WeightsMeasure(3, 1.0), shift + np.array([0.0, 1.0, 2000.0])
    probabilities = measure.probabilities(state)
    np.testing.assert_allclose(probabilities, [1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.0])
    assert sampled(measure, state, [0.0, 0.9, np.nextafter(1, 0)]).tolist() == [0, 1, 1]
