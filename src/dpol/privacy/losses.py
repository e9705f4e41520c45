"""What is proved about a mechanism: a bound on its privacy loss. All else is read from it.

A loss is the log of the ratio of the probabilities of an output without and with the person. A
`Loss` is a sum of independent parts, whatever they are, so losses of mechanisms add up with `+` and
`times`; this also holds if a mechanism is chosen by what earlier ones said (Zhu, Dong and Wang,
"Optimal Accounting of Differential Privacy via Characteristic Function", theorem 10).

Numbers are upper bounds: a loss between two points of a grid becomes one of the two, at random, so
that both keep their likelihood ratios. The loss could be drawn from the point: points reveal more.

>>> two_weeks = Loss(gaussian=0.5).times(2) + of_range(0.3)  # Gaussian noise, then one choice
>>> round(two_weeks.mu, 3), round(two_weeks.epsilon(1e-6), 2), round(two_weeks.guess, 3)
(0.728, 3.41, 0.642)
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy

from dpol.core.arguments import check_fields, check_number, check_whole
from dpol.core.randomness import Floats
from dpol.privacy.composition import (
    BELIEVED,
    Masses,
    added,
    lattice_masses,
    log_masses,
    places,
    spread,
)
from dpol.privacy.gaussian_dp import (
    delta_of_epsilon,
    epsilon_of_delta,
    implied_mu,
    mu_of_epsilon,
    pure_epsilon,
    root,
    smallest_epsilon,
)

ORDERS = 1.0 + np.geomspace(1e-4, 1e9, 1301)
"""Orders of Renyi divergences."""
_HIGH = 1.0 + np.geomspace(1e-4, 1e9, 20_001)
"""Orders of tests that are hardly ever wrong, without much between them."""
_ONE = np.ones(1)
_OF_ORDERS = np.log1p(-1 / ORDERS) - np.log(ORDERS) / (ORDERS - 1)
# Steps of the grid from 0 to e, for e = 1; the most; and the most in a sum of unlike losses.
_STEPS, _MOST, _ALL = 40, 1000, 2**18
# Most releases of a kind whose own grid is as fine as the common one.
_MANY, _OF_DEVIATION, _SURELY = 16, 128, 40.0
# Draws of a kind above which the powers of a transform have a larger error.
_POWERED = 1000
# Minus the logarithm of probabilities that are no numbers.
_NEVER = 720.0
# Most pairs of masses that are added up in logarithms where a transform would do, and where none
# does; most masses that a transform takes for two losses; and its largest error.
_LONG, _LONGEST, _WIDE, _SMALL = 2**23, 2**25, 2**15, 1e-8
# Bound on the relative error of a probability for each release and each unit of its logarithm.
_OF_LOG = 1e-13
_LEAST_DELTA, _LARGEST = 1e-300, 1e300
_FAR = 38.6
"""Deviations beyond which a normal tail is no number."""
_END = _FAR - 1.4
"""Deviations up to which tests are read from the grid."""


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
        check_fields(self, mu="[0, inf]", epsilon="[0, inf]", delta="[0, 1)")
        if 0 < self.delta < _LEAST_DELTA:
            raise ValueError(f"delta must be 0 or at least {_LEAST_DELTA:g}, got {self.delta:g}")


@dataclass(frozen=True, kw_only=True)
class Draw:
    """A symmetric loss from -e to e: mass at both ends, mass at 0, constant density between.

    Masses and densities are relative logarithms, and lack a factor exp(loss / 2).
    """

    e: float
    ends: float = -math.inf
    middle: float = -math.inf
    between: float = -math.inf

    def seldom(self, chance: float) -> Draw:
        """Return the loss of a draw that happens with a probability, whatever the data."""
        if chance == 1:
            return self
        size = float(self.log_moment(_ONE)[0])
        less = math.log(chance) - size
        middle = float(np.logaddexp(math.log1p(-chance), self.middle + less))
        return Draw(e=self.e, ends=self.ends + less, middle=middle, between=self.between + less)

    def log_moment(self, orders: Floats) -> Floats:
        """Return the logs of the means of exp((order - 1) loss), up to a constant."""
        u = np.asarray(orders) - 0.5
        ends = self.ends + u * self.e + np.log1p(np.exp(-2 * u * self.e))
        between = self.between + u * self.e + np.log(-np.expm1(-2 * u * self.e) / u)
        return np.logaddexp(np.logaddexp(ends, self.middle), between)

    @property
    def variance(self) -> float:
        """About the variance of the loss: the second derivative of its log moments at order 1."""
        one, two, three = self.log_moment(1 + np.array([0.0, 1e-3, 2e-3]) / self.e)
        return max(float(one - 2 * two + three) * (1e3 * self.e) ** 2, 0.0)

    @property
    def steps(self) -> int:
        """Number of steps from 0 to e that are fine enough."""
        if self.between == -math.inf:
            return _STEPS
        most = math.exp(min(self.between - self.ends, 700.0)) * 2 * self.e
        return math.ceil(min(_STEPS * max(math.sqrt(min(most, 1.0)), self.e), _MOST))

    def masses(self, steps: int) -> Floats:
        """Return the (2 steps + 1,) log masses on a grid with as many steps from 0 to e."""
        density = self.between + math.log(4 * math.tanh(self.e / steps / 4))
        logs = np.full(2 * steps + 1, density)
        logs[[0, -1]] = np.logaddexp(density - math.log(2), self.ends)
        logs[steps] = np.logaddexp(density, self.middle)
        return logs

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta of one draw at an epsilon of at least 0, rounded up."""
        below, size = min(epsilon - self.e, 0.0), float(self.log_moment(_ONE)[0]) - self.e / 2
        ends, between = math.exp(self.ends - size), math.exp(self.between - size)
        delta = 2 * between * math.expm1(below / 2) ** 2 - ends * math.expm1(below)
        return delta * (1 + 1e-12)


