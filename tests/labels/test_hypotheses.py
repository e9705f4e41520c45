"""Hypothesis classes, draws from them, random and hard classes, forecasts; clipped classes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.linalg import hadamard

from dpol.labels.hard_pairs import hardness
from dpol.labels.hypotheses import (
    BLEND,
    WINDOWS,
    HypothesisClass,
    draw_categories,
    forecast_class,
    hard_class,
    random_class,
)
from grids import each_and_corners
from labels import plain


def test_a_class_of_constants_has_one_feature_and_is_a_copy_that_nobody_can_change():
    masses = np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]])
    made = HypothesisClass(masses)
    assert (made.n_features, made.n_hypotheses, made.n_labels) == (1, 2, 3)
    masses[0] = [1.0, 0.0, 0.0]
    np.testing.assert_array_equal(made.masses, [[[0.5, 0.5, 0.0], [0.1, 0.2, 0.7]]])
    with pytest.raises(ValueError, match="read-only"):
        made.masses[0, 0, 0] = 1.0


def test_rounding_is_mended_and_more_is_refused():
    slightly = np.array([[0.5, 0.5 + 5e-10], [0.1, 0.9]])
    sums = HypothesisClass(slightly).masses.sum(axis=2)
    np.testing.assert_allclose(sums, 1.0, rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match="sum to 1"):
        HypothesisClass(slightly + np.array([[0, 1e-9], [0, 0]]))


@pytest.mark.parametrize(
    ("masses", "message"),
    [
        ([[0.5, 0.6], [0.5, 0.5]], r"at \(0, 0\) the smallest is 0\.5, the sum 1\.1; divide"),
        ([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.2, 0.2]]], r"at \(1, 1\) .* the sum 0\.4"),
        ([[0.5, 0.5], [1.5, -0.5]], r"must be at least 0 .* at \(0, 1\) the smallest is -0\.5"),
        ([[0.5, 0.5], [0.5, math.inf]], "the sum inf"),
        ([[0.0, 0.0], [0.5, 0.5]], "the sum 0; divide them by their sum"),
        ([[0.5, 0.5]], r"at least 2 hypotheses \(K\) .*, got \(1, 1, 2\)"),
        ([[1.0], [1.0]], r"2 labels \(M\), got \(1, 2, 1\)"),
        ([0.5, 0.5], r"masses must have shape \(X, K, M\), .* got \(2,\)"),
    ],
)
def test_what_is_no_class_is_refused(masses, message):
    with pytest.raises(ValueError, match=message):
        HypothesisClass(masses)


# ---- draws ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("masses", [[0, 0.1, 0, 0.2, 0.7, 0, 0], [1 / 3, 1 / 3, 1 / 3, 0, 0, 0, 0]])
def test_a_category_without_mass_is_never_drawn(masses, rows):
    table = np.array([masses] * rows, dtype=float)
    uniforms = [0.0, 2.0**-53, 0.1, np.nextafter(0.1, 1), 1 / 3, 2 / 3, 0.3, plain.LAST]
    drawn = draw_categories(table, np.array(rows - 1), np.array(uniforms))
    assert (np.array(masses)[drawn] > 0).all()


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 9))
def test_draws_agree_with_plain_inversion(seed, X, M):
    rng = np.random.default_rng(seed)
    masses = rng.integers(0, 4, size=(X, M)).astype(float)
    masses[masses.sum(axis=1) == 0, 0] = 1.0
    features, uniforms = rng.integers(X, size=7), rng.random((3, 7))
    drawn = draw_categories(masses, features, uniforms)
    laws = masses / masses.sum(axis=1, keepdims=True)
    expected = [[plain.draw(laws[x], u) for x, u in zip(features, row)] for row in uniforms]  # noqa: B905
    assert drawn.tolist() == expected


# ---- random classes ------------------------------------------------------------------------------


def test_a_random_class_depends_on_its_arguments_only():
    one, same = (random_class(3, 5, seed=1, n_features=2) for _ in range(2))
    assert one.masses.shape == (2, 3, 5)
    assert one.label == "random"
    random_class(4, 6, seed=0, concentration=1e-4)  # every row has some mass
    np.testing.assert_array_equal(one.masses, same.masses)
    assert not np.allclose(one.masses[0], one.masses[1])
    for changed in ({"seed": 2}, {"concentration": 2.0}):
        other = random_class(3, 5, **{"seed": 1, "n_features": 2, **changed})
        assert not np.isclose(other.masses, one.masses).any()


@pytest.mark.parametrize("concentration", [0.2, 1.0, 3.0])
def test_masses_follow_a_dirichlet_distribution(concentration):
    """A mass is Beta(a, (M - 1) a); one mass per row, so that they are independent."""
    masses = random_class(2, 4, seed=0, concentration=concentration, n_features=10_000).masses
    law = stats.beta(concentration, 3 * concentration)
    wrong = stats.beta(1.2 * concentration, 3.6 * concentration)
    assert stats.kstest(masses[:, 0, 1], law.cdf).pvalue > 1e-6
    assert stats.kstest(masses[:, 0, 1], wrong.cdf).pvalue < 1e-6
    assert abs(np.corrcoef(masses[:, 0, 1], masses[:, 1, 1])[0, 1]) < 0.05


# ---- the hard class ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pairs", "a"), each_and_corners((1, 2, 3, 4, 5, 7, 8, 15, 16), (1e-3, 0.3, 1.0))
)
def test_the_hard_class(pairs, a):
    """Each row is a distribution; the second of a pair gains mass a/N where the column is +1."""
    made = hard_class(pairs, a)
    N = made.n_labels
    assert made.n_hypotheses == 2 * pairs
    assert N / 2 <= pairs <= N - 1
    columns, masses = hadamard(N).T[1 : pairs + 1], made.masses[0]
    for column, first, second in zip(columns, masses[::2], masses[1::2], strict=True):
        np.testing.assert_allclose(first, np.where(column < 0, 2 / N, 0), rtol=1e-12)
        expected = np.where(column < 0, (2 - a) / N, a / N)
        np.testing.assert_allclose(second, expected, rtol=1e-12, atol=1e-15)
        middle = plain.kl(first.tolist(), ((first + second) / 2).tolist()) / 2
        assert middle == pytest.approx(math.log(2 / (2 - a / 2)) / 2, rel=1e-9)
        assert middle >= a / 8 * (1 - 1e-9)  # twice the a/16 of the paper
    differences = (made.masses[0, 1::2] - made.masses[0, ::2]) * N / a
    np.testing.assert_allclose(differences @ differences.T, N * np.eye(pairs), atol=1e-6)


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


# ---- forecasts -----------------------------------------------------------------------------------


BEDS = np.array([[10.0, 30.0], [10.0, 30.0], [20.0, 20.0], [30.0, 10.0], [10.0, 30.0], [1.0, 1.0]])
COUNTS = np.array([[3.0, 1.0], [0.0, 0.0], [1.0, 1.0], [0.0, 4.0], [1.0, 0.0], [9.0, 1.0]])
# Shares of the first hospital by week; week 1 has no patients, so beds are used instead.
PAST = [0.75, 0.25, 0.5, 0.0, 1.0, 0.9]
CAPACITY = [0.25, 0.25, 0.5, 0.75, 0.25, 0.5]


def test_forecasts_by_hand():
    made = forecast_class(COUNTS, BEDS, "mine")
    assert made.label == "mine"
    assert made.masses.shape == (6, 5, 2)
    first = made.masses[:, :, 0]
    np.testing.assert_allclose(first[0], [0.25] * 5)  # no past: beds
    np.testing.assert_allclose(first[:, -1], CAPACITY)
    for week in range(1, 6):
        for j, looks_back in enumerate(WINDOWS):
            seen = PAST[:week][-looks_back:] if looks_back else PAST[:week]
            expected = (1 - BLEND) * sum(seen) / len(seen) + BLEND * CAPACITY[week]
            assert first[week, j] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(made.masses.sum(axis=2), 1.0, rtol=1e-12)


# ---- clipped likelihoods -------------------------------------------------------------------------


@given(plain.cases())
def test_blocks_are_sums_over_the_cells(case):
    _, T = case
    clipping = plain.clipping(*case)
    for x, F in enumerate(clipping.hypotheses.masses.tolist()):
        owners, pbar = plain.owners_of(F), np.array(plain.clipped(F, T))
        assert clipping.n_cells[x] == len(owners)
        assert clipping.cells[x].tolist() == [owners.count(y) for y in range(len(F[0]))]
        np.testing.assert_allclose(pbar.sum(axis=1), 1.0, rtol=1e-12)
        blocks = [pbar[:, np.array(owners) == y].sum(axis=1) for y in range(len(F[0]))]
        np.testing.assert_allclose(clipping.block_masses[x].T, blocks, rtol=1e-12, atol=1e-300)
        np.testing.assert_allclose(clipping.log_cells[x][:, owners], np.log(pbar), rtol=1e-12)
        assert (clipping.block_masses[x] >= (1 - 1 / T) * np.array(F)).all()
        spread = np.log(pbar.max(axis=1) / pbar.min(axis=1))
        np.testing.assert_allclose(clipping.ranges[x], spread, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("M", [3, 7, 49, 10_000])
def test_rounding_makes_no_cell(M):
    """M times 1 / M may be rounded to more than 1."""
    uniform = np.full(M, 1 / M)
    assert (plain.clipping([uniform, uniform], 10).cells == 1).all()
    # 3 / 10 * 10 is 3, and a little more is 4.
    for first, expected in (([0.3, 0.3, 0.4], [3, 3, 4]), ([0.3001, 0.3, 0.3999], [4, 3, 4])):
        cells = plain.clipping([first + [0.0] * 7] * 2, 10).cells[0]
        assert cells.tolist() == expected + [0] * 7


def test_the_counterexample_to_the_published_sensitivity():
    """K = 2, M = 3, T = 10: N' = 7 > KM, and the range is log 22 > log(KT) = log 20."""
    clipping = plain.clipping(plain.COUNTEREXAMPLE, 10)
    assert clipping.n_cells.tolist() == [7]
    np.testing.assert_allclose(clipping.ranges[0, 1], math.log(22), rtol=1e-13)
    assert clipping.sensitivity.max() == pytest.approx(3.091, abs=5e-4)
    published = plain.clipping(plain.COUNTEREXAMPLE, 10, "published")
    assert published.sensitivity.tolist() == [[math.log(20)] * 2]
    assert published.bound == math.log(20) < clipping.ranges.max()
    assert published.excess == pytest.approx(math.log(22) / math.log(20), rel=1e-13)


