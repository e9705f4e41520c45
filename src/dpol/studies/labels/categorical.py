"""Many draws from a few categorical distributions, from uniform numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpol.core.randomness import Floats
from dpol.studies.labels.hypotheses import Ints


@dataclass(frozen=True, eq=False)
class Categorical:
    """X distributions on M categories, ready to be drawn from by inversion.

    Args:
        masses: (X, M), not negative, every row with a positive sum (rows are normalised).
    """

    masses: Floats

    @cached_property
    def _cumulative(self) -> Floats:
        # Every row ends in exactly 1, so a category without mass at its end is never drawn.
        cumulative = np.cumsum(self.masses, axis=1)
        return np.asarray(cumulative / cumulative[:, -1:])

    def draw(self, features: Ints, uniforms: Floats) -> Ints:
        """The category of every uniform number in [0, 1).

        Args:
            features: which distribution, 0..X-1; broadcast against `uniforms`.
            uniforms: any shape; the result has the same.
        """
        cumulative = self._cumulative
        if len(cumulative) == 1:
            return np.searchsorted(cumulative[0], uniforms, side="right")
        features = np.broadcast_to(features, uniforms.shape)
        drawn = np.empty(uniforms.shape, dtype=np.int64)
        for x in np.unique(features):
            here = features == x
            drawn[here] = np.searchsorted(cumulative[x], uniforms[here], side="right")
        return drawn
