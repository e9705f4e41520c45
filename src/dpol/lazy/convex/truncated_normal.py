"""Independent draws from a Gaussian truncated to a box or a simplex, without a Markov chain.

A coordinate truncated to an interval is drawn by inverting its distribution function, in
logarithms, and far from the mean in ratios of masses. The only error is floating-point error.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.rejection import Accepted, Rows, first_accepted

HALF_LOG_2_PI = math.log(2 * math.pi) / 2
FAR = -30.0
"""Distance of an interval from the mean, in sigma, beyond which logarithms lose digits."""


def sample_in_box(
    mean: Floats, sigma: float, half_edge: float, generators: ReplicateGenerators
) -> Floats:
    """Return (R, d) independent draws of N(mean, sigma^2 I) given that they lie in a box around 0.

    Args:
        mean: (d,) finite mean, inside or outside the box.
        sigma: standard deviation of each coordinate before truncation, above 0.
        half_edge: largest absolute coordinate in the box, above 0.
        generators: one for each draw.
    """
    share = generators.uniforms(len(mean))
    return truncated_normal_quantiles(share, mean, sigma, -half_edge, half_edge)


def truncated_normal_quantiles(
    share: Floats, mean: Floats, sigma: float, low: float, high: float
) -> Floats:
    """Return the points with this share of the mass of N(mean, sigma^2) on [low, high] below them.

    >>> shares = np.array([0.0, 0.25, 1.0])
    >>> truncated_normal_quantiles(shares, np.zeros(3), 1.0, -2.0, 2.0).round(3).tolist()
    [-2.0, -0.639, 2.0]
    """
    left, right, mirrored = _lower_tail(mean, sigma, low, high)
    part = np.where(mirrored, share, 1 - share)  # of the mass, above the point
    level = np.log1p(part * np.expm1(_log_below(right, right - left)))
    t = right - scipy.special.ndtri_exp(scipy.special.log_ndtr(right) + level)
    far = right < FAR
    if far.any():
        # Rounding costs digits here. Newton's method recovers them, since log masses are concave.
        end, goal = right[far], level[..., far]
        near = goal / end
        for _ in range(4):
            slope = math.sqrt(2 / math.pi) / scipy.special.erfcx((near - end) / math.sqrt(2))
            near = np.maximum(near + (_log_below(end, near) - goal) / slope, 0.0)
        t[..., far] = near
    # Measured from the nearer end, so that a point far inside keeps all its digits.
    end_point = np.where(mirrored, low, high)
    return np.asarray(np.clip(end_point + sigma * np.where(mirrored, t, -t), low, high))


def _log_below(end: Floats, t: Floats) -> Floats:
    """Return log(P(Z < end - t) / P(Z < end)) for a standard normal Z."""
    far = end < FAR
    root = math.sqrt(2)
    out = np.asarray(scipy.special.log_ndtr(end - t) - scipy.special.log_ndtr(end))
    if far.any():
        e, u = end[far], t[..., far]
        ratio = scipy.special.erfcx((u - e) / root) / scipy.special.erfcx(-e / root)
        out[..., far] = np.log(ratio) + e * u - u**2 / 2
    return out


def truncated_normal_mean(mean: Floats, sigma: float, low: float, high: float) -> Floats:
    """Return the means of N(mean, sigma^2) on [low, high], to 1/1000 of the distance to an end.

    Far from the mean, and on intervals much shorter than sigma, the density is approximated by an
    exponential one.
    """
    left, right, mirrored = _lower_tail(mean, sigma, low, high)
    width = right - left
    rate = np.where(right < FAR, -right, -(left + right) / 2)
    change = rate * width
    steep = np.maximum(change, 1e-9)
    left_over = 1 / np.expm1(np.minimum(steep, 700.0))
    t = width * np.where(change < 1e-4, 0.5 - change / 12, 1 / steep - left_over)
    plain = (right >= FAR) & (width > 1e-3)
    z, least = right[plain], left[plain]
    log_mass = scipy.special.log_ndtr(z)
    height = np.exp(-z * z / 2 - HALF_LOG_2_PI - log_mass)
    share = -np.expm1(scipy.special.log_ndtr(least) - log_mass)
    t[plain] = z - height * np.expm1((z - least) * (z + least) / 2) / share
    end_point = np.where(mirrored, low, high)
    return np.asarray(np.clip(end_point + sigma * np.where(mirrored, t, -t), low, high))


def _lower_tail(
    mean: Floats, sigma: float, low: float, high: float
) -> tuple[Floats, Floats, Accepted]:
    """Return the ends in units of sigma, mirrored at the mean if their middle is above it."""
    left, right = (low - mean) / sigma, (high - mean) / sigma
    mirrored = np.asarray(left + right > 0)
    return np.where(mirrored, -right, left), np.where(mirrored, -left, right), mirrored


def sample_in_simplex(
    mean: Floats, sigma: float, total: float, generators: ReplicateGenerators
) -> Floats:
    """Return (R, d) independent draws of N(mean, sigma^2 I) given coordinates >= 0 with this sum.

    The coordinate with the largest mean m is the total minus the others. The others are proposed
    independently, truncated to [0, total], each with the factor exp(-tilt x). So the ratio of the
    density to the proposal density depends only on the sum y of the proposals: it is exp(g(y)) with
    g(y) = tilt y - (total - y - m)^2 / (2 sigma^2). Rejection from its maximum is exact for any
    tilt. The tilt used here makes the mean of y the maximiser of g, which accepts most.

    Args:
        mean: (d,) finite mean, d >= 2.
        sigma: standard deviation of each coordinate before truncation, above 0.
        total: sum of the coordinates, above 0.
        generators: one for each draw.
    """
    mean = mean + (total - mean.sum()) / len(mean)  # same distribution, since the sum is fixed
    last = int(mean.argmax())
    others, rest = np.delete(mean, last), total - float(mean[last])

    def peak(tilt: float) -> float:
        return min(max(rest + tilt * sigma**2, 0.0), total)

    def excess(tilt: float) -> float:
        means = truncated_normal_mean(others - tilt * sigma**2, sigma, 0.0, total)
        return float(means.sum()) - peak(tilt)

    spread = min(total, sigma * math.sqrt(len(mean)))  # bounds the spread of the sum
    tilt = _root(excess, 1 / spread)
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
    """Return the root of a falling function to a tenth of `unit`, searching outwards from 0."""
    low, high = -unit, unit
    while falling(low) < 0:
        low *= 2
    while falling(high) > 0:
        high *= 2
    return float(scipy.optimize.brentq(falling, low, high, xtol=unit / 10, rtol=1e-14))
