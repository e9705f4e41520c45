"""Hypothesis classes: what each of K hypotheses says about the next of M labels.

Random ones, the one that is hardest to learn privately, and forecasts of hospitals: in which one
is a random patient of this week? These use the counts of earlier weeks, which are taken as
published; what the messages protect is the hospital of each patient of the current week.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpol.core.randomness import Floats, seed_sequence
from dpol.core.words import one_line

Ints = NDArray[np.int64]
"""An array of int64."""
WINDOWS: tuple[int | None, ...] = (1, 4, 12, None)
"""Number of weeks that each forecast looks back; one more forecast is the capacity."""
BLEND = 0.01
"""The part of the capacity in all forecasts, so that no hospital is ever ruled out."""
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

    __repr__ = one_line

    def __post_init__(self) -> None:
        masses = np.array(self.masses, dtype=float)
        masses = masses[None] if masses.ndim == 2 else masses
        if masses.ndim != 3 or not masses.size or min(masses.shape[1:]) < 2:
            raise ValueError(
                "masses must have shape (X, K, M), at least 2 hypotheses (K) and 2 labels (M),"
                f" got {masses.shape}"
            )
        check_laws(masses, "the masses of a hypothesis")
        masses /= masses.sum(axis=2, keepdims=True)
        masses.flags.writeable = False
        object.__setattr__(self, "masses", masses)

    @property
    def n_features(self) -> int:
        """Number of features X."""
        return int(self.masses.shape[0])

    @property
    def n_hypotheses(self) -> int:
        """Number of hypotheses K."""
        return int(self.masses.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of labels M."""
        return int(self.masses.shape[2])


def check_laws(masses: Floats, what: str) -> None:
    """Raise ValueError unless all last axes are distributions."""
    sums = masses.sum(axis=-1)
    wrong = ~((masses >= 0).all(axis=-1) & (np.abs(sums - 1) <= _TOLERANCE))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{what} must be at least 0 and sum to 1: at {place} the smallest is"
            f" {masses[place].min():g}, the sum {sums[place]:.9g}; divide them by their sum"
        )


def draw_categories(masses: Floats, rows: Ints, uniforms: Floats) -> Ints:
    """Draws from a few categorical distributions by inversion.

    Args:
        masses: (X, M), not negative, every row with a positive sum (rows are normalised).
        rows: which distribution, 0..X-1; broadcast against `uniforms`.
        uniforms: numbers in [0, 1), of any shape; the result has the same.
    """
    # Every row ends in exactly 1, so a category without mass at its end is never drawn.
    cumulative = np.cumsum(masses, axis=1)
    cumulative /= cumulative[:, -1:]
    rows = np.broadcast_to(rows, uniforms.shape)
    drawn = np.empty(uniforms.shape, dtype=np.int64)
    for x in np.unique(rows):
        here = rows == x
        drawn[here] = np.searchsorted(cumulative[x], uniforms[here], side="right")
    return drawn


# ---- classes -------------------------------------------------------------------------------------


def random_class(
    n_hypotheses: int, n_labels: int, *, seed: int, concentration: float = 1.0, n_features: int = 1
) -> HypothesisClass:
    """Hypotheses drawn from a symmetric Dirichlet distribution, drawn again for every feature.

    Args:
        n_hypotheses: K, the number of hypotheses.
        n_labels: M, the number of labels.
        seed: root seed; the class depends on it and on the other arguments only.
        concentration: above 0; below 1 puts most of the mass on few labels.
        n_features: X, the number of features.
    """
    key = ("random class", n_hypotheses, n_labels, float(concentration), n_features)
    generator = np.random.default_rng(seed_sequence(seed, key))
    # Gamma variables of a small shape may all be 0; the smallest number keeps a row a distribution.
    gammas = generator.standard_gamma(concentration, (n_features, n_hypotheses, n_labels))
    gammas += np.finfo(float).tiny
    return HypothesisClass(gammas / gammas.sum(axis=2, keepdims=True), "random")


def hard_class(n_pairs: int, distance: float) -> HypothesisClass:
    """K pairs of constants, 2K hypotheses, on the N = 2^k labels with N/2 <= K <= N - 1.

    The first of a pair is uniform on the N/2 labels where a Hadamard column is -1; the second
    takes distance/N from each of these and gives it to each of the others.

    Source: "Online Distribution Learning with Local Privacy Constraints", Appendix A.

    Args:
        n_pairs: K of the construction, at least 1.
        distance: a, in (0, 1]; `dpol.labels.hard_pairs.hardness` gives the paper's.

    Raises:
        ValueError: a is out of range.
    """
    if not 0 < distance <= 1:
        raise ValueError(f"distance a must lie in (0, 1], got {distance:g}; use more rounds")
    size = 1 << n_pairs.bit_length()
    columns = scipy.linalg.hadamard(size)[:, 1 : n_pairs + 1].T
    first = np.where(columns < 0, 2 / size, 0.0)
    pairs = np.stack([first, first + columns * distance / size], axis=1)
    return HypothesisClass(pairs.reshape(2 * n_pairs, size), "hard")


def shares(counts: Floats, otherwise: Floats) -> Floats:
    """Every row over its sum; `otherwise` where the sum is 0. Both (W, n)."""
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=otherwise.copy(), where=total > 0))


def forecast_class(counts: Floats, capacity: Floats, label: str) -> HypothesisClass:
    """Forecasts of every week's shares of patients: feature = week, label = hospital.

    Args:
        counts: (W, n) patients.
        capacity: (W, n) beds, positive; their shares are the last hypothesis, stand in for the
            past that week 0 does not have, and have a part in all others.
        label: name of the class.
    """
    beds = shares(capacity, capacity)
    past = shares(counts, beds)
    masses = np.repeat(beds[:, None], len(WINDOWS) + 1, axis=1)
    for j, window in enumerate(WINDOWS):
        for week in range(1, len(counts)):
            first = 0 if window is None else max(0, week - window)
            average = past[first:week].mean(axis=0)
            masses[week, j] = (1 - BLEND) * average + BLEND * beds[week]
    return HypothesisClass(masses, label)