@dataclass(frozen=True, kw_only=True)
class Loss:
    """A bound on the privacy loss of a person; without arguments nothing is revealed.

    Args:
        gaussian: mu of all Gaussian parts; inf for no privacy.
        draws: draws, and how many there are of each.
        zcdp: rho of all parts that are known to have zero-concentrated differential privacy.
        told: probability that everything is revealed.

    Raises:
        ValueError: a number is out of range.
    """

    gaussian: float = 0.0
    draws: tuple[tuple[Draw, int], ...] = ()
    zcdp: float = 0.0
    told: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self, gaussian="[0, inf]", zcdp="[0, inf]", told="[0, 1]")
        for _, count in self.draws:
            check_whole("the number of draws of a kind", count)

    def __add__(self, other: Loss) -> Loss:
        draws = Counter[Draw]()
        for draw, count in self.draws + other.draws:
            draws[draw] += count
        return Loss(
            gaussian=math.hypot(self.gaussian, other.gaussian),
            draws=tuple(draws.items()),
            zcdp=self.zcdp + other.zcdp,
            told=self.told + (1 - self.told) * other.told,
        )

    def times(self, count: int) -> Loss:
        """Return the loss of several mechanisms, each with this loss."""
        check_whole("count", count)
        return Loss(
            gaussian=self.gaussian * math.sqrt(count),
            draws=tuple((draw, count * own) for draw, own in self.draws),
            zcdp=count * self.zcdp,
            told=-math.expm1(count * math.log1p(-self.told)) if self.told < 1 else 1.0,
        )

    def as_data(self) -> dict[str, Any]:
        """Return plain values, from which `Loss.of_data` makes the loss again."""
        facts = {"gaussian": self.gaussian, "zcdp": self.zcdp, "told": self.told}
        draws = [[{k: v for k, v in vars(it).items() if v > -math.inf}, n] for it, n in self.draws]
        return {**facts, "draws": draws}

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> Loss:
        """Return the loss of plain values."""
        draws = tuple((Draw(**draw), count) for draw, count in data["draws"])
        return cls(**{**data, "draws": draws})

    @property
    def most(self) -> float:
        """The largest loss of all draws."""
        return math.fsum(count * draw.e for draw, count in self.draws)

    def delta(self, epsilon: float) -> float:
        """Return the smallest delta at an epsilon that is proved."""
        epsilon = check_number("epsilon", epsilon, "[0, inf]")
        return self.told + (1 - self.told) * min(1.0, self._delta(epsilon))

    def _delta(self, epsilon: float) -> float:
        if self.zcdp:
            return self._delta_of_divergences(epsilon) if epsilon < math.inf else 0.0
        if not self.draws or self.gaussian == math.inf:
            return float(delta_of_epsilon(epsilon, self.gaussian))
        if self.most == math.inf:
            return 1.0
        if not self.gaussian and [count for _, count in self.draws] == [1]:
            return self.draws[0][0].delta(epsilon)
        losses, logs, slack = _distribution(self.gaussian, self.draws)
        over = (losses > epsilon) & (logs > -math.inf)
        masses = np.exp(np.minimum(logs[over] + slack - _OF_LOG * logs[over], 700.0))
        return float(masses @ -np.expm1(epsilon - losses[over]))

    def _delta_of_divergences(self, epsilon: float) -> float:
        """Return the smallest of the bounds of `_renyi_epsilon`.

        The two answers of a test have no larger divergences than the distributions, and of tests
        with the same delta at epsilon = 0 symmetric ones have the smallest divergences of order 1.
        """
        bound = float(np.min((ORDERS - 1) * (self.divergences - epsilon + _OF_ORDERS)))
        deltas = [math.exp(min(bound, 0.0)), math.tanh(_response(self.divergences.min()) / 2)]
        if self.draws and epsilon >= self.most:
            deltas.append(replace(self, draws=())._delta(epsilon - self.most))
        return min(deltas)

    @cached_property
    def divergences(self) -> Floats:
        """Renyi divergences at `ORDERS`."""
        return self._divergences(ORDERS)

    def _divergences(self, orders: Floats) -> Floats:
        total = orders * (self.zcdp + self.gaussian * self.gaussian / 2)
        if self.most == math.inf:
            return total + math.inf
        for draw, count in self.draws:
            size = draw.log_moment(_ONE)
            rise = draw.log_moment(orders) - size
            # The two are rounded, and differ little where orders are near 1.
            total += count * (rise + 2e-15 * (1 + abs(size) + abs(rise))) / (orders - 1)
        return total

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon at a delta that is proved; inf if there is none."""
        delta = check_number("delta", delta, "[0, 1)")
        if self == Loss(gaussian=self.gaussian) and delta > 0:
            return epsilon_of_delta(delta, self.gaussian)
        upper = self._renyi_epsilon(delta)
        exact = self.zcdp == 0 and self.told < delta
        return smallest_epsilon(self.delta, delta, upper) if exact and upper < math.inf else upper

    def _renyi_epsilon(self, delta: float) -> float:
        """Return an upper bound on `epsilon` by Renyi divergences.

        Source: Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential Privacy",
        Prop. 12; also that draws lose at most `most`.
        """
        if delta <= self.told:
            endless = self.gaussian or self.zcdp or delta < self.told
            return math.inf if endless else self.most
        log, divergences = math.log((delta - self.told) / (1 - self.told)), self.divergences
        bound = float((divergences + _OF_ORDERS - log / (ORDERS - 1)).min())
        if self.draws:
            bound = min(bound, self.most + replace(self, draws=())._renyi_epsilon(delta))
        likely = math.tanh(_response(float(divergences.min())) / 2) > math.exp(log)
        return max(bound, 0.0) if likely else 0.0

    @property
    def guess(self) -> float:
        """How often an attacker is right at most about a person; 1/2 if nothing is revealed."""
        return (1 + self.delta(0.0)) / 2

    @cached_property
    def mu(self) -> float:
        """The smallest mu of a Gaussian curve that is proved, or `numerical`; inf if there is none.

        Source: Gomez et al. (2503.10945), "Gaussian DP for Reporting Differential Privacy
        Guarantees in Machine Learning".
        """
        if self.told or math.inf in (self.most, self.gaussian, self.zcdp):
            return math.inf
        if self.zcdp:
            return math.hypot(mu_of_zcdp(self.zcdp), replace(self, zcdp=0.0).mu)
        if not self.draws:
            return self.gaussian
        if not self.gaussian and [count for _, count in self.draws] == [1]:
            draw = self.draws[0][0]
            if draw.ends == draw.middle == -math.inf:  # a range
                return implied_mu(draw.e / 2)
        # The trade-off curve is linear between the tests "the loss is at least x", and Gaussian
        # curves are convex: only these tests count. By symmetry those with x > 0 are enough.
        losses, logs, slack = _distribution(self.gaussian, self.draws)
        power = np.logaddexp.accumulate(logs[::-1])[::-1]
        tests = np.flatnonzero((losses > 0) & (power > -math.inf))
        power = power[tests]
        without = np.logaddexp.accumulate((logs - losses)[::-1])[::-1]
        wrong, missed = without[tests], without[len(losses) - tests]
        # Smaller errors are a larger mu, so errors are lowered; a power below 1/2 is raised.
        wrong, missed = (x - slack + _OF_LOG * x for x in (wrong, missed))
        power = np.minimum(power + slack - _OF_LOG * power, 0.0)
        quantiles = scipy.special.ndtri_exp(np.where(missed < power, missed, power))
        right = np.where(missed < power, -quantiles, quantiles)
        mus, pure = right - scipy.special.ndtri_exp(wrong), implied_mu(self.most)
        if not self.gaussian and losses[-1] >= self.most * (1 - 1e-9):
            return min(float(mus.max()), pure)
        mu = max(float(mus[power > -(_END**2) / 2].max()), self._mu_of_tails())
        return min(mu, math.hypot(self.gaussian, pure))

    def _mu_of_tails(self) -> float:
        """Return a bound on mu for tests that are right with probability exp(-z^2 / 2) at most.

        By the divergence of order a, a test that is right with probability exp(-x) is wrong with
        exp(-D - x a / (a - 1)) at least. Each order gives the best bound between two x. There the
        difference of the roots of both exponents, nearly that of normal quantiles, falls and then
        rises, so it is largest at one of the two, where the next order gives the same.
        """
        least = _END**2 / 2
        divergences, rise = self._divergences(_HIGH), _HIGH / (_HIGH - 1)
        cuts = np.maximum.accumulate(np.diff(divergences) / -np.diff(rise)).clip(least)
        first, last = np.append(least, cuts), np.append(cuts, math.inf)
        mus = np.sqrt(2 * (divergences + rise * first)) - np.sqrt(2 * first)
        nearly = _END / -float(scipy.special.ndtri_exp(-least))
        return nearly * float(mus[first < last].max())

    @property
    def numerical(self) -> bool:
        """Whether `mu` is computed with a worst test that is searched for, but not proved."""
        return self.zcdp > 0 and self.mu < math.inf


NOTHING_KEPT = Loss(gaussian=math.inf)
"""Loss of a mechanism without privacy."""


def one_draw(draw: Draw) -> Loss:
    """Return the loss of one draw."""
    return Loss(draws=((draw, 1),) if draw.e else ())


def of_range(eta: float) -> Loss:
    """Return the loss of a choice whose log ratios lie in an interval of length eta.

    It is that of one release of logistic noise of strength eta: delta(x) = (e^(eta/2) - e^(x/2))^2
    / (e^eta - 1), the largest of all intervals. Source: Dong, Durfee and Rogers, "Optimal
    Differential Privacy Composition for Exponential Mechanisms".
    """
    return one_draw(Draw(e=check_number("eta", eta, "[0, inf]"), between=0.0))


def range_for(mu: float) -> float:
    """Return the largest range of log ratios that keeps mu: twice the pure epsilon of mu."""
    return 2 * pure_epsilon(mu)


def pure(epsilon: float, delta: float = 0.0) -> Loss:
    """Return the loss of (epsilon, delta)-DP, of which no more is known."""
    draw = Draw(e=check_number("epsilon", epsilon, "[0, inf]"), ends=0.0)
    return replace(one_draw(draw), told=check_number("delta", delta, "[0, 1]"))


def gaussian_for(promise: Promise) -> float:
    """Return the largest mu that keeps a promise."""
    if promise.mu is not None:
        return promise.mu
    return mu_of_epsilon(promise.epsilon, promise.delta) if promise.delta else 0.0


def largest(loss_of: Callable[[float], Loss], promise: Promise) -> float:
    """Return a strength that keeps a promise, hardly too small.

    Args:
        loss_of: maps a strength to a loss of draws that rises with it.
        promise: the promise.

    Raises:
        ValueError: mu is so large that its noise cannot be told from none.
    """
    each = loss_of(1.0).most
    if promise.mu is None and promise.delta == 0:
        return promise.epsilon / each

    def excess(log_e: float) -> float:
        loss = loss_of(math.exp(log_e))
        if promise.mu is not None:
            return math.log(loss.mu / promise.mu)
        delta = loss.delta(promise.epsilon)
        return math.log(delta / promise.delta) if delta else -1000.0

    mu = gaussian_for(promise)
    if mu in (0, math.inf):
        return mu
    if pure_epsilon(mu) > 1e-10 * _LARGEST:
        raise ValueError(f"mu = {mu:g} is too large to tell from no privacy; take inf")
    low = math.log(pure_epsilon(mu) / each)
    while low > -230 and excess(low) > 0:
        low -= 1
    high = low + 1
    while excess(high) <= 0:
        low, high = high, high + 1
    found, less = root(excess, low, high) - 1e-12, 1e-10  # the loss of its parts is rounded, too
    while excess(found) > 0:
        found, less = found - less, 2 * less
    return math.exp(found)


def mu_of_zcdp(rho: float) -> float:
    """Return the smallest mu that rho-zCDP is known to imply; inf for inf.

    It is that of randomised response whose divergence of order 1 is rho. The two answers of a test
    have no larger divergences than the distributions; that no asymmetric test has a larger mu is
    checked on grids of tests (rho from .005 to 8), not proved. It is 1.25 (small rho) to 1.7 times
    (rho = 8) the mu of Gaussian noise, sqrt(2 rho).

    >>> round(mu_of_zcdp(0.125), 4)
    0.6304
    """
    return implied_mu(_response(rho) * (1 + 1e-14))


def _response(divergence: float) -> float:
    """Return the epsilon of randomised response with a divergence of order 1, x tanh(x / 2)."""
    if not 0 < divergence < math.inf:
        return divergence
    high = 1 + divergence + math.sqrt(2 * divergence)
    return root(lambda x: x * math.tanh(x / 2) - divergence, 0.0, high)


@lru_cache(maxsize=16)
def _distribution(
    gaussian: float, draws: tuple[tuple[Draw, int], ...]
) -> tuple[Floats, Floats, float]:
    """Return the losses of all parts, in order, their log probabilities, and a slack.

    Logs of probabilities are right to the slack, and `_OF_LOG` of themselves.
    """
    if len(draws) == 1 and not gaussian:
        error, logs, step = _sum_of_kind(*draws[0], math.inf)
    else:
        step = _grid(gaussian, draws)
        kinds = [_sum_of_kind(*each, step) for each in draws]
        if gaussian:
            kinds.append((0.0, *_normal(gaussian, min(step, gaussian / _STEPS))))
        error, logs = sum(own for own, _, _ in kinds), np.zeros(1)
        for _, one, own in sorted(kinds, key=lambda kind: len(kind[1])):
            more, logs, step = _sum_of_two(logs, spread(one, own, step), step)
            error += more
    losses = step * places(len(logs))
    constant = sum(count * float(draw.log_moment(_ONE)[0]) for draw, count in draws)
    constant += gaussian**2 / 8
    releases = sum(count for _, count in draws)
    return losses, logs + losses / 2 - constant, error + _OF_LOG * (releases + abs(constant))


def _grid(gaussian: float, draws: tuple[tuple[Draw, int], ...]) -> float:
    """Return the step of the common grid."""
    steps, smooth = [gaussian / _STEPS] * (gaussian > 0), gaussian
    for draw, count in draws:
        own, never = draw.e / draw.steps, draw.middle - float(draw.log_moment(_ONE)[0])
        if count > _MANY and count * never < -_SURELY:
            deviation = math.sqrt(count * draw.variance)
            own = max(own, deviation / _OF_DEVIATION)
            if draw.between > -math.inf:  # no gaps and ends that a finer grid would show
                smooth = max(smooth, deviation)
        steps.append(own)
    widest = 2 * _reach(gaussian, draws) / _ALL
    return max(min(steps) / 2, smooth / _OF_DEVIATION, widest)


def _reach(gaussian: float, draws: tuple[tuple[Draw, int], ...]) -> float:
    """Return a loss that is exceeded with probability exp(-_NEVER) at most."""
    loss = Loss(gaussian=gaussian, draws=draws)
    bound = float((loss.divergences + _NEVER / (ORDERS - 1)).min())
    return max(0.0, bound if gaussian else min(bound, loss.most))


def _sum_of_kind(draw: Draw, count: int, step: float) -> tuple[float, Floats, float]:
    """Return the error and the logs of the masses of draws of a kind, and their spacing.

    The spacing is at most `step` for few draws.
    """
    reach, steps = count * draw.e, draw.steps
    if count > _MANY:
        reach = _reach(0.0, ((draw, count),))
    elif step < math.inf:
        steps = max(steps, math.ceil(draw.e / step * (1 - 1e-9)))
    if draw.between == -math.inf or draw.steps == 1:
        return min(BELIEVED), _lattice(draw, count, reach), draw.e
    # A fine grid shows more peaks; on the last one masses are added up in logarithms.
    for tried in dict.fromkeys((steps, draw.steps, int(math.sqrt(_LONG) / count - 1) // 2)):
        fine = max(1, min(tried, int(_ALL * draw.e / (2 * reach))))
        masses = draw.masses(fine)
        if fine < draw.steps:  # losses on a coarse grid are larger
            moments = masses + draw.e / fine * np.outer(ORDERS - 0.5, places(len(masses)))
            rise = np.logaddexp.reduce(moments, axis=1) - draw.log_moment(_ONE)
            reach = min(count * draw.e, float(((count * rise + _NEVER) / (ORDERS - 1)).min()))
        if count**2 * len(masses) ** 2 < _LONG:
            total = masses
            for _ in range(count - 1):
                total = added(masses, total)
            return 0.0, total, draw.e / fine
        error, logs = _first_shown([(masses, count)], math.ceil(reach / draw.e * fine))
        if error <= _SMALL or (fine == draw.steps and error < math.inf):
            break
    if error == math.inf:
        return min(BELIEVED), _lattice(draw, count, reach), draw.e
    return error * max(1.0, count / _POWERED), logs, draw.e / fine


def _lattice(draw: Draw, count: int, reach: float) -> Floats:
    """Return the logs of the masses of draws of a kind, each of which loses e, 0 or -e."""
    ends, middle, _ = draw.masses(1)
    k = min(count, math.ceil(reach / draw.e))
    return lattice_masses(ends, middle, count)[count - k :][: 2 * k + 1]


def _sum_of_two(one: Floats, other: Floats, step: float) -> tuple[float, Floats, float]:
    """Return the error and the log masses of the sum of two losses on one grid, and its step.

    A sum in logarithms has no error. Only where it takes long is there a transform; and where no
    transform shows all masses, or many transforms would, the grid becomes coarser.
    """
    pairs = len(one) * len(other) * min(np.isfinite(it).mean() for it in (one, other))
    if pairs > _LONG and max(len(one), len(other)) <= _WIDE:
        error, logs = _first_shown([(one, 1), (other, 1)])
        if error <= _SMALL:
            return error, logs, step
    if pairs > _LONGEST:
        one, other = (spread(it, step, 2 * step) for it in (one, other))
        return _sum_of_two(one, other, 2 * step)
    return 0.0, added(one, other), step


def _first_shown(parts: list[Masses], reach: int = 2**62) -> tuple[float, Floats]:
    """Return the smallest error with which all masses of a sum are shown, and their logs.

    The error is inf if they are too far apart.
    """
    for error in BELIEVED:
        with suppress(ArithmeticError):
            return error, log_masses(parts, error, reach)
    return math.inf, np.zeros(1)


def _normal(mu: float, step: float) -> tuple[Floats, float]:
    """Return the log masses of a Gaussian loss, by quadrature of each cell of a grid; its step."""
    k = math.ceil(mu * (mu / 2 + _FAR) / step)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    share = (nodes + 1) / 2
    at = step * (np.arange(k)[:, None] + share)
    logs = -((at / mu) ** 2) / 2 + np.log(weights / 2 * step / (mu * math.sqrt(2 * math.pi)))
    near, far = (np.log(np.sinh(it * step / 2) / np.sinh(step / 2)) for it in (1 - share, share))
    half = np.full(k + 1, -math.inf)
    half[:-1] = np.logaddexp.reduce(logs + near, axis=1)
    half[1:] = np.logaddexp(half[1:], np.logaddexp.reduce(logs + far, axis=1))
    half[0] += math.log(2)  # from both sides
    return np.concatenate([half[:0:-1], half]), step
