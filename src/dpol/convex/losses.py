"""Convex losses on a ball around 0, the same for all replicates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpol.core.randomness import Floats

# Relative slack of the Lipschitz check, for vectors scaled to norm L in floating point.
ROUNDING = 1e-12
# A minimiser is this good in value, or to this share of the largest value if that is more.
TOLERANCE, DIGITS = 1e-6, 1e-13


class Losses(Protocol):
    """T convex, L-Lipschitz losses on R^d; rounds are counted from 0."""

    @property
    def lipschitz(self) -> float:
        """L."""

    @property
    def n_rounds(self) -> int:
        """T."""

    @property
    def dimension(self) -> int:
        """d."""

    def value(self, rounds: slice, points: Floats) -> Floats:
        """(R,) losses of (R, d) points, summed over the rounds."""

    def gradient(self, t: int, points: Floats) -> Floats:
        """(R, d) gradients of round t at (R, d) points."""

    def best_fixed_point(self, diameter: float) -> Floats:
        """(d,) a point of the ball with the least total loss."""


@dataclass(frozen=True, eq=False)
class LinearLosses:
    """l_t(x) = <a_t, x>.

    Args:
        gradients: (T, d), row t is a_t.
        lipschitz: L, a bound on the norms that does not depend on the data.

    Raises:
        ValueError: a shape does not fit, or a gradient is longer than L.
    """

    gradients: Floats
    lipschitz: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gradients", _vectors("gradient", self.gradients, self.lipschitz))

    @property
    def n_rounds(self) -> int:
        return int(self.gradients.shape[0])

    @property
    def dimension(self) -> int:
        return int(self.gradients.shape[1])

    def total(self, rounds: slice) -> Floats:
        """(d,) summed gradients of the rounds."""
        return np.asarray(self.gradients[rounds].sum(axis=0))

    def value(self, rounds: slice, points: Floats) -> Floats:
        return np.asarray((points * self.total(rounds)).sum(axis=1))

    def gradient(self, t: int, points: Floats) -> Floats:
        return np.tile(self.gradients[t], (len(points), 1))

    def best_fixed_point(self, diameter: float) -> Floats:
        """(d,) `-D/2 A/|A|` for the summed gradients A; 0 for A = 0."""
        total = self.total(slice(None))
        norm = float(np.linalg.norm(total))
        return -diameter / 2 * total / norm if norm else np.zeros(self.dimension)


@dataclass(frozen=True, eq=False)
class LogisticLosses:
    """l_t(x) = log(1 + exp(-y_t <a_t, x>)).

    Args:
        features: (T, d), row t is a_t.
        labels: (T,) y_t, each -1 or 1.
        lipschitz: L, a bound on the features' norms that does not depend on the data.

    Raises:
        ValueError: a shape does not fit, a label is not -1 or 1, or a feature is longer than L.
    """

    features: Floats
    labels: Floats
    lipschitz: float

    def __post_init__(self) -> None:
        features = _vectors("feature", self.features, self.lipschitz)
        labels = np.array(self.labels, dtype=float)
        if labels.shape != features.shape[:1]:
            raise ValueError(
                f"{len(features)} rounds of features need labels of shape ({len(features)},), "
                f"got {labels.shape}"
            )
        wrong = np.flatnonzero(np.abs(labels) != 1)
        if len(wrong):
            raise ValueError(f"round {wrong[0] + 1}: label {labels[wrong[0]]} is not -1 or 1")
        labels.setflags(write=False)
        object.__setattr__(self, "features", features)
        object.__setattr__(self, "labels", labels)

    @property
    def n_rounds(self) -> int:
        return int(self.features.shape[0])

    @property
    def dimension(self) -> int:
        return int(self.features.shape[1])

    def margins(self, rounds: slice, points: Floats) -> Floats:
        """(R, rounds) y_t <a_t, x>; a row depends on its own point only, to the last bit."""
        # A stack of products with one vector each: one product of two matrices would round a row
        # differently beside other rows.
        products: Floats = np.matmul(self.features[rounds], points[:, :, None])[:, :, 0]
        products *= self.labels[rounds]
        return products

    def value(self, rounds: slice, points: Floats) -> Floats:
        return log_loss(self.margins(rounds, points))

    def gradient(self, t: int, points: Floats) -> Floats:
        from scipy.special import expit

        feature, label = self.features[t], self.labels[t]
        weights = -label * expit(-label * (points * feature).sum(axis=1))
        return np.asarray(weights[:, None] * feature)

    def best_fixed_point(self, diameter: float) -> Floats:
        """(d,) the minimiser of the total loss over the ball, see `minimise`."""
        return self.minimise(slice(None), diameter)

    def minimise(
        self,
        rounds: slice,
        diameter: float,
        regulariser: float = 0.0,
        tolerance: float = TOLERANCE,
    ) -> Floats:
        """(d,) minimiser over the ball of some rounds' loss plus `regulariser |x|^2`.

        Newton steps, each to the minimiser of the quadratic model over the ball. The point
        returned comes with a certificate, `f(x) - min f <= <f'(x), x> + D/2 |f'(x)| <= tolerance`,
        or 1e-13 of a bound on f over the ball where that is more (floating point).

        Raises:
            ArithmeticError: the certificate was not reached.
        """
        signed = self.features[rounds] * self.labels[rounds, None]

        def model(x: Floats) -> tuple[float, Floats, Floats]:
            return _logistic_model(signed, x, regulariser)

        largest = len(signed) * (1 + self.lipschitz * diameter) + regulariser * diameter**2
        return minimise_on_ball(model, self.dimension, diameter, max(tolerance, DIGITS * largest))


def log_loss(margins: Floats) -> Floats:
    """(R,) sum of log(1 + e^-m) over the (R, n) margins."""
    return np.asarray((np.log1p(np.exp(-np.abs(margins))) - np.minimum(margins, 0.0)).sum(axis=1))


def minimise_on_ball(
    model: Callable[[Floats], tuple[float, Floats, Floats]],
    dimension: int,
    diameter: float,
    tolerance: float,
) -> Floats:
    """(d,) minimiser of a convex function over the ball, to `tolerance` in value.

    Args:
        model: value, gradient (d,) and Hessian (d, d) of the function at a point.
        dimension: d of the space.
        diameter: D of the ball around 0, above 0.
        tolerance: how far the value may be above the least one.

    Raises:
        ArithmeticError: the tolerance was not reached.
        ValueError: the diameter is out of range.
    """
    _check_diameter(diameter)
    x = np.zeros(dimension)
    gap = math.inf
    for _ in range(200):
        value, gradient, hessian = model(x)
        gap = float(gradient @ x) + diameter / 2 * float(np.linalg.norm(gradient))
        if gap <= tolerance:
            return x
        step = _quadratic_on_ball(hessian, hessian @ x - gradient, diameter / 2) - x
        slope, length = float(gradient @ step), 1.0
        while length > 1e-12 and model(x + length * step)[0] > value + 1e-4 * length * slope:
            length /= 2
        x = x + length * step
    raise ArithmeticError(f"no minimiser found: certified gap {gap}, asked for {tolerance}")


def _quadratic_on_ball(hessian: Floats, linear: Floats, radius: float) -> Floats:
    """(d,) minimiser of z'Hz/2 - <linear, z> over |z| <= radius, H positive semi-definite."""
    from scipy.optimize import brentq

    values, vectors = np.linalg.eigh(hessian)
    values = np.maximum(values, 1e-14 * max(float(values[-1]), 1e-300))
    rotated = vectors.T @ linear

    def excess(multiplier: float) -> float:
        return float(np.linalg.norm(rotated / (values + multiplier))) / radius - 1

    if excess(0.0) <= 0:
        return np.asarray(vectors @ (rotated / values))
    upper = float(np.linalg.norm(rotated)) / radius
    multiplier = float(brentq(excess, 0.0, upper, xtol=1e-300, rtol=1e-14, maxiter=500))
    z = vectors @ (rotated / (values + multiplier))
    return np.asarray(z * min(1.0, radius / float(np.linalg.norm(z))))


