"""Checks of our statements on how much noise design can still gain.

Where a search stops depends on the processor: factors differ by 1e-5. So factors are rounded to
three decimals: up if the statement is an upper bound, down if it is a lower bound.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from dpol.privacy.chains import REFERENCE, designed
from dpol.privacy.noise_limit import Holder, least_variance, share_covariance
from dpol.studies.ledger.claims.core import At, Finding, Findings

FAST, SLOW = REFERENCE, (1e-4, 0.98)
"""Two kinds of shares: variance of the weekly innovation, and persistence."""
_NOISY = 0.1414, 0.283


def one_week(_: int) -> Findings:
    """Check the limit of linear Gaussian noise for one week over the best and designed chains."""
    for shares in (FAST, SLOW):
        for at, holder in _holders(shares, (12, 30, 60), (1,), _NOISY):
            limit = holder.factor_in_mu(least_variance(holder, 1e-6)[1])
            yield _over("memory-one-week", 1.055, limit, _chain(holder), at, _up)
            if shares == REFERENCE:
                b = float(designed(np.array([holder.level]), 1).b[0])
                chain = holder.factor_in_mu(holder.mean_variance(holder.chain(0.0, b)))
                yield _over("designed-one-week", 1.025, limit, chain, at, _up)


_PROVED = {2: 1.16, 4: 1.26}
"""Factors in mu over the best chain that no noise for stays of w weeks exceeds."""
_FOUND = {2: 1.05, 4: 1.07}
"""Factors that some noise exceeds in each game of twelve weeks."""


def stays(_: int) -> Findings:
    """Check the limit for stays of two and four weeks, and a noise found, over the best chain."""
    names, games = {2: "two-weeks", 4: "four-weeks"}, ((12, 1e-6), (30, 1e-3))
    for shares, (rounds, accuracy), stay in itertools.product((FAST, SLOW), games, names):
        for at, holder in _holders(shares, (rounds,), (stay,), _NOISY):
            (design, bound), chain = least_variance(holder, accuracy), _chain(holder)
            limit, found = map(holder.factor_in_mu, (bound, holder.mean_variance(design)))
            yield _over(f"memory-{names[stay]}", _PROVED[stay], limit, chain, at, _up)
            if rounds == 12:
                yield _over(f"left-{names[stay]}", _FOUND[stay], found, chain, at, _down)


def once_a_stay(_: int) -> Findings:
    """Check one report in w weeks, with memory for one week, over the best weekly chain."""
    kinds = ("slow", 1.015, SLOW, _NOISY, _down), ("fast", 0.95, FAST, (0.0566,), _up)
    for name, claimed, shares, levels, rounded in kinds:
        for at, holder in _holders(shares, (12, 30, 60), (2, 4), levels):
            seldom = holder.mean_variance(holder.best_chain(once_a_stay=True))
            factor = holder.factor_in_mu(seldom)
            yield _over(f"once-a-stay-{name}", claimed, factor, _chain(holder), at, rounded)


def _up(factor: float) -> float:
    """Round up to three decimals: a factor that is not exceeded."""
    return math.ceil(1000 * factor) / 1000


def _down(factor: float) -> float:
    """Round down to three decimals: a factor that is reached."""
    return math.floor(1000 * factor) / 1000


def _holders(
    shares: tuple[float, float],
    rounds: tuple[int, ...],
    stays: tuple[int, ...],
    levels: tuple[float, ...],
) -> Iterator[tuple[At, Holder]]:
    process, persistence = shares
    for T, stay, level in itertools.product(rounds, stays, levels):
        covariance = share_covariance(T, process, persistence)
        at: dict[str, float] = {"rho": persistence, "q": process, "T": T}
        at |= {"w": stay, "sigma": level}
        yield at, Holder(covariance=covariance, level=level, stay=stay)


def _chain(holder: Holder) -> float:
    return holder.factor_in_mu(holder.mean_variance(holder.best_chain()))


def _over(
    name: str,
    claimed: float,
    factor: float,
    chain: float,
    at: At,
    rounded: Callable[[float], float],
) -> Finding:
    """Compare a factor in mu over independent noise with the factor of a chain."""
    numbers = {"factor": rounded(factor), "chain": _down(chain)}
    return Finding(name, claimed, rounded(factor / chain), at=at, numbers=numbers)


CHECKS = (one_week, stays, once_a_stay)
