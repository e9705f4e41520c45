"""Laws of noise on counts, the promises that they keep, and the least noise for each promise.

One person moves a count by 1, in units of the count sensitivity, and is in several releases with
independent noise of one law and one strength e. All releases together are as private as their
privacy losses say. A loss is the log of the ratio of the densities without and with the person.

Smaller moves, and fewer releases, lose less: all laws are symmetric and fall from their middle, and
a release that the person is not in tells nothing. The same holds if later counts depend on earlier
releases (Dong, Roth and Su, "Gaussian Differential Privacy", section 3). Discrete laws are for
counts that are whole.

Numbers are upper bounds, deltas from 1e-50. They are exact to rounding, but for Laplace noise: for
up to 16 releases, mu, and delta at epsilon = 0, are too large by less than 0.01%, any delta from
1e-6 by less than 0.1%.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
import scipy

from dpol.core.randomness import Floats
from dpol.privacy.gaussian_dp import delta_of_epsilon, implied_mu, mu_of_epsilon, pure_epsilon

# Steps of the grid of Laplace losses from 0 to e, for e = 1.
_STEPS = 40
# Probabilities are raised by this part, and are computed more accurately.
_ROUNDING = 1e-12
# Standard deviations of a discrete Gaussian law that are looked at; beyond are 1e-57 of it.
_REACH = 16.0
# Strength from which staircase and discrete Laplace noise decrease no more: exp(-e) has no digits.
_MOST = 600.0


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A promise to a person: mu-GDP if mu is given, else (epsilon, delta)-DP.

    Pure epsilon-DP has delta = 0. With epsilon = 0, an attacker's best guess is right with
    probability (1 + delta) / 2 at most.
    """

    mu: float | None = None
    epsilon: float = 0.0
    delta: float = 0.0


class Law(ABC):
    """Noise on counts; the larger its strength e, the less noise, and the less privacy."""

    @abstractmethod
    def deviation(self, e: float) -> float:
        """Return the standard deviation of the noise, in units of a person's move."""

    @abstractmethod
    def delta(self, epsilon: float, e: float, releases: int) -> float:
        """Return the least delta such that the releases are (epsilon, delta)-DP together."""

    @abstractmethod
    def mu(self, e: float, releases: int) -> float:
        """Return the least mu such that the releases are mu-GDP together; inf if none is."""

    @abstractmethod
    def largest(self, promise: Promise, releases: int) -> float:
        """Return the largest e with which the releases keep the promise; 0 if no noise does."""


@dataclass(frozen=True)
class Gaussian(Law):
    """Gaussian noise of standard deviation 1 / e."""

    def deviation(self, e: float) -> float:
        return 1 / e

    def delta(self, epsilon: float, e: float, releases: int) -> float:
        return float(delta_of_epsilon(epsilon, self.mu(e, releases)))

    def mu(self, e: float, releases: int) -> float:
        return e * math.sqrt(releases)

    def largest(self, promise: Promise, releases: int) -> float:
        mu = promise.mu
        if mu is None:
            mu = mu_of_epsilon(promise.epsilon, promise.delta) if promise.delta else 0.0
        return mu / math.sqrt(releases)


@dataclass(frozen=True)
class Uniform(Law):
    """Uniform noise on an interval of length 1 / e.

    A release gives the person away for certain with probability e, and says nothing otherwise.
    """

    def deviation(self, e: float) -> float:
        return 1 / (math.sqrt(12) * e)

    def delta(self, epsilon: float, e: float, releases: int) -> float:
        return -math.expm1(releases * math.log1p(-e))

    def mu(self, e: float, releases: int) -> float:
        return math.inf

    def largest(self, promise: Promise, releases: int) -> float:
        return -math.expm1(math.log1p(-promise.delta) / releases)


