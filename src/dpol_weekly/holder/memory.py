"""Noise with memory on counts, exact to the last digit: a later count takes back part of the noise.

A chain is the releases of one entity, in the order of their periods. All is in steps. The noise of
a release is n = r(u) + z: u is a fraction that the chain remembers, 0 at its start, r rounds half
up, and z is a fresh discrete Gaussian of scale k. Then u becomes b u + (a - b) n. Without rounding
that is the noise of `dpol.privacy.chains`.

Guarantee, for people who are counted in up to W periods in a row: moving one between entities is
mu-GDP, adding or removing one mu / sqrt(2)-GDP. Proof: look at one entity and two tables, whose
rounded counts differ by at most S steps in v of the W periods (`dpol_weekly.holder.noise`). Given
what was released, n differs between the two by the differences of the counts, so u - u' is known
from
these: u is fed with n, and in exact fractions. So the centre of the next release, count + r(u),
moves by the entry of C x that the differences x make, plus r(u) - r(u') - (u - u'), less than a
step. That error depends on the past, so the releases are composed adaptively (Smith and Thakurta,
"Fully Adaptive Composition for Gaussian Differential Privacy"): a centre that moves by m steps is
m / (k - 1)-GDP (`dpol.privacy.noise`), and the squares add up. By the triangle
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
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from dpol.core.errors import DataError
from dpol.privacy.chains import designed, squared_norm
from dpol.privacy.noise import NoiseSampler
from dpol_weekly.holder import chains
from dpol_weekly.holder.chains import Chain, ChainTerms
from dpol_weekly.holder.entries import Output, Place
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.noise import Count, CountNoise, decimal_text

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


def draw_noise(
    ledger: Ledger,
    output: Output,
    rows: Sequence[tuple[Place, Count]],
    noise: CountNoise,
    memory: Memory,
    sampler: NoiseSampler,
) -> list[tuple[int, float, int]]:
    """Noise for rows in the order of their periods, its deviation, and the chain's number.

    The chains go on in the ledger. A new one begins where an entity has none yet, the last one has
    other terms or is complete, or has released this period or a later one.
    """
    terms = _terms(ledger, output, rows, noise, memory)
    needed = Counter(terms[place.entity].scale for place, _ in rows)
    draws = {scale: iter(sampler.discrete_gaussian(scale, n)) for scale, n in needed.items()}
    live = {entity: chains.live_chain(ledger, output, entity) for entity in terms}
    drawn = []
    for place, _ in rows:
        wanted, chain = terms[place.entity], live[place.entity]
        if chain is None or not _goes_on(chain, wanted, place.period):
            chain = chains.add_chain(ledger, output, place.entity, wanted)
        deviation = chain.terms.standard_deviation_after(chain.releases)
        value, chain = released(chain, place.period, next(draws[wanted.scale]))
        live[place.entity] = chain
        drawn.append((value, deviation, chain.number))
    for chain in filter(None, live.values()):
        chains.keep_state(ledger, chain)
    return drawn


def released(chain: Chain, period: str, draw: int) -> tuple[int, Chain]:
    """The noise of the next release of a chain, from a fresh draw, and the chain after it."""
    a, b = Fraction(chain.terms.a), Fraction(chain.terms.b)
    value = math.floor(chain.u + Fraction(1, 2)) + draw
    u = b * chain.u + (a - b) * value
    return value, chain._replace(u=u, last=period, releases=chain.releases + 1)


def numbers_of(
    noise: CountNoise, memory: Memory, capacities: Sequence[float]
) -> list[tuple[Decimal, Decimal]]:
    """(a, b) of entities with these first capacities: given, or designed."""
    if memory.numbers:
        return [memory.numbers] * len(capacities)
    deviation = math.sqrt(2) * float(noise.count_sensitivity / noise.mu)
    best = designed(deviation / np.array(capacities), memory.unit_weeks).b
    return [(Decimal(0), round(Decimal(b), 2)) for b in best.tolist()]


def terms_of(noise: CountNoise, numbers: tuple[Decimal, Decimal], memory: Memory) -> ChainTerms:
    """The public terms of a chain with the numbers (a, b)."""
    a, b = map(Fraction, numbers)
    weeks, periods = memory.unit_weeks, memory.chain_periods
    errors = weeks * periods if a != b else 0  # u stays 0 otherwise
    scale = noise.scale_with_memory(squared_norm(a, b, weeks), errors)
    shown, mu = [decimal_text(number) for number in numbers], decimal_text(noise.mu)
    return ChainTerms(shown[0], shown[1], weeks, periods, mu, noise.decimals, scale)


def stated_terms(noise: CountNoise, part: Mapping[str, Any]) -> ChainTerms:
    """The public terms of a chain, as a record states them.

    Raises:
        DataError: that does not fit the noise.
        LookupError, TypeError, ValueError, ArithmeticError: it is damaged.
    """
    numbers = Decimal(str(part["a"])), Decimal(str(part["b"]))
    terms = _expected(noise, numbers, int(part["unit_weeks"]), int(part["chain_periods"]))
    if (int(part["scale"]), int(part["decimals"])) != (terms.scale, terms.decimals):
        raise DataError("the scale of its noise, in the record, does not fit mu and memory")
    return terms


@cache
def _expected(
    noise: CountNoise, numbers: tuple[Decimal, Decimal], weeks: int, periods: int
) -> ChainTerms:
    return terms_of(noise, numbers, Memory(numbers, weeks, periods))


def _terms(
    ledger: Ledger,
    output: Output,
    rows: Sequence[tuple[Place, Count]],
    noise: CountNoise,
    memory: Memory,
) -> dict[int, ChainTerms]:
    """The terms of each entity."""
    first = {place.entity: count.capacity for place, count in reversed(rows)}
    if memory.numbers:
        return dict.fromkeys(first, terms_of(noise, memory.numbers, memory))
    capacity = [float(chains.first_capacity(ledger, output, it) or first[it] or 0) for it in first]
    found = numbers_of(noise, memory, capacity)
    return {it: terms_of(noise, own, memory) for it, own in zip(first, found, strict=True)}


def _goes_on(chain: Chain, terms: ChainTerms, period: str) -> bool:
    return chain.terms == terms and chain.last < period and chain.releases < terms.chain_periods
