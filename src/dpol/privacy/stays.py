"""Privacy of a person who is counted in several rounds in a row: a stay.

A mechanism releases C G + noise. One person in one round moves column c_t of C; a person who stays
up to w rounds moves several neighbouring columns. If no entry of C'C is negative, cross terms only
add, so the worst case is to be counted in all w rounds.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dpol.core.arguments import check_whole
from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import worst_two

STAYS = 1, 2, 4, 8
"""Numbers of rounds: every record gives the mu of a person counted in as many."""
_ROUNDING = 1e-12


def stay_norm(columns: Floats, stay: int) -> float:
    """Return N_w: how far a stay can move C G if a gain moves by 1 in each of its rounds.

    Args:
        columns: C, (m, T).
        stay: w, the longest stay in rounds.

    Raises:
        ValueError: C'C has a negative entry and w is above 1.

    >>> stay_norm(np.eye(5), 4)  # independent noise: the root of w
    2.0
    """
    rounds = columns.shape[1]
    return mu_of_stays(np.ones((rounds, 1)), columns.T @ columns, stay)


def mu_of_stays(shifts: Floats, gram: Floats | None, stay: int) -> float:
    """Return an upper bound on mu under Gaussian noise for a person who stays; exact for one round.

    In every round the person moves at most two gains, by at most the two largest shifts of the
    round. The bound counts the worst case: the same two experts in all rounds of the stay.

    Args:
        shifts: (T, n) how far one person can move each gain, over the standard deviation of its
            noise.
        gram: (T, T) C'C, with columns c_t of C; None for independent noise.
        stay: w, the longest stay in rounds.

    Raises:
        ValueError: C'C has a negative entry and w is above 1.

    >>> two_weeks = np.array([[3.0, 4.0], [0.0, 12.0]])
    >>> [mu_of_stays(two_weeks, None, w) for w in (1, 2)]
    [12.0, 13.0]
    """
    if stay > 1 and gram is not None and (gram < -_ROUNDING * np.abs(gram).max()).any():
        raise ValueError(
            "some weeks of a stay cancel others: C'C has a negative entry, so a person who changes"
            " hospital during the stay is not covered; take a stay of 1, or another C"
        )
    worst, length = worst_two(shifts), min(check_whole("stay", stay), len(shifts))
    if gram is None:
        totals = sliding_window_view((worst**2).sum(axis=1), length).sum(axis=1)
    else:
        blocks = sliding_window_view(_common(worst, gram), (length, length))
        totals = np.einsum("ttjk->t", blocks)
    return float(np.sqrt(totals.max()))


def mu_of_rounds(shifts: Floats, gram: Floats | None, count: int) -> float:
    """Return an upper bound on mu for a person counted in `count` rounds, in a row or not.

    It is exact for independent noise, where the worst rounds add up. Otherwise each pair of rounds
    gets the largest inner product, regardless of its sign, of all pairs that are as far apart or
    farther. This is exact if all rounds are alike and inner products fall with distance.

    Args:
        shifts: as in `mu_of_stays`.
        gram: as in `mu_of_stays`, with entries of any sign.
        count: number of rounds, at least 1; more than T count as T.

    >>> two_weeks = np.array([[3.0, 4.0], [0.0, 1.0], [0.0, 12.0]])
    >>> [mu_of_rounds(two_weeks, None, count) for count in (1, 2)]
    [12.0, 13.0]
    """
    check_whole("count", count)
    worst = worst_two(shifts)
    if gram is None:
        return float(np.sqrt(np.sort((worst**2).sum(axis=1))[-count:].sum()))
    common = _common(worst, np.abs(gram))
    total = np.sort(np.diagonal(common))[-count:].sum()
    lags = [np.diagonal(common, lag).max() for lag in range(1, len(worst))]
    farther = np.maximum.accumulate(lags[::-1])[::-1][: count - 1]
    pairs = min(count, len(worst)) - 1 - np.arange(len(farther))
    return float(np.sqrt(total + 2 * (pairs * farther).sum()))


def _common(worst: Floats, gram: Floats) -> Floats:
    """Return the (T, T) inner products of two rounds' moves of C G; 0 where `gram` is 0."""
    # Without noise a move is infinite, and 0 times infinity is no number.
    return np.multiply(gram, worst @ worst.T, out=np.zeros_like(gram), where=gram != 0)