@dataclass(frozen=True)
class Latticed(Law):
    """Noise whose losses lie on a lattice, by the distribution of their sum.

    Args:
        standard_deviation: maps e to the standard deviation.
        losses: maps e and a number of releases to the step of the lattice, the masses of their
            losses, in order and centred at 0, without the factor exp(loss / 2 + c), and c. Then a
            loss and its negative have the same mass. All masses are positive, so sums of products
            keep the digits of tails, which Fourier transforms lose.
        pure: whether a release is e-DP.
    """

    standard_deviation: Callable[[float], float]
    losses: Callable[[float, int], _Losses]
    pure: bool = True

    def deviation(self, e: float) -> float:
        return self.standard_deviation(e)

    def _distribution(self, e: float, releases: int) -> tuple[Floats, Floats]:
        """Return the losses of all releases, in order, and their log probabilities."""
        step, masses, constant = self.losses(e, releases)
        losses = step * (np.arange(len(masses), dtype=float) - (len(masses) - 1) / 2)
        logs = np.log(np.maximum(masses, 1e-320)) + constant + losses / 2
        return losses, logs.astype(float)

    def delta(self, epsilon: float, e: float, releases: int) -> float:
        losses, logs = self._distribution(e, releases)
        over = losses > epsilon
        return float(np.exp(logs[over] + _ROUNDING) @ -np.expm1(epsilon - losses[over]))

    def mu(self, e: float, releases: int) -> float:
        """Return mu. From 13 on digits run out, and it is at most that of pure epsilon-DP."""
        pure = implied_mu(releases * e) if self.pure else math.inf
        if math.isinf(e):
            return math.inf
        # The trade-off curve is linear between the tests "the loss is at least x", and Gaussian
        # curves are convex: only these tests count. By symmetry those with x > 0 are enough.
        losses, logs = self._distribution(e, releases)
        right = np.minimum(np.logaddexp.accumulate(logs[::-1])[::-1] + _ROUNDING, 0.0)
        wrong = np.logaddexp.accumulate(logs)[::-1]
        known = (losses > 0) & (right > (-600 if self.pure else -60))
        right, wrong = right[known], wrong[known]
        if self.pure:
            # Tests beyond those known are right with some p, and wrong with p exp(-k e) at least.
            # The mu of such a pair grows with p, which is larger at the last test known.
            right, wrong = np.append(right, right[-1]), np.append(wrong, right[-1] - releases * e)
        quantiles = scipy.special.ndtri_exp(np.stack([right, wrong]))
        return min(pure, float((quantiles[0] - quantiles[1]).max()))

    def largest(self, promise: Promise, releases: int) -> float:
        return _largest(self, promise, releases)


@cache
def _largest(law: Latticed, promise: Promise, releases: int) -> float:
    def kept(e: float) -> bool:
        if promise.mu is not None:
            return law.mu(e, releases) <= promise.mu
        return law.delta(promise.epsilon, e, releases) <= promise.delta

    if promise.mu is None and promise.delta == 0:
        return promise.epsilon / releases if law.pure else 0.0
    mu = GAUSSIAN.largest(promise, 1)
    low = pure_epsilon(mu) / releases if law.pure else mu / (2 * math.sqrt(releases) + mu)
    high = 2 * low
    while high < math.inf and kept(high):
        low, high = high, 2 * high
    while low < high * (1 - 1e-10):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if kept(middle) else (low, middle)
    return low


_Losses = tuple[float, Floats, float]


def _composed(step: float, one: Floats, constant: float, releases: int) -> _Losses:
    """Return the losses of several releases from those of one, see `Latticed`."""
    total = one.sum()
    masses = reduce(np.convolve, [one / total] * releases)
    return step, masses, releases * (math.log(total) + constant)


def _laplace(e: float, releases: int) -> _Losses:
    """Return the losses of Laplace noise of scale 1 / e.

    The loss of one release is e with probability 1/2, -e with probability exp(-e) / 2, and has
    density exp((loss - e) / 2) / 4 between. A loss between two points of the grid becomes one of
    the two, at random, so that both points keep their likelihood ratios. The loss could be drawn
    from the point, so points reveal more.
    """
    steps = math.ceil(min(_STEPS * max(math.sqrt(e), e), 1000))
    shared = math.tanh(e / steps / 4)
    one = np.full(2 * steps + 1, shared)
    one[[0, -1]] = (1 + shared) / 2
    return _composed(e / steps, one, -e / 2, releases)


