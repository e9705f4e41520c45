"""What L2P guarantees, by the published theorem and by our own argument; and its calibration.

The published constants ("Private Online Learning via Lazy Algorithms", Theorem 3.2) are not
covered by their proof as written; `sound` is ours and is the default. Both are for a measure
whose normalised log ratio changes by at most eta in a round (multiplicative weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from dpol.core.randomness import Floats

Accountant = Literal["published", "sound"]
"""Names of the accountants."""
AccountantFunction = Callable[["LazyGame", int, float, float], float]


@dataclass(frozen=True)
class LazyGame:
    """What the accountants have to know about a game.

    Args:
        n_rounds: T, the number of rounds.
        delta: delta of the guarantee, in (0, 1).
        largest_change: s, how far one person can move a loss in one round; 1 in general.
        normaliser: c of the keep probability, 1 (`tight`) or 2 (`published`).

    Raises:
        ValueError: a number is out of range.
    """

    n_rounds: int
    delta: float
    largest_change: float = 1.0
    normaliser: float = 1.0

    def __post_init__(self) -> None:
        if self.n_rounds < 1:
            raise ValueError(f"n_rounds must be at least 1, got {self.n_rounds}")
        if not 0 < self.delta < 1:
            raise ValueError(f"delta must lie in (0, 1), got {self.delta}")
        if not 0 < self.largest_change <= 1:
            raise ValueError(f"largest_change must lie in (0, 1], got {self.largest_change}")


def published_epsilon(game: LazyGame, batch_size: int, eta: float, fake_switch: float) -> float:
    """epsilon by Theorem 3.2 of the paper, with delta_0 = 0 and delta = 2 T delta_1.

    inf where its preconditions eta B log(1/delta_1) / p <= 1 and T p / B >= 1 do not hold. The
    proof has a gap (its equation (3) charges eta for a switch that costs up to 2 eta in each of
    x and y, and counts fake switches only); the value was safe wherever it was tried.

    Args:
        game: what is played.
        batch_size: B, rounds in a batch.
        eta: learning rate.
        fake_switch: p, probability of a fake switch.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6, normaliser=2.0)
    >>> round(published_epsilon(game, 10, 0.0001, 0.1), 3)
    0.06
    """
    T, B, p = game.n_rounds, batch_size, fake_switch
    log_term = math.log(2 * T / game.delta)
    if p <= 0 or eta * B * log_term / p > 1 or T * p / B < 1:
        return math.inf
    variance = T * eta**2 * p / B
    return 2 * eta / p + eta + 1.5 * variance * log_term + math.sqrt(6 * variance * log_term**2)


def sound_epsilon(game: LazyGame, batch_size: int, eta: float, fake_switch: float) -> float:
    """epsilon by our accounting: valid for every eta, B and p > 0. Ours, not in the paper.

    Only the indicator after the differing round depends on it: pure eps_I-DP. Every later
    redraw is from one of two distributions with log ratio in a range of 2 eta s, that is
    eta^2 s^2 / 2 zCDP. The numbers of redraws of x and y are truncated at quantiles that are
    exceeded with probability at most delta / 4 each; the rest of delta goes to the conversion.

    Args:
        game: what is played.
        batch_size: B, rounds in a batch.
        eta: learning rate.
        fake_switch: p; inf is returned for 0.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6)
    >>> round(sound_epsilon(game, 10, 0.001, 0.1), 3)
    0.09
    """
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
    """epsilon at `delta` of any L2P: one indicator that depends on the data, and the redraws.

    Args:
        batches: number of batches.
        fake_switch: p; inf is returned for 0.
        indicator_change: how far the log probability of keeping x can move.
        log_keep: the least log probability of keeping x, fake switches apart.
        redraw_zcdp: zCDP of one redraw.
        delta: delta of the guarantee.
    """
    p = fake_switch
    indicator = _indicator_epsilon(indicator_change, p)
    if math.isinf(indicator):
        return math.inf
    redraw = -math.expm1(math.log1p(-p) + log_keep) if p < 1 else 1.0
    count = _upper_quantile(batches, redraw, delta / 4) + _upper_quantile(batches, p, delta / 4)
    rho = count * redraw_zcdp
    together = zcdp_epsilon(indicator**2 / 2 + rho, delta / 2)
    return min(together, indicator + zcdp_epsilon(rho, delta / 2))


def _indicator_epsilon(change: float, p: float) -> float:
    """Pure epsilon of the indicator whose log probability of keeping x moves by `change`."""
    if p <= 0:
        return math.inf
    return max(change, math.log1p((1 - p) * -math.expm1(-change) / p))


@lru_cache(maxsize=65536)
def _upper_quantile(trials: int, probability: float, tail: float) -> int:
    """The smallest k with P(Bin(trials, probability) > k) <= tail."""
    from scipy import stats

    return int(stats.binom.isf(tail, trials, min(max(probability, 0.0), 1.0)))


def zcdp_epsilon(rho: float, delta: float) -> float:
    """epsilon of a rho-zCDP mechanism at `delta`, by the library's Renyi conversion."""
    from dp_accounting import rdp

    if rho == 0:
        return 0.0
    orders = _orders()
    return float(rdp.compute_epsilon(orders, rho * orders, delta)[0])


