"""Noise with memory on counts, exact to the last digit: a later count takes back part of the noise.

A chain is the releases of one entity, in the order of their periods. All is in steps. The noise of
a release is n = r(u) + z: u is a fraction that the chain remembers, 0 at its start, r rounds half
up, and z is a fresh discrete Gaussian of scale k. Then u becomes b u + (a - b) n. Without rounding
that is the noise of `dpol.privacy.chains`.

Guarantee, for people who are counted in up to W periods in a row: moving one between entities is
mu-GDP, adding or removing one mu / sqrt(2)-GDP. Proof: look at one entity and two tables, whose
rounded counts differ by at most S steps in v of the W periods (`dpol_weekly.noise`). Given what
was released, n differs between the two by the differences of the counts, so u - u' is known from
these: u is fed with n, and in exact fractions. So the centre of the next release, count + r(u),
moves by the entry of C x that the differences x make, plus r(u) - r(u') - (u - u'), less than a
step. That error depends on the past, so the releases are composed adaptively (Smith and Thakurta,
"Fully Adaptive Composition for Gaussian Differential Privacy"): a centre that moves by m steps is
m / (k - 1)-GDP (`dpol_weekly.sampler`), and the squares add up. By the triangle
inequality their root is at most (S N_v + the root of the number of errors) / (k - 1).

One person may touch several entities, and several chains of each, with v periods in one of them. At
most T - 1 releases of a chain have errors. The lags of C'C do not grow and are not negative (where
W is 1 they do not matter), so N_v^2 / v does not fall with v, and the square of that root is at
most v / W times that of (S N_W + sqrt(W T)) / (k - 1). So it is at most (v / W) mu^2 / 2, as k is
at least sqrt(2) (S N_W + sqrt(W T)) / mu + 1. In each period one person moves at most two counts:
the v of all chains sum to at most 2 W, and the squares to mu^2. So a chain may end at any time. A
period that is released again is in a chain again and counts again, as without memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpol.core.errors import DataError
from dpol.privacy.chains import chain_growth, designed, squared_norm
from dpol_weekly.noise import CountNoise, decimal_text

_MOST_WEEKS, _MOST_PERIODS = 52, 2000  # The state grows by up to two digits in each period.


@dataclass(frozen=True)
class Memory:
    """The memory of the noise for that of earlier periods, and the unit of privacy.

    Args:
        numbers: (a, b), above -1 and below 1 with at most two decimals; equal: independent noise.
            None: designed, a = 0 and for each entity the b that is best at its first capacity in
            the output, see `dpol.privacy.chains.designed`.
        unit_weeks: W, in how many periods in a row one person may be counted, from 1 to 52.
        chain_periods: T, the most releases of one chain, from 1 to 2000; then a new one begins.

    Raises:
        DataError: a number is out of range, or b is below a or 0 where W is above 1.
    """

    numbers: tuple[Decimal, Decimal] | None
    unit_weeks: int = 1
    chain_periods: int = 520

    def __post_init__(self) -> None:
        if not 1 <= self.unit_weeks <= _MOST_WEEKS:
            raise DataError(f"the unit must be 1 to {_MOST_WEEKS} weeks, got {self.unit_weeks}")
        if not 1 <= self.chain_periods <= _MOST_PERIODS:
            raise DataError(
                f"a chain must be of 1 to {_MOST_PERIODS} periods, got {self.chain_periods}"
            )
        a, b = self.numbers or (Decimal(0), Decimal(0))
        for number in (a, b):
            if not (number.is_finite() and abs(number) < 1 and number % Decimal("0.01") == 0):
                raise DataError(
                    "the numbers of a memory must lie between -1 and 1, with at most 2 decimals,"
                    f" got {number}"
                )
        if self.unit_weeks > 1 and b < max(a, Decimal(0)):
            raise DataError(
                "the second number of a memory must be at least the first one and at least 0 where"
                " a person may be counted in more than one week: otherwise a person who changes"
                " hospital during a stay is not protected"
            )


class ChainTerms(NamedTuple):
    """The public terms of a chain.

    Args:
        a: of the memory, decimal text.
        b: likewise.
        unit_weeks: in how many periods in a row one person may be counted.
        chain_periods: the most releases of the chain.
        mu: of a person of that unit, decimal text.
        decimals: the noise has steps of 10^-decimals people.
        scale: of the fresh noise, in steps.
    """

    a: str
    b: str
    unit_weeks: int
    chain_periods: int
    mu: str
    decimals: int
    scale: int

    @property
    def standard_deviation(self) -> float:
        """Deviation of all noise on a count, in people, in the long run; at first it is less."""
        return self.standard_deviation_after(math.inf)

    def standard_deviation_after(self, releases: float) -> float:
        """Deviation of the noise on the count after so many releases of the chain, taken alone."""
        growth = chain_growth(float(self.a), float(self.b), releases)
        return float(self.scale / 10.0**self.decimals * growth)


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A chain that may go on.

    Args:
        number: in the ledger.
        terms: what is public of it.
        u: its secret state: what is remembered, in steps.
        last: the period that it released last; empty if none yet.
        releases: how many it made.
    """

    number: int
    terms: ChainTerms
    u: Fraction = Fraction(0)
    last: str = ""
    releases: int = 0


