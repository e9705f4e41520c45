"""Divide units of help among entities whose needs are uncertain.

One unit serves one person. An entity has a mean m and a standard deviation s of the people who will
need help, and own staff for b of them. If x people come and it gets a units, max(x - b - a, 0) of
them are not served. Functions take arrays (..., n) for n entities, perhaps with leading axes for
replicates, and return divisions (..., n) that sum to `units`: a number, or one for each leading
index.

`equal_chances` minimises the expected number of people who are not served; only the means and
deviations matter. It is the newsvendor with a constraint: Hadley and Whitin, "Analysis of Inventory
Systems" (1963). As a rule for forecasts: Gerding, Reich, Rogers and Ray, "Evaluating infectious
disease forecasts with allocation scoring rules" (2024). The guarantee is ours. A division of noisy
counts and public numbers is post-processing: it has their privacy guarantee.

>>> mean, deviation = np.array([10.0, 4.0, 1.0]), np.array([1.0, 2.0, 3.0])
>>> for units in (6, 10, 20):
...     print(equal_chances(mean, deviation, units).round(6).tolist())
[6.0, 0.0, 0.0]
[8.666667, 1.333333, 0.0]
[10.833333, 5.666667, 3.5]
>>> short_chance(mean, deviation, equal_chances(mean, deviation, 20)).round(6).tolist()
[0.202328, 0.202328, 0.202328]
>>> equal_chances(mean, deviation, 6, guaranteed=0.75).round(6).tolist()
[4.5, 1.2, 0.3]
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats

LEVEL_DEVIATION = 0.2
"""Standard deviation assumed of the first predicted level, relative to it."""


def proportional(weights: ArrayLike, units: ArrayLike) -> Floats:
    """Divide in proportion to weights (..., n) of at least 0; equally where all are 0.

    Raises:
        ValueError: a weight or the number of units is below 0 or not finite.

    >>> proportional([[3.0, 1.0], [0.0, 0.0]], 8).tolist()
    [[6.0, 2.0], [4.0, 4.0]]
    """
    given = _at_least_0("weights", weights)
    total = given.sum(axis=-1, keepdims=True)
    shares = np.where(total > 0, given, 1.0) / np.where(total > 0, total, given.shape[-1])
    return np.asarray(shares * _units(units))


def equal_chances(
    mean: ArrayLike,
    deviation: ArrayLike,
    units: ArrayLike,
    *,
    own: ArrayLike = 0.0,
    guaranteed: float = 0.0,
) -> Floats:
    """Divide so that every entity with help above its guarantee falls short with equal probability.

    Without a guarantee this has the smallest expected number of people not served, for needs that
    are normal, also if censored at 0. With one, it has the smallest among divisions that keep it.

    Args:
        mean: (..., n) means of the people who will come.
        deviation: (..., n) standard deviations above 0.
        units: units to divide.
        own: (..., n) people that own staff serves.
        guaranteed: share of the units, in [0, 1], that is guaranteed in proportion to
            max(mean - own, 0). 1 is this proportional division.

    Raises:
        ValueError: an argument is out of range or not finite.

    >>> equal_chances([10.0, 4.0, 1.0], [1.0, 2.0, 3.0], 10, guaranteed=0.75).tolist()
    [7.5, 2.0, 0.5]
    """
    m, s, b = _checked(mean, deviation, own)
    check_number("guaranteed", guaranteed, "[0, 1]")
    floor = guaranteed * proportional(np.maximum(m - b, 0.0), units)
    above, s = np.broadcast_arrays(m - b - floor, s)
    # The division is max(0, above + z s) for one z. Its sum rises in z, with a kink where an entity
    # begins to get more than its floor.
    order = np.argsort(-above / s, axis=-1)
    kinks = np.take_along_axis(-above / s, order, axis=-1)
    sums = np.take_along_axis(above, order, axis=-1).cumsum(axis=-1)
    slopes = np.take_along_axis(s, order, axis=-1).cumsum(axis=-1)
    z = ((1 - guaranteed) * _units(units) - sums) / slopes
    before_next = z[..., :-1] <= kinks[..., 1:]
    # The last entity has no next kink; argmax finds the first True.
    active = np.concatenate([before_next, np.ones_like(z[..., :1], dtype=bool)], axis=-1)
    chosen = np.take_along_axis(z, active.argmax(axis=-1)[..., None], axis=-1)
    return np.asarray(floor + np.maximum(above + chosen * s, 0.0))


def whole_units(
    mean: ArrayLike,
    deviation: ArrayLike,
    units: int,
    *,
    own: ArrayLike = 0.0,
    guaranteed: float = 0.0,
) -> NDArray[np.int64]:
    """Divide whole units, each to the entity where it serves most in expectation.

    The division has the smallest expected number of people not served among all divisions into
    whole units that keep the guarantee, and no entity loses if there is one unit more. The first
    floor(guaranteed * units) units are guaranteed: they go out in proportion to max(mean - own, 0)
    by D'Hondt's method, which gives each entity at least its share of them, rounded down. Of units
    that serve equally (up to 1e-9), the one for the largest standardised need goes first. Source of
    the greedy method: Gross, "A class of discrete type minimization problems" (1956).

    Args:
        mean: as in `equal_chances`.
        deviation: as in `equal_chances`.
        units: whole number of units to divide.
        own: as in `equal_chances`.
        guaranteed: share of the units that is guaranteed, in [0, 1].

    Raises:
        ValueError: an argument is out of range or not finite.

    >>> mean, deviation = np.array([10.0, 4.0, 1.0]), np.array([1.0, 2.0, 3.0])
    >>> whole_units(mean, deviation, 10).tolist()
    [9, 1, 0]
    >>> whole_units(mean, deviation, 10, guaranteed=0.75).tolist()
    [8, 2, 0]
    """
    m, s, b = _checked(mean, deviation, own)
    check_whole("units", units, 0)
    check_number("guaranteed", guaranteed, "[0, 1]")
    weights = np.maximum(m - b, 0.0)
    weights = np.where(weights.sum(axis=-1, keepdims=True) > 0, weights, 1.0)
    given, fixed = np.zeros(m.shape, dtype=np.int64), math.floor(guaranteed * units + 1e-9)
    for unit in range(units):
        if unit < fixed:
            order = weights / (given + 1)
        else:
            value = expected_unmet(m, s, b + given) - expected_unmet(m, s, b + given + 1)
            # Many units are sure to serve, or not to: their values differ by rounding errors only.
            value = value.round(9)
            ties = value == value.max(axis=-1, keepdims=True)
            order = np.where(ties, (m - b - given) / s, -np.inf)
        best = order.argmax(axis=-1)[..., None]
        np.put_along_axis(given, best, np.take_along_axis(given, best, axis=-1) + 1, axis=-1)
    return given


def best_fixed(needs: ArrayLike, units: ArrayLike) -> Floats:
    """Return the division (..., n) that leaves the least need unmet if it is kept in every round.

    It is not unique; units that nobody needs are divided equally.

    Args:
        needs: (..., T, n) people whom own staff does not serve.
        units: units to divide in every round.

    Raises:
        ValueError: a need or the number of units is below 0 or not finite.

    >>> needs = np.array([[5, 0, 2], [1, 4, 2], [6, 3, 0]])
    >>> unmet = [np.maximum(needs - best_fixed(needs, units), 0).sum() for units in (4, 9)]
    >>> np.round(unmet, 6).tolist()
    [14.0, 4.0]
    """
    given = np.sort(_at_least_0("needs", needs), axis=-2)
    # Between its j-th and next need, an entity's units are used in T - j rounds.
    steps = np.diff(given, axis=-2, prepend=0.0)
    widths = steps.sum(axis=-1)
    left = _units(units) - (widths.cumsum(axis=-1) - widths)
    filled = np.clip(left / np.where(widths > 0, widths, 1.0), 0.0, 1.0)
    unused = np.maximum(_units(units) - widths.sum(axis=-1, keepdims=True), 0.0)
    return np.asarray((steps * filled[..., None]).sum(axis=-2) + unused / steps.shape[-1])


def short_chance(mean: ArrayLike, deviation: ArrayLike, held: ArrayLike) -> Floats:
    """Return the probability (..., n) that more people come than `held` (..., n) can serve."""
    m, s, held = _checked(mean, deviation, held, "held")
    return np.asarray(ndtr((m - held) / s))


def expected_unmet(mean: ArrayLike, deviation: ArrayLike, held: ArrayLike) -> Floats:
    """Return the expected number (..., n) of people above what `held` (..., n) can serve."""
    m, s, held = _checked(mean, deviation, held, "held")
    u = (m - held) / s
    return np.asarray(s * (np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi) + u * ndtr(u)))


def level_variance(totals: ArrayLike) -> Floats:
    """Return the variance (...,) of the next level around its prediction, relative to its square.

    Ranks do not depend on an error that all entities share, but divisions do. It is the mean of
    the squared relative changes of the predicted total, with the prior `LEVEL_DEVIATION`.

    Args:
        totals: (..., t) totals over all entities, above 0, as predicted after rounds 1 to t.

    Raises:
        ValueError: there is no total, or one is not above 0 or not finite.

    >>> round(float(level_variance([100.0, 110.0])), 6) == round((0.04 + math.log(1.1) ** 2) / 2, 6)
    True
    """
    known = _at_least_0("totals", totals, above=True)
    check_whole("the number of totals", known.shape[-1])
    changes = np.diff(np.log(known), axis=-1)
    return np.asarray((LEVEL_DEVIATION**2 + (changes**2).sum(axis=-1)) / known.shape[-1])


def _checked(
    mean: ArrayLike, deviation: ArrayLike, served: ArrayLike, name: str = "own"
) -> tuple[Floats, Floats, Floats]:
    """Return means, deviations and people that can be served, with the same shape."""
    if not np.isfinite(m := np.asarray(mean, dtype=float)).all():
        raise ValueError("mean must be finite numbers; an entity without a forecast gets no help")
    s, b = _at_least_0("deviation", deviation, above=True), _at_least_0(name, served)
    m, s, b = np.broadcast_arrays(m, s, b)
    return m, s, b


def _at_least_0(name: str, values: ArrayLike, *, above: bool = False) -> Floats:
    array = np.asarray(values, dtype=float)
    if not (np.isfinite(array) & ((array > 0) if above else (array >= 0))).all():
        raise ValueError(f"{name} must be {'above' if above else 'at least'} 0 and finite")
    return array


def _units(units: ArrayLike) -> Floats:
    return _at_least_0("units", units)[..., None]
