"""The limit of linear Gaussian noise, against a conic solver, enumeration and other filters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.privacy.chains import REFERENCE
from dpol.privacy.noise_limit import (
    Holder,
    filter_variances,
    least_variance,
    share_covariance,
    variance_bound,
)

FAST, SLOW = REFERENCE, (1e-4, 0.98)


def holder(shares=FAST, level=0.1414, stay=1, rounds=12):
    return Holder(covariance=share_covariance(rounds, *shares), level=level, stay=stay)


def longest_move(design, stay):
    """Return the longest move of C x by w weeks in a row, over all patterns of -1, 0 and 1."""
    longest = 0.0
    for first in range(design.shape[1] - stay + 1):
        for rest in itertools.product((-1, 0, 1), repeat=stay - 1):
            moved = design[:, first : first + stay] @ np.array([1, *rest])
            longest = max(longest, float(np.linalg.norm(moved)))
    return longest


def semi_definite(holder):
    """Return the least mean variance by a program in J_1, ..., J_T, solved by interior points."""
    import cvxpy as cp

    rounds, unit = holder.rounds, holder.covariance[0, 0]
    precision = np.linalg.inv(holder.covariance / unit)
    told = [cp.Variable((rounds, rounds), PSD=True) for _ in range(rounds)]
    rules = [
        cp.sum(cp.multiply(told[-1], np.outer(stay, stay))) <= unit / holder.level**2
        for stay in holder.stays()
    ]
    total = 0
    for t, information in enumerate(told):
        total += cp.matrix_frac(np.eye(rounds)[t], precision + information)
        if t + 1 < rounds:
            rules += [information[t + 1 :] == 0, told[t + 1] - information >> 0]
    # Within 1e-7, for a comparison within 1e-6. With some kernels of BLAS the solver does not reach
    # its default of 1e-8, and warns.
    within = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-7)
    problem = cp.Problem(cp.Minimize(total / rounds), rules)
    return float(problem.solve(solver=cp.CLARABEL, **within)) * unit


@pytest.mark.parametrize(
    ("stay", "shares", "level", "chain", "limit"),
    [
        (1, FAST, 0.1414, 1.179, 1.188),
        (2, SLOW, 0.283, 1.321, 1.525),
        (4, SLOW, 0.283, 1.081, 1.359),
    ],
)
def test_a_conic_solver_finds_the_same_limit(stay, shares, level, chain, limit):
    """The chains of the reference table are the best of a grid; ours are from a finer search."""
    about = holder(shares, level, stay)
    solved, (design, bound) = semi_definite(about), least_variance(about, 1e-4)
    reached = about.mean_variance(design)
    assert about.factor_in_mu(solved) == pytest.approx(limit, abs=5.5e-4)
    assert bound <= solved * (1 + 1e-6)
    assert solved <= reached * (1 + 1e-6)
    assert reached <= bound * (1 + 1e-4)
    assert longest_move(design, stay) <= (1 + 1e-9) / level
    best = about.factor_in_mu(about.mean_variance(about.best_chain()))
    assert chain - 5e-4 <= best <= chain + 1.1e-3


# ---- its parts -----------------------------------------------------------------------------------


def variances_of(increments, covariance):
    """Return f_t by dense conditioning, if week s adds the information `increments[s]`."""
    variances, told = [], np.zeros_like(covariance)
    for t, more in enumerate(increments):
        told = told + more
        precision = np.linalg.inv(covariance[: t + 1, : t + 1]) + told[: t + 1, : t + 1]
        variances.append(np.linalg.inv(precision)[t, t])
    return np.array(variances)


def test_the_filter_conditions_on_all_reports_so_far():
    rng, covariance = np.random.default_rng(3), share_covariance(6, *FAST)
    design = 20 * np.tril(rng.standard_normal((6, 6)))
    design[2] = 0.0  # a week without a report
    expected = variances_of([np.outer(row, row) for row in design], covariance)
    np.testing.assert_allclose(filter_variances(design, covariance), expected, rtol=1e-9)
    late = np.tril(design[:, ::-1])[:, ::-1]  # reports that look ahead have other variances
    assert not np.allclose(filter_variances(late, covariance), expected, rtol=1e-3)


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("stay", [1, 2, 3])
def test_chains_are_private(stay, once):
    about = holder(rounds=10, stay=stay)
    design = about.best_chain(once_a_stay=once)
    assert 0.9 < longest_move(design, stay) * about.level <= 1 + 1e-9
    assert (design.any(axis=1) == (np.arange(10) % (stay if once else 1) == 0)).all()


def test_a_game_of_one_week_in_closed_form():
    about = holder(rounds=1)
    least = 1 / (1 / about.covariance[0, 0] + 1 / about.level**2)
    design, bound = least_variance(about, 1e-9)
    assert [about.mean_variance(design), bound] == pytest.approx([least, least], rel=1e-8)


# ---- the bound -----------------------------------------------------------------------------------


def drawn(rng, about):
    """Draw directions, weights and a private mechanism that reports several numbers a week."""
    rounds = about.rounds
    directions = np.triu(rng.standard_normal((rounds, rounds)))
    weights = rng.exponential(size=len(about.stays())) ** 3
    reports = [np.zeros((rounds, rounds)) for _ in range(rounds)]
    for t, report in enumerate(reports):
        report[:, : t + 1] = rng.standard_normal((rounds, t + 1)) * rng.exponential()
    longest = longest_move(np.concatenate(reports), about.stay)
    return directions, weights, [c.T @ c / (longest * about.level) ** 2 for c in reports]


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from([0.01, 0.1, 1.0]))
def test_the_bound_holds_whatever_it_is_made_of(seed, stay, level):
    rng, about = np.random.default_rng(seed), holder(SLOW, level, stay, rounds=5)
    directions, weights, increments = drawn(rng, about)
    reached = variances_of(increments, about.covariance).mean()
    bound = variance_bound(about, directions, weights)
    assert 0 < bound <= reached * (1 + 1e-9)
    assert variance_bound(about, 3 * directions, 0.1 * weights) == pytest.approx(bound)


def test_what_is_no_proof():
    about = holder(rounds=3)
    assert variance_bound(about, np.eye(3), np.array([1.0, 0.0, 1.0])) == 0.0
