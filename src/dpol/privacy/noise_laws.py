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
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
import scipy

from dpol.core.arguments import check_number, check_whole
from dpol.core.randomness import Floats
from dpol.privacy.composition import log_masses, places
from dpol.privacy.gaussian_dp import delta_of_epsilon, implied_mu, mu_of_epsilon, pure_epsilon, root

# Steps of the grid of Laplace losses from 0 to e, for e = 1.
_STEPS = 40
# Bounds on the relative error of a probability: of its sum, and of each release and each unit of
# its logarithm.
_ROUNDING, _OF_LOG = 1e-12, 1e-13
_LEAST_DELTA = 1e-300
# Strength from which staircase noise decreases no more: exp(-e) has no digits.
_MOST = 600.0
# Strength from which no noise is told from none.
_LARGEST = 1e300


@dataclass(frozen=True, kw_only=True)
class Promise:
    """A promise to a person: mu-GDP if mu is given, else (epsilon, delta)-DP; inf promises nothing.

    Pure epsilon-DP has delta = 0. With epsilon = 0, an attacker's best guess is right with
    probability (1 + delta) / 2 at most.

    Raises:
        ValueError: a number is out of range.
    """

    mu: float | None = None
    epsilon: float = 0.0
    delta: float = 0.0

    def __post_init__(self) -> None:
        for name, interval in (("mu", "[0, inf]"), ("epsilon", "[0, inf]"), ("delta", "[0, 1)")):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, check_number(name, value, interval))
        if 0 < self.delta < _LEAST_DELTA:
            raise ValueError(f"delta must be 0 or at least {_LEAST_DELTA:g}, got {self.delta:g}")


@dataclass(frozen=True, kw_only=True)
class Law(ABC):
    """Noise on counts; the larger its strength e, the smaller the noise, and the weaker privacy.

    Args:
        name: name in tables, and of its curve in figures.
        words: the noise in words, for a record: `Laplace noise`.

    Raises:
        ValueError: name or words are empty.
    """

    name: str
    words: str

    def __post_init__(self) -> None:
        if not (self.name.strip() and self.words.strip()):
            raise ValueError(f"a law needs a name and words, got {self.name!r}, {self.words!r}")

    @abstractmethod
    def deviation(self, e: float) -> float:
        """Return the standard deviation of the noise, in units of a person's move."""

    @abstractmethod
    def delta(self, epsilon: float, e: float, releases: int) -> float:
        """Return a nearly tight upper bound on delta of all releases at an epsilon."""

    def guess(self, e: float, releases: int) -> float:
        """Return how often an attacker is right at most about a person who may be in the releases.

        Without the releases it is 1/2.
        """
        return (1 + self.delta(0.0, e, releases)) / 2

    @abstractmethod
    def mu(self, e: float, releases: int) -> float:
        """Return a nearly tight upper bound on mu of all releases; inf if there is none.

        Its Gaussian curve lies below that of the noise, and touches it. Source: Gomez et al.
        (2503.10945), "Gaussian DP for Reporting Differential Privacy Guarantees in Machine
        Learning".
        """

    @abstractmethod
    def excess(self, e: float, releases: int) -> float:
        """Return how many more right guesses `mu` allows an attacker than the noise does, at most.

        It is a difference of probabilities, for the prior that makes it largest; 0 if the noise has
        the curve of its mu. Source: the divergence of Kaissis et al. (2406.08918), "Beyond the
        Calibration Point: Mechanism Comparison in Differential Privacy", in its Bayesian reading.
        """

    @abstractmethod
    def largest(self, promise: Promise, releases: int) -> float:
        """Return an e that keeps the promise, hardly too small; 0 if no noise does.

        Raises:
            ValueError: mu is so large that its noise cannot be told from none.
        """


class Gaussian(Law):
    """Gaussian noise of standard deviation 1 / e."""

    def deviation(self, e: float) -> float:
        return 1 / _strength(e)

    def delta(self, epsilon: float, e: float, releases: int) -> float:
        return float(delta_of_epsilon(epsilon, self.mu(e, releases)))

    def mu(self, e: float, releases: int) -> float:
        return _strength(e) * math.sqrt(check_whole("releases", releases))

    def excess(self, e: float, releases: int) -> float:
        return 0.0

    def largest(self, promise: Promise, releases: int) -> float:
        mu = promise.mu
        if mu is None:
            mu = mu_of_epsilon(promise.epsilon, promise.delta) if promise.delta else 0.0
        return mu / math.sqrt(check_whole("releases", releases))


