"""Convex losses of a product <a_t, x>, the same for all replicates.

The paper's Theorem 3.12 covers all convex losses; linear losses are its hard case.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from dpol.core.randomness import Floats, seed_sequence
from dpol.lazy.convex.bodies import Body

LossName = Literal["linear", "absolute", "logistic"]
"""Names of the losses."""
SLOWEST = 100_000
"""Number of steps after which a search for the least total gives up."""


@dataclass(frozen=True, eq=False)
class _LossesOfProducts:
    """What all losses of products <a_t, x> share; rounds count from 0.

    Args:
        vectors: (T, d) array; row t is a_t.
        lipschitz: L, a bound on the norms of a_t that does not depend on the data.
    """

    vectors: Floats
    lipschitz: float

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        """Dimension d."""
        return int(self.vectors.shape[1])


class LinearLosses(_LossesOfProducts):
    """T losses l_t(x) = <a_t, x>."""

    def batches(self, size: int) -> Iterator[Floats]:
        """Yield the (rounds, d) gradients of consecutive batches; the last may be shorter."""
        for first in range(0, self.n_rounds, size):
            yield self.vectors[first : first + size]

    def value(self, t: int, points: Floats) -> Floats:
        """Return the (R,) losses of (R, d) points in round t."""
        return np.asarray((points * self.vectors[t]).sum(axis=1))

    def gradient(self, t: int, points: Floats) -> Floats:
        """Return (R, d) or (d,) subgradients of the loss of round t at (R, d) points."""
        return np.asarray(self.vectors[t])

    def least_total(self, body: Body) -> float:
        """Return the total loss of the best fixed point of a body."""
        total = self.vectors.sum(axis=0)
        return float((body.best(total) * total).sum())


@dataclass(frozen=True, kw_only=True)
class Link:
    """A convex function of residuals r = <a, x> - b, with slopes in [-1, 1].

    Args:
        value: returns the values at residuals.
        slope: returns a subgradient at residuals.
        smooth: returns value and slope of a smooth function that is nowhere larger than `value`
            and at most width / 2 smaller.
        steepness: returns the Lipschitz constant of the smooth slope for a width.
        bend: returns the second derivative at residuals.
        sharp: whether the function is the absolute value.
    """

    value: Callable[[Floats], Floats]
    slope: Callable[[Floats], Floats]
    smooth: Callable[[Floats, float], tuple[Floats, Floats]]
    steepness: Callable[[float], float]
    bend: Callable[[Floats], Floats] = np.zeros_like
    sharp: bool = False


def _huber(residuals: Floats, width: float) -> tuple[Floats, Floats]:
    slope = np.clip(residuals / width, -1.0, 1.0)
    return slope * (residuals - width * slope / 2), slope


def _softplus(residuals: Floats) -> Floats:
    return np.asarray(np.logaddexp(0.0, residuals))


LINKS: Mapping[LossName, Link] = {
    "absolute": Link(
        value=np.abs,
        slope=np.sign,
        smooth=_huber,
        steepness=lambda width: 1 / width,
        sharp=True,
    ),
    "logistic": Link(
        value=_softplus,
        slope=scipy.special.expit,
        smooth=lambda residuals, _: (_softplus(residuals), scipy.special.expit(residuals)),
        steepness=lambda _: 0.25,
        bend=lambda residuals: scipy.special.expit(residuals) * scipy.special.expit(-residuals),
    ),
}
"""Links by name: `|r|`, and log(1 + e^r) for labels y in {-1, 1} if a includes the factor -y."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LinkedLosses(_LossesOfProducts):
    """T losses l_t(x) = f(<a_t, x> - b_t).

    Args:
        vectors: (T, d) array; row t is a_t.
        lipschitz: L, a bound on the norms of a_t that does not depend on the data.
        link: the function f.
        targets: (T,) targets b_t.
    """

    link: Link
    targets: Floats

    def rounds(self, first: int, end: int) -> LinkedLosses:
        """Return the losses of rounds `first` to `end` - 1."""
        return replace(self, vectors=self.vectors[first:end], targets=self.targets[first:end])

    def batches(self, size: int) -> Iterator[LinkedLosses]:
        """Yield the losses of consecutive batches; the last may be shorter."""
        for first in range(0, self.n_rounds, size):
            yield self.rounds(first, first + size)

    def followed_by(self, later: LinkedLosses) -> LinkedLosses:
        """Return the losses of these rounds followed by the later ones."""
        vectors = np.concatenate([self.vectors, later.vectors])
        return replace(self, vectors=vectors, targets=np.concatenate([self.targets, later.targets]))

    def residuals(self, points: Floats) -> Floats:
        """Return the (..., T) residuals of (..., d) points in all rounds."""
        return np.asarray(points @ self.vectors.T - self.targets)

    def sum_at(self, points: Floats) -> Floats:
        """Return the (R,) summed losses of (R, d) points."""
        return np.asarray(self.link.value(self.residuals(points)).sum(axis=1))

    def slope_at(self, point: Floats) -> Floats:
        """Return a (d,) subgradient of the summed losses at a (d,) point."""
        return np.asarray(self.link.slope(self.residuals(point)) @ self.vectors)

    def value(self, t: int, points: Floats) -> Floats:
        return np.asarray(self.link.value(points @ self.vectors[t] - self.targets[t]))

    def gradient(self, t: int, points: Floats) -> Floats:
        slope = self.link.slope(points @ self.vectors[t] - self.targets[t])
        return np.asarray(slope[:, None] * self.vectors[t])

    def least_total(self, body: Body) -> float:
        """See `LinearLosses`; certified to be at most L D sqrt(T) / 1000 too large.

        The search takes steps of `_descent` on less and less smoothed losses. A smoothed loss is
        nowhere larger than the loss, so its sum at x minus the largest <gradient, x - y> over the
        body is a lower bound. The search ends when the best sum is near enough to the best bound.
        Source: Nesterov, "Smooth minimization of non-smooth functions" (2005); bound by Frank and
        Wolfe (1956).

        Raises:
            ArithmeticError: the bound is still too far away after 100,000 steps.
        """
        tolerance = 1e-3 * (self.lipschitz * body.diameter * math.sqrt(self.n_rounds))
        curvature = float(np.linalg.norm(self.vectors, 2)) ** 2

        def smooth(point: Floats, width: float) -> tuple[float, Floats]:
            values, slopes = self.link.smooth(self.residuals(point), width)
            return float(values.sum()), slopes @ self.vectors

        def steps_from(x: Floats, width: float) -> Iterator[Floats]:
            steepness = self.link.steepness(width) * curvature
            return _descent(lambda point: smooth(point, width)[1], steepness, body, x)

        x, width = body.centre, 1.0
        steps = steps_from(x, width)
        best, bound = math.inf, -math.inf
        for step in range(SLOWEST):
            low, gradient = smooth(x, width)
            gap = float(gradient @ (x - body.best(gradient)))
            if step % 10 == 0 or gap <= tolerance / 2:
                best = min(best, float(self.sum_at(x[None])[0]))
                bound = max(bound, low - gap)
                if best - bound <= tolerance:
                    return best
            if gap < width * self.n_rounds / 8:
                width /= 4
                steps = steps_from(x, width)
            x = next(steps)
        raise ArithmeticError(
            f"no bound within {tolerance:g} of the least value in {SLOWEST:,} steps"
        )


