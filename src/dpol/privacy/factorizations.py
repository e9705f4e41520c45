"""Factorisations A = B C of the sums that are released of a stream.

Noise is added to C G, then multiplied by B. The columns of C give the privacy cost of a round, the
rows of B the noise of each sum. All matrices are lower triangular, because a sum may not wait for
later rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpol.core.randomness import Floats


@dataclass(frozen=True, eq=False)
class Factorization:
    """A workload of sums, written as the product of two matrices.

    Args:
        name: name in records of privacy.
        left: B, (T, T), lower triangular; the noise of sum t is row t of B times the draws.
        right: C, (T, T), lower triangular with a diagonal above 0.
    """

    name: str
    left: Floats
    right: Floats

    @property
    def n_rounds(self) -> int:
        """Number of rounds T."""
        return len(self.left)

    @property
    def workload(self) -> Floats:
        """Workload A, (T, T): row t is the sum that is released after round t."""
        return self.left @ self.right

    @cached_property
    def column_norms(self) -> Floats:
        """Column norms of C, (T,): how far C G moves if a gain moves by 1 in round t."""
        return np.asarray(np.linalg.norm(self.right, axis=0))

    @cached_property
    def gram(self) -> Floats:
        """Inner products C'C of the columns of C, (T, T)."""
        return np.asarray(self.right.T @ self.right)

    @cached_property
    def row_norms(self) -> Floats:
        """Row norms of B, (T,): standard deviations of the sums for draws of deviation 1."""
        return np.asarray(np.linalg.norm(self.left, axis=1))


@lru_cache(maxsize=1)  # of all games of a job
def decayed_sums(n_rounds: int, decay: float = 1.0) -> Factorization:
    """Return the normalised square root of sums in which a round counts `decay` times the next.

    C is the square root of the triangle of weights, with each column divided by its norm. Source:
    Henzinger, Kalinin and Upadhyay, "Binned Group Algebra Factorization for Differentially Private
    Continual Counting" (2025); without the norms Fichtenberger, Henzinger and Upadhyay, "Constant
    Matters" (2023). Toeplitz matrices with geometric coefficients have geometric roots.

    Args:
        n_rounds: T, at least 1.
        decay: beta, weight of a round relative to the next, in (0, 1]; 1 for prefix sums.

    >>> decayed_sums(148).row_norms.max().round(3).item()  # independent noise: sqrt(148)
    2.473
    >>> decayed_sums(148, 0.9).row_norms.max().round(3).item()
    1.452
    """
    from scipy import linalg

    powers, nothing = decay ** np.arange(n_rounds), np.zeros(n_rounds)
    root = linalg.toeplitz(_binomial(n_rounds, -0.5) * powers, nothing)
    inverse = linalg.toeplitz(_binomial(n_rounds, 0.5) * powers, nothing)
    norms = np.linalg.norm(root, axis=0)
    # A = C0 C0 and C = C0 / norms, so that B = A C^-1 = A norms C0^-1.
    left = linalg.toeplitz(powers, nothing) @ (norms[:, None] * inverse)
    name = "normalised square root" + ("" if decay == 1 else f", decay {decay:g}")
    return Factorization(name, np.tril(left), root / norms)


def prefix_sums_times(draws: Floats) -> Floats:
    """Return B of prefix sums times draws, (T, ...), without making the matrix.

    For many rounds: each column takes O(T log T), by fast Fourier transform.

    >>> draws = np.random.default_rng(1).standard_normal((50, 3))
    >>> bool(np.allclose(prefix_sums_times(draws), decayed_sums(50).left @ draws))
    True
    """
    from scipy import fft

    t = len(draws)
    columns, sums = draws.reshape(t, -1), np.empty((t, draws.size // t))
    length = fft.next_fast_len(2 * t - 1, real=True)
    inverse = fft.rfft(_binomial(t, 0.5), length)
    # Column j of C0 holds the first T - j coefficients.
    norms = np.sqrt(np.cumsum(_binomial(t, -0.5) ** 2))[::-1]
    few = max(1, 200_000 // length)  # columns that fit into a cache together
    for first in range(0, columns.shape[1], few):
        block = np.ascontiguousarray(columns[:, first : first + few].T)
        filtered = fft.irfft(fft.rfft(block, length) * inverse, length)[:, :t]
        sums[:, first : first + few] = (norms * filtered).cumsum(axis=1).T
    return sums.reshape(draws.shape)


def prefix_sums_largest(n_rounds: int) -> float:
    """Return the largest row norm of B without normalised columns; it is below in `decayed_sums`.

    This is the sum of the squared coefficients of the square root, O(T). Source: as `decayed_sums`.

    >>> round(prefix_sums_largest(148), 3)
    2.656
    """
    return float((_binomial(n_rounds, -0.5) ** 2).sum())


def _binomial(count: int, exponent: float) -> Floats:
    """Return the first `count` coefficients of (1 - x)^exponent."""
    k = np.arange(1, count)
    return np.cumprod(np.concatenate([[1.0], (k - 1 - exponent) / k]))


def fresh_window_sums(n_rounds: int, window: int) -> Factorization:
    """Return sums of the last `window` rounds with fresh noise on each: B is the identity.

    Args:
        n_rounds: T, at least 1.
        window: w, at least 1; the first sums have fewer rounds.

    >>> fresh_window_sums(3, 2).right.tolist()
    [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    ones = np.ones((n_rounds, n_rounds))
    banded = np.tril(ones) - np.tril(ones, -window)
    return Factorization(f"fresh noise, window {window}", np.eye(n_rounds), banded)
