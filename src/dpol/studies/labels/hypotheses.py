"""Hypothesis classes: what each of K hypotheses says about the next of M labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats

Ints = NDArray[np.int64]
"""An array of int64."""

# A sum of M masses is off by about M units of rounding; more than this is a mistake.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class HypothesisClass:
    """K maps from features to distributions on M labels, given by their values.

    Source: "Online Distribution Learning with Local Privacy Constraints", section 2.1.

    Args:
        masses: (X, K, M); masses[x, j, y] = f_j(x)[y], where x counts the different features.
            A class of constants has X = 1. A (K, M) array is taken as such.
        label: name of the class.

    Raises:
        ValueError: K or M is below 2, or a row is not a distribution.

    >>> HypothesisClass([[0.5, 0.5], [0.1, 0.9]]).n_hypotheses
    2
    """

    masses: Floats
    label: str = "class"

    def __post_init__(self) -> None:
        masses = np.array(self.masses, dtype=float)
        if masses.ndim == 2:
            masses = masses[None]
        if masses.ndim != 3 or 0 in masses.shape:
            raise ValueError(f"masses must have shape (X, K, M), got {masses.shape}")
        if masses.shape[1] < 2:
            raise ValueError("a class needs at least 2 hypotheses (K), got 1: nothing to learn")
        if masses.shape[2] < 2:
            raise ValueError("a class needs at least 2 labels (M), got 1: nothing to predict")
        _check_rows(masses)
        masses /= masses.sum(axis=2, keepdims=True)
        masses.flags.writeable = False
        object.__setattr__(self, "masses", masses)

    @property
    def n_features(self) -> int:
        """X."""
        return int(self.masses.shape[0])

    @property
    def n_hypotheses(self) -> int:
        """K."""
        return int(self.masses.shape[1])

    @property
    def n_labels(self) -> int:
        """M."""
        return int(self.masses.shape[2])


def _check_rows(masses: Floats) -> None:
    wrong = ~np.isfinite(masses) | (masses < 0)
    if wrong.any():
        x, j, y = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"hypothesis {j} at feature {x} gives label {y} the mass {masses[x, j, y]:g};"
            " a mass must be a number of at least 0"
        )
    sums = masses.sum(axis=2)
    off = np.abs(sums - 1) > _TOLERANCE
    if off.any():
        x, j = (int(i) for i in np.argwhere(off)[0])
        raise ValueError(
            f"the masses of hypothesis {j} at feature {x} sum to {sums[x, j]:.9g}, not to 1;"
            " divide them by their sum"
        )


def check_labels(labels: Ints, n_labels: int) -> None:
    """Raise ValueError unless all labels are integers in 0..M-1."""
    if not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(f"labels must be integers, got {labels.dtype}")
    if labels.size and not (labels.min() >= 0 and labels.max() < n_labels):
        wrong = int(labels.min() if labels.min() < 0 else labels.max())
        raise ValueError(f"label {wrong} is not in 0..{n_labels - 1}")