class Uniform(Law):
    """Uniform noise on an interval of length 1 / e.

    A release gives the person away for certain with probability e, and says nothing otherwise.
    """

    def deviation(self, e: float) -> float:
        return 1 / (math.sqrt(12) * _strength(e))

    def delta(self, epsilon: float, e: float, releases: int) -> float:
        e, releases = min(_strength(e), 1.0), check_whole("releases", releases)
        return -math.expm1(releases * math.log1p(-e)) if e < 1 else 1.0

    def mu(self, e: float, releases: int) -> float:
        return math.inf

    def excess(self, e: float, releases: int) -> float:
        return 1 - self.guess(e, releases)

    def largest(self, promise: Promise, releases: int) -> float:
        return -math.expm1(math.log1p(-promise.delta) / check_whole("releases", releases))


@dataclass(frozen=True, kw_only=True)
class Latticed(Law):
    """Noise whose losses are evenly spaced, by the distribution of their sum; a release is e-DP.

    Args:
        name: as of `Law`.
        words: as of `Law`.
        deviation_of: maps e to the standard deviation.
        losses: maps e to the step between the losses of a release, and to their log masses as
            `log_masses` takes them.
    """

    deviation_of: Callable[[float], float]
    losses: Callable[[float], _Losses]

    def deviation(self, e: float) -> float:
        return self.deviation_of(_strength(e))

    def delta(self, epsilon: float, e: float, releases: int) -> float:
        e, epsilon = _strength(e), check_number("epsilon", epsilon, "[0, inf]")
        if e > _LARGEST:
            return 1.0
        losses, logs, slack = _distribution(self.losses, e, check_whole("releases", releases))
        over = losses > epsilon
        masses = np.exp(np.minimum(logs[over] + slack - _OF_LOG * logs[over], 700.0))
        return min(1.0, float(masses @ -np.expm1(epsilon - losses[over])))

    def mu(self, e: float, releases: int) -> float:
        if (e := _strength(e)) > _LARGEST:
            return math.inf
        # The trade-off curve is linear between the tests "the loss is at least x", and Gaussian
        # curves are convex: only these tests count. By symmetry those with x > 0 are enough.
        losses, logs, slack = _distribution(self.losses, e, check_whole("releases", releases))
        tests = np.flatnonzero(losses > 0)
        power = np.logaddexp.accumulate(logs[::-1])[::-1][tests]
        without = np.logaddexp.accumulate((logs - losses)[::-1])[::-1]
        wrong, missed = without[tests], without[len(losses) - tests]
        # Smaller errors are a larger mu, so errors are lowered; a power below 1/2 is raised.
        wrong, missed = (x - slack + _OF_LOG * x for x in (wrong, missed))
        power = np.minimum(power + slack - _OF_LOG * power, 0.0)
        quantiles = scipy.special.ndtri_exp(np.where(missed < power, missed, power))
        right = np.where(missed < power, -quantiles, quantiles)
        mu = float((right - scipy.special.ndtri_exp(wrong)).max())
        return min(mu, implied_mu(releases * e))

    def excess(self, e: float, releases: int) -> float:
        if (mu := self.mu(e, releases)) == math.inf:
            return 0.0
        # If one of the two inputs is exp(loss) times as likely as the other, guesses go wrong with
        # probability (1 - delta(loss)) / (1 + exp(loss)). Between two losses the noise's deltas are
        # linear in exp(loss), Gaussian ones convex, so the difference is largest at a loss.
        losses, logs, _ = _distribution(self.losses, e, check_whole("releases", releases))
        over, above = losses >= 0, np.logaddexp.accumulate(logs[::-1])[::-1]
        lowered = np.logaddexp.accumulate((logs - losses)[::-1])[::-1]
        at = losses[over]
        deltas = np.exp(above[over]) - np.exp(at + lowered[over])
        return float(((delta_of_epsilon(at, mu) - deltas) * scipy.special.expit(-at)).max())

    def largest(self, promise: Promise, releases: int) -> float:
        return _largest(self, promise, check_whole("releases", releases))


_Losses = tuple[float, Floats]


