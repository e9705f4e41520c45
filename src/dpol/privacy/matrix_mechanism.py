"""The matrix mechanism on a stream: sums A G = B C G, released as B (C G + Z).

The columns of C give the privacy cost of a round, the rows of B the noise of each sum. All matrices
are lower triangular, because a sum may not wait for later rounds.

Column i of the (T, n) noise Z is N(0, sigma_i^2 I), independent of the other columns. One person in
one round moves one row of G, in two columns at most. Source: Li, Miklau, Hay, McGregor and Rastogi,
"The matrix mechanism" (2015), here with Gaussian noise. The guarantee also holds where gains
depend on earlier releases: Denisov, McMahan, Rush, Smith and Thakurta, "Improved Differential
Privacy for SGD via Optimal Private Linear Operators on Adaptive Streams" (2022). The capacity
noise is not in the papers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.privacy.gaussian_dp import mu_of_shifts
from dpol.privacy.stays import mu_of_rounds, mu_of_stays, stay_norm


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


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixMechanism:
    """Gaussian noise on factorised sums.

    Args:
        factorization: factorisation A = B C.
        changes: (T, n) how far one person can move each gain; or, where the gains of a round change
            together, a number: the L2 sensitivity of any round.
        scale: (n,) sigma_i, not negative; 0 for no noise.
        stay: longest stay of one person, in rounds in a row.

    >>> changes = np.tile([0.05, 0.02, 0.025], (3, 1))  # one person of 20, 50 and 40 beds
    >>> mechanism = scaled_to(decayed_sums(3), changes, 3, 0.5, by_capacity=True)
    >>> mechanism.scale.round(4).tolist(), round(mechanism.achieved_mu, 6)
    ([0.1414, 0.0566, 0.0707], 0.5)
    """

    factorization: Factorization
    changes: Floats | float
    scale: Floats
    stay: int = 1

    @property
    def achieved_mu(self) -> float:
        """Gaussian-DP parameter of the drawn noise, exact for a stay of one round.

        A person who moves from i to j in round t moves C G by column t of C, times the changes of
        i and j. The parameter is the largest Mahalanobis distance over all t, i and j. For longer
        stays see `mu_of_stays`.
        """
        norms = self.factorization.column_norms
        with np.errstate(divide="ignore"):
            if isinstance(self.changes, float):
                return float(norms.max() * self.changes / self.scale.min())
            if self.stay == 1:
                return mu_of_shifts(norms[:, None] * self.changes / self.scale)
            return mu_of_stays(self.changes / self.scale, self.factorization.gram, self.stay)

    def mu_of_rounds(self, count: int) -> float:
        """Return an upper bound on mu for a person counted in `count` rounds, in a row or not."""
        with np.errstate(divide="ignore"):
            return mu_of_rounds(self.changes / self.scale, self.factorization.gram, count)

    def noise(self, generators: ReplicateGenerators) -> Floats:
        """Draw the noise B Z on every released sum, (T, R, n); rounds are read one by one."""
        t, n = self.factorization.n_rounds, len(self.scale)
        out = np.empty((t, generators.n_replicates, n))
        draws = np.empty((t, n))
        for r, generator in enumerate(generators.generators):
            generator.standard_normal(out=draws)
            draws *= self.scale
            out[:, r] = self.factorization.left @ draws
        return out


def scaled_to(
    factorization: Factorization,
    changes: Floats | float,
    n_experts: int,
    mu: float,
    *,
    by_capacity: bool,
    stay: int = 1,
) -> MatrixMechanism:
    """Return the matrix mechanism with the smallest noise of its kind that reaches mu.

    Args:
        factorization: factorisation A = B C, with columns c_t of C.
        changes: as in `MatrixMechanism`.
        n_experts: n, number of experts.
        mu: privacy level, above 0; inf for no noise.
        by_capacity: whether sigma_i is sqrt(2) / mu times the largest ||c_t|| times the expert's
            own change; otherwise all experts get the largest sigma_i. Needs changes (T, n).
        stay: longest stay of one person, in rounds in a row. Above 1, the norm N_w of the worst
            stay replaces the norm of a column.
    """
    norms = factorization.column_norms
    if isinstance(changes, float):
        scale = np.full(n_experts, norms.max() * changes / mu)
        return MatrixMechanism(factorization=factorization, changes=changes, scale=scale)
    moved = (norms[:, None] * changes).max(axis=0)
    if stay > 1:
        moved = stay_norm(factorization.right, stay) * changes.max(axis=0)
    if not by_capacity:
        moved = np.full(n_experts, moved.max())
    return MatrixMechanism(
        factorization=factorization, changes=changes, scale=math.sqrt(2.0) * moved / mu, stay=stay
    )
