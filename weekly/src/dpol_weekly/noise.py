"""Noise on counts of people, exact to the last digit.

Everything is decimal text and integers; no count is ever a floating-point number. Counts are
rounded half up to a grid of step 10^-m, and discrete Gaussian noise on that grid is added.

Guarantee: moving one person between two entities is mu-GDP, adding or removing one person at one
entity mu / sqrt(2)-GDP. Proof: let one person move a count by at most s = S steps, S an integer.
Rounding half up is monotone and commutes with whole steps, so a <= b <= a + S implies
round(a) <= round(b) <= round(a) + S: rounded counts move by at most S steps too. The noise has the
integer scale k >= sqrt(2) S / mu + 1, so each of the two counts is S / (k - 1) <= mu / sqrt(2)-GDP
(`dpol.noise.keyed`), and their noises are independent: together mu. A person who moves a count
by s' >= s, as another agreement may say, has mu s' / s: s' is a whole number of steps too. The
step depends on mu and s only. What follows (decimal text, division by the capacity) is
post-processing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

_FINEST = 2**20  # The scale is at least this many steps: the grid is far finer than the noise.
DECIMALS = 6  # Of a count sensitivity, at most: each is a whole number of steps on any grid.


@dataclass(frozen=True)
class CountNoise:
    """Noise on counts, N(0, 2 s^2 / mu^2), the basis of `capacity` noise.

    Args:
        mu: Gaussian-DP parameter for one person in one period, from 0.001 to 100.
        count_sensitivity: s, how far one person can move one count, from 0.001 to 1000 with at
            most 6 decimals. The agreement sees to both.

    >>> noise = CountNoise(Decimal("0.5"))
    >>> noise.decimals, noise.scale, noise.standard_deviation
    (6, 2828429, 2.828429)
    """

    mu: Decimal
    count_sensitivity: Decimal = Decimal(1)

    @cached_property
    def decimals(self) -> int:
        """m: the grid has steps of 10^-m people."""
        m = DECIMALS
        while self._variance(m) < _FINEST**2:
            m += 1
        return m

    @cached_property
    def scale(self) -> int:
        """k in steps: the smallest integer that is at least sqrt(2) S / mu + 1."""
        return math.isqrt(math.ceil(self._variance(self.decimals)) - 1) + 2

    @property
    def standard_deviation(self) -> float:
        """Standard deviation of the noise, in people."""
        return float(Fraction(self.scale, 10**self.decimals))

    def _variance(self, decimals: int) -> Fraction:
        deviation = Fraction(self.count_sensitivity) * 10**decimals / Fraction(self.mu)
        variance: Fraction = 2 * deviation * deviation
        return variance


def in_steps(number: str, decimals: int) -> int:
    """Return decimal text in steps of 10^-decimals, rounded half up, exactly.

    >>> in_steps("3.4", 6), in_steps("0.25", 1), in_steps("7", 0)
    (3400000, 3, 7)
    """
    whole, _, part = number.partition(".")
    denominator: int = 10 ** len(part)
    steps: int = (2 * int(whole + part) * 10**decimals + denominator) // (2 * denominator)
    return steps


def decimal_text(number: Decimal) -> str:
    """Return a number without an exponent and without trailing zeros."""
    return f"{number.normalize():f}"
