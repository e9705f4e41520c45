"""The matrix mechanism on a stream: sums A G = B C G, released as B (C G + Z).

Column i of the (T, n) noise Z is N(0, sigma_i^2 I), independent of the other columns. One person in
one round moves one row of G, in two columns at most. Source: Li, Miklau, Hay, McGregor and Rastogi,
"The matrix mechanism" (2015), here with Gaussian noise. The guarantee also holds where gains
depend on earlier releases: Denisov, McMahan, Rush, Smith and Thakurta, "Improved Differential
Privacy for SGD via Optimal Private Linear Operators on Adaptive Streams" (2022). The capacity
noise is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.privacy.factorizations import Factorization
from dpol.privacy.gaussian_dp import mu_of_shifts
from dpol.privacy.stays import mu_of_rounds, mu_of_stays, stay_norm


@dataclass(frozen=True, eq=False, kw_only=True)
class MatrixMechanism:
    """Gaussian noise on factorised sums.

    Args:
        factorization: factorisation A = B C.
        changes: (T, n) how far one person can move each gain; or, where the gains of a round change
            together, a number: the L2 sensitivity of any round.
        scale: (n,) sigma_i, not negative; 0 for no noise.
        stay: longest stay of one person, in rounds in a row.

    >>> from dpol.privacy.factorizations import decayed_sums
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
