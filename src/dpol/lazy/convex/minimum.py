"""The least value of a convex function on a body, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from dpol.core.randomness import Floats
from dpol.lazy.convex.bodies import Body

SLOWEST = 100_000
"""Number of steps after which a search gives up."""


def least_value(
    smooth: Callable[[Floats, float], tuple[float, Floats]],
    body: Body,
    *,
    value: Callable[[Floats], float],
    steepness: Callable[[float], float],
    n_terms: int,
    tolerance: float,
) -> float:
    """Return the least value of a convex function on a body, at most `tolerance` too large.

    The search takes steps of `descent` on less and less smoothed functions. A smoothed function is
    nowhere larger than the function, so its value at x minus the largest <gradient, x - y> over
    the body is a lower bound. The search ends when the best value is within `tolerance` of the
    best bound. Source: Nesterov, "Smooth minimization of non-smooth functions" (2005); bound by
    Frank and Wolfe (1956).

    Args:
        smooth: takes a point (d,) and a width; returns value and gradient of the smoothed function,
            which is nowhere larger than `value`, and at most width n_terms / 2 smaller.
        body: convex body to search.
        value: returns the value of the function at a point (d,).
        steepness: returns the Lipschitz constant of the smoothed gradient for a width.
        n_terms: number of smoothed terms (see `smooth`).
        tolerance: largest error, above 0.

    Raises:
        ArithmeticError: the bound is still too far away after 100,000 steps.
    """

    def steps_from(x: Floats, width: float) -> Iterator[Floats]:
        return descent(lambda point: smooth(point, width)[1], steepness(width), body, x)

    x, width = body.centre, 1.0
    steps = steps_from(x, width)
    best, bound = math.inf, -math.inf
    for step in range(SLOWEST):
        low, gradient = smooth(x, width)
        gap = float(gradient @ (x - body.best(gradient)))
        if step % 10 == 0 or gap <= tolerance / 2:
            best, bound = min(best, value(x)), max(bound, low - gap)
            if best - bound <= tolerance:
                return best
        if gap < width * n_terms / 8:
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
