"""The private shrinking dartboard, L2P's predecessor for experts: one point, no shadow.

x is kept with probability (1 - p) e^(-eta times its loss in the batch), which needs no normaliser,
and is redrawn at most `limit` times, if there is a limit. Source: "Private Online Prediction from
Experts", Algorithm 1 and its batched form. Its eta, for the mean loss of a batch of B rounds, is
1 - e^(-B eta) here; its K is limit + 1, since it counts the first draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from dpol.lazy.accounting import Accountant, LazyGame, sound_epsilon
from dpol.lazy.algorithm import LazyWeights
from dpol.lazy.parameters import AccountedParameters, Goal
from dpol.privacy.guarantee import Origin


def theorem_5_epsilon(game: LazyGame, batch_size: int, eta: float, fake_switch: float) -> float:
    """Return epsilon by Theorem 2 (B = 1) or Theorem 5 of the paper, with its K = 4 T p / B.

    It is inf unless p and the paper's eta are below 1/2, as the theorems ask, and eta <= p, which
    their bound on regret needs. The last step of their proofs does not follow as written, but the
    values are safe: see the claims ledger.
    """
    T, B, p, step = game.n_rounds, batch_size, fake_switch, -math.expm1(-batch_size * eta)
    if not 0 < step <= p < 1 / 2:
        return math.inf
    switches = T * p / B
    root = math.sqrt((12 if B > 1 else 1) * switches * math.log(1 / game.delta))
    return 5 * step / (B * p) + 100 * switches * (step / B) ** 2 + 20 * step / B * root


class _Goal(Goal):
    """The goal of a search for parameters of the dartboard."""

    def stability(self, batch_size: int) -> tuple[float, float]:
        if self.accountant == "sound":
            return super().stability(batch_size)
        return self.game.n_rounds * batch_size, 0.0

    def epsilon_at(self, batch_size: int, eta: float, p: float) -> float:
        if self.accountant == "published":
            return theorem_5_epsilon(self.game, batch_size, eta, p)
        return sound_epsilon(self.game, batch_size, eta, p, shadow=False)

    def at(self, batch_size: int, eta: float, p: float) -> AccountedParameters:
        made = replace(super().at(batch_size, eta, p), normaliser=1.0, shadow=False)
        if self.accountant == "sound":
            return made
        T, B, step = self.game.n_rounds, batch_size, -math.expm1(-batch_size * eta)
        bound = step * T + B * math.log(self.n_experts) / step
        bound += 2 * T * math.exp(-T * p / (3 * B))
        limit = math.ceil(4 * T * p / B) - 1 if p else math.inf
        return replace(made, limit=limit, objective=bound)


@lru_cache(maxsize=64, typed=True)
def choose_dartboard(
    game: LazyGame,
    *,
    epsilon: float,
    n_experts: int,
    accountant: Accountant = "sound",
    largest_batch: int | None = None,
) -> AccountedParameters:
    """Return the (B, eta, p) with the smallest regret bound and at most this accounted epsilon.

    The bound is Theorem 5's (`published`), which has a limit of redraws, the paper's K - 1; or
    log(d)/eta + eta T B/8. epsilon = inf gives multiplicative weights without privacy.

    Args:
        game: T, delta and the largest change that one person can cause.
        epsilon: largest epsilon allowed, in (0, inf].
        n_experts: d, the number of experts, at least 2.
        accountant: `sound` (not in the paper) or `published` (Theorems 2 and 5).
        largest_batch: largest batch size in rounds; None for T.

    Raises:
        ValueError: no parameters reach epsilon.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6)
    >>> chosen = choose_dartboard(game, epsilon=1.0, n_experts=300)
    >>> chosen.batch_size, round(chosen.eta, 4), chosen.limit
    (4, 0.0113, inf)
    """
    goal = _Goal(game=game, epsilon=epsilon, n_experts=n_experts, accountant=accountant)
    return goal.reached(largest_batch)


@dataclass(frozen=True)
class ShrinkingDartboard(LazyWeights):
    """Keep the expert until a loss or a coin causes a redraw by multiplicative weights.

    L2P's predecessor: it needs no hidden second expert; with the accountant `published` it stops to
    redraw at a limit. Source: "Private Online Prediction from Experts", Algorithm 1; the accounting
    `sound` is not in the paper.

    Args:
        delta: as of `LazyWeights`.
        accountant: `sound` (not in the paper) or `published` (Theorems 2 and 5).
        largest_batch: largest batch size in rounds; None for no limit.

    Raises:
        ValueError: a parameter is unknown or out of range.
    """

    name = "the shrinking dartboard"
    mechanism = "lazy resampling from multiplicative weights (dartboard)"
    choose = staticmethod(choose_dartboard)

    @property
    def origin(self) -> Origin:
        return "paper" if self.accountant == "published" else "dpol"
