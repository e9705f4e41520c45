from __future__ import annotations

import math

import numpy as np
import pytest

from dpol.studies.labels.hypotheses import HypothesisClass, check_labels


def test_a_class_of_constants_has_one_feature():
    found = HypothesisClass([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
    assert (found.n_features, found.n_hypotheses, found.n_labels) == (1, 2, 3)
    np.testing.assert_array_equal(found.masses, [[[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]])
    assert found.label == "class"


def test_sizes_of_a_class_with_features():
    masses = np.full((4, 3, 5), 0.2)
    found = HypothesisClass(masses, "mine")
    assert (found.n_features, found.n_hypotheses, found.n_labels) == (4, 3, 5)
    assert found.label == "mine"


def test_the_class_is_a_copy_that_nobody_can_change():
    masses = np.array([[0.5, 0.5], [0.1, 0.9]])
    found = HypothesisClass(masses)
    masses[0] = [1.0, 0.0]
    assert found.masses[0, 0].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        found.masses[0, 0, 0] = 1.0


def test_rounding_is_mended_and_more_is_refused():
    slightly = np.array([[0.5, 0.5 + 5e-10], [0.1, 0.9]])
    sums = HypothesisClass(slightly).masses.sum(axis=2)
    np.testing.assert_allclose(sums, 1.0, rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match="sum to"):
        HypothesisClass(slightly + np.array([[0, 1e-9], [0, 0]]))


@pytest.mark.parametrize(
    ("masses", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], r"hypothesis 0 at feature 0 sum to 1\.1, not to 1; divide"),
        (
            [[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.2, 0.2]]],
            r"hypothesis 1 at feature 1 sum to 0\.4, not to 1; divide them by their sum",
        ),
        (
            [[0.5, 0.5], [1.5, -0.5]],
            r"hypothesis 1 at feature 0 gives label 1 the mass -0\.5; .* at least 0",
        ),
        ([[math.nan, 1.0], [0.5, 0.5]], "gives label 0 the mass nan; a mass must be a number"),
        ([[0.5, 0.5], [0.5, math.inf]], "gives label 1 the mass inf; a mass must be a number"),
        ([[0.0, 0.0], [0.5, 0.5]], "hypothesis 0 at feature 0 sum to 0, not to 1"),
        ([[0.5, 0.5]], r"at least 2 hypotheses \(K\), got 1: nothing to learn"),
        ([[1.0], [1.0]], r"at least 2 labels \(M\), got 1: nothing to predict"),
        ([0.5, 0.5], r"masses must have shape \(X, K, M\), got \(2,\)"),
        (np.zeros((0, 2, 2)), r"shape \(X, K, M\), got \(0, 2, 2\)"),
        (np.zeros((1, 1, 2, 2)), r"got \(1, 1, 2, 2\)"),
    ],
)
def test_what_is_no_class_is_refused(masses, message):
    with pytest.raises(ValueError, match=message):
        HypothesisClass(masses)


def test_labels_of_the_class_are_accepted():
    check_labels(np.array([[0, 2], [1, 1]]), 3)
    check_labels(np.array([[0, 2]], dtype=np.uint8), 3)
    check_labels(np.zeros((2, 0), dtype=np.int64), 3)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 3], r"label 3 is not in 0\.\.2"),
        ([0, -1, 5], r"label -1 is not in 0\.\.2"),
        ([0.0, 1.0], "labels must be integers, got float64"),
        ([True, False], "labels must be integers, got bool"),
    ],
)
def test_labels_that_do_not_exist_are_refused(labels, message):
    with pytest.raises(ValueError, match=message):
        check_labels(np.array(labels), 3)
