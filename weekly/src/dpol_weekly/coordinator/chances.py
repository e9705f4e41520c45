"""Probabilities of being among the k largest of independent normal numbers.

Let f_i be the density of number i. The number is among the k largest with probability equal to the
integral of f_i(x) P(fewer than k others lie above x). The count of numbers above x is a sum of
independent events. Its distribution without i combines the numbers before i with the numbers after
i, and all terms are positive. The trapezoidal rule is exact up to 1e-6 for such integrands if its
step is below every deviation.
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
    """Return the (n,) probabilities that each number is among the k largest.

    Deviations below two steps of the rule are raised to two steps: 1/1000 of the range that matters
    for few numbers, 1/100 for thousands.

    Args:
        mean: (n,) means of independent normal numbers.
        deviation: (n,) standard deviations, above 0.
        k: number of places, from 1; with n <= k every probability is 1.

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
    """Return the ends of the relevant range, and (n,) flags of relevant and of sure numbers."""
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
    """Return (k, G) probabilities of 0 to k - 1 events when no event is possible."""
    counts = np.zeros((k, points))
    counts[0] = 1.0
    return counts


def _with(counts: Floats, own: Floats) -> Floats:
    """Return (k, G) probabilities of 0 to k - 1 events with one more event of probability (G,)."""
    more = counts * (1 - own)
    more[1:] += counts[:-1] * own
    return more
