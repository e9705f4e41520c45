"""Bounds on the KL risk, with the constants that the paper's proofs give.

Source: "Online Distribution Learning with Local Privacy Constraints": Theorem 3 (Appendix A),
Theorem 4 and Theorem 5 with gamma = log T.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpol.studies.labels.accounting import scale_factor
from dpol.studies.labels.clipping import SensitivityRule
from dpol.studies.labels.points import hardness


def wma_bound(
    n_hypotheses: int, n_rounds: int, epsilon: float, delta: float, rule: SensitivityRule
) -> float:
    """Theorem 4: a bound on the KL risk of private WMA, in nats.

    With the sensitivity bound s = log((K + 1) T), which holds where the paper's log(KT) may not.
    """
    factor = scale_factor(n_hypotheses, epsilon, delta, rule)
    return _bound(n_hypotheses, n_rounds, factor, 1)


def exp3_bound(n_hypotheses: int, n_rounds: int, epsilon: float) -> float:
    """Theorem 5: a bound on the KL risk of private EXP3, in nats; s as in `wma_bound`."""
    return _bound(n_hypotheses, n_rounds, 1 / epsilon, n_hypotheses)


def _bound(K: int, T: int, factor: float, sampled: int) -> float:
    """sqrt(2 K' T log K) / c + 3 s, and the part of extreme noise, e^-gamma (T s + 3 s)."""
    s = math.log((K + 1) * T)
    inverse = s + 2 * factor * s * (2 * math.log(T) + math.log(K))
    return inverse * math.sqrt(2 * sampled * T * math.log(K)) + 3 * s + s + 3 * s / T


def lower_bound(n_pairs: int, n_rounds: int, epsilon: float) -> float:
    """Theorem 3: a T / 132, which some hypothesis of the hard class costs any private learner.

    Raises:
        ValueError: T is below K / (9 min((e^eps - 1)^2, 1) e^eps), so a would be above 1.
    """
    distance = hardness(n_pairs, n_rounds, epsilon)
    if distance > 1:
        raise ValueError(f"n_rounds must be larger: a = {distance:g} is above 1")
    return distance * n_rounds / 132


def informative_from(bound: Callable[[int], float], n_hypotheses: int) -> float:
    """The first T (to 1%) at which an upper bound on the KL risk is below T log K.

    The average of all hypotheses costs at most log K a round without any message, so a larger
    bound says nothing.

    Args:
        bound: the bound of a number of rounds.
        n_hypotheses: K, the number of hypotheses.
    """

    def informative(T: float) -> bool:
        return bound(round(T)) < round(T) * math.log(n_hypotheses)

    low, high = 2.0, 4.0
    while not informative(high):
        low, high = high, high * 2
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if informative(middle) else (middle, high)
    return high
