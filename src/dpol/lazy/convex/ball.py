"""The ball of the points that are played."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.truncated_gaussian import into_ball, sample_truncated_gaussian


@dataclass(frozen=True)
class Ball:
    """A ball around 0.

    Args:
        dimension: d, dimension of the space.
        diameter: D, diameter of the ball.

    Raises:
        ValueError: a number is out of range.
    """

    dimension: int
    diameter: float

    def __post_init__(self) -> None:
        check_whole("dimension", self.dimension)
        check_number("diameter", self.diameter, "(0, 1e100]")

    @property
    def centre(self) -> Floats:
        """The (d,) point 0."""
        return np.zeros(self.dimension)

    def project(self, points: Floats) -> Floats:
        """Return the (R, d) nearest points of the ball."""
        return into_ball(points, self.diameter)

    def best(self, direction: Floats) -> Floats:
        """Return a (d,) point x of the ball with the smallest <direction, x>."""
        norm = float(np.linalg.norm(direction))
        return -self.diameter / 2 * direction / norm if norm else self.centre

    def sample(self, mean: Floats, sigma: float, generators: ReplicateGenerators) -> Floats:
        """Return (R, d) independent draws of N(mean, sigma^2 I) given that they lie in the ball."""
        return sample_truncated_gaussian(mean, sigma, self.diameter, generators)