@given(plain.cases())
def test_the_range_never_exceeds_the_bound_of_the_exact_rule(case):
    masses, T = case
    clipping = plain.clipping(masses, T)
    K, M = masses.shape[1:]
    assert (clipping.n_cells < (K + 1) * M).all()
    assert (clipping.n_cells >= M).all()
    assert clipping.bound == math.log((K + 1) * T)
    assert (clipping.ranges <= clipping.bound).all()
    np.testing.assert_array_equal(clipping.sensitivity, clipping.ranges)
    assert clipping.excess == 1.0
    # Where a label costs nothing, log pbar_j lies between log(1/T N') and log(1/M).
    logs = np.where(np.isfinite(clipping.log_cells), clipping.log_cells, -math.log(M))
    assert (logs <= -math.log(M) + 1e-11).all()
    assert (logs >= -np.log(T * clipping.n_cells)[:, None, None] - 1e-11).all()


@pytest.mark.parametrize("masses", [[[0.5, 0.5]] * 2, [[2 / 3, 1 / 3], [0.5, 0.5]]])
def test_a_likelihood_that_never_changes_has_no_sensitivity(masses):
    """f_j is proportional to the cells: there is nothing to hide, and no division by 0."""
    for rule in ("exact", "published"):
        assert plain.clipping(masses, 10, rule).excess == 1.0
    assert plain.clipping(masses, 10).ranges[0, 0] == pytest.approx(0, abs=1e-15)


def test_a_game_of_one_round_is_refused():
    with pytest.raises(ValueError, match="n_rounds must be a whole number of at least 2, got 1"):
        plain.clipping(plain.COUNTEREXAMPLE, 1)
