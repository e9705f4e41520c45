"""Checks of the lemmas behind L2P, on distributions with few outcomes.

Source: "Private Online Learning via Lazy Algorithms", sections 2 to 4 and appendix A. Distributions
are (N, outcomes) or (outcomes,). All numbers are computed; randomness only chooses distributions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpol.core.randomness import Floats
from dpol.lazy.exact import exact_delta
from dpol.studies.ledger.claims.core import DELTA, Finding, Findings


def either_way(one: Floats, other: Floats, epsilon: float | Floats) -> Floats:
    """Return the smallest delta (N,) at `epsilon` of pairs (N, outcomes), in both orders."""
    level = np.broadcast_to(epsilon, len(one))
    return np.maximum(exact_delta(one, other, level), exact_delta(other, one, level))


ADVANTAGE = 4.0
"""Ratio of the probabilities of a bad first answer in the two worlds."""


def conditional_composition(_: int) -> Findings:
    """Check Lemma 3.8: a bad first answer is rare in each world, and tells them apart."""
    often, slack = 0.01, DELTA
    # The first answer is bad or good. After a bad one, the second reveals the world.
    one = np.array([[ADVANTAGE * often, 0.0, 1 - ADVANTAGE * often]])
    other = np.array([[0.0, often, 1 - often]])
    # Equation (1) with another first term; `slack` is its delta.
    most = math.log(ADVANTAGE)
    logs = math.log(math.e + most / slack), math.log(1 / slack)
    epsilon = most + most * math.sqrt(2 * min(logs))
    measured = float(either_way(one, other, epsilon)[0])
    numbers = {"often": often, "more": ADVANTAGE * often, "epsilon": epsilon, "slack": slack}
    numbers["mended"] = mended_delta(often, slack, epsilon)
    yield Finding("conditional-composition", 2 * often + slack, measured, numbers=numbers)


def mended_delta(often: float, delta: float, epsilon: float) -> float:
    """Return delta of Lemma 3.8, mended: `δ + (1 + e^ε) ((1 + e^ε) Σλ + δ)`.

    Σλ, `often`, is that of the probabilities of bad answers; ε and δ are of composition. Let the
    answers stop when they leave the good set of either world. Stopped, they are (ε, δ)-DP, as each
    step meets condition (2). They leave in one world through its own set with probability at most
    Σλ, so through the other's with at most e^ε Σλ + δ. Stopping changes the answers of either world
    with probability at most the sum of both.
    """
    more = 1 + math.exp(epsilon)
    return delta + more * (more * often + delta)


RANGE = 2.0
"""The ratio of Lemmas A.1 and 3.7 lies within e^(-RANGE B eta) and e^(RANGE B eta)."""
BEYOND = 1.1
"""The counterexample's log ratio over the lemmas' bound: a tenth beyond it."""


def normalised_ratios(_: int) -> Findings:
    """Check Lemmas A.1 and 3.7 for delta_0 > 0: one round, two points, batches of one round."""
    eta, p, delta_1 = 0.04, 0.5, 0.01
    move = math.tanh(BEYOND * eta)
    now, following = np.array([[0.5, 0.5]]), np.array([[1 + move, 1 - move]]) / 2
    delta_0 = float(either_way(now, following, eta)[0])
    ratios = np.log(following / now)[0]
    outside = np.abs(ratios[:, None] - ratios) > RANGE * eta
    measured = float(now[0] @ outside @ now[0])
    allowed = 6 * math.exp(eta) * delta_0 / eta
    of_lemma = (2 / eta + math.log(1 / delta_1) / p) * math.e * delta_0 + delta_1
    numbers = {"eta": eta, "delta_0": delta_0, "move": move / 2, "beyond": BEYOND - 1}
    numbers |= {"allowed": allowed, "p": p, "delta_1": delta_1, "of_lemma": of_lemma}
    yield Finding("normalised-ratio", max(allowed, of_lemma), measured, numbers=numbers)


# ---- the lower bound -----------------------------------------------------------------------------

RESAMPLES = (1.0, 0.0)
"""Probability of a second draw after each of the two points of the first."""
_ORDERS = np.geomspace(1.0, 100.0, 400)


def renyi(one: Floats, other: Floats) -> Floats:
    """Return Rényi divergences of `_ORDERS` of (outcomes,) with one support; order 1 is KL."""
    one, other = one[one > 0], other[one > 0]
    ratio = np.log(one) - np.log(other)
    above = np.maximum(_ORDERS - 1, 1e-300)
    moments = np.log((one * np.exp((_ORDERS - 1)[:, None] * ratio)).sum(axis=1)) / above
    return np.where(_ORDERS == 1, float(one @ ratio), moments)


def concentrated(one: Floats, other: Floats) -> float:
    """Bound the smallest rho with D_alpha <= alpha rho for all alpha >= 1, in both orders.

    D_alpha rises with alpha, so between two orders the value at the larger one is an upper bound.
    """
    most = 0.0
    for p, q in ((one, other), (other, one)):
        largest = float(np.log(p[p > 0] / q[p > 0]).max())
        after = np.append(renyi(p, q)[1:], largest)
        most = max(most, float((after / _ORDERS).max()))
    return most


def two_draws(first: Floats, second: Floats, again: Sequence[float]) -> Floats:
    """Return the joint distribution of a point and, if drawn, a second; first (2,), second (2,)."""
    rows = [
        [chance * (1 - more), *(chance * more * second)]
        for chance, more in zip(first, again, strict=True)
    ]
    return np.concatenate(rows)


def switch_budget(_: int) -> Findings:
    """Check Lemma 4.3, with conditional divergences that are means over the resampling rounds."""
    firsts = np.array([[0.96, 0.04], [0.99, 0.01]])
    seconds = np.array([[0.04, 0.96], [0.012, 0.988]])
    masses = [two_draws(*draws, RESAMPLES) for draws in zip(firsts, seconds, strict=True)]
    rho = concentrated(*masses)
    parts = renyi(*firsts) + float(firsts[0] @ RESAMPLES) * renyi(*seconds)
    at = int((parts / _ORDERS).argmax())
    order, most = float(_ORDERS[at]), float(parts[at])
    numbers = {"rho": rho, "order": order, "parts": most}
    yield Finding("switch-budget", 1.0, most / (order * rho), numbers=numbers)
