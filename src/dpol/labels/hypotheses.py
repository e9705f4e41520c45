"""Hypothesis classes: the distribution of the next of M labels under each of K hypotheses.

There are random classes, the class that is hardest to learn privately, and forecasts of the
hospital of a random patient of this week. Forecasts use the counts of earlier weeks, which are
assumed to be published; messages protect the hospital of each patient of the current week.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpol.core.arguments import real_array
from dpol.core.randomness import Floats, seed_sequence

Ints = NDArray[np.int64]
"""An array of int64."""
WINDOWS: tuple[int | None, ...] = (1, 4, 12, None)
"""Weeks that each forecast looks back, None for all; one more forecast is the capacity."""
BLEND = 0.01
"""Weight of the capacity in all forecasts, so that no hospital is ever ruled out."""
# A sum of M masses has about M rounding errors; a larger difference is a mistake.
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class HypothesisClass:
    """K maps from X features to distributions on M labels, as a table of values.

    Source: "Online Distribution Learning with Local Privacy Constraints", section 2.1.

    Args:
        masses: (X, K, M) probabilities; masses[x, j, y] = f_j(x)[y] for feature number x. A class
            of constants has X = 1 and may be a (K, M) array.
        label: name of the class.

    Raises:
        ValueError: K or M is below 2, or a row is not a distribution.

    >>> HypothesisClass([[0.5, 0.5], [0.1, 0.9]]).n_hypotheses
    2
    """

    masses: Floats
    label: str = "class"

    def __post_init__(self) -> None:
        masses = real_array("masses", self.masses)
        masses = masses[None] if masses.ndim == 2 else masses
        if masses.ndim != 3 or not masses.size or min(masses.shape[1:]) < 2:
            raise ValueError(
                "masses must have shape (X, K, M), at least 2 hypotheses (K) and 2 labels (M),"
                f" got {masses.shape}"
            )
        check_masses(masses, "the masses of a hypothesis")
        masses /= masses.sum(axis=2, keepdims=True)
        masses.flags.writeable = False
        object.__setattr__(self, "masses", masses)

    @property
    def n_features(self) -> int:
        """X, the number of features."""
        return int(self.masses.shape[0])

    @property
    def n_hypotheses(self) -> int:
        """K, the number of hypotheses."""
        return int(self.masses.shape[1])

    @property
    def n_labels(self) -> int:
        """M, the number of labels."""
        return int(self.masses.shape[2])


def check_masses(masses: Floats, what: str) -> None:
    """Raise ValueError unless `masses` are distributions along the last axis."""
    sums = masses.sum(axis=-1)
    wrong = ~((masses >= 0).all(axis=-1) & (np.abs(sums - 1) <= _TOLERANCE))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(
            f"{what} must be at least 0 and sum to 1: at {place} the smallest is"
            f" {masses[place].min():g}, the sum {sums[place]:.9g}; divide them by their sum"
        )


def draw_categories(masses: Floats, rows: Ints, uniforms: Floats) -> Ints:
    """Draw from a few categorical distributions by inversion.

    Args:
        masses: (X, M) weights, not negative; every row has a positive sum and is normalised.
        rows: row of the distribution for each draw, 0..X-1; broadcast against `uniforms`.
        uniforms: numbers in [0, 1), of any shape; the result has the same shape.
    """
    # Every row ends in exactly 1, so a last category without mass is never drawn.
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
    n_hypotheses: int,
    n_labels: int,
    *,
    seed: int,
    concentration: float = 1.0,
    n_features: int = 1,
    replicate: int = 0,
) -> HypothesisClass:
    """Return hypotheses from a symmetric Dirichlet distribution, drawn anew for every feature.

    Args:
        n_hypotheses: K, the number of hypotheses.
        n_labels: M, the number of labels.
        seed: root seed; the class depends only on it and the other arguments.
        concentration: Dirichlet parameter, above 0; below 1 most mass is on few labels.
        n_features: X, the number of features.
        replicate: number of the replicate; each has a class of its own.
    """
    key = ("random class", n_hypotheses, n_labels, float(concentration), n_features, replicate)
    generator = np.random.default_rng(seed_sequence(seed, key))
    # Gamma variables with a small shape may all be 0; adding a tiny number keeps the sum positive.
    gammas = generator.standard_gamma(concentration, (n_features, n_hypotheses, n_labels))
    gammas += np.finfo(float).tiny
    return HypothesisClass(gammas / gammas.sum(axis=2, keepdims=True), "random")


def hard_class(n_pairs: int, distance: float) -> HypothesisClass:
    """Return the class of the lower bound: K pairs of constant hypotheses, 2K in all.

    There are N = 2^k labels, with N/2 <= K <= N - 1. The first hypothesis of a pair is uniform on
    the N/2 labels where a Hadamard column is -1; the second moves distance/N from each of these
    labels to each of the other labels.

    Source: "Online Distribution Learning with Local Privacy Constraints", Appendix A.

    Args:
        n_pairs: K, the number of pairs, at least 1.
        distance: a, in (0, 1]; `dpol.labels.hard_pairs.hardness` returns the paper's value.
    """
    size = 1 << n_pairs.bit_length()
    columns = scipy.linalg.hadamard(size)[:, 1 : n_pairs + 1].T
    first = np.where(columns < 0, 2 / size, 0.0)
    pairs = np.stack([first, first + columns * distance / size], axis=1)
    return HypothesisClass(pairs.reshape(2 * n_pairs, size), "hard")


def shares(counts: Floats, otherwise: Floats) -> Floats:
    """Return (W, n) counts divided by their row sums; rows of `otherwise` where the sum is 0."""
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, total, out=otherwise.copy(), where=total > 0))


def forecast_class(counts: Floats, capacity: Floats, label: str) -> HypothesisClass:
    """Return forecasts of every week's shares of patients; a feature is a week, a label a hospital.

    Args:
        counts: (W, n) patients.
        capacity: (W, n) beds, above 0. Their shares are the last hypothesis, replace the missing
            past of week 0, and are blended into all other hypotheses.
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
