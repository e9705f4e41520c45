"""Checks of our bounds on what noise on counts costs a division of help.

K units go to n hospitals in proportion to their needs of this week, S in all. They serve the needs
of the next week; own staff serves the same number of patients in both.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from dpol.core.randomness import Floats
from dpol.divide import proportional
from dpol.studies.claims.core import Finding, Findings, generator, of_mean

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
        about: dict[str, Any] = {"numbers": {"R": _RUNS}, "settings": len(extras)}
        of_draws = max(float((extra / one_side(noise)).max()) for extra in extras)
        yield Finding("extra-of-draw", 1.0, of_draws, case, **about)
        if kind == "normal":
            largest = max(extras, key=np.mean) / most_extra(n, mu)
            yield of_mean("extra-of-mean", 1.0, largest, 9 * len(grid), case=case, **about)


# ---- lower bound -----------------------------------------------------------------------------


def least_unmet(n: int, mu: float, largest: float = math.inf) -> float:
    """Bound the mean unmet need after any μ-GDP release from below; K = S, next week the same.

    The counts are n / 2 pairs (m + t, M - t), with t uniform on 0, 1, ..., `largest`. To turn t
    into t + d moves d persons, so the two errors of a test between them add up to 2 Φ(-d μ / 2) or
    more (group privacy). The test that takes the nearer one to what a division gives errs only if
    the division misses t by d / 2 or more; a share 1 - d / (largest + 1) of all t has a t + d. Half
    the sum over d bounds the mean miss (Ziv and Zakai, 1969), at each count of a pair. Half of what
    a division misses is unmet need.
    """
    apart = np.arange(1, 2 + math.ceil(80 / mu))  # Φ(-40) is 0 in floating point
    paired = np.maximum(1 - apart / (largest + 1), 0.0)
    return float(n / 2 * (paired * ndtr(-apart * mu / 2)).sum())


def likelihoods(seen: Floats, mu: float, largest: int) -> Floats:
    """Return the density (..., L + 1) of `seen` for t = 0, ..., L under local noise on a pair.

    `seen` is t with the noise of half the difference of two counts.
    """
    deviation = noise_deviation(mu) / math.sqrt(2)
    z = (seen[..., None] - np.arange(largest + 1)) / deviation
    return np.asarray(np.exp(-(z**2) / 2) / (math.sqrt(2 * math.pi) * deviation))


def posterior_median(density: Floats) -> Floats:
    """Return the median (...,) of t, uniform a priori: the reading with the least mean miss."""
    sums = density.cumsum(axis=-1)
    return np.asarray((sums >= sums[..., -1:] / 2).argmax(axis=-1), dtype=float)


def least_miss(mu: float, largest: int) -> float:
    """Integrate the mean miss of t by the best reading of local noise."""
    seen, step = np.linspace(-9.0 / mu, largest + 9.0 / mu, 8_001, retstep=True)
    density = likelihoods(seen, mu, largest)
    missed = np.abs(posterior_median(density)[:, None] - np.arange(largest + 1))
    return float((density * missed).sum() * step / (largest + 1))


def hard_pairs(rng: Generator, n: int, mu: float, *, least: float, largest: int) -> Floats:
    """Simulate unmet need (2, R) after local noise on the pairs of `least_unmet`, m = `least`.

    First each pair gets what the best reading gives it, then help follows noisy counts.
    """

    def counts(turned: Floats) -> Floats:
        return least + np.concatenate([turned, largest - turned], axis=-1)

    true = counts(rng.integers(0, largest, (_RUNS, n // 2), endpoint=True).astype(float))
    noisy = true + noise_deviation(mu) * rng.standard_normal(true.shape)
    seen = (noisy[:, : n // 2] - noisy[:, n // 2 :] + largest) / 2
    # One run at a time, to save memory.
    read = [posterior_median(likelihoods(row, mu, largest)) for row in seen]
    units = true[0].sum()
    return unmet(
        true, np.stack([counts(np.array(read)), proportional(np.maximum(noisy, 0), units)])
    )


def any_release(seed: int) -> Findings:
    """Check unmet need on hard pairs over the lower bound: of the best reading, and of `last`."""
    n, name = 100, "unmet-of-any-release"
    for mu, least, largest in ((1.0, 30, 60), (0.25, 30, 200), (0.1, 60, 400)):
        bound, best = least_unmet(n, mu, largest), n / 2 * least_miss(mu, largest)
        rng = generator(seed, "pairs", mu)
        read, last = hard_pairs(rng, n, mu, least=least, largest=largest)
        numbers = {"n": n, "R": _RUNS, "bound": bound, "best": best, "upper": most_extra(n, mu)}
        numbers |= {"read": float(read.mean()), "last": float(last.mean())}
        numbers |= {"limit": least_unmet(n, mu)}
        case = f"μ = {mu:g}, counts {least} to {least + largest}"
        yield Finding(name, 1.0, best / bound, case, numbers=numbers)
        yield of_mean(name, 1.0, last / bound, comparisons=3, case=case, numbers=numbers)


def bounds_apart(_: int) -> Findings:
    """Check the upper bound over the lower one at K = S, over 1 + n^(-1/2)."""
    for mu in np.linspace(0.01, 1.0, 100).tolist():
        factors = [most_extra(n, mu) / least_unmet(n, mu) / (1 + n**-0.5) for n in (2, 100)]
        yield Finding("bounds-apart", 2.0, max(factors), f"μ = {mu:g}", settings=len(factors))
