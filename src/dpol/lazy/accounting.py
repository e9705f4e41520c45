"""Privacy accounting for L2P: the published theorem, and our own argument.

The proof of Theorem 3.2 ("Private Online Learning via Lazy Algorithms"), as written, does not
cover the published constants; `sound` is dpol's and is the default. Both accountants need a measure
whose normalised log ratio changes by at most eta in a round (multiplicative weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Literal

import numpy as np

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats
from dpol.lazy.transform import LazyParameters
from dpol.privacy.losses import NOTHING_KEPT, Draw, Loss, of_range, one_draw

Accountant = Literal["published", "sound"]
"""Names of the accountants."""


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


def sound_epsilon(
    game: LazyGame, batch_size: int, eta: float, fake_switch: float, *, shadow: bool = True
) -> float:
    """Return epsilon of `sound_loss` for searches, see `redrawn_epsilon`; inf for p = 0.

    Args:
        game: facts about the game.
        batch_size: B, rounds in a batch.
        eta: learning rate.
        fake_switch: p, probability of a fake switch.
        shadow: whether there is a shadow point, as in L2P.

    >>> game = LazyGame(n_rounds=10_000, delta=1e-6)
    >>> epsilon, rule = sound_epsilon(game, 100, 0.001, 0.1), LazyParameters(100, 0.001, 0.1)
    >>> round(epsilon, 3), round(sound_loss(game, rule).epsilon(1e-6), 3)
    (0.04, 0.037)
    """
    redraws = _redraws(game, LazyParameters(batch_size, eta, fake_switch, shadow=shadow))
    if redraws is None:
        return math.inf
    return redrawn_epsilon(redraws, range_moments(2 * eta * game.largest_change), game.delta)


def sound_loss(game: LazyGame, rule: LazyParameters) -> Loss:
    """Return the loss by our accounting, valid for every eta, B and p; not in the papers.

    Only the indicator after the differing round, and the draw that it may cause, depend on that
    round. Whoever sees all indicators sees later draws that happen with a probability that earlier
    draws and public numbers determine. The log ratios of a draw have a range of 2 eta s, in L2P and
    in the dartboard; in the latter one person moves the log probability of keeping x by eta s only.

    Args:
        game: facts about the game.
        rule: parameters of the algorithm; without fake switches nothing is kept.
    """
    redraws = _redraws(game, rule)
    return redraws.loss(2 * rule.eta * game.largest_change) if redraws else NOTHING_KEPT


def _redraws(game: LazyGame, rule: LazyParameters) -> Redraws | None:
    if rule.fake_switch <= 0:
        return None
    return Redraws(
        batches=-(-game.n_rounds // rule.batch_size),
        fake_switch=rule.fake_switch,
        change=(1 + rule.shadow) * rule.eta * game.largest_change,
        log_keep=-(game.normaliser + 1 if rule.shadow else 1) * rule.batch_size * rule.eta,
        shadow=rule.shadow,
    )


@dataclass(frozen=True, kw_only=True)
class Redraws:
    """What decides when a lazy algorithm draws again.

    Args:
        batches: number of batches.
        fake_switch: p > 0, probability of a fake switch.
        change: largest change of the log probability of keeping x that one person can cause.
        log_keep: smallest log probability of keeping x, without fake switches.
        shadow: whether there is a shadow point, redrawn with probability p.
    """

    batches: int
    fake_switch: float
    change: float
    log_keep: float
    shadow: bool = True

    @property
    def indicator(self) -> float:
        """Range of the log ratios of the indicator after the differing round."""
        p, change = self.fake_switch, self.change
        return change + max(change, math.log1p((1 - p) * -math.expm1(-change) / p))

    @property
    def chances(self) -> list[float]:
        """The largest probability of a redraw of x in a batch, and that of the shadow point."""
        p = self.fake_switch
        redraw = -math.expm1(math.log1p(-p) + self.log_keep) if p < 1 else 1.0
        return [redraw, *[p] * self.shadow]

    def loss(self, moved: float) -> Loss:
        """Return the loss, for the range of the log ratios of a draw."""
        draw = Draw(e=moved, between=0.0)
        later = (one_draw(draw.seldom(q)).times(self.batches) for q in self.chances)
        return sum(later, of_range(self.indicator) + of_range(moved))


def redrawn_epsilon(redraws: Redraws, draw: Floats, delta: float) -> float:
    """Return an epsilon at `delta`, by the Renyi divergences of the indicator and of all draws.

    It is up to a third larger than that of the loss, usually a tenth, and takes microseconds.
    Source: Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
    Prop. 12.

    Args:
        redraws: what decides when draws happen.
        draw: log moments of one draw, at `ORDERS`: order - 1 times the Renyi divergence.
        delta: delta of the guarantee.
    """
    total = range_moments(redraws.indicator) + draw
    for q in redraws.chances:
        never = math.log1p(-q) if q < 1 else -math.inf
        total += redraws.batches * np.logaddexp(never, math.log(q) + draw)
    bounds = (total - _LOGS - math.log(delta)) / (ORDERS - 1) + _SHIFTS
    return max(0.0, float(bounds.min()))


def range_moments(eta: float) -> Floats:
    """Return the log moments, at `ORDERS`, of a draw whose log ratios have a range of eta > 0."""
    twice = 2 * ORDERS - 1
    return np.asarray(
        (ORDERS - 1) * eta + np.log(np.expm1(-twice * eta) / (twice * math.expm1(-eta)))
    )


ORDERS = 1.0 + np.geomspace(1e-2, 1e9, 265)
"""Orders of Renyi divergences in searches."""
_LOGS, _SHIFTS = np.log(ORDERS), np.log1p(-1 / ORDERS)
NORMALISERS: dict[str, float] = {"published": 2.0, "sound": 1.0}
"""c of the keep probability that goes with each accountant."""
ACCOUNTANTS: dict[str, Callable[[LazyGame, int, float, float], float]] = {
    "published": published_epsilon,
    "sound": sound_epsilon,
}
"""The accountants by name."""
