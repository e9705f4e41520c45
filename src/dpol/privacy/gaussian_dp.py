"""Gaussian differential privacy in closed form.

A mechanism is mu-GDP if telling two adjacent inputs apart by its output is at least
as hard as telling N(0, 1) from N(mu, 1). mu = 0 is perfect privacy, mu = inf is no
privacy. Definitions: Dong, Roth and Su, "Gaussian Differential Privacy".
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpol.core.arguments import check_number, real_array
from dpol.core.randomness import Floats

# Below this mu, delta is an integral: Gauss-Legendre with three nodes has all its digits.
_SMALL = 0.02
_NODES, _WEIGHTS = math.sqrt(0.6) * np.array([-1.0, 0.0, 1.0]), np.array([5.0, 8.0, 5.0]) / 18
# Bound on the relative error of delta.
_ROUNDING = 1e-11


def delta_of_epsilon(epsilon: ArrayLike, mu: ArrayLike) -> Floats:
    """Return the smallest delta such that mu-GDP implies (epsilon, delta)-DP; arguments broadcast.

    It is right to 11 digits. With x = epsilon / mu, phi the normal density and R Mills' ratio it is
    phi(x - mu / 2) (R(x - mu / 2) - R(x + mu / 2)). Source: Dong, Roth and Su, "Gaussian
    Differential Privacy", section 2.

    Raises:
        ValueError: epsilon or mu is negative.

    >>> round(float(delta_of_epsilon(1.0, 1.0)), 6)
    0.126937
    """
    epsilon, mu = np.broadcast_arrays(real_array("epsilon", epsilon), real_array("mu", mu))
    for name, values in (("mu", mu), ("epsilon", epsilon)):
        if not (values >= 0).all():
            raise ValueError(f"{name} must not be negative, got {values.min()}")
    # 1 stands for the limits, which are filled in at the end.
    inner = np.where((mu > 0) & np.isfinite(mu), mu, 1.0)
    finite = np.where(np.isfinite(epsilon), epsilon, 1.0)
    with np.errstate(over="ignore"):
        # Beyond 40 the density is 0.
        middle = np.minimum(finite / inner, 40 + inner / 2)
        low, high = middle - inner / 2, middle + inner / 2
        density = np.exp(-(low**2) / 2) / math.sqrt(2 * math.pi)
    # Phi(-low) - e^epsilon Phi(-high); for small mu both are nearly equal.
    above = np.where(low > 0, density * _mills(np.maximum(low, 0.0)), scipy.special.ndtr(-low))
    delta = np.asarray(above - density * _mills(high))
    if (small := inner < _SMALL).any():
        at = middle[small][:, None] + inner[small][:, None] / 2 * _NODES
        delta[small] = (density * inner)[small] * ((1 - at * _mills(at)) @ _WEIGHTS)
    return np.select([np.isinf(mu), (mu == 0) | np.isinf(epsilon)], [1.0, 0.0], delta)


def _mills(x: Floats) -> Floats:
    """Return Mills' ratio R, the upper normal tail over the density; R' = x R - 1."""
    return np.asarray(math.sqrt(math.pi / 2) * scipy.special.erfcx(x / math.sqrt(2)))


def epsilon_of_delta(delta: float, mu: float) -> float:
    """Return the smallest epsilon such that mu-GDP implies (epsilon, delta)-DP.

    It is inf for mu = inf, and where it is above 1.8e308.

    Raises:
        ValueError: delta is not in (0, 1), or mu is negative.

    >>> round(epsilon_of_delta(1e-6, 1.0), 3)
    4.887
    """
    mu, delta = check_number("mu", mu, "[0, inf]"), check_number("delta", delta, "(0, 1)")
    upper = mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))
    if math.isinf(upper):
        return math.inf
    return smallest_epsilon(lambda e: float(delta_of_epsilon(e, mu)), delta, upper)


def mu_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the largest mu such that mu-GDP implies (epsilon, delta)-DP; rounded down.

    It is inf for epsilon = inf.

    Raises:
        ValueError: epsilon is negative, or delta not in (0, 1).

    >>> round(mu_of_epsilon(1.0, 1e-6), 4)
    0.2367
    """
    epsilon = check_number("epsilon", epsilon, "[0, inf]")
    delta = check_number("delta", delta, "(0, 1)")
    if math.isinf(epsilon):
        return math.inf
    if epsilon == 0:
        return 2 * math.sqrt(2) * float(scipy.special.erfinv(delta)) * (1 - 1e-15)
    goal = delta * (1 - _ROUNDING)

    def excess(log_mu: float) -> float:
        return _log_ratio(float(delta_of_epsilon(epsilon, math.exp(log_mu))), goal)

    return math.exp(root(excess, -700.0, 350.0)) * (1 - 1e-12)


