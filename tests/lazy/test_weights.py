from __future__ import annotations

import math

import numpy as np
import pytest

import lazy_plain as plain
from dpol.core.randomness import ReplicateGenerators
from dpol.lazy.weights import WeightsMeasure


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e12])
def test_large_losses_neither_overflow_nor_vanish(shift):
    measure, state = WeightsMeasure(3, 1.0), shift + np.array([0.0, 1.0, 2000.0])
    probabilities = measure.probabilities(state)
    np.testing.assert_allclose(probabilities, [1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0.0])
    tapes = tuple(plain.Tape([uniform]) for uniform in (0.0, 0.9, np.nextafter(1, 0)))
    assert measure.sample(state, ReplicateGenerators(tapes)).tolist() == [0, 1, 1]
