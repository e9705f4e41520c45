"""What everything on a ball around 0 needs."""

from __future__ import annotations

import math

import numpy as np

from dpol.core.randomness import Floats


def into_ball(points: Floats, diameter: float) -> Floats:
    """(R, d) the nearest points of the ball of this diameter around 0."""
    norms = np.linalg.norm(points, axis=-1, keepdims=True)
    outside = norms > diameter / 2
    return np.where(outside, points * (diameter / 2 / np.where(outside, norms, 1.0)), points)


def check_positive(**values: float) -> None:
    """Raise ValueError for a number that is not above 0 and finite; it is called by its name."""
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a positive number, got {value}")