def _staircase(e: float, releases: int) -> _Losses:
    """Return the losses of the `staircase`: e, 0 or -e, because a move of 1 meets one step."""
    e = min(e, _MOST)
    root, third = math.exp(-e / 2), math.cosh(e / 2) ** (1 / 3)
    ends = 1 - root / (2 * third)
    return _composed(e, np.array([ends, root * (third**2 - 1), ends]), -e / 2, releases)


def _staircase_deviation(e: float) -> float:
    if e == math.inf:
        return 0.0
    half = min(e, _MOST) / 2
    return math.sqrt(1 + math.cosh(half) ** (2 / 3)) / (2 * math.sinh(half))


def staircase(e: float, exponentials: Floats) -> Floats:
    """Return staircase noise of strength e from standard Laplace draws of any shape; 0 at infinity.

    The density is flat on [0, gamma) and falls by exp(-e) at gamma, gamma + 1, gamma + 2, ... on
    both sides. Source: Geng and Viswanath, "The Optimal Noise-Adding Mechanism in Differential
    Privacy" (2016); of all e-DP noises it has the least variance. For the variance the best width
    is gamma = (g - b) / (1 - b) with b = exp(-e), g^3 = b (1 + b) / 2, and the variance is then
    (b + g^2) / (1 - b)^2.
    """
    if e == math.inf:
        return np.zeros_like(exponentials)
    e = min(e, _MOST)
    b = math.exp(-e)
    g = (b * (1 + b) / 2) ** (1 / 3)
    gamma = (g - b) / (1 - b)
    # An exponential number is a geometric one and a part that is independent of it.
    size = np.abs(exponentials) / e
    whole = np.floor(size)
    part = g * -np.expm1(-e * (size - whole)) / (1 - b)  # uniform on [0, g)
    within = np.where(part < gamma, part, gamma + (part - gamma) / b)
    return np.asarray(np.copysign(whole + within, exponentials))


def _discrete_laplace(e: float, releases: int) -> _Losses:
    e = min(e, _MOST)
    return _composed(e, np.array([1.0, 0.0, 1.0]) / (1 + math.exp(-e)), -e / 2, releases)


def _discrete_gaussian(e: float, releases: int) -> _Losses:
    """Return the losses (1 - 2 x) e^2 / 2 of whole numbers x with weights exp(-x^2 e^2 / 2).

    For scales from 2 the sum of several is again such a number, to rounding.
    """
    count = releases if e <= 1 / 2 else 1
    far = math.ceil(_REACH * math.sqrt(count) / e) + count / 2
    places = np.arange(-far, far + 0.5)  # their distance from the middle between both laws
    masses = np.exp(-((places * e) ** 2) / (2 * count))
    constant = -math.log(masses @ np.exp(places * e**2 / 2))
    return _composed(e**2, masses, constant, releases // count)


def _discrete_gaussian_deviation(e: float) -> float:
    far = math.ceil(_REACH / e)
    x = np.arange(-far, far + 1)
    weights = np.exp(-((x * e) ** 2) / 2)
    return math.sqrt(weights @ x**2 / weights.sum())


GAUSSIAN, UNIFORM = Gaussian(), Uniform()
LAPLACE = Latticed(lambda e: math.sqrt(2) / e, _laplace)
STAIRCASE = Latticed(_staircase_deviation, _staircase)
DISCRETE_LAPLACE = Latticed(
    lambda e: 1 / (math.sqrt(2) * math.sinh(min(e, _MOST) / 2)), _discrete_laplace
)
DISCRETE_GAUSSIAN = Latticed(_discrete_gaussian_deviation, _discrete_gaussian, pure=False)
LAWS = {
    "Gaussian": GAUSSIAN,
    "discrete Gaussian": DISCRETE_GAUSSIAN,
    "Laplace": LAPLACE,
    "staircase": STAIRCASE,
    "discrete Laplace": DISCRETE_LAPLACE,
    "uniform": UNIFORM,
}
"""Laws by name."""
