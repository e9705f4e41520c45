"""Draws for absolute losses that vanish together, as for targets without noise.

Such losses grow like a cone, and no tangent is close to them. A cone below them is built from
their second and fourth moments, and serves as an envelope for rejection sampling.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.bodies import Body
from dpol.lazy.convex.losses import LinkedLosses
from dpol.lazy.convex.minimum import descent

WIDTH = 3.0
"""Residuals that count as zero, times beta T; costs at most one in four proposals."""
STEPS = 1_000
"""Most steps towards a peak."""
NEAR = 0.1
"""beta times the gap at which the steps stop."""


@dataclass(frozen=True, kw_only=True)
class Cone:
    """The function `level + slope |x - peak|`, nowhere above another function on a body.

    Args:
        body: convex body on which it lies below.
        peak: (d,) point of the body.
        level: least value.
        slope: slope, above 0.
    """

    body: Body
    peak: Floats
    level: float
    slope: float

    def at(self, points: Floats) -> Floats:
        """Return the (R,) values at (R, d) points."""
        away = np.linalg.norm(points - self.peak, axis=1)
        return np.asarray(self.level + self.slope * away)

    def sample(self, beta: float, generators: ReplicateGenerators) -> Floats:
        """Draw (R, d) points with density proportional to exp(-beta cone), ignoring the edge."""
        axes = self.body.axes
        d = axes.shape[1]
        length = -np.log1p(-generators.uniforms(d)).sum(axis=1) / (beta * self.slope)
        direction = generators.standard_normal(d)
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return np.asarray(self.peak + length[:, None] * (direction @ axes.T))


def cone_below(
    losses: LinkedLosses, body: Body, *, beta: float, regulariser: float, near: Floats
) -> Cone:
    """Return a cone below the sum of absolute losses and `regulariser |x|^2`.

    For residuals r_t at the peak and any s_t in [-1, 1],
    `|r_t + z| >= s_t (r_t + z) + (1 - |s_t|) (|z| - |r_t|)`. The first terms make a linear
    function. The s_t are the slopes of smoothed losses, and the peak minimises the smoothed losses
    plus the regulariser, so the linear function plus the regulariser rises from there, up to the
    Frank-Wolfe gap. The second terms rise by `least_growth`. The bound holds for any peak.

    Args:
        losses: absolute losses.
        body: convex body on which the cone must lie below.
        beta: inverse temperature of the draws.
        regulariser: lambda, above 0.
        near: (d,) point of the body where the search starts.
    """
    width, d = WIDTH / (beta * losses.n_rounds), body.axes.shape[1]

    def slope_at(x: Floats) -> Floats:
        _, slopes = losses.link.smooth(losses.residuals(x), width)
        return np.asarray(slopes @ losses.vectors + 2 * regulariser * x)

    def gap_at(x: Floats) -> float:
        slope = slope_at(x)
        return float(slope @ (x - body.best(slope)))

    steepness = float(np.linalg.norm(losses.vectors, 2)) ** 2 / width + 2 * regulariser
    for peak in itertools.islice(descent(slope_at, steepness, body, near), 0, STEPS, 10):
        if beta * gap_at(peak) <= NEAR:
            break
    residuals = losses.residuals(peak)
    _, slopes = losses.link.smooth(residuals, width)
    free = 1 - np.abs(slopes)
    growth = least_growth(losses.vectors @ body.axes, free)
    slope = (growth + math.hypot(growth, math.sqrt(8 * regulariser * d / beta))) / 2
    # A squared distance in the regulariser lies above its tangent at the usual distance.
    usual = d / (beta * slope)
    level = slopes @ residuals - free @ np.abs(residuals) - gap_at(peak)
    level += regulariser * (peak @ peak - usual**2)
    return Cone(body=body, peak=peak, level=float(level), slope=slope)


def least_growth(vectors: Floats, weights: Floats) -> float:
    """Return a lower bound of `sum_t w_t |<a_t, u>|` over all unit vectors u.

    `|z| >= (3/2) z^2/s - z^4/(2 s^3)` for any s > 0. With `s |a_t|` in place of s, the bound is a
    quadratic form of U = uu', and so is `y (trace(U)^2 - |U|^2) = 0`. The least eigenvalue of
    their sum is the bound. s and y are best for evenly spread vectors.

    Args:
        vectors: (T, d) array; row t is a_t.
        weights: (T,) weights w_t, at least 0.
    """
    norms = np.linalg.norm(vectors, axis=1)
    units = np.divide(vectors, norms[:, None], where=norms[:, None] > 0, out=np.zeros_like(vectors))
    weights, d = weights * norms, vectors.shape[1]
    i, j = np.triu_indices(d)
    scale = np.where(i == j, 1.0, math.sqrt(2))
    products = units[:, i] * units[:, j] * scale
    basis = np.zeros((len(i), d, d))
    basis[range(len(i)), i, j] = basis[range(len(i)), j, i] = 1 / scale
    square = np.einsum("pij,jk,qki->pq", basis, (units.T * weights) @ units, basis, optimize=True)
    fourth = (products.T * weights) @ products
    s = math.sqrt(3 / (d + 2))
    y = weights.sum() / (2 * s**3 * d * (d + 2))
    trace = (i == j).astype(float)
    form = 1.5 / s * square - fourth / (2 * s**3) + y * (np.outer(trace, trace) - np.eye(len(i)))
    return max(float(np.linalg.eigvalsh(form)[0]), 0.0)