def _descent(
    slope: Callable[[Floats], Floats], steepness: float, body: Body, start: Floats
) -> Iterator[Floats]:
    """Yield accelerated projected gradient steps towards the minimum of a smooth convex function.

    Source: Nesterov, as in `least_total`; restarts by O'Donoghue and Candes, "Adaptive Restart for
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


ConvexLosses = LinearLosses | LinkedLosses


def total_loss(losses: ConvexLosses, points: Iterable[Floats]) -> Floats:
    """Return the (R,) total losses of the (R, d) points that are played in each round."""
    return np.asarray(sum(losses.value(t, x) for t, x in enumerate(points)))


def drifting_losses(
    n_rounds: int, dimension: int, lipschitz: float, seed: int, replicate: int = 0
) -> LinearLosses:
    """Return linear losses with a direction to learn: a_t = L (0.7 u_t + 0.3 h), unit vectors.

    Args:
        n_rounds: T, the number of rounds.
        dimension: d, dimension of the space.
        lipschitz: L, Lipschitz constant of every loss.
        seed: root seed.
        replicate: number of the replicate; each has losses of its own.
    """
    key = ("convex losses", "linear", dimension, replicate)
    rng = np.random.default_rng(seed_sequence(seed, key))
    hidden = rng.standard_normal(dimension)
    hidden /= np.linalg.norm(hidden)
    vectors = rng.standard_normal((n_rounds, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return LinearLosses(lipschitz * (0.7 * vectors + 0.3 * hidden), lipschitz)


def linked_losses(
    name: LossName, linear: LinearLosses, body: Body, seed: int, replicate: int = 0
) -> LinkedLosses:
    """Return losses of another kind with the vectors of linear losses.

    Targets of absolute losses are the products with the best corner for the summed vectors, plus
    uniform noise between -L D/2 and L D/2. Targets of logistic losses are 0.

    Args:
        name: name in `LINKS`.
        linear: linear losses that supply the vectors.
        body: convex body of the points.
        seed: root seed.
        replicate: number of the replicate.
    """
    T, targets = linear.n_rounds, np.zeros(linear.n_rounds)
    if name == "absolute":
        key = ("convex losses", name, linear.dimension, replicate)
        noise = np.random.default_rng(seed_sequence(seed, key)).uniform(-0.5, 0.5, T)
        corner = body.best(linear.vectors.sum(axis=0))
        targets = linear.vectors @ corner + linear.lipschitz * body.diameter * noise
    return LinkedLosses(
        link=LINKS[name], vectors=linear.vectors, targets=targets, lipschitz=linear.lipschitz
    )