def smallest_epsilon(curve: Callable[[float], float], delta: float, upper: float) -> float:
    """Return the epsilon from 0 to `upper` where a falling curve delta(eps) reaches `delta`.

    It is rounded up, for a curve with 11 digits.
    """
    goal = delta * (1 - _ROUNDING)
    if curve(0.0) <= goal:
        return 0.0
    if curve(upper) >= goal:
        return upper
    return root(lambda epsilon: -_log_ratio(curve(epsilon), goal), 0.0, upper) * (1 + 1e-14)


def _log_ratio(value: float, goal: float) -> float:
    return math.log(value) - math.log(goal) if value else -1000.0


def root(function: Callable[[float], float], lower: float, upper: float) -> float:
    """Return the root of a rising function between two numbers, to 15 digits, also near 0.

    Source: Chandrupatla, "A new hybrid quadratic/bisection algorithm for finding the zero of a
    nonlinear function without using derivatives" (1997). The import of SciPy's optimizers takes
    longer than many games.

    Raises:
        ValueError: the function does not rise from at most 0 to at least 0.
    """
    # The root is between a, the last place, and b; c is the place before.
    (a, at_a), (b, at_b), share = (lower, function(lower)), (upper, function(upper)), 0.5
    if not at_a <= 0 <= at_b:
        raise ValueError(f"no root between {lower} and {upper}: from {at_a} to {at_b}")
    while True:
        at = function(x := a + share * (b - a))
        if (at <= 0) == (at_a <= 0):
            c, at_c = a, at_a
        else:
            c, at_c, b, at_b = b, at_b, a, at_a
        a, at_a = x, at
        best, least = (a, at_a) if abs(at_a) < abs(at_b) else (b, at_b)
        near = 1e-15 * abs(best) + 1e-300
        if least == 0 or abs(b - a) < 2 * near:
            return best
        place, value = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        share = 0.5
        if value**2 < place and (1 - value) ** 2 < 1 - place:  # inverse quadratic interpolation
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        share = min(max(share, near / abs(b - a)), 1 - near / abs(b - a))


def mu_of_shifts(shifts: Floats) -> float:
    """Return the mu of Gaussian noise on vectors, if one person moves at most two coordinates.

    Args:
        shifts: (..., n) how far one person can move each coordinate, over its standard deviation.

    >>> mu_of_shifts(np.array([[3.0, 1.0, 4.0], [0.0, 1.0, 1.0]]))
    5.0
    """
    squares = worst_two(real_array("shifts", shifts) ** 2)
    return float(np.sqrt(squares.sum(axis=-1).max()))


def worst_two(values: Floats) -> Floats:
    """Return the two largest of (..., n) numbers in rising order, (..., 2); all of fewer.

    >>> [worst_two(np.array(values)).tolist() for values in ([[3, 1, 4.0]], [4.0, 3], [2.0])]
    [[[3.0, 4.0]], [3.0, 4.0], [2.0]]
    """
    if values.shape[-1] < 2:
        return values
    # Faster than np.partition, which is slow where many are equal, and linear unlike np.sort.
    others, place = values.copy(), values.argmax(axis=-1)[..., None]
    np.put_along_axis(others, place, -np.inf, axis=-1)
    largest = np.take_along_axis(values, place, axis=-1)
    return np.concatenate([others.max(axis=-1, keepdims=True), largest], axis=-1)


def pure_epsilon(mu: float) -> float:
    """Return the largest epsilon such that pure epsilon-DP implies mu-GDP.

    The trade-off curve of pure DP has one corner, which must lie on the curve of mu-GDP. Source:
    Dong, Roth and Su, "Gaussian Differential Privacy", section 2. It is inf for mu = inf, and where
    it is above 1.8e308.

    Raises:
        ValueError: mu is negative or not a number.

    >>> round(pure_epsilon(1.0), 4), round(implied_mu(pure_epsilon(1.0)), 9)
    (0.807, 1.0)
    """
    mu = check_number("mu", mu, "[0, inf]")
    if mu < 1e-3:  # both logarithms are nearly equal
        return 2 * math.atanh(math.erf(mu / math.sqrt(8)))
    return float(scipy.special.log_ndtr(mu / 2) - scipy.special.log_ndtr(-mu / 2))


def implied_mu(epsilon: float) -> float:
    """Return the smallest mu such that pure epsilon-DP implies mu-GDP; inf for epsilon = inf.

    Raises:
        ValueError: epsilon is negative or not a number.
    """
    epsilon = check_number("epsilon", epsilon, "[0, inf]")
    if epsilon < 1e-3:
        return math.sqrt(8) * float(scipy.special.erfinv(math.tanh(epsilon / 2)))
    return float(-2 * scipy.special.ndtri_exp(scipy.special.log_expit(-epsilon)))