def _logistic_model(signed: Floats, x: Floats, regulariser: float) -> tuple[float, Floats, Floats]:
    from scipy.special import expit

    margins = signed @ x
    weights = expit(-margins)
    value = float(log_loss(margins[None, :])[0] + regulariser * (x @ x))
    gradient = -(weights @ signed) + 2 * regulariser * x
    hessian = (signed * (weights * (1 - weights))[:, None]).T @ signed
    return value, gradient, hessian + 2 * regulariser * np.eye(len(x))


def _vectors(name: str, values: Floats, lipschitz: float) -> Floats:
    """A read-only (T, d) copy, all norms at most L."""
    if not 0 < lipschitz < math.inf:
        raise ValueError(f"lipschitz must be a positive number, got {lipschitz}")
    out = np.array(values, dtype=float)
    if out.ndim != 2 or 0 in out.shape:
        raise ValueError(f"{name}s must have shape (T, d) with T, d >= 1, got {out.shape}")
    norms = np.linalg.norm(out, axis=1)
    wrong = np.flatnonzero(~(norms <= lipschitz * (1 + ROUNDING)))
    if len(wrong):
        raise ValueError(
            f"round {wrong[0] + 1}: {name} with norm {norms[wrong[0]]} exceeds L = {lipschitz}"
            f" ({len(wrong)} of {len(out)} rounds do)"
        )
    out.setflags(write=False)
    return out


def _check_diameter(diameter: float) -> None:
    if not 0 < diameter < math.inf:
        raise ValueError(f"diameter must be a positive number, got {diameter}")
