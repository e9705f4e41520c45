"""Parameters of lazy algorithms for experts: the best for an epsilon, and Theorem 3.10 of L2P."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial, reduce
from typing import TypeVar

import numpy as np

from dpol.lazy.accounting import ACCOUNTANTS, Accountant, LazyGame, sound_epsilon
from dpol.lazy.transform import LazyParameters


@dataclass(frozen=True, kw_only=True)
class AccountedParameters(LazyParameters):
    """Parameters of a lazy algorithm with the guarantee they give.

    Args:
        batch_size: B, rounds in a batch.
        eta: scale of the keep probability, e^(-c B eta).
        fake_switch: p, probability of a fake switch.
        normaliser: c of the keep probability.
        shadow: whether a shadow point normalises the keep probability.
        limit: most redraws.
        epsilon: accounted epsilon; inf without privacy.
        objective: value that was minimised: a bound on regret, or a stand-in for one.
    """

    epsilon: float
    objective: float


Chosen = TypeVar("Chosen", bound=AccountedParameters)


def least_objective(
    n_rounds: int,
    goal: tuple[float, float],
    candidates: Callable[[int, float], Iterable[Chosen]],
    *,
    least: Callable[[int], float],
    sizes: int,
    accountant: Accountant = "sound",
    largest_batch: int | None = None,
) -> Chosen:
    """Return the candidate with the smallest objective, over a geometric grid of batch sizes.

    Args:
        n_rounds: T, the number of rounds.
        goal: the (epsilon, delta) that the candidates reach, for the error message.
        candidates: returns private parameters, perhaps none, for a batch size and the smallest
            objective so far; larger ones may be left out.
        least: objective of a batch size without privacy; it rises with the batch size.
        sizes: number of batch sizes from 4 to T.
        accountant: accountant of epsilon, for the error message.
        largest_batch: largest batch size in rounds; None for T.

    Raises:
        ValueError: there is no candidate.
    """
    best: Chosen | None = None
    grid = {1, 2, 3, *np.round(np.geomspace(4, n_rounds, sizes)).astype(int).tolist()}
    largest = n_rounds if largest_batch is None else largest_batch
    for batch_size in sorted(size for size in grid if size <= largest):
        if best and least(batch_size) >= best.objective:
            break
        reached = filter(
            None, [best, *candidates(batch_size, best.objective if best else math.inf)]
        )
        best = min(reached, key=lambda parameters: parameters.objective, default=None)
    if best is None:
        raise ValueError(
            f"it cannot be ({goal[0]:g}, {goal[1]:g})-private over {n_rounds} rounds by the"
            f" {accountant} accountant; take a larger epsilon or delta, or more rounds"
        )
    return best


def largest_within(
    epsilon_at: Callable[[float], float], epsilon: float, *, low: float, high: float, ratio: float
) -> float | None:
    """Return the largest number whose epsilon is at most `epsilon`.

    Found by bisection between `low` and `high`, where epsilon rises with the number; the result
    may be a factor `ratio` too small. None if even `low` has a larger epsilon.
    """
    if epsilon_at(low) > epsilon:
        return None
    while high / low > ratio:
        middle = math.sqrt(low * high)
        if epsilon_at(middle) > epsilon:
            high = middle
        else:
            low = middle
    return low


@lru_cache(maxsize=64, typed=True)
def choose_parameters(
    game: LazyGame,
    *,
    epsilon: float,
    n_experts: int,
    accountant: Accountant = "sound",
    largest_batch: int | None = None,
) -> AccountedParameters:
    """Return the (B, eta, p) with the smallest objective and an accounted epsilon up to `epsilon`.

    epsilon = inf gives multiplicative weights without privacy (B = 1, p = 0). Not in the
    papers.

    Args:
        game: T, delta and the largest change that one person can cause.
        epsilon: largest epsilon allowed, in (0, inf].
        n_experts: d, the number of experts, at least 2.
        accountant: `sound` (not in the paper), with the objective log(d)/eta + eta T B / 8, a bound
            on regret; or `published` (Theorem 3.2), with log(d)/eta + eta T / 2 + T B^2 eta^2,
            which is none (see `Goal.stability`).
        largest_batch: largest batch size in rounds; None for T.

    Raises:
        ValueError: no parameters reach epsilon.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6)
    >>> chosen = choose_parameters(game, epsilon=1.0, n_experts=300)
    >>> chosen.batch_size, round(chosen.eta, 4), chosen.epsilon <= 1.0
    (8, 0.0091, True)
    """
    goal = Goal(game=game, epsilon=epsilon, n_experts=n_experts, accountant=accountant)
    return goal.reached(largest_batch)


def theorem_3_10(game: LazyGame, *, epsilon: float, n_experts: int) -> AccountedParameters:
    """Return the parameters of the paper's Theorem 3.10, with epsilon by our accounting.

    They can break a condition of Theorem 3.2, which is not needed if delta_0 = 0, as for experts;
    the sound accounting shows that they are private, unless epsilon is inf. Source: "Private Online
    Learning via Lazy Algorithms", Theorem 3.10.

    Raises:
        ValueError: epsilon is not above 0, or d < 2.
    """
    goal = Goal(game=game, epsilon=epsilon, n_experts=n_experts, accountant="published")
    T = game.n_rounds
    least = T ** (-1 / 4) * math.log(n_experts) ** (3 / 4)
    eta = min(least, epsilon) ** (2 / 3) / (T ** (1 / 3) * math.log(T / game.delta))
    batch_size, p = max(1, round(1 / epsilon)), min(10 * eta / epsilon, 1.0)
    accounted = sound_epsilon(game, batch_size, eta, p)
    return replace(goal.at(batch_size, eta, p), epsilon=accounted)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """The goal of a search for parameters: the game, the epsilon to reach, and the accounting."""

    game: LazyGame
    epsilon: float
    n_experts: int
    accountant: Accountant

    def stability(self, batch_size: int) -> tuple[float, float]:
        """Return a and b of the accountant's objective, log(d)/eta + a eta + b eta^2.

        `sound` is a valid bound on expected regret: the bound for multiplicative weights on T / B
        losses in [0, B]. `published` is from the proof of Theorem 3.10 of "Private Online Learning
        via Lazy Algorithms", with the constants 1/2 and 1, which are a choice. Its last term is
        Proposition 3.3, but batches can add more, T (B - 1) eta / 8.
        """
        T, B = self.game.n_rounds, batch_size
        return (T * B / 8, 0.0) if self.accountant == "sound" else (T / 2, T * B**2)

    def objective(self, batch_size: int, eta: float) -> float:
        """Return the value that the parameters minimise."""
        a, b = self.stability(batch_size)
        return math.log(self.n_experts) / eta + a * eta + b * eta**2

    def best_eta(self, batch_size: int) -> float:
        """Return the eta with the smallest objective without privacy, by bisection on its slope."""
        a, b = self.stability(batch_size)
        low, high = 1e-12, 1.0

        def rises(eta: float) -> bool:
            return -math.log(self.n_experts) / eta**2 + (a + 2 * b * eta) >= 0

        while not rises(high):
            high *= 2
        for _ in range(80):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if rises(middle) else (middle, high)
        return math.sqrt(low * high)

    def epsilon_at(self, batch_size: int, eta: float, p: float) -> float:
        """Return the epsilon of parameters."""
        return ACCOUNTANTS[self.accountant](self.game, batch_size, eta, p)

    def at(self, batch_size: int, eta: float, p: float) -> AccountedParameters:
        """Return the parameters with their epsilon and objective."""
        return AccountedParameters(
            batch_size,
            eta,
            fake_switch=p,
            normaliser=self.game.normaliser,
            epsilon=self.epsilon_at(batch_size, eta, p),
            objective=self.objective(batch_size, eta),
        )

    def reached(self, largest_batch: int | None) -> AccountedParameters:
        """Return the parameters with the smallest objective; see `choose_parameters`."""
        if math.isinf(self.epsilon):
            return self.at(1, self.best_eta(1), 0.0)
        return least_objective(
            self.game.n_rounds,
            (self.epsilon, self.game.delta),
            self._candidates,
            least=lambda batch_size: self.objective(batch_size, self.best_eta(batch_size)),
            sizes=25,
            accountant=self.accountant,
            largest_batch=largest_batch,
        )

    def _candidates(self, batch_size: int, _: float) -> Iterator[AccountedParameters]:
        """Yield the best eta and p for a batch size: over a grid of p, then a finer one."""
        improved = partial(self._improved, batch_size, self.best_eta(batch_size))
        if best := reduce(improved, np.geomspace(1e-4, 1.0, 13).tolist(), None):
            finer = np.geomspace(best.fake_switch / 2, min(best.fake_switch * 2, 1.0), 9)
            yield reduce(improved, finer.tolist(), best)

    def _improved(
        self, batch_size: int, most: float, best: AccountedParameters | None, p: float
    ) -> AccountedParameters | None:
        """Return the parameters with p and the largest eta, up to `most`; the best if it is better.

        The objective falls as eta rises to `most`, so p is left out if it asks for a smaller eta
        than the best and gains nothing at that of the best.
        """
        if best:
            same = self.at(batch_size, best.eta, p)
            if same.epsilon > self.epsilon and same.objective >= best.objective * (1 - 1e-9):
                return best
        epsilon_at = partial(self.epsilon_at, batch_size, p=p)
        eta: float | None = most
        if epsilon_at(most) > self.epsilon:
            eta = largest_within(epsilon_at, self.epsilon, low=most * 1e-6, high=most, ratio=1.002)
        if eta is None:
            return best
        found = self.at(batch_size, eta, p)
        return _better(best, found) if best else found


def _better(one: AccountedParameters, other: AccountedParameters) -> AccountedParameters:
    """Return the other if its objective is smaller, or equal at a smaller epsilon."""
    smaller = other.objective < one.objective * (1 - 1e-9)
    equal = other.objective <= one.objective * (1 + 1e-9)
    return other if smaller or (equal and other.epsilon < one.epsilon) else one
