"""Convex bodies of the points that are played: a ball, a box and a simplex.

Each body draws from N(mean, sigma^2 I) truncated to itself, without a Markov chain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.truncated_gaussian import into_ball, sample_truncated_gaussian
from dpol.lazy.convex.truncated_normal import sample_in_box, sample_in_simplex

BodyName = Literal["ball", "box", "simplex"]
"""Names of the bodies."""


@dataclass(frozen=True)
class _AroundZero:
    """Size and centre of a body that is symmetric about 0.

    Args:
        dimension: d, dimension of the space.
        diameter: D, diameter of the body.
    """

    dimension: int
    diameter: float

    @property
    def radius(self) -> float:
        """The largest distance between a point and `centre`."""
        return self.diameter / 2

    @property
    def centre(self) -> Floats:
        """The (d,) point of least norm."""
        return np.zeros(self.dimension)


@dataclass(frozen=True)
class Ball(_AroundZero):
    """The ball around 0 with dimension d and diameter D."""

    def project(self, points: Floats) -> Floats:
        """Return the (R, d) nearest points of the body."""
        return into_ball(points, self.diameter)

    def best(self, direction: Floats) -> Floats:
        """Return a (d,) point x of the body with the least <direction, x>."""
        norm = float(np.linalg.norm(direction))
        return -self.diameter / 2 * direction / norm if norm else self.centre

    def sample(self, mean: Floats, sigma: float, generators: ReplicateGenerators) -> Floats:
        """Return (R, d) independent draws of N(mean, sigma^2 I) given that they lie in the body."""
        return sample_truncated_gaussian(mean, sigma, self.diameter, generators)


@dataclass(frozen=True)
class Box(_AroundZero):
    """The cube around 0 with dimension d and diameter D; half an edge is D / (2 sqrt(d))."""

    @property
    def half_edge(self) -> float:
        """The largest coordinate."""
        return self.diameter / (2 * math.sqrt(self.dimension))

    def project(self, points: Floats) -> Floats:
        return np.clip(points, -self.half_edge, self.half_edge)

    def best(self, direction: Floats) -> Floats:
        return np.asarray(-self.half_edge * np.sign(direction))

    def sample(self, mean: Floats, sigma: float, generators: ReplicateGenerators) -> Floats:
        return sample_in_box(mean, sigma, self.half_edge, generators)


@dataclass(frozen=True)
class Simplex:
    """The simplex of points with coordinates >= 0 and sum D / sqrt(2): mixtures of d corners.

    Args:
        dimension: d, at least 2.
        diameter: D, the distance between two corners.

    Raises:
        ValueError: d is 1, which leaves one point.
    """

    dimension: int
    diameter: float

    def __post_init__(self) -> None:
        if self.dimension < 2:
            raise ValueError(f"a simplex needs at least 2 dimensions, got {self.dimension}")

    @property
    def radius(self) -> float:
        return self.total * math.sqrt(1 - 1 / self.dimension)

    @property
    def centre(self) -> Floats:
        return np.full(self.dimension, self.total / self.dimension)

    @property
    def total(self) -> float:
        """The sum of the coordinates."""
        return self.diameter / math.sqrt(2)

    def project(self, points: Floats) -> Floats:
        """See `Ball`. Source: Duchi et al., "Efficient Projections onto the l1-Ball" (2008)."""
        falling = -np.sort(-points, axis=-1)
        lowered = (falling.cumsum(axis=-1) - self.total) / np.arange(1, self.dimension + 1)
        last = (falling > lowered).sum(axis=-1, keepdims=True) - 1
        return np.maximum(points - np.take_along_axis(lowered, last, axis=-1), 0.0)

    def best(self, direction: Floats) -> Floats:
        return np.asarray(self.total * (np.arange(self.dimension) == direction.argmin()))

    def sample(self, mean: Floats, sigma: float, generators: ReplicateGenerators) -> Floats:
        return sample_in_simplex(mean, sigma, self.total, generators)


Body = Ball | Box | Simplex
"""A convex body in d dimensions; D is the largest distance between two of its points."""
BODIES: Mapping[BodyName, Callable[[int, float], Body]] = {
    "ball": Ball,
    "box": Box,
    "simplex": Simplex,
}
"""Constructors of the bodies by name; each takes dimension and diameter."""
