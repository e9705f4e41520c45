"""Bounds on risks, with the constants from the proofs.

Source: "Online Distribution Learning with Local Privacy Constraints": Theorem 3 (Appendix A),
Theorem 4 and Theorem 5 with gamma = log T, and the rounds of section 6.

The bounds for posterior weights are ours. Suppose that messages under f and under g have a KL
divergence of at least 2 kept^2 TV(f, g)^2. All messages together carry at most log K, so the mean
of sum_t TV_t^2 is at most log K / (2 kept^2); Cauchy-Schwarz gives `posterior_tv`. Further,
KL <= (1 + log(1/w)) TV, where w is the weight of the truth, and the mean of 1/w is at most K;
Jensen's inequality gives `posterior_risk`. Features may depend on all earlier messages.

With `kept_by_design`, this answers Remark 1 for epsilon <= 1 and one true hypothesis: the averaged
TV is at most of the order sqrt(K log K / T) / epsilon, the Õ of the remark. For large epsilon the
order is sqrt(K log K / T), without 1 / epsilon. For small epsilon `lower_bound_of_tv` is smaller
by a constant and sqrt(log K).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Callable

from dpol.labels.accounting import scale_factor
from dpol.labels.clipping import SensitivityRule
from dpol.labels.hard_pairs import hardness


def wma_bound(
    n_hypotheses: int, n_rounds: int, epsilon: float, delta: float, rule: SensitivityRule
) -> float:
    """Return the bound of Theorem 4 on the KL risk of private WMA, in nats.

    It uses the sensitivity s = log((K + 1) T), which always holds; the paper's log(KT) may not.
    """
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


def kept_by_design(n_hypotheses: int, epsilon: float) -> float:
    """Return `tanh(ε/2)/sqrt(K - 1)`, kept of noisy membership of sets from a D-optimal design.

    It does not depend on M.
    Let a set be a vector of signs. By the theorem of Kiefer and Wolfowitz, the best design for the
    K - 1 differences of hypotheses has ||d||_1^2 <= (K - 1) mean <signs, d>^2 for any mixture d of
    the differences. Noise shrinks <signs, d> by tanh(epsilon / 2).
    """
    return math.tanh(epsilon / 2) / math.sqrt(n_hypotheses - 1)


def posterior_tv(n_hypotheses: int, n_rounds: int, kept: float) -> float:
    """Return a bound on the averaged TV of posterior weights: `sqrt(log K/(2 T))/kept`."""
    return math.sqrt(math.log(n_hypotheses) / (2 * n_rounds)) / kept


def posterior_risk(n_hypotheses: int, n_rounds: int, kept: float) -> float:
    """Return a bound on their KL risk, in nats: `(1 + log K) sqrt(T log K/2)/kept`."""
    return (1 + math.log(n_hypotheses)) * n_rounds * posterior_tv(n_hypotheses, n_rounds, kept)


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


def lower_bound_of_tv(n_pairs: int, n_rounds: int, epsilon: float) -> float:
    """Return `sqrt(K/T)/(18 sqrt(m))`, m = min((e^ε - 1)², 1) e^ε: the least averaged TV.

    Of every (ε, 0)-private learner; ours, from the 2K hypotheses of Theorem 3. The two hypotheses
    of a pair are TV = a / 2 apart, and by (24) there is a pair for which the distributions of all T
    messages are at most 1/3 apart. By Le Cam's two-point method the mean over that pair is at least
    (1 - 1/3) (a / 2) / 2 = a / 6.

    For large epsilon, step (c) of (23) needs 2 instead of 1 in m. (24) still holds then, by
    Pinsker's inequality with its best constant, sqrt(KL / 2).

    Args:
        n_pairs: K, the number of pairs.
        n_rounds: T, the number of rounds.
        epsilon: privacy of each message.

    Raises:
        ValueError: T is too small; see `lower_bound`.
    """
    return 22 * lower_bound(n_pairs, n_rounds, epsilon) / n_rounds


def informative_from(bound: Callable[[int], float], n_hypotheses: int) -> float:
    """Return the first T (to 1%) at which an upper bound on the KL risk is below T log K.

    The average of all hypotheses costs at most log K a round without any message, so a larger
    bound is vacuous.

    Args:
        bound: returns the bound for a number of rounds.
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
