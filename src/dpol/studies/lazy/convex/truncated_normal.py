"""Independent draws from a Gaussian truncated to a box or a simplex, without a Markov chain.

A coordinate truncated to an interval is drawn by inversion of its distribution function, in
logarithms. The error is that of scipy's `log_ndtr` and `ndtri_exp`, and of the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.studies.lazy.convex.rejection import Accepted, Rows, first_accepted

HALF_LOG_2_PI = math.log(2 * math.pi) / 2


def sample_in_box(
    mean: Floats, sigma: float, half_edge: float, generators: ReplicateGenerators
) -> Floats:
    """(R, d) independent draws of N(mean, sigma^2 I) given that no coordinate is beyond the edge.

    Args:
        mean: (d,), finite, anywhere.
        sigma: standard deviation of each coordinate before truncation, above 0.
        half_edge: the largest absolute coordinate, above 0.
        generators: one for each draw.
    """
    share = generators.uniforms(len(mean))
    return truncated_normal_quantiles(share, mean, sigma, -half_edge, half_edge)


def truncated_normal_quantiles(
    share: Floats, mean: Floats, sigma: float, low: float, high: float
) -> Floats:
    """Points with this share of the mass of N(mean, sigma^2) on [low, high] below them.

    >>> truncated_normal_quantiles(np.array([0.0, 0.5, 1.0]), np.zeros(3), 1.0, -2.0, 2.0).tolist()
    [-2.0, 0.0, 2.0]
    """
    left, right, mirrored = _lower_tail(mean, sigma, low, high)
    at_left, at_right = scipy.special.log_ndtr(left), scipy.special.log_ndtr(right)
    part = np.where(mirrored, share, 1 - share)  # of the mass, above the point
    level = at_right + np.log1p(part * np.expm1(at_left - at_right))
    z = scipy.special.ndtri_exp(level)
    return np.asarray(np.clip(mean + sigma * np.where(mirrored, -z, z), low, high))


def truncated_normal_mean(mean: Floats, sigma: float, low: float, high: float) -> Floats:
    """Means of N(mean, sigma^2) on [low, high]."""
    left, right, mirrored = _lower_tail(mean, sigma, low, high)
    at_left, at_right = scipy.special.log_ndtr(left), scipy.special.log_ndtr(right)
    height = np.exp(-right * right / 2 - HALF_LOG_2_PI - at_right)
    shift = height * np.expm1((right - left) * (right + left) / 2) / -np.expm1(at_left - at_right)
    return np.asarray(np.clip(mean + sigma * np.where(mirrored, -shift, shift), low, high))


def _lower_tail(
    mean: Floats, sigma: float, low: float, high: float
) -> tuple[Floats, Floats, Accepted]:
    """Both ends in units of sigma, mirrored at the mean where most of them lies above it."""
    left, right = (low - mean) / sigma, (high - mean) / sigma
    mirrored = np.asarray(left + right > 0)
    return np.where(mirrored, -right, left), np.where(mirrored, -left, right), mirrored


def sample_in_simplex(
    mean: Floats, sigma: float, total: float, generators: ReplicateGenerators
) -> Floats:
    """(R, d) independent draws of N(mean, sigma^2 I) given coordinates >= 0 with this sum.

    The coordinate of the largest mean is what the others leave of the sum. The others are
    proposed independently, truncated to [0, total], with the factor exp(-tilt x) each. So the
    density over that of the proposals depends on their sum y alone: exp(g(y)) with
    g(y) = tilt y - (total - y - m)^2 / (2 sigma^2), m the largest mean. Rejection from its
    largest value is exact for any tilt. This one makes the proposals' mean sum the y of that
    value, which accepts most.

    Args:
        mean: (d,), finite, anywhere; d >= 2.
        sigma: standard deviation of each coordinate before truncation, above 0.
        total: the sum, above 0.
        generators: one for each draw.
    """
    mean = mean + (total - mean.sum()) / len(mean)  # the same law: the sum is fixed
    last = int(mean.argmax())
    others, rest = np.delete(mean, last), total - mean[last]

    def peak(tilt: float) -> float:
        return min(max(rest + tilt * sigma**2, 0.0), total)

    def excess(tilt: float) -> float:
        means = truncated_normal_mean(others - tilt * sigma**2, sigma, 0.0, total)
        return float(means.sum()) - peak(tilt)

    tilt = _root(excess, 1 / total)
    tilted, top = others - tilt * sigma**2, peak(tilt)

    def propose(_: Rows, coins: ReplicateGenerators) -> tuple[Floats, Accepted]:
        numbers = coins.uniforms(len(mean))
        x = truncated_normal_quantiles(numbers[:, :-1], tilted, sigma, 0.0, total)
        y = x.sum(axis=1)
        # g(y) - g(top), without cancellation.
        slope = tilt + (rest - (y + top) / 2) / sigma**2
        accepted = (y <= total) & (np.log1p(-numbers[:, -1]) <= (y - top) * slope)
        return np.insert(x, last, np.maximum(total - y, 0.0), axis=1), accepted

    return first_accepted(generators, propose)


def _root(falling: Callable[[float], float], unit: float) -> float:
    """Where a falling function is 0, up to a tenth of `unit`, sought outwards from 0."""
    low, high = -unit, unit
    while falling(low) < 0:
        low *= 2
    while falling(high) > 0:
        high *= 2
    return float(scipy.optimize.brentq(falling, low, high, xtol=unit / 10, rtol=1e-2))