@lru_cache(maxsize=8)
def _distribution(
    losses_of: Callable[[float], _Losses], e: float, releases: int
) -> tuple[Floats, Floats, float]:
    """Return the losses of all releases, in order, their log probabilities, and a slack.

    Logs of probabilities are right to the slack, and `_OF_LOG` of themselves.
    """
    step, one = losses_of(e)
    constant = releases * float(np.logaddexp.reduce(one + step / 2 * places(len(one))))
    logs = log_masses(one, releases)
    losses = step * places(len(logs))
    return losses, logs + losses / 2 - constant, _ROUNDING + _OF_LOG * (releases + abs(constant))


@cache
def _largest(law: Latticed, promise: Promise, releases: int) -> float:
    """Return the strength by bisection; a secant in logarithms finds most of its answers before."""
    if promise.mu is None and promise.delta == 0:
        return promise.epsilon / releases

    def excess(e: float) -> float:
        if promise.mu is not None:
            return math.log(law.mu(e, releases) / promise.mu)
        delta = law.delta(promise.epsilon, e, releases)
        return math.log(delta / promise.delta) if delta else -1000.0

    mu = GAUSSIAN.largest(promise, 1)
    if mu in (0, math.inf):
        return mu
    low = pure_epsilon(mu) / releases
    if low > 1e-10 * _LARGEST:
        raise ValueError(f"mu = {mu:g} is too large to tell from no privacy; take inf")
    low *= 1 - 1e-9 * (excess(low) > 0)  # of one release it may be the answer, which is rounded
    if not excess(low) <= 0:
        raise ArithmeticError(f"strength {low:g} does not keep {promise} over {releases} releases")
    high = 2 * low
    while excess(high) <= 0:
        low, high = high, 2 * high
    # If the answer is `low`, its logarithm may be rounded up.
    start = math.log(low) - 1e-9 * (excess(math.exp(math.log(low))) > 0)
    near = math.exp(root(lambda x: excess(math.exp(x)), start, math.log(high)))
    while low < high * (1 - 1e-10):
        # The product has no digits, or is infinite, for strengths far from 1.
        far = not 1e-100 < low < 1e100
        middle = math.sqrt(low) * math.sqrt(high) if far else math.sqrt(low * high)
        certain = abs(middle / near - 1) > 1e-11
        kept = middle < near if certain else excess(middle) <= 0
        low, high = (middle, high) if kept else (low, middle)
    while excess(low) > 0:
        low *= 1 - 1e-10
    return low


def _laplace(e: float) -> _Losses:
    """Return the losses of Laplace noise of scale 1 / e.

    The loss of one release is e with probability 1/2, -e with probability exp(-e) / 2, and has
    density exp((loss - e) / 2) / 4 between. A loss between two points of the grid becomes one of
    the two, at random, so that both points keep their likelihood ratios. The loss could be drawn
    from the point, so points reveal more.
    """
    steps = math.ceil(min(_STEPS * max(math.sqrt(e), e), 1000))
    shared = math.tanh(e / steps / 4)
    one = np.full(2 * steps + 1, math.log(shared))
    one[[0, -1]] = math.log1p(shared) - math.log(2)
    return e / steps, one


def _staircase(e: float) -> _Losses:
    """Return the losses of the `staircase`: e, 0 or -e, because a move of 1 meets one step."""
    # The log of cosh(e / 2), to all digits for small and for large e.
    small = math.log1p(2 * math.sinh(min(e, 1) / 4) ** 2)
    cosh = small if e < 1 else e / 2 + math.log1p(math.exp(-e)) - math.log(2)
    ends = math.log1p(-math.exp(-e / 2 - cosh / 3) / 2)
    # The log of 1 - cosh(e / 2)^(-2/3); e^2 has no digits for e below 1e-160.
    nothing = math.log(-math.expm1(-2 / 3 * cosh)) if e > 1e-8 else 2 * math.log(e) - math.log(12)
    middle = 2 / 3 * cosh - e / 2 + nothing
    return e, np.array([ends, middle, ends])


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


GAUSSIAN = Gaussian(name="Gaussian", words="Gaussian noise")
LAPLACE = Latticed(
    name="Laplace", words="Laplace noise", deviation_of=lambda e: math.sqrt(2) / e, losses=_laplace
)
STAIRCASE = Latticed(
    name="staircase", words="staircase noise", deviation_of=_staircase_deviation, losses=_staircase
)
UNIFORM = Uniform(name="uniform", words="uniform noise")
LAWS = {law.name: law for law in (GAUSSIAN, LAPLACE, STAIRCASE, UNIFORM)}
"""Laws by name: those of curves in figures and of `dpol account --promise`."""
