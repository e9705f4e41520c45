"""Privacy accounting for L2P: the published theorem, and our own argument.

The proof of Theorem 3.2 ("Private Online Learning via Lazy Algorithms"), as written, does not
cover the published constants; `sound` is ours and is the default. Both accountants need a measure
whose normalised log ratio changes by at most eta in a round (multiplicative weights).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy

from dpol.core.arguments import check_number, check_whole
from dpol.lazy.transform import LazyParameters

Accountant = Literal["published", "sound"]
"""Names of the accountants."""
AccountantFunction = Callable[["LazyGame", int, float, float], float]


@dataclass(frozen=True)
class LazyGame:
    """The facts about a game that the accountants need.

    Args:
        n_rounds: T, the number of rounds.
        delta: delta of the guarantee, in (0, 1).
        largest_change: s, the most that one person can change a loss in one round, in (0, 1].
        normaliser: c of the keep probability, one of `NORMALISERS`.

    Raises:
        ValueError: a number is out of range.
    """

    n_rounds: int
    delta: float
    _: KW_ONLY
    largest_change: float = 1.0
    normaliser: float = 1.0

    def __post_init__(self) -> None:
        check_whole("n_rounds", self.n_rounds)
        check_number("delta", self.delta, "(0, 1)")
        check_number("largest_change", self.largest_change, "(0, 1]")
        check_number("normaliser", self.normaliser, "(0, 1e6]")


def published_epsilon(game: LazyGame, batch_size: int, eta: float, fake_switch: float) -> float:
    """Return epsilon by Theorem 3.2 of the paper, with delta_0 = 0 and delta = 2 T delta_1.

    It is inf unless the preconditions eta B log(1/delta_1) / p <= 1 and T p / B >= 1 hold. The
    proof has a gap: equation (3) charges eta for a switch that costs up to 2 eta in each of x and
    y, and counts only fake switches. The value was safe in every case that we tried.

    Args:
        game: facts about the game.
        batch_size: B, rounds in a batch.
        eta: learning rate.
        fake_switch: p, probability of a fake switch.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6, normaliser=2.0)
    >>> round(published_epsilon(game, 10, 0.0001, 0.1), 3)
    0.06
    """
    LazyParameters(batch_size, eta, fake_switch)  # refuses wrong numbers
    T, B, p = game.n_rounds, batch_size, fake_switch
    log_term = math.log(2 * T / game.delta)
    if p <= 0 or eta * B * log_term / p > 1 or T * p / B < 1:
        return math.inf
    variance = T * eta**2 * p / B
    return 2 * eta / p + eta + 1.5 * variance * log_term + math.sqrt(6 * variance * log_term**2)


def sound_epsilon(game: LazyGame, batch_size: int, eta: float, fake_switch: float) -> float:
    """Return epsilon by our accounting, valid for every eta, B and p > 0; not in the paper.

    Only the indicator after the differing round depends on that round, so it is pure eps_I-DP.
    Every later redraw uses one of two distributions whose log ratio has a range of 2 eta s, so it
    is eta^2 s^2 / 2 zCDP. The numbers of redraws of x and of y are cut off at quantiles that each
    exceeds with probability at most delta / 4; the rest of delta pays for the conversion.

    Args:
        game: facts about the game.
        batch_size: B, rounds in a batch.
        eta: learning rate.
        fake_switch: p, probability of a fake switch; the result for 0 is inf.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6)
    >>> round(sound_epsilon(game, 10, 0.001, 0.1), 3)
    0.09
    """
    LazyParameters(batch_size, eta, fake_switch)  # refuses wrong numbers
    s = game.largest_change
    return account_redraws(
        batches=-(-game.n_rounds // batch_size),
        fake_switch=fake_switch,
        indicator_change=2 * eta * s,
        log_keep=-(game.normaliser + 1) * batch_size * eta,
        redraw_zcdp=(eta * s) ** 2 / 2,
        delta=game.delta,
    )


def account_redraws(
    *,
    batches: int,
    fake_switch: float,
    indicator_change: float,
    log_keep: float,
    redraw_zcdp: float,
    delta: float,
) -> float:
    """Return epsilon at `delta` of any L2P: one data-dependent indicator and the redraws.

    Args:
        batches: number of batches.
        fake_switch: p, probability of a fake switch; the result for 0 is inf.
        indicator_change: largest change of the log probability of keeping x.
        log_keep: smallest log probability of keeping x, without fake switches.
        redraw_zcdp: zCDP of one redraw.
        delta: delta of the guarantee.
    """
    p = fake_switch
    if p <= 0:
        return math.inf
    redraw = redraw_probability(p, log_keep)
    count = upper_quantile(batches, redraw, delta / 4) + upper_quantile(batches, p, delta / 4)
    return composed_epsilon(p, indicator_change, count * redraw_zcdp, delta / 2)


def redraw_probability(fake_switch: float, log_keep: float) -> float:
    """Return the largest probability of a redraw for the smallest log probability of keeping x."""
    return -math.expm1(math.log1p(-fake_switch) + log_keep) if fake_switch < 1 else 1.0


def composed_epsilon(fake_switch: float, change: float, rho: float, delta: float) -> float:
    """Return epsilon at `delta` of one indicator and of redraws that are rho-zCDP together.

    Args:
        fake_switch: p > 0, probability of a fake switch.
        change: largest change of the log probability of keeping x.
        rho: zCDP of all redraws.
        delta: delta of the guarantee.
    """
    p = fake_switch
    indicator = max(change, math.log1p((1 - p) * -math.expm1(-change) / p))
    return min(zcdp_epsilon(indicator**2 / 2 + rho, delta), indicator + zcdp_epsilon(rho, delta))


@lru_cache(maxsize=65536)
def upper_quantile(trials: int, probability: float, tail: float) -> int:
    """Return the smallest k with P(Bin(trials, probability) > k) <= tail."""

    def covers(k: int) -> bool:
        return bool(scipy.special.betainc(k + 1, trials - k, probability) <= tail)

    return bisect_left(range(trials), True, key=covers)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return epsilon at `delta` of a rho-zCDP mechanism, by its Renyi divergences.

    It is the smallest rho a + log(1 - 1/a) - log(a delta) / (a - 1) over orders a, and 0 if the
    divergence at the smallest order bounds the total variation below delta.

    Source: Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
    Proposition 12; Bretagnolle and Huber's inequality.
    """
    if rho == 0 or delta**2 + math.expm1(-rho * _ORDERS[0]) > 0:
        return 0.0
    bounds = rho * _ORDERS + _OF_ORDERS - math.log(delta) * _OF_DELTA
    best = float(_ORDERS[1 + bounds[1:].argmin()])
    return max(0.0, rho * best + math.log1p(-1 / best) - math.log(delta * best) / (best - 1))


_ORDERS = 1.0 + np.geomspace(1e-2, 1e9, 265)
# At order a, epsilon is rho a + log(1 - 1/a) - log(a)/(a - 1) - log(delta)/(a - 1).
_OF_DELTA = 1 / (_ORDERS - 1)
_OF_ORDERS = np.log1p(-1 / _ORDERS) - np.log(_ORDERS) * _OF_DELTA

NORMALISERS: dict[str, float] = {"published": 2.0, "sound": 1.0}
"""c of the keep probability that goes with each accountant."""
ACCOUNTANTS: dict[str, AccountantFunction] = {
    "published": published_epsilon,
    "sound": sound_epsilon,
}
"""The accountants by name."""
