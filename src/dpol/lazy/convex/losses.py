"""Convex losses of a product <a_t, x>, drawn anew for each replicate of a study.

The paper's Theorem 3.12 covers all convex Lipschitz losses.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpol.core.arguments import check_number, real_array
from dpol.core.randomness import Floats, seed_sequence
from dpol.lazy.convex.ball import Ball

STEEPNESS = 0.25
"""Lipschitz constant of the slope of log(1 + e^r)."""
SLOWEST = 100_000
"""Number of steps after which a search for the smallest total gives up."""


@dataclass(frozen=True, eq=False)
class _LossesOfProducts:
    """Base of losses of products <a_t, x>; rounds count from 0.

    Args:
        vectors: (T, d) array; row t is a_t. If each replicate has losses of its own, (T, R, d).
        lipschitz: L, a bound on the norms of a_t that does not depend on the data.

    Raises:
        ValueError: L is out of range, or no bound.
    """

    vectors: Floats
    lipschitz: float

    def __post_init__(self) -> None:
        most = check_number("lipschitz", self.lipschitz, "(0, 1e100]") * (1 + 1e-12)
        norms = np.linalg.norm(real_array("vectors", self.vectors), axis=-1)
        if not (norms <= most).all():
            raise ValueError(f"lipschitz must bound the norms of vectors, got {self.lipschitz}")

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return len(self.vectors)

    @property
    def dimension(self) -> int:
        """Dimension d."""
        return int(self.vectors.shape[-1])

    def _product(self, t: int, points: Floats) -> Floats:
        """Return the (R,) products <a_t, x> of round t and (R, d) points."""
        return np.asarray((points * self.vectors[t]).sum(axis=1))


class LinearLosses(_LossesOfProducts):
    """T losses l_t(x) = <a_t, x>.

    Raises:
        ValueError: L is out of range, or no bound on the norms of a_t.
    """

    def batches(self, size: int) -> Iterator[Floats]:
        """Yield the (rounds, ...) gradients of consecutive batches; the last may be shorter."""
        for first in range(0, self.n_rounds, size):
            yield self.vectors[first : first + size]

    def value(self, t: int, points: Floats) -> Floats:
        """Return the (R,) losses of (R, d) points in round t."""
        return self._product(t, points)

    def gradient(self, t: int, points: Floats) -> Floats:
        """Return (R, d) or (d,) gradients of the loss of round t at (R, d) points."""
        return np.asarray(self.vectors[t])

    def least_total(self, ball: Ball) -> float:
        """Return the total loss of the best fixed point of a ball."""
        total = self.vectors.sum(axis=0)
        return float((ball.best(total) * total).sum())


class LogisticLosses(_LossesOfProducts):
    """T losses l_t(x) = log(1 + e^<a_t, x>); a_t has the factor -y_t of a label y_t in {-1, 1}.

    Raises:
        ValueError: L is out of range, or no bound on the norms of a_t.
    """

    def rounds(self, first: int, end: int) -> LogisticLosses:
        """Return the losses of rounds `first` to `end` - 1."""
        return self._of(self.vectors[first:end])

    def batches(self, size: int) -> Iterator[LogisticLosses]:
        """Yield the losses of consecutive batches; the last may be shorter."""
        for first in range(0, self.n_rounds, size):
            yield self.rounds(first, first + size)

    def followed_by(self, later: LogisticLosses) -> LogisticLosses:
        """Return the losses of these rounds followed by the later ones."""
        return self._of(np.concatenate([self.vectors, later.vectors]))

    def _of(self, vectors: Floats) -> LogisticLosses:
        """Return losses of vectors that were checked in other losses."""
        losses = object.__new__(LogisticLosses)
        vars(losses).update(vectors=vectors, lipschitz=self.lipschitz)
        return losses

    def of(self, rows: int | NDArray[np.intp]) -> LogisticLosses:
        """Return the own losses of one replicate or of several."""
        return self._of(self.vectors[:, rows])

    def sum_at(self, points: Floats) -> Floats:
        """Return the (R,) summed losses of (R, d) points."""
        return np.asarray(np.logaddexp(0.0, self._products(points)).sum(axis=-1))

    def slope_at(self, points: Floats) -> Floats:
        """Return the (R, d) or (d,) gradients of the summed losses at (R, d) or (d,) points."""
        slopes = scipy.special.expit(self._products(points))
        return np.asarray((slopes[..., None, :] @ self._by_replicate)[..., 0, :])

    def value(self, t: int, points: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, self._product(t, points)))

    def gradient(self, t: int, points: Floats) -> Floats:
        slope = scipy.special.expit(self._product(t, points))
        return np.asarray(slope[:, None] * self.vectors[t])

    @property
    def _by_replicate(self) -> Floats:
        """The (T, d) or (R, T, d) vectors."""
        return self.vectors.swapaxes(0, -2)

    def _products(self, points: Floats) -> Floats:
        """Return the (R, T) or (T,) products <a_t, x> of (R, d) or (d,) points."""
        return np.asarray((self._by_replicate @ points[..., None])[..., 0])

    def least_total(self, ball: Ball) -> float:
        """See `LinearLosses`; certified to be at most L D sqrt(T) / 1000 too large.

        The largest <gradient, x - y> over the ball bounds how far the sum at x is above the
        smallest (Frank and Wolfe, 1956).

        Raises:
            ArithmeticError: the bound is still too far away after 100,000 steps.
        """
        tolerance = 1e-3 * (self.lipschitz * ball.diameter * math.sqrt(self.n_rounds))
        steepness = STEEPNESS * float(np.linalg.norm(self.vectors, 2)) ** 2
        for x in itertools.islice(_descent(self.slope_at, steepness, ball), SLOWEST):
            gradient = self.slope_at(x)
            if float(gradient @ (x - ball.best(gradient))) <= tolerance:
                return float(self.sum_at(x[None])[0])
        raise ArithmeticError(
            f"no bound within {tolerance:g} of the smallest value in {SLOWEST:,} steps"
        )


def _descent(slope: Callable[[Floats], Floats], steepness: float, ball: Ball) -> Iterator[Floats]:
    """Yield accelerated projected gradient steps towards the minimum of a smooth convex function.

    The first is the centre. Source: Nesterov, "Introductory Lectures on Convex Optimization"
    (2004); restarts by O'Donoghue and Candes, "Adaptive Restart for Accelerated Gradient Schemes"
    (2015).

    Args:
        slope: returns the gradient (d,) at a point (d,).
        steepness: Lipschitz constant of the gradient.
        ball: the ball to search.
    """
    x, ahead, momentum = ball.centre, ball.centre, 1.0
    while True:
        yield x
        moved = ball.project(ahead - slope(ahead) / steepness)
        if float((ahead - moved) @ (moved - x)) > 0:
            momentum = 1.0
        later = (1 + math.sqrt(1 + 4 * momentum**2)) / 2
        ahead, x, momentum = moved + (momentum - 1) / later * (moved - x), moved, later


ConvexLosses = LinearLosses | LogisticLosses


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
