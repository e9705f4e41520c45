"""Clipped likelihoods compared with the N' cells, and the two rules of sensitivity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given

from labels import plain

# ---- blocks and cells ----------------------------------------------------------------------------


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


# ---- sensitivity ---------------------------------------------------------------------------------


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
