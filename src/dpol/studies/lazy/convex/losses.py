"""Linear losses on a ball around 0, the same for all replicates.

The paper's Theorem 3.12 is about all convex losses; linear ones are its hard case, and the only
ones whose measure can be drawn from exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, seed_sequence


def into_ball(points: Floats, diameter: float) -> Floats:
    """(R, d) the nearest points of the ball of this diameter around 0."""
    norms = np.linalg.norm(points, axis=-1, keepdims=True)
    outside = norms > diameter / 2
    return np.where(outside, points * (diameter / 2 / np.where(outside, norms, 1.0)), points)


@dataclass(frozen=True, eq=False)
class LinearLosses:
    """T losses l_t(x) = <a_t, x>; rounds are counted from 0.

    Args:
        gradients: (T, d), row t is a_t.
        lipschitz: L, a bound on the norms that does not depend on the data.
    """

    gradients: Floats
    lipschitz: float

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return int(self.gradients.shape[0])

    @property
    def dimension(self) -> int:
        """Dimension d."""
        return int(self.gradients.shape[1])

    def batches(self, size: int) -> Iterator[Floats]:
        """(rounds, d) gradients of consecutive batches; the last may be shorter."""
        for first in range(0, self.n_rounds, size):
            yield self.gradients[first : first + size]

    def value(self, t: int, points: Floats) -> Floats:
        """(R,) losses of (R, d) points in round t."""
        return np.asarray((points * self.gradients[t]).sum(axis=1))

    def total(self, points: Iterable[Floats]) -> Floats:
        """(R,) summed losses of what is played in each round, (R, d) a round."""
        return np.asarray(sum(self.value(t, x) for t, x in enumerate(points)))

    def least_total(self, diameter: float) -> float:
        """The total loss of the best fixed point, `-D/2 A/|A|` for the summed gradients A."""
        total = self.gradients.sum(axis=0)
        norm = float(np.linalg.norm(total))
        return float((-diameter / 2 * total / norm * total).sum()) if norm else 0.0


def drifting_losses(n_rounds: int, dimension: int, lipschitz: float, seed: int) -> LinearLosses:
    """Linear losses with a direction to learn: unit vectors around a drift of length 0.3, times L.

    Args:
        n_rounds: number of rounds T.
        dimension: dimension d.
        lipschitz: Lipschitz constant L of every loss.
        seed: root seed.
    """
    rng = np.random.default_rng(seed_sequence(seed, ("convex losses", "linear", dimension)))
    hidden = rng.standard_normal(dimension)
    hidden /= np.linalg.norm(hidden)
    vectors = rng.standard_normal((n_rounds, dimension))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return LinearLosses(lipschitz * (0.7 * vectors + 0.3 * hidden), lipschitz)
