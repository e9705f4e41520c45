from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.studies.labels.categorical import Categorical
from studies.labels import plain

LAST = 1 - 2.0**-53  # the largest uniform number that NumPy draws


def test_inversion_by_hand():
    table = Categorical(np.array([[0.25, 0.5, 0.25]]))
    uniforms = np.array([[0.0, 0.2499], [0.25, 0.7499], [0.75, LAST]])
    drawn = table.draw(np.zeros(1, dtype=int), uniforms)
    assert drawn.tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("masses", [[0, 0.1, 0, 0.2, 0.7, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0, 0, 0]])
def test_a_category_without_mass_is_never_drawn(masses, rows):
    table = Categorical(np.array([masses] * rows))
    uniforms = np.array([0.0, 2.0**-53, 0.1, np.nextafter(0.1, 1), 1 / 3, 2 / 3, 0.3, LAST])
    drawn = table.draw(np.array(rows - 1), uniforms)
    assert (np.array(masses)[drawn] > 0).all()


def test_features_choose_the_row_and_broadcast():
    table = Categorical(np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1]]))
    uniforms = np.full((2, 3), 0.5)
    assert table.draw(np.array([2, 0, 1]), uniforms).tolist() == [[2, 0, 1]] * 2
    assert table.draw(np.array([[1], [2]]), uniforms).tolist() == [[1] * 3, [2] * 3]


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 9))
def test_draws_are_those_of_plain_inversion(seed, X, M):
    rng = np.random.default_rng(seed)
    masses = rng.integers(0, 4, size=(X, M)).astype(float)
    masses[masses.sum(axis=1) == 0, 0] = 1.0
    features, uniforms = rng.integers(X, size=7), rng.random((3, 7))
    drawn = Categorical(masses).draw(features, uniforms)
    laws = masses / masses.sum(axis=1, keepdims=True)
    expected = [[plain.draw(laws[x], u) for x, u in zip(features, row)] for row in uniforms]  # noqa: B905
    assert drawn.tolist() == expected
