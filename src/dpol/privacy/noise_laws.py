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
part in 1e12. At mu = 1e-6 it makes Laplace noise 0.0006% (16 releases) to 0.005% (208) too large,
at 1e-8 0.06% to 0.5%, and at 1e-12 1.6 times (2) to 18 times (208).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from dpol.core.arguments import check_number, check_whole
from dpol.privacy.losses import (
    NOTHING_KEPT,
    Draw,
    Loss,
    Promise,
    gaussian_for,
    largest,
    one_draw,
)

# Strength from which no noise is told from none.
_LARGEST = 1e300


@dataclass(frozen=True, kw_only=True)
class Law:
    """Noise on counts; the larger its strength e, the smaller the noise, and the weaker privacy.

    Args:
        name: name in noises and records.
        deviation_of_one: standard deviation for e = 1, in units of a person's move.
        loss_of: maps e to the loss of one release.
        largest_of: maps a promise and a number of releases to `largest`, where a formula is known.
    """

    name: str
    deviation_of_one: float
    loss_of: Callable[[float], Loss]
    largest_of: Callable[[Promise, int], float] | None = None

    @property
    def words(self) -> str:
        """The noise in words, for a record: `Laplace noise`."""
        return f"{self.name} noise"

    def deviation(self, e: float) -> float:
        """Return the standard deviation of the noise, in units of a person's move."""
        return self.deviation_of_one / _strength(e)

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


def _strength(e: float) -> float:
    return check_number("e", e, "(0, inf]")


GAUSSIAN = Law(
    name="Gaussian",
    deviation_of_one=1.0,
    loss_of=lambda e: Loss(gaussian=e),
    largest_of=lambda promise, releases: gaussian_for(promise) / math.sqrt(releases),
)
LAPLACE = Law(
    name="Laplace",
    deviation_of_one=math.sqrt(2),
    loss_of=_laplace,
)
LAWS = {law.name: law for law in (GAUSSIAN, LAPLACE)}
"""The laws that dpol draws, by name."""
