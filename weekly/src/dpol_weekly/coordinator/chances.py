"""Chances to be among the k largest of independent normal numbers.

With f_i and F_i the density and the distribution function of number i, it is among the k largest
with the chance of the integral of f_i(x) P(fewer than k others lie above x). The number of those
above x is a sum of independent events. Its law without i is made of those of the numbers before i
and behind it, as sums of positive terms. The trapezoidal rule is exact up to 1e-6 for such
integrands, if its step is below every deviation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from dpol.core.randomness import Floats

_REACH = 6.0
"""Deviations beyond which nothing lies: one in 10^9 does."""
_POINTS = 256, 2048
"""Points of the rule: the fewest, for many numbers, and the most."""
_CELLS = 4_000_000
"""Numbers of an array at most."""


def chances_of(mean: Floats, deviation: Floats, k: int) -> Floats:
    """The chance of each number to be among the k largest.

    Deviations below two steps of the rule are taken as these, 1/1000 of the range that matters for
    few numbers and 1/100 for thousands.

    Args:
        mean: (n,) of independent normal numbers.
        deviation: (n,) above 0.
        k: from 1; if there are not more numbers, all are among them.

    >>> [round(float(it), 6) for it in chances_of(np.zeros(4), np.ones(4), 1)]
    [0.25, 0.25, 0.25, 0.25]
    """
    chances = np.ones(len(mean))
    if k >= len(mean):
        return chances
    start, end, near, sure = _range(mean, deviation, k)
    points = int(np.clip(_CELLS // max(1, near.sum() * k), *_POINTS))
    # Each end lies six deviations further out for numbers that are widened to two steps.
    deviation = np.maximum(deviation, 2 * (end - start) / (points - 1 - 4 * _REACH))
    start, end, near, sure = _range(mean, deviation, k)
    chances[~sure] = 0.0
    k -= int(sure.sum())
    if not k:
        return chances
    grid, near = np.linspace(start, end, points), near.nonzero()[0]
    step, width = grid[1] - grid[0], deviation[near, None]
    for x in np.split(grid, range(0, points, max(1, _CELLS // (len(near) * k)))):
        apart = (x - mean[near, None]) / width
        above, weight = ndtr(-apart), np.exp(-(apart**2) / 2) * (step / math.sqrt(2 * math.pi))
        before, counts = np.empty((len(near), k, len(x))), _none(k, len(x))
        for place, own in enumerate(above):
            before[place] = counts
            counts = _with(counts, own)
        behind = _none(k, len(x))
        for place in reversed(range(len(near))):
            few = (before[place] * behind.cumsum(axis=0)[::-1]).sum(axis=0)
            chances[near[place]] += (weight[place] * few).sum() / width[place, 0]
            behind = _with(behind, above[place])
    return chances


def _range(
    mean: Floats, deviation: Floats, k: int
) -> tuple[float, float, NDArray[Any], NDArray[np.bool_]]:
    """The ends of what matters; which numbers (n,) matter, and which are among the k for sure."""
    low, high = mean - _REACH * deviation, mean + _REACH * deviation
    # Below the k-th lower end lies no number that matters; above the next upper end, all are in.
    start, sure = np.partition(low, -k)[-k], low > np.partition(high, -k - 1)[-k - 1]
    for x in np.linspace(start, high.max(), 30):
        many = ndtr((mean - x) / deviation).sum()
        # Chernoff's bound on fewer than k above x, of which `many` are expected.
        if many > k and (many - k) ** 2 > 40 * many:
            start = x
    return float(start), float(high.max()), (high >= start) & ~sure, sure


def _none(k: int, points: int) -> Floats:
    """(k, G) chances of 0 to k - 1 events, if there are none."""
    counts = np.zeros((k, points))
    counts[0] = 1.0
    return counts


def _with(counts: Floats, own: Floats) -> Floats:
    """(k, G) chances of 0 to k - 1 events, one more event with chance (G,) included."""
    more = counts * (1 - own)
    more[1:] += counts[:-1] * own
    return more
