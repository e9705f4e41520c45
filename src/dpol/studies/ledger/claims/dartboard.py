"""Checks of "Private Online Prediction from Experts: Separations and Faster Rates".

p, eta and K are the paper's: eta is for the mean loss of a batch, and K counts the first draw.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from scipy import stats

from dpol.lazy.accounting import LazyGame
from dpol.lazy.dartboard import theorem_5_epsilon
from dpol.studies.ledger.claims.core import DELTA, At, Finding, Findings
from dpol.studies.ledger.claims.lazy import mean_lead

LOG_TERM = math.log(1e6)


def bound(T: int, d: int, B: int, p: float, eta: float) -> float:
    """Return the bound of Theorem 5, at B = 1 of 2: `η T + B log(d)/η + 2 T exp(-T p/(3 B))`."""
    return eta * T + B * math.log(d) / eta + 2 * T * math.exp(-T * p / (3 * B))


def regret(_: int) -> Findings:
    """Check the bound on regret where eta > p.

    Two experts lose in each of the first m rounds, so every redraw is uniform. Then only expert 2
    loses. An expert that was redrawn K - 1 times in these rounds never changes again.
    """
    T, p, eta, m = 10**6, 1e-3, 0.01, 400_000
    limit = math.ceil(4 * T * p) - 1
    least = float(stats.binom.sf(limit - 1, m, p + (1 - p) * eta)) * (T - m) / 2
    numbers: dict[str, Any] = {"T": T, "p": p, "eta": eta, "m": m, "limit": limit}
    yield Finding("dartboard-regret", bound(T, 2, 1, p, eta), least, numbers=numbers)


def corollary_6(_: int) -> Findings:
    """Check the privacy of Corollary 6 by Theorem 5, where B rounds to 2 or more."""
    for T, d, epsilon in itertools.product((10**3, 10**4, 10**6), (10, 300), (0.01, 0.1, 1.0)):
        widest = LOG_TERM ** (2 / 3) * math.log(d)
        B = max(1, round(LOG_TERM**0.4 * math.log(d) ** 0.6 / (T**0.2 * epsilon**0.6)))
        if B > 1 and widest / T <= epsilon <= widest / T ** (1 / 3):
            p = (B / (T * LOG_TERM)) ** (1 / 3)
            at: At = {"T": T, "d": d, "epsilon": epsilon}
            value = theorem_5(T, B, p, B * p * epsilon / 40) / epsilon
            yield Finding("dartboard-corollary-6", 1.0, value, at=at)


def theorem_5(T: int, B: int, p: float, eta: float) -> float:
    """Return epsilon of Theorem 5, of Theorem 2 at B = 1."""
    return theorem_5_epsilon(LazyGame(T, DELTA), B, -math.log1p(-eta) / B, p)


def privacy(_: int) -> Findings:
    """Check a step of the proofs of Theorems 2 and 5."""
    shares = np.geomspace(0.003, 0.99, 6).tolist()
    for T, B, p, share in itertools.product(
        *((10**2, 10**4, 10**6), (1, 3, 30), (0.003, 0.03, 0.2, 0.499), shares)
    ):
        eta = share * p
        squares = (eta / (B * p)) ** 2 + 64 * T * p / B * (eta / B) ** 2
        step = 1.5 * squares + math.sqrt(6 * squares * LOG_TERM)
        step_at: At = {"T": T, "B": B, "p": p, "eta": eta}
        yield Finding("dartboard-last-step", 1.0, step / theorem_5(T, B, p, eta), at=step_at)


def updates(_: int) -> Findings:
    """Check Theorem 7 on fair coins: nothing has excess loss, but one is ahead in hindsight."""
    for k in (2, 6, 12, 16):
        case = f"two experts, fair coins, T = {2**k:,}"
        yield Finding("updates-regret", 0.0, mean_lead(2**k, 2), case)
