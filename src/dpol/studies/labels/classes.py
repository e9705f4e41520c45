"""Hypothesis classes to learn: random ones, and the one that is hard for any private learner."""

from __future__ import annotations

import numpy as np
from scipy.linalg import hadamard

from dpol.core.randomness import seed_sequence
from dpol.studies.labels.hypotheses import HypothesisClass


def random_class(
    n_hypotheses: int,
    n_labels: int,
    *,
    seed: int,
    concentration: float = 1.0,
    n_features: int = 1,
) -> HypothesisClass:
    """Hypotheses drawn from a symmetric Dirichlet distribution, anew for every feature.

    Args:
        n_hypotheses: K, the number of hypotheses.
        n_labels: M, the number of labels.
        seed: root seed; the class depends on it and on the other arguments only.
        concentration: below 1 puts most of the mass on few labels.
        n_features: X, the number of features.

    Raises:
        ValueError: concentration is not above 0, or K or M is below 2.
    """
    if not concentration > 0:
        raise ValueError(f"concentration must be above 0, got {concentration}")
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
        distance: a, in (0, 1]; `dpol.studies.labels.points.hardness` gives the paper's.

    Raises:
        ValueError: an argument is out of range (a too large: T is too small for the bound).
    """
    if n_pairs < 1:
        raise ValueError(f"n_pairs must be at least 1, got {n_pairs}")
    if not 0 < distance <= 1:
        raise ValueError(f"distance a must lie in (0, 1], got {distance:g}; use more rounds")
    size = 1 << n_pairs.bit_length()
    columns = hadamard(size)[:, 1 : n_pairs + 1].T
    first = np.where(columns < 0, 2 / size, 0.0)
    pairs = np.stack([first, first + columns * distance / size], axis=1)
    return HypothesisClass(pairs.reshape(2 * n_pairs, size), "hard")
