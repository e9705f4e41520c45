"""Gaussian differential privacy in closed form.

A mechanism is mu-GDP if telling two adjacent inputs apart by its output is at least
as hard as telling N(0, 1) from N(mu, 1). mu = 0 is perfect privacy, mu = inf is no
privacy. Definitions: Dong, Roth and Su, "Gaussian Differential Privacy".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from dpol.core.arguments import check_number
from dpol.core.randomness import Floats


def delta_of_epsilon(epsilon: ArrayLike, mu: ArrayLike) -> Floats:
    """Return the smallest delta such that mu-GDP implies (epsilon, delta)-DP; arguments broadcast.

    Source: Dong, Roth and Su, "Gaussian Differential Privacy", section 2.

    Raises:
        ValueError: epsilon or mu is negative.

    >>> round(float(delta_of_epsilon(1.0, 1.0)), 6)
    0.126937
    """
    epsilon, mu = np.broadcast_arrays(np.asarray(epsilon, float), np.asarray(mu, float))
    _check_mu(mu)
    if (epsilon < 0).any():
        raise ValueError(f"epsilon must not be negative, got {epsilon.min()}")
    # 1 stands for the limits, which are filled in at the end.
    inner = np.where((mu > 0) & np.isfinite(mu), mu, 1.0)
    finite = np.where(np.isfinite(epsilon), epsilon, 1.0)
    first = scipy.special.log_ndtr(inner / 2 - finite / inner)
    second = finite + scipy.special.log_ndtr(-inner / 2 - finite / inner)
    # Phi(a) - e^eps Phi(b) in logarithms: the two terms nearly cancel in the tails.
    delta = np.exp(first) * -np.expm1(np.minimum(second - first, 0.0))
    return np.select([np.isinf(mu), (mu == 0) | np.isinf(epsilon)], [1.0, 0.0], delta)


def epsilon_of_delta(delta: float, mu: float) -> float:
    """Return the smallest epsilon such that mu-GDP implies (epsilon, delta)-DP; inf for mu = inf.

    Raises:
        ValueError: delta is not in (0, 1), or mu is negative.

    >>> round(epsilon_of_delta(1e-6, 1.0), 3)
    4.887
    """
    _check_mu(mu)
    check_number("delta", delta, "(0, 1)")
    if math.isinf(mu):
        return math.inf
    upper = mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta))
    return smallest_epsilon(lambda e: float(delta_of_epsilon(e, mu)), delta, upper)


def mu_of_epsilon(epsilon: float, delta: float) -> float:
    """Return the largest mu such that mu-GDP implies (epsilon, delta)-DP.

    Raises:
        ValueError: epsilon is negative, or delta not in (0, 1).

    >>> round(mu_of_epsilon(1.0, 1e-6), 4)
    0.2367
    """
    if not epsilon >= 0 or not 0 < delta < 1:
        raise ValueError(f"epsilon must be at least 0 and delta in (0, 1), got {epsilon}, {delta}")
    if math.isinf(epsilon):
        return math.inf
    from scipy import optimize

    lower, upper = 1.0, 1.0
    while float(delta_of_epsilon(epsilon, upper)) < delta:
        upper *= 2
    while float(delta_of_epsilon(epsilon, lower)) > delta:
        lower /= 2
    return float(
        optimize.brentq(
            lambda mu: math.log(max(float(delta_of_epsilon(epsilon, mu)), 1e-320) / delta),
            lower,
            upper,
            xtol=1e-14 * lower,
        )
    )


def smallest_epsilon(curve: Callable[[float], float], delta: float, upper: float) -> float:
    """Return the epsilon from 0 to `upper` where a falling curve delta(eps) reaches `delta`."""
    if curve(0.0) <= delta:
        return 0.0
    log_delta = math.log(delta)

    def excess(epsilon: float) -> float:
        return math.log(max(curve(epsilon), 1e-320)) - log_delta

    if excess(upper) >= 0:
        return upper
    from scipy import optimize

    return float(optimize.brentq(excess, 0.0, upper, xtol=1e-12))


def compose(mus: Iterable[float]) -> float:
    """Return the mu of several GDP releases about one person: the root of the sum of squares.

    Raises:
        ValueError: a mu is negative.

    >>> compose([0.5] * 4)
    1.0
    """
    values = list(mus)
    for mu in values:
        _check_mu(mu)
    return math.hypot(*values) if values else 0.0


def mu_of_shifts(shifts: Floats) -> float:
    """Return the mu of Gaussian noise on vectors, if one person moves at most two coordinates.

    Args:
        shifts: (..., n) how far one person can move each coordinate, over its standard deviation.

    >>> mu_of_shifts(np.array([[3.0, 1.0, 4.0], [0.0, 1.0, 1.0]]))
    5.0
    """
    worst_two = np.sort(shifts**2, axis=-1)[..., -2:]
    return float(np.sqrt(worst_two.sum(axis=-1).max()))


def pure_epsilon(mu: float) -> float:
    """Return the largest epsilon such that pure epsilon-DP implies mu-GDP.

    The trade-off curve of pure DP has one corner, which must lie on the curve of mu-GDP. Source:
    Dong, Roth and Su, "Gaussian Differential Privacy", section 2.

    >>> round(pure_epsilon(1.0), 4), round(implied_mu(pure_epsilon(1.0)), 9)
    (0.807, 1.0)
    """
    return float(scipy.special.log_ndtr(mu / 2) - scipy.special.log_ndtr(-mu / 2))


def implied_mu(epsilon: float) -> float:
    """Return the least mu such that pure epsilon-DP implies mu-GDP."""
    return float(-2 * scipy.special.ndtri_exp(scipy.special.log_expit(-epsilon)))


def _check_mu(mu: ArrayLike) -> None:
    if not np.all(np.asarray(mu) >= 0):
        raise ValueError(f"mu must not be negative, got {np.min(mu)}")
