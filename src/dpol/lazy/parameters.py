"""Parameters of L2P: the best that reach an epsilon, and those of the paper's theorem."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from dpol.lazy.accounting import (
    ACCOUNTANTS,
    Accountant,
    AccountantFunction,
    LazyGame,
    sound_epsilon,
)
from dpol.lazy.transform import LazyParameters


@dataclass(frozen=True, kw_only=True)
class AccountedParameters(LazyParameters):
    """Parameters of L2P with the guarantee they give.

    Args:
        batch_size: B, rounds in a batch.
        eta: scale of the keep probability, e^(-c B eta).
        fake_switch: p, probability of a fake switch.
        normaliser: name of c.
        epsilon: accounted epsilon; inf without privacy.
        objective: the bound on regret, or the stand-in for it, that was minimised.
    """

    epsilon: float
    objective: float


Chosen = TypeVar("Chosen", bound=AccountedParameters)


def least_objective(
    n_rounds: int,
    goal: tuple[float, float],
    candidates: Callable[[int], Iterable[Chosen]],
    *,
    least: Callable[[int], float],
    sizes: int,
    accountant: Accountant = "sound",
) -> Chosen:
    """The candidate of least objective, over a geometric grid of batch sizes.

    Args:
        n_rounds: T, the number of rounds.
        goal: the (epsilon, delta) that the candidates reach, for the message of the error.
        candidates: private parameters of a batch size, maybe none.
        least: the objective of a batch size without privacy; it rises with the batch size.
        sizes: number of batch sizes from 4 to T.
        accountant: whose epsilon it is, for the message.

    Raises:
        ValueError: there is no candidate.
    """
    best: Chosen | None = None
    grid = {1, 2, 3, *np.round(np.geomspace(4, n_rounds, sizes)).astype(int).tolist()}
    for batch_size in sorted(size for size in grid if size <= n_rounds):
        if best and least(batch_size) >= best.objective:
            break
        found = filter(None, [best, *candidates(batch_size)])
        best = min(found, key=lambda it: it.objective, default=None)
    if best is None:
        raise ValueError(
            f"L2P cannot be ({goal[0]:g}, {goal[1]:g})-private over {n_rounds} rounds by"
            f" the {accountant} accountant; take a larger epsilon or delta, or more rounds"
        )
    return best


def largest_within(
    at: Callable[[float], Chosen], epsilon: float, *, low: float, high: float, ratio: float
) -> Chosen | None:
    """The parameters at a number, with which their epsilon rises, that reach `epsilon`.

    Bisection between `low` and `high`; at most `ratio` below the largest. None if even `low` is
    accounted at more.
    """
    best = at(low)
    if best.epsilon > epsilon:
        return None
    while high / low > ratio:
        middle = math.sqrt(low * high)
        found = at(middle)
        if found.epsilon > epsilon:
            high = middle
        else:
            low, best = middle, found
    return best


def choose_parameters(
    game: LazyGame, *, epsilon: float, n_experts: int, accountant: Accountant = "sound"
) -> AccountedParameters:
    """The (B, eta, p) of least regret bound whose accounted epsilon is at most `epsilon`.

    The bound is log(d)/eta + eta T / 2 + T B^2 eta^2. epsilon = inf gives multiplicative weights
    without privacy (B = 1, p = 0). Ours, not in the paper.

    Args:
        game: T, delta and what a person can change.
        epsilon: what to reach.
        n_experts: d, the number of experts.
        accountant: `sound` (ours) or `published` (Theorem 3.2).

    Raises:
        ValueError: epsilon is not positive, d < 2, or no parameters reach epsilon.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6)
    >>> found = choose_parameters(game, epsilon=1.0, n_experts=300)
    >>> found.batch_size, round(found.eta, 4), found.epsilon <= 1.0
    (8, 0.0083, True)
    """
    if not epsilon > 0:
        raise ValueError(f"epsilon must be above 0, got {epsilon}")
    if n_experts < 2:
        raise ValueError(f"at least 2 experts are needed, got {n_experts}")
    account = ACCOUNTANTS[accountant]
    if math.isinf(epsilon):
        return _accounted(game, account, n_experts, 1, _best_eta(game, 1, n_experts), 0.0)

    def free(batch_size: int) -> float:
        return _objective(game, batch_size, _best_eta(game, batch_size, n_experts), n_experts)

    candidates = partial(_candidates, game, epsilon, n_experts, account)
    goal = (epsilon, game.delta)
    return least_objective(
        game.n_rounds, goal, candidates, least=free, sizes=25, accountant=accountant
    )


def theorem_3_10(game: LazyGame, *, epsilon: float, n_experts: int) -> AccountedParameters:
    """The parameters of the paper's Theorem 3.10, with the epsilon they have by our accounting.

    They break the precondition of Theorem 3.2 that the paper's proof relies on, but are private
    by the sound accounting. Source: "Private Online Learning via Lazy Algorithms", Theorem 3.10.
    """
    T = game.n_rounds
    least = T ** (-1 / 4) * math.log(n_experts) ** (3 / 4)
    eta = min(least, epsilon) ** (2 / 3) / (T ** (1 / 3) * math.log(T / game.delta))
    batch_size, p = max(1, round(1 / epsilon)), min(10 * eta / epsilon, 1.0)
    return _accounted(game, sound_epsilon, n_experts, batch_size, eta, p)


def _accounted(
    game: LazyGame, account: AccountantFunction, n_experts: int, B: int, eta: float, p: float
) -> AccountedParameters:
    epsilon, objective = account(game, B, eta, p), _objective(game, B, eta, n_experts)
    c = game.normaliser_name
    return AccountedParameters(B, eta, p, c, epsilon=epsilon, objective=objective)


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


def _candidates(
    game: LazyGame, epsilon: float, n_experts: int, account: AccountantFunction, batch_size: int
) -> Iterator[AccountedParameters]:
    """The best eta and p for one batch size: a grid over p, then a finer one around its best."""
    most = _best_eta(game, batch_size, n_experts)

    def largest_eta(p: float) -> AccountedParameters | None:
        at = partial(_accounted, game, account, n_experts, batch_size, p=p)
        if (best := at(most)).epsilon <= epsilon:
            return best
        return largest_within(at, epsilon, low=most * 1e-6, high=most, ratio=1.002)

    best: AccountedParameters | None = None
    grid = np.geomspace(1e-4, 1.0, 13)
    for _ in range(2):
        for found in filter(None, map(largest_eta, grid.tolist())):
            best = found if best is None or _better(found, best) else best
        if best is None:
            return
        grid = np.geomspace(best.fake_switch / 2, min(best.fake_switch * 2, 1.0), 9)
    if best:
        yield best


def _better(one: AccountedParameters, other: AccountedParameters) -> bool:
    """Whether the objective is smaller, or equal and epsilon is smaller, which costs nothing."""
    if one.objective < other.objective * (1 - 1e-9):
        return True
    return one.objective <= other.objective * (1 + 1e-9) and one.epsilon < other.epsilon
