"""Laws of noise on counts, the promises that they keep, and the smallest noise for each promise.

One person moves a count by 1, in units of the count sensitivity, and is in several releases with
independent noise of one law and one strength e. All releases together are as private as their
privacy losses say. A loss is the log of the ratio of the densities without and with the person.

Smaller moves, and fewer releases, lose less: all laws are symmetric and fall from their middle, and
a release that the person is not in tells nothing. The same holds if later counts depend on earlier
releases (Dong, Roth and Su, "Gaussian Differential Privacy", section 3).

Numbers are upper bounds, deltas from 1e-300. They are exact to rounding, but for Laplace noise: for
up to 16 releases and mu from 1e-6 to 100, mu, and delta at epsilon = 0, are too large by less than
0.01%, any delta from 1e-6 by less than 0.1%. Below, rounding shows: probabilities are right to a
part in 1e12. At mu = 1e-6 it makes Laplace and staircase noise 0.0006% (16 releases) to 0.005%
(208) too large, at 1e-8 0.06% to 0.5%, and at 1e-12 1.6 times (2) to 18 times (208).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import root
from dpol.privacy.losses import (
    NOTHING_KEPT,
    Draw,
    Loss,
    Promise,
    gaussian_for,
    largest,
    one_draw,
)

# Strength from which staircase noise decreases no more: exp(-e) has no digits.
_MOST = 600.0
# Strength from which no noise is told from none.
_LARGEST = 1e300


@dataclass(frozen=True, kw_only=True)
class Law:
    """Noise on counts; the larger its strength e, the smaller the noise, and the weaker privacy.

    Args:
        name: name in tables, and of its curve in figures.
        deviation_of: maps e to the standard deviation, in units of a person's move.
        loss_of: maps e to the loss of one release.
        noise_of: maps e and standard Laplace draws to noise, in units of a person's move; None for
            Gaussian noise.
        largest_of: maps a promise and a number of releases to `largest`, where a formula is known.
    """

    name: str
    deviation_of: Callable[[float], float]
    loss_of: Callable[[float], Loss]
    noise_of: Callable[[float, Floats], Floats] | None = None
    largest_of: Callable[[Promise, int], float] | None = None

    @property
    def words(self) -> str:
        """The noise in words, for a record: `Laplace noise`."""
        return f"{self.name} noise"

    def deviation(self, e: float) -> float:
        """Return the standard deviation of the noise, in units of a person's move."""
        return self.deviation_of(_strength(e))

    def strength(self, deviation: float) -> float:
        """Return the smallest e whose noise has a standard deviation; inf if it is too small."""
        if deviation < self.deviation_of(_LARGEST) * (1 - 1e-9):
            return math.inf

        def below(log_e: float) -> float:
            return deviation / self.deviation_of(math.exp(log_e)) * (1 + 1e-11) - 1

        high = math.log(_LARGEST)
        return math.exp(root(below, -high, high)) if below(high) > 0 else _LARGEST

    def loss(self, e: float, releases: int) -> Loss:
        """Return the loss of all releases; those without a number for e = inf reveal all."""
        check_whole("releases", releases)
        e = _strength(e)
        return NOTHING_KEPT if e > _LARGEST else self.loss_of(e).times(releases)

    def largest(self, promise: Promise, releases: int) -> float:
        """Return an e that keeps the promise, hardly too small; 0 if no noise does.

        Raises:
            ValueError: mu is so large that its noise cannot be told from none.
        """
        check_whole("releases", releases)
        return (self.largest_of or partial(_largest, self))(promise, releases)


@cache
def _largest(law: Law, promise: Promise, releases: int) -> float:
    return largest(partial(law.loss, releases=releases), promise)


def _laplace(e: float) -> Loss:
    """Return the loss of Laplace noise of scale 1 / e.

    It is e with probability 1/2, -e with probability exp(-e) / 2, and has density
    exp((loss - e) / 2) / 4 between.
    """
    return one_draw(Draw(e=e, ends=-math.log(2), between=-math.log(4)))


def _staircase(e: float) -> Loss:
    """Return the loss of the `staircase`: e, 0 or -e, because a move of 1 meets one step."""
    # The log of cosh(e / 2), to all digits for small and for large e.
    small = math.log1p(2 * math.sinh(min(e, 1) / 4) ** 2)
    cosh = small if e < 1 else e / 2 + math.log1p(math.exp(-e)) - math.log(2)
    ends = math.log1p(-math.exp(-e / 2 - cosh / 3) / 2)
    # The log of 1 - cosh(e / 2)^(-2/3); e^2 has no digits for e below 1e-160.
    nothing = math.log(-math.expm1(-2 / 3 * cosh)) if e > 1e-8 else 2 * math.log(e) - math.log(12)
    return one_draw(Draw(e=e, ends=ends, middle=2 / 3 * cosh - e / 2 + nothing))


def _staircase_deviation(e: float) -> float:
    if e == math.inf:
        return 0.0
    half = min(e, _MOST) / 2
    return math.sqrt(1 + math.cosh(half) ** (2 / 3)) / (2 * math.sinh(half))


def staircase(e: float, exponentials: Floats) -> Floats:
    """Return staircase noise of strength e from standard Laplace draws of any shape; 0 at infinity.

    The density is flat on [0, gamma) and falls by exp(-e) at gamma, gamma + 1, gamma + 2, ... on
    both sides. Source: Geng and Viswanath, "The Optimal Noise-Adding Mechanism in Differential
    Privacy" (2016); of all e-DP noises it has the smallest variance. For the variance the best
    width is gamma = (g - b) / (1 - b) with b = exp(-e), g^3 = b (1 + b) / 2, and the variance is
    then (b + g^2) / (1 - b)^2.

    Draws are for experiments: from strength 37 on, numbers of 53 bits never leave the first step.
    """
    if e == math.inf:
        return np.zeros_like(exponentials)
    e = min(_strength(e), _MOST)
    b = math.exp(-e)
    g = (b * (1 + b) / 2) ** (1 / 3)
    gamma = (g - b) / (1 - b)
    # An exponential number is a geometric one and a part that is independent of it.
    size = np.abs(exponentials) / e
    whole = np.floor(size)
    part = g * -np.expm1(-e * (size - whole)) / (1 - b)  # uniform on [0, g)
    within = np.where(part < gamma, part, gamma + (part - gamma) / b)
    return np.asarray(np.copysign(whole + within, exponentials))


def _strength(e: float) -> float:
    return check_number("e", e, "(0, inf]")


GAUSSIAN = Law(
    name="Gaussian",
    deviation_of=lambda e: 1 / e,
    loss_of=lambda e: Loss(gaussian=e),
    largest_of=lambda promise, releases: gaussian_for(promise) / math.sqrt(releases),
)
LAPLACE = Law(
    name="Laplace",
    deviation_of=lambda e: math.sqrt(2) / e,
    loss_of=_laplace,
    noise_of=lambda e, draws: draws / e,
)
STAIRCASE = Law(
    name="staircase",
    deviation_of=_staircase_deviation,
    loss_of=_staircase,
    noise_of=staircase,
)
LAWS = {law.name: law for law in (GAUSSIAN, LAPLACE, STAIRCASE)}
"""The laws that dpol draws, by name."""
