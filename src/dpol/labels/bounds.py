"""Bounds on risks, with the constants from the proofs.

Source: "Online Distribution Learning with Local Privacy Constraints": Theorem 3 (Appendix A),
Theorem 4 and Theorem 5 with gamma = log T, and the rounds of section 6.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from typing import TYPE_CHECKING

from dpol.labels.hard_pairs import hardness

if TYPE_CHECKING:
    from dpol.labels.clipping import SensitivityRule


def wma_bound(
    n_hypotheses: int, n_rounds: int, epsilon: float, delta: float, rule: SensitivityRule
) -> float:
    """Return the bound of Theorem 4 on the KL risk of private WMA, in nats.

    It uses the sensitivity s = log((K + 1) T), which always holds; the paper's log(KT) may not.
    """
    from dpol.labels.clients import scale_factor

    return _bound(n_hypotheses, n_rounds, scale_factor(n_hypotheses, epsilon, delta, rule), 1)


def exp3_bound(n_hypotheses: int, n_rounds: int, epsilon: float) -> float:
    """Return Theorem 5's bound on the KL risk of private EXP3, in nats; s as in `wma_bound`."""
    return _bound(n_hypotheses, n_rounds, 1 / epsilon, n_hypotheses)


def _bound(K: int, T: int, factor: float, sampled: int) -> float:
    """Return sqrt(2 K' T log K) / c + 3 s, plus e^-gamma (T s + 3 s) for extreme noise."""
    s = math.log((K + 1) * T)
    inverse = s + 2 * factor * s * (2 * math.log(T) + math.log(K))
    return inverse * math.sqrt(2 * sampled * T * math.log(K)) + 3 * s + s + 3 * s / T


def rounds_of_selection(n_hypotheses: int, epsilon: float, distance: float) -> int:
    """Return T_alpha, the smallest T for which Theorem 5 bounds the average TV of EXP3 by alpha.

    By Pinsker's inequality, as in Theorem 6. Up to logs, its order is K / (epsilon^2 alpha^4).
    """

    def within(n_rounds: int) -> bool:
        return exp3_bound(n_hypotheses, n_rounds, epsilon) <= 2 * n_rounds * distance**2

    return 3 + bisect_left(range(3, sys.maxsize), True, key=within)


def lower_bound(n_pairs: int, n_rounds: int, epsilon: float) -> float:
    """Return the lower bound of Theorem 3: `a T/132`, a the hardness.

    Some hypothesis of the hard class costs any private learner at least this risk.

    Raises:
        ValueError: T is below K / (9 min((e^eps - 1)^2, 1) e^eps), so a would be above 1.
    """
    distance = hardness(n_pairs, n_rounds, epsilon)
    if distance > 1:
        raise ValueError(f"n_rounds must be larger: a = {distance:g} is above 1")
    return distance * n_rounds / 132
