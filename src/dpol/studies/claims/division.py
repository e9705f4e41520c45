"""Checks of our bounds on what noise on counts costs a division of help.

K units go to n hospitals in proportion to their needs of this week, S in all. They serve the needs
of the next week; own staff serves the same number of patients in both.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from dpol.core.randomness import Floats
from dpol.divide import proportional
from dpol.studies.claims.core import Findings, generator, of_mean, of_number

_RUNS = 1000
NOISES = {"normal": Generator.standard_normal, "Cauchy": Generator.standard_cauchy}
"""Kinds of noise. The bound on each draw is for every kind, the bound on the mean for normal."""


def noise_deviation(mu: float) -> float:
    """Return the standard deviation of local noise on counts: one person moves two counts by 1."""
    return math.sqrt(2) / mu


def unmet(needs: Floats, division: Floats) -> Floats:
    """Return the number (...,) of patients who are not served."""
    return np.asarray(np.maximum(needs - division, 0.0).sum(axis=-1))


# ---- upper bounds ----------------------------------------------------------------------------


def one_side(noise: Floats) -> Floats:
    """Return the larger (...,) of the sums of positive and of negative noise (..., n).

    K / S times this bounds the extra unmet need, which is at most the help that goes elsewhere. If
    the noisy needs add up to S or more, no hospital gains more than K / S times its own noise;
    otherwise none loses more.
    """
    return np.asarray(np.abs(noise).sum(axis=-1) + np.abs(noise.sum(axis=-1))) / 2


def most_extra(n: int, mu: float) -> float:
    """Return the mean of `one_side` for n hospitals under local noise: the bound at K = S."""
    return (n + math.sqrt(n)) / (math.sqrt(math.pi) * mu)


def extra_unmet(seed: int) -> Findings:
    """Check what noise adds to unmet need, over the bound on a draw and over the one on the mean.

    The next week is the same, another one, or the worst, which knows the noise.
    """
    grid = list(itertools.product((2, 20, 400), (0.25, 1.0), (0.0, 0.5)))
    for (n, mu, staff), (kind, draw) in itertools.product(grid, NOISES.items()):
        rng = generator(seed, "division", n, mu, staff, kind)
        week, other = rng.exponential(30.0, (2, n))
        noise = noise_deviation(mu) * draw(rng, (_RUNS, n))
        own = staff * week.mean()  # below the largest count, so that S > 0
        need, noisy, another = (np.maximum(c - own, 0.0) for c in (week, week + noise, other))
        extras = []
        for per_need in (0.5, 1.0, 2.0):  # K / S
            exact, last = (proportional(w, per_need * need.sum()) for w in (need, noisy))
            for after in (need, another, np.where(exact > last, exact, 0.0)):
                extras.append((unmet(after, last) - unmet(after, exact)) / per_need)
        case = f"{kind} noise, n = {n}, μ = {mu:g}, own staff for {own:.3g} each"
        about = {"numbers": {"R": _RUNS}, "settings": len(extras)}
        of_draws = max(float((extra / one_side(noise)).max()) for extra in extras)
        yield of_number("extra-of-draw", 1.0, of_draws, case, **about)
        if kind == "normal":
            largest = max(extras, key=np.mean) / most_extra(n, mu)
            yield of_mean("extra-of-mean", 1.0, largest, 9 * len(grid), case=case, **about)


# ---- lower bound -----------------------------------------------------------------------------


def least_unmet(n: int, mu: float) -> tuple[float, int]:
    """Bound the mean unmet need after any μ-GDP release from below; K = S, next week the same.

    Of each of n / 2 pairs of counts one is d higher, at random. Turning a pair round moves d
    persons, so every test of which count is higher errs with probability Φ(-d μ / 2) or more (group
    privacy). A division misses each count by at least d times the error of a test in the mean, and
    half of what it misses is unmet need.

    Returns:
        The bound at the best d, and this d: a whole number near 1.5 / μ, or 1.
    """
    apart = np.arange(1, 2 + math.ceil(3 / mu))
    bounds = n / 2 * apart * ndtr(-apart * mu / 2)
    return float(bounds.max()), int(apart[bounds.argmax()])


def error_of_best_test(apart: float, mu: float) -> float:
    """Integrate the error of the best test of which of two noisy counts is `apart` higher."""
    shift = apart / (math.sqrt(2) * noise_deviation(mu))  # of the counts' difference
    z = np.linspace(-12.0 - shift, 12.0 + shift, 400_001)
    high, low = np.exp(-((z - shift) ** 2) / 2), np.exp(-((z + shift) ** 2) / 2)
    return float(np.minimum(high, low).sum() / (high + low).sum())


def hard_pairs(rng: Generator, n: int, mu: float, *, mean: float, apart: float) -> Floats:
    """Simulate unmet need (2, R) after local noise on pairs of counts, a random one of each high.

    First the likelier of each pair is taken as high, then help follows noisy counts in proportion.
    """

    def counts(high: Floats) -> Floats:
        return mean + apart / 2 * np.concatenate([high, -high], axis=1)

    true = counts(rng.choice((-1.0, 1.0), (_RUNS, n // 2)))
    noisy = true + noise_deviation(mu) * rng.standard_normal(true.shape)
    likelier = counts(np.sign(noisy[:, : n // 2] - noisy[:, n // 2 :]))
    return unmet(true, np.stack([likelier, proportional(np.maximum(noisy, 0.0), n * mean)]))


def any_release(seed: int) -> Findings:
    """Check unmet need on hard pairs over the lower bound.

    The best division from local noise reaches the bound. A sample could not decide that, so its
    unmet need is integrated, and rounded to six decimals.
    """
    n, name = 100, "unmet-of-any-release"
    for mu, mean in ((1.0, 30), (0.25, 30), (0.1, 60)):
        bound, apart = least_unmet(n, mu)
        best = n / 2 * apart * error_of_best_test(apart, mu)
        likelier, last = hard_pairs(generator(seed, "pairs", mu), n, mu, mean=mean, apart=apart)
        numbers = {"n": n, "R": _RUNS, "bound": bound, "best": best, "upper": most_extra(n, mu)}
        numbers |= {"likelier": float(likelier.mean()), "last": float(last.mean())}
        case = f"μ = {mu:g}, counts {mean} ± {apart / 2:g}"
        yield of_number(name, 1.0, round(best / bound, 6), case, numbers=numbers)
        yield of_mean(name, 1.0, last / bound, comparisons=3, case=case, numbers=numbers)


def bounds_apart(_: int) -> Findings:
    """Check the upper bound over the lower one at K = S, over 1 + n^(-1/2)."""
    for mu in np.linspace(0.01, 1.0, 100).tolist():
        factors = [most_extra(n, mu) / least_unmet(n, mu)[0] / (1 + n**-0.5) for n in (2, 100)]
        yield of_number("bounds-apart", 3.6, max(factors), f"μ = {mu:g}", settings=len(factors))