@lru_cache(maxsize=1)
def _orders() -> Floats:
    return 1.0 + np.geomspace(1e-2, 1e9, 265)


ACCOUNTANTS: dict[str, AccountantFunction] = {
    "published": published_epsilon,
    "sound": sound_epsilon,
}
"""The accountants by name."""


@dataclass(frozen=True)
class LazyCalibration:
    """Parameters of L2P with the guarantee they give.

    Args:
        batch_size: B, rounds in a batch.
        eta: learning rate and log ratio bound.
        fake_switch: p, probability of a fake switch.
        epsilon: accounted epsilon; inf without privacy.
        objective: bound on regret that was minimised, log(d)/eta + eta T / 2 + T B^2 eta^2.
    """

    batch_size: int
    eta: float
    fake_switch: float
    epsilon: float
    objective: float


def calibrate(
    game: LazyGame, *, epsilon: float, n_experts: int, accountant: Accountant = "sound"
) -> LazyCalibration:
    """The (B, eta, p) of least regret bound whose accounted epsilon is at most `epsilon`.

    epsilon = inf gives multiplicative weights without privacy (B = 1, p = 0). Ours, not in the
    paper.

    Args:
        game: T, delta and what a person can change.
        epsilon: what to reach.
        n_experts: d, the number of experts.
        accountant: `sound` (ours) or `published` (Theorem 3.2).

    Raises:
        ValueError: epsilon is not positive, d < 2, or no parameters reach epsilon.

    >>> found = calibrate(LazyGame(n_rounds=10_000, delta=1e-6), epsilon=1.0, n_experts=300)
    >>> found.batch_size, round(found.eta, 4), found.epsilon <= 1.0
    (8, 0.0083, True)
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon}")
    if n_experts < 2:
        raise ValueError(f"at least 2 experts are needed, got {n_experts}")
    if math.isinf(epsilon):
        eta = _best_eta(game, 1, n_experts)
        return LazyCalibration(1, eta, 0.0, math.inf, _objective(game, 1, eta, n_experts))
    best: LazyCalibration | None = None
    for batch_size in _batch_sizes(game.n_rounds):
        free = _objective(game, batch_size, _best_eta(game, batch_size, n_experts), n_experts)
        if best and free >= best.objective:
            break  # the objective without privacy rises with the batch size
        found = _best_of_batch_size(game, batch_size, epsilon, n_experts, accountant)
        if found and (best is None or found.objective < best.objective):
            best = found
    if best is None:
        raise ValueError(
            f"L2P cannot be ({epsilon:g}, {game.delta:g})-private over {game.n_rounds} rounds by"
            f" the {accountant} accountant; take a larger epsilon or delta, or more rounds"
        )
    return best


def _batch_sizes(n_rounds: int) -> Iterator[int]:
    sizes = {1, 2, 3, *np.round(np.geomspace(4, n_rounds, 25)).astype(int).tolist()}
    return iter(sorted(size for size in sizes if size <= n_rounds))


def _objective(game: LazyGame, batch_size: int, eta: float, n_experts: int) -> float:
    T = game.n_rounds
    return math.log(n_experts) / eta + eta * T / 2 + T * (batch_size * eta) ** 2


def _best_eta(game: LazyGame, batch_size: int, n_experts: int) -> float:
    """The minimiser of the objective, by bisection on its derivative."""
    T = game.n_rounds

    def slope(eta: float) -> float:
        return -math.log(n_experts) / eta**2 + T / 2 + 2 * T * batch_size**2 * eta

    low, high = 1e-12, 1.0
    while slope(high) < 0:
        high *= 2
    for _ in range(80):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return math.sqrt(low * high)


def _best_of_batch_size(
    game: LazyGame, batch_size: int, epsilon: float, n_experts: int, accountant: Accountant
) -> LazyCalibration | None:
    """The best eta and p for one batch size: a grid over p, then a finer one around its best."""
    account = ACCOUNTANTS[accountant]
    unconstrained = _best_eta(game, batch_size, n_experts)
    best: LazyCalibration | None = None
    grid = np.geomspace(1e-4, 1.0, 13)
    for _ in range(2):
        for p in grid.tolist():
            eta = _largest_eta(game, batch_size, p, epsilon, account, unconstrained)
            if eta is None:
                continue
            value = _objective(game, batch_size, eta, n_experts)
            if best is None or value <= best.objective * (1 + 1e-9):
                found = LazyCalibration(
                    batch_size, eta, p, account(game, batch_size, eta, p), value
                )
                best = _better(best, found)
        if best is None:
            return None
        grid = np.geomspace(best.fake_switch / 2, min(best.fake_switch * 2, 1.0), 9)
    return best


def _better(one: LazyCalibration | None, other: LazyCalibration) -> LazyCalibration:
    """The smaller objective; among equal ones the smaller epsilon, which costs nothing."""
    if one is None or other.objective < one.objective * (1 - 1e-9):
        return other
    return other if other.epsilon < one.epsilon else one


def _largest_eta(
    game: LazyGame,
    batch_size: int,
    p: float,
    epsilon: float,
    account: AccountantFunction,
    most: float,
) -> float | None:
    """The largest eta up to `most` that is accounted at epsilon or less (it rises with eta)."""
    if account(game, batch_size, most, p) <= epsilon:
        return most
    low, high = most * 1e-6, most
    if account(game, batch_size, low, p) > epsilon:
        return None
    return largest_within(
        lambda eta: account(game, batch_size, eta, p), epsilon, low=low, high=high, ratio=1.002
    )


def largest_within(
    accounted: Callable[[float], float], epsilon: float, *, low: float, high: float, ratio: float
) -> float:
    """A parameter whose accounted epsilon, rising with it, is at most `epsilon`.

    Bisection between `low`, which must be within, and `high`; at most `ratio` below the largest.
    """
    while high / low > ratio:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if accounted(middle) > epsilon else (middle, high)
    return low


def theorem_3_10(game: LazyGame, *, epsilon: float, n_experts: int) -> LazyCalibration:
    """The parameters of the paper's Theorem 3.10, with the epsilon they have by our accounting.

    They break the precondition of Theorem 3.2 that the paper's proof relies on, but are private
    by the sound accounting. Source: "Private Online Learning via Lazy Algorithms", Theorem 3.10.
    """
    T = game.n_rounds
    least = T ** (-1 / 4) * math.log(n_experts) ** (3 / 4)
    eta = min(least, epsilon) ** (2 / 3) / (T ** (1 / 3) * math.log(T / game.delta))
    batch_size, p = max(1, round(1 / epsilon)), min(10 * eta / epsilon, 1.0)
    accounted = sound_epsilon(game, batch_size, eta, p)
    return LazyCalibration(
        batch_size, eta, p, accounted, _objective(game, batch_size, eta, n_experts)
    )