def released(chain: Chain, period: str, draw: int) -> tuple[int, Chain]:
    """The noise of the next release of a chain, from a fresh draw, and the chain after it."""
    a, b = Fraction(chain.terms.a), Fraction(chain.terms.b)
    value = math.floor(chain.u + Fraction(1, 2)) + draw
    u = b * chain.u + (a - b) * value
    return value, replace(chain, u=u, last=period, releases=chain.releases + 1)


def numbers_of(
    noise: CountNoise, memory: Memory, capacities: Sequence[float]
) -> list[tuple[Decimal, Decimal]]:
    """(a, b) of entities with these first capacities: given, or designed."""
    if memory.numbers:
        return [memory.numbers] * len(capacities)
    deviation = math.sqrt(2) * float(noise.count_sensitivity / noise.mu)
    best = designed(deviation / np.array(capacities), memory.unit_weeks).b
    return [(Decimal(0), round(Decimal(b), 2)) for b in best.tolist()]


@cache
def terms_of(noise: CountNoise, numbers: tuple[Decimal, Decimal], memory: Memory) -> ChainTerms:
    """The public terms of a chain with the numbers (a, b)."""
    a, b = map(Fraction, numbers)
    weeks, periods = memory.unit_weeks, memory.chain_periods
    errors = weeks * periods if a != b else 0  # u stays 0 otherwise
    scale = noise.scale_with_memory(squared_norm(a, b, weeks), errors)
    return ChainTerms(
        a=decimal_text(numbers[0]),
        b=decimal_text(numbers[1]),
        unit_weeks=weeks,
        chain_periods=periods,
        mu=decimal_text(noise.mu),
        decimals=noise.decimals,
        scale=scale,
    )


def stated_terms(noise: CountNoise, part: Mapping[str, Any]) -> ChainTerms:
    """The public terms of a chain, as a record states them.

    Raises:
        DataError: that does not fit the noise.
        LookupError, TypeError, ValueError, ArithmeticError: it is damaged.
    """
    numbers = Decimal(str(part["a"])), Decimal(str(part["b"]))
    memory = Memory(numbers, int(part["unit_weeks"]), int(part["chain_periods"]))
    terms = terms_of(noise, numbers, memory)
    if (int(part["scale"]), int(part["decimals"])) != (terms.scale, terms.decimals):
        raise DataError("the scale of its noise, in the record, does not fit mu and memory")
    return terms


def growth(memories: Iterable[tuple[Fraction, Fraction, int]], periods: int) -> float:
    """Growth of mu for a person counted in so many periods, in a row or not, at most.

    Args:
        memories: (a, b) of the noise, and in how many periods in a row mu protects a person.
        periods: their number.
    """
    return math.sqrt(max(squared_growth(memory, periods) for memory in memories))


@cache
def squared_growth(memory: tuple[Fraction, Fraction, int], periods: int) -> Fraction:
    """The square of `growth` for one memory, exact."""
    a, b, weeks = memory
    norms = squared_norm(a, b, periods) / squared_norm(a, b, weeks)
    # For stays shorter than the unit, the errors by rounding shrink no faster than this.
    return max(norms, Fraction(periods, weeks))


def row_weight(mu: Fraction, memory: tuple[Fraction, Fraction, int], most: int) -> Fraction:
    """A bound on what a row adds to a stay's squared mu, for one of the two entities it moves.

    Args:
        mu: of the row.
        memory: (a, b) of its chain and the unit.
        most: how many rows of the chain a stay may touch.
    """
    return mu**2 / 2 * squared_growth(memory, most) / most


def budget_of_period(budget_mu: Fraction, longest_stay: int) -> Fraction:
    """The most that one entity may spend in one period, in weights of rows: budget^2 / (2 L).

    See `dpol_weekly.holder.ceiling`.

    Args:
        budget_mu: the ceiling of the mu of a person of the longest stay.
        longest_stay: L, in periods.
    """
    return budget_mu**2 / (2 * longest_stay)
