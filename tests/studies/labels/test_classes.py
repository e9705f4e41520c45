from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.linalg import hadamard

from dpol.studies.labels.classes import hard_class, random_class
from dpol.studies.labels.points import hardness
from studies.labels import plain

# ---- random classes ------------------------------------------------------------------------------


def test_a_random_class_depends_on_its_arguments_only():
    one, same = (random_class(3, 5, seed=1, n_features=2) for _ in range(2))
    assert one.masses.shape == (2, 3, 5)
    assert one.label == "random"
    random_class(4, 6, seed=0, concentration=1e-4)  # has no row without any mass
    np.testing.assert_array_equal(one.masses, same.masses)
    assert not np.allclose(one.masses[0], one.masses[1])
    for other in (
        random_class(3, 5, seed=2, n_features=2),
        random_class(3, 5, seed=1, n_features=2, concentration=2.0),
    ):
        assert not np.isclose(other.masses, one.masses).any()


@pytest.mark.parametrize("concentration", [0.2, 1.0, 3.0])
def test_masses_are_those_of_a_dirichlet_distribution(concentration):
    """A mass is Beta(a, (M - 1) a); one of each row, so that they are independent."""
    from scipy import stats

    masses = random_class(2, 4, seed=0, concentration=concentration, n_features=10_000).masses
    law = stats.beta(concentration, 3 * concentration)
    wrong = stats.beta(1.2 * concentration, 3.6 * concentration)
    assert stats.kstest(masses[:, 0, 1], law.cdf).pvalue > 1e-6
    assert stats.kstest(masses[:, 0, 1], wrong.cdf).pvalue < 1e-6
    assert abs(np.corrcoef(masses[:, 0, 1], masses[:, 1, 1])[0, 1]) < 0.05


@pytest.mark.parametrize("concentration", [0.0, -1.0, math.nan])
def test_a_concentration_must_be_positive(concentration):
    with pytest.raises(ValueError, match="concentration must be above 0"):
        random_class(2, 2, seed=0, concentration=concentration)


@pytest.mark.parametrize(("K", "M", "message"), [(1, 4, "at least 2 hyp"), (4, 1, "at least 2 la")])
def test_one_hypothesis_or_label_is_too_few(K, M, message):
    with pytest.raises(ValueError, match=message):
        random_class(K, M, seed=0)


# ---- the hard class ------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [1, 2, 3, 4, 5, 7, 8, 15, 16])
@pytest.mark.parametrize("a", [1e-3, 0.3, 1.0])
def test_the_hard_class(pairs, a):
    """Each row is a distribution; the second of a pair has mass a/N where the column is +1."""
    found = hard_class(pairs, a)
    N = found.n_labels
    assert found.n_hypotheses == 2 * pairs
    assert N / 2 <= pairs <= N - 1
    assert N & (N - 1) == 0
    assert found.label == "hard"
    matrix = hadamard(N)
    assert (found.masses >= 0).all()
    np.testing.assert_allclose(found.masses.sum(axis=2), 1.0, rtol=0, atol=1e-12)
    for i in range(pairs):
        column = matrix[:, i + 1]
        first, second = found.masses[0, 2 * i], found.masses[0, 2 * i + 1]
        np.testing.assert_allclose(first, np.where(column < 0, 2 / N, 0), rtol=1e-12)
        np.testing.assert_allclose(
            second, np.where(column < 0, (2 - a) / N, a / N), rtol=1e-12, atol=1e-15
        )
        middle = plain.kl(first.tolist(), ((first + second) / 2).tolist()) / 2
        assert middle == pytest.approx(math.log(2 / (2 - a / 2)) / 2, rel=1e-9)
        assert middle >= a / 8 * (1 - 1e-9)  # twice the a/16 of the paper
    differences = (found.masses[0, 1::2] - found.masses[0, ::2]) * N / a
    np.testing.assert_allclose(differences @ differences.T, N * np.eye(pairs), atol=1e-6)


def test_the_hard_class_by_hand():
    expected = [
        [0, 1 / 2, 0, 1 / 2],
        [1 / 8, 3 / 8, 1 / 8, 3 / 8],
        [0, 0, 1 / 2, 1 / 2],
        [1 / 8, 1 / 8, 3 / 8, 3 / 8],
    ]
    np.testing.assert_allclose(hard_class(2, 0.5).masses[0], expected)


@pytest.mark.parametrize("a", [1.0001, 0.0, -0.1, math.nan, math.inf])
def test_a_distance_out_of_range_is_refused(a):
    with pytest.raises(ValueError, match=r"distance a must lie in \(0, 1\], got .*more rounds"):
        hard_class(2, a)


def test_no_pairs_are_refused():
    with pytest.raises(ValueError, match="n_pairs must be at least 1, got 0"):
        hard_class(0, 0.5)


@pytest.mark.parametrize(
    ("pairs", "T", "epsilon", "expected"),
    [
        # (e^eps - 1)^2 = 1/4 at eps = log 1.5: sqrt(3 / (9 * 200 * 1/4 * 3/2)).
        (3, 200, math.log(1.5), math.sqrt(3 / 675)),
        (4, 10_000, math.log(2), math.sqrt(4 / 180_000)),
        (4, 10_000, math.log(5), math.sqrt(4 / 450_000)),
        (1, 100, 1000.0, math.exp(-500) / 30),
    ],
)
def test_hardness_by_hand(pairs, T, epsilon, expected):
    assert hardness(pairs, T, epsilon) == pytest.approx(expected, rel=1e-12)
