"""Gaussian correlated noise: the noise of a week cancels part of the noise of earlier weeks.

A holder who releases x + C^-1 z, z independent, reveals as much as C x + z: each can be computed
from the other, week by week. So if the columns of C have norm 1, one person in one week is as well
protected as by independent noise, and an average over weeks has less noise.

Here C(L) = kappa (1 - a L) / (1 - b L), where L is the shift by a week. A holder remembers one
number u: with fresh noise d_t, the noise is n_t = d_t + u_t, and u_{t+1} = a u_t + (a - b) d_t from
u_1 = 0. C is a buffered linear Toeplitz matrix with one buffer (Dvijotham et al., arXiv 2404.16706;
McMahan et al., arXiv 2408.08868). New here are the design for each holder from public numbers, and
the use in the local model, where APP and CAPP (arXiv 2504.14993) are closest. For general matrices
see `dpol.privacy.matrix_mechanism`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from dpol.core.arguments import check_whole, real_array
from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import mu_of_shifts

REFERENCE = 2e-3, 0.85
"""Process variance and persistence of the shares that `designed` assumes.

Chosen by the gains of learners on simulated streams and 20 weeks of config/beyond.yaml. Slower
shares would suggest more memory, which for stays of 2 rounds and more gains less than no memory.
"""
_STEPS = 600  # Weeks until the variance of a prediction has settled to 8 digits.


MemoryKind = Literal["none", "chains"]
"""Dependence on earlier noise: `none`, or that of `Chains`."""


@dataclass(frozen=True, eq=False)
class Chains:
    """Memory of one number for each of n holders.

    Args:
        a: (n,) values above -1 and below 1.
        b: (n,) values above -1 and below 1; a = b is independent noise.
    """

    a: Floats
    b: Floats

    def norm(self, stay: int) -> Floats:
        """Return N_w, the (n,) `chain_norm`: fresh noise for w rounds over noise for one."""
        return np.asarray(chain_norm(self.a, self.b, stay))

    def response(self, rounds: int) -> Floats:
        """Return how a change by 1 in round 1 moves C x, (T, n), for kappa = 1."""
        later = (self.b - self.a) * self.b ** np.arange(rounds - 1)[:, None]
        return np.concatenate([np.ones((1, len(self.b))), later])

    def noise(self, fresh: Floats) -> Floats:
        """Return the noise C^-1 z, (T, ..., n), of independent standard normals z, (T, ..., n)."""
        kept, out = np.zeros(fresh.shape[1:]), np.empty_like(fresh)
        for t, draw in enumerate(fresh):
            out[t] = draw + kept
            kept = self.a * kept + (self.a - self.b) * draw
        return out

    def deviations(self, rounds: int, n: int) -> Floats:
        """Return the (T, n) ratio of the standard deviations of the noise and of fresh noise."""
        kept, out = np.zeros(n), np.empty((rounds, n))
        for t in range(rounds):
            out[t] = 1 + kept
            kept = self.a**2 * kept + (self.a - self.b) ** 2
        return np.sqrt(out)

    def mu(self, shifts: Floats, rounds: int, stay: int) -> float:
        """Return the mu of the worst stay, begun in any round, and of the worst pair of holders.

        If no entry of C'C is negative, the worst stay counts the person in all w rounds.
        """
        self.norm(stay)  # refuses all other memories
        response = self.response(rounds)
        moved = np.zeros_like(response)
        for week in range(min(stay, rounds)):
            moved[week:] += response[: rounds - week]
        # The last round cuts off a stay that begins late.
        return mu_of_shifts(np.sqrt((moved**2).cumsum(axis=0)) * shifts)

    def mu_of_rounds(self, shifts: Floats, rounds: int, count: int) -> float:
        """Return an upper bound on mu for a person counted in `count` rounds, in a row or not."""
        # Rounds farther apart have less in common; terms that cancel count by their size.
        return mu_of_shifts(shifts * np.sqrt(squared_norm(self.a, self.b, min(count, rounds))))


def chain_norm(a: ArrayLike, b: ArrayLike, stay: int) -> Floats:
    """Return N_w of a memory (a, b) for kappa = 1: the farthest that a stay of w rounds moves C x.

    It holds for chains of any length. Fresh noise must be N_w times as large as the noise of a
    single release; a person who stays v rounds instead of w has N_v / N_w times the mu.

    Args:
        a: a of the memory, of any shape.
        b: b of the memory, of the same shape or one that broadcasts.
        stay: w, the longest stay in rounds.

    Raises:
        ValueError: a number is not between -1 and 1; or w is above 1 and b is below a or 0, so that
            weeks of a stay can cancel others.

    >>> [round(float(chain_norm(0.2, 0.6, w) / chain_norm(0.2, 0.6, 1)), 2) for w in (1, 2, 4, 8)]
    [1.0, 1.7, 2.83, 4.49]
    """
    a, b = real_array("a", a), real_array("b", b)
    check_whole("stay", stay)
    if not (np.maximum(abs(a), abs(b)) < 1).all():
        raise ValueError(f"memory: a and b must be between -1 and 1, got {a} and {b}")
    if stay > 1 and (b < np.maximum(a, 0)).any():
        raise ValueError(
            "memory: b must be at least a and at least 0 where a person may stay more than 1 round:"
            " otherwise a person who changes hospital during the stay is not covered"
        )
    return np.asarray(np.sqrt(squared_norm(a, b, stay)))


def squared_norm(a: Floats, b: Floats, count: int) -> Floats:
    """Return N_w^2 of `chain_norm`; also for w rounds that are not in a row.

    Where weeks can cancel others, this is an upper bound that counts all of them as adding up.

    Args:
        a: a of the memory.
        b: b of the memory, of the same shape or one that broadcasts.
        count: w, the number of rounds.
    """
    # 1 - b^2 and 1 - a b, to all digits where a and b are near 1 or -1.
    own, common = (1 - b) * (1 + b), (1 - abs(b)) + abs(b) * (1 - abs(a)) + (abs(a * b) - a * b)
    return count * (1 + (b - a) ** 2 / own) + 2 * abs(b - a) * common / own * _lags(abs(b), count)


def _lags(ratio: Floats, count: int) -> Floats:
    """Return the sum of (w - k) ratio^(k - 1) over the lags k from 1 to w - 1, all of one sign."""
    total = powers = 0 * ratio
    for _ in range(count - 1):
        powers = 1 + ratio * powers
        total = total + powers
    return total


def designed(noise_level: Floats, stay: int) -> Chains:
    """Return the memory (0, b) that predicts best, for each holder; b to two decimals.

    This b has the smallest steady variance of a one-step prediction, if a share's deviation follows
    `REFERENCE` and stays of w rounds are protected. It is made from public numbers alone.

    Args:
        noise_level: (n,) standard deviation of independent noise on a share, for one round.
        stay: w, the longest stay in rounds.
    """
    levels, place = np.unique(noise_level, return_inverse=True)
    b = np.arange(100) / 100
    best = prediction_variance(levels[:, None] * chain_norm(0.0, b, stay), b).argmin(axis=1)
    return Chains(np.zeros(len(noise_level)), b[best][place])


def prediction_variance(fresh: Floats, b: Floats) -> Floats:
    """Return the steady variance of the one-step prediction of a deviation, for memories (0, b).

    Args:
        fresh: standard deviation of the fresh noise on a share; 0 for no noise.
        b: b of the memory, of the same shape or one that broadcasts.
    """
    process, persistence = REFERENCE
    variance = np.full(np.shape(fresh * b), process / (1 - persistence**2))
    both, kept = np.zeros_like(variance), np.zeros_like(variance)
    for _ in range(_STEPS):
        seen = variance + fresh * both
        total = seen + fresh * (both + fresh * kept) + fresh**2
        variance, both, kept = (
            persistence**2 * (variance - seen**2 / total) + process,
            persistence * b * fresh * seen / total,
            b**2 * (1 - fresh**2 / total),
        )
    return variance
