"""The least sum of convex losses on a body, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from dpol.core.randomness import Floats
from dpol.lazy.convex.bodies import Body

if TYPE_CHECKING:
    from dpol.lazy.convex.losses import LinkedLosses

SLOWEST = 100_000
"""Number of steps after which a search gives up."""


def least_value(losses: LinkedLosses, body: Body, tolerance: float) -> float:
    """Return the least sum of the losses on a body, at most `tolerance` too large.

    The search takes steps of `descent` on less and less smoothed losses. A smoothed loss is nowhere
    larger than the loss, so its sum at x minus the largest <gradient, x - y> over the body is a
    lower bound. The search ends when the best sum is within `tolerance` of the best bound. Source:
    Nesterov, "Smooth minimization of non-smooth functions" (2005); bound by Frank and Wolfe (1956).

    Raises:
        ArithmeticError: the bound is still too far away after 100,000 steps.
    """
    link, vectors = losses.link, losses.vectors
    curvature = float(np.linalg.norm(vectors, 2)) ** 2

    def smooth(point: Floats, width: float) -> tuple[float, Floats]:
        values, slopes = link.smooth(losses.residuals(point), width)
        return float(values.sum()), slopes @ vectors

    def steps_from(x: Floats, width: float) -> Iterator[Floats]:
        steepness = link.steepness(width) * curvature
        return descent(lambda point: smooth(point, width)[1], steepness, body, x)

    x, width = body.centre, 1.0
    steps = steps_from(x, width)
    best, bound = math.inf, -math.inf
    for step in range(SLOWEST):
        low, gradient = smooth(x, width)
        gap = float(gradient @ (x - body.best(gradient)))
        if step % 10 == 0 or gap <= tolerance / 2:
            best = min(best, float(losses.sum_at(x[None])[0]))
            bound = max(bound, low - gap)
            if best - bound <= tolerance:
                return best
        if gap < width * losses.n_rounds / 8:
            width /= 4
            steps = steps_from(x, width)
        x = next(steps)
    raise ArithmeticError(f"no bound within {tolerance:g} of the least value in {SLOWEST:,} steps")


def descent(
    slope: Callable[[Floats], Floats], steepness: float, body: Body, start: Floats
) -> Iterator[Floats]:
    """Yield accelerated projected gradient steps towards the minimum of a smooth convex function.

    Source: Nesterov, as in `least_value`; restarts by O'Donoghue and Candes, "Adaptive Restart for
    Accelerated Gradient Schemes" (2015).

    Args:
        slope: returns the gradient (d,) at a point (d,).
        steepness: Lipschitz constant of the gradient.
        body: convex body to search.
        start: (d,) point of the body.
    """
    x, ahead, momentum = start, start, 1.0
    while True:
        moved = body.project((ahead - slope(ahead) / steepness)[None])[0]
        if float((ahead - moved) @ (moved - x)) > 0:
            momentum = 1.0
        later = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead, x, momentum = moved + (momentum - 1) / later * (moved - x), moved, later
        yield x
