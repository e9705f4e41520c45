"""Noise that a test can draw again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SeededNoise:
    """Noise from a NumPy generator: reproducible, so anyone with the seed can remove it."""

    generator: np.random.Generator

    def discrete_gaussian(self, scale, size):
        """Algorithm 3 of the paper of `dpol_weekly.sampler`, in floats."""
        kept = [np.empty(0, dtype=np.int64)]
        while (missing := size - sum(map(len, kept))) > 0:
            # Discrete Laplace noise of the same scale, thinned out to the Gaussian.
            two = self.generator.geometric(-math.expm1(-1 / scale), size=(2, 2 * missing))
            laplace = two[0] - two[1]
            keep = np.exp(-(((np.abs(laplace) - scale) / scale) ** 2) / 2)
            kept.append(laplace[self.generator.random(2 * missing) < keep][:missing])
        return [int(draw) for draw in np.concatenate(kept)]
