"""Plain reference implementations of RW-AdaBatch and of its amplified privacy.

They are written from the definitions and share no code with the library: scalars, loops,
bounds evaluated directly, no thresholds.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize

Bound = Callable[[float, int, int, float], float]
"""A switching bound: gap, steps, number of experts and noise scale give a probability."""


def tail(x: float) -> float:
    """Return P(N(0, 1) > x)."""
    return math.erfc(x / math.sqrt(2)) / 2


def borell_tis(gap: float, steps: int, n: int, eta: float) -> float:
    """Return the bound of Theorem 1."""
    if gap <= 0:
        return 1.0
    if eta == 0:
        return 0.0
    b = gap / (eta * math.sqrt(2 * steps)) - math.sqrt(math.log(2 * n - 2))
    if b <= 0:
        return 1.0
    phi = math.exp(-b * b / 2) / math.sqrt(2 * math.pi)
    overtaken = 2 * math.sqrt(math.pi) * phi * (tail(-b) - tail(b))
    return min(1.0, 2 * tail(math.sqrt(2) * b) + overtaken)


def reflection(gap: float, steps: int, n: int, eta: float) -> float:
    """Return a union bound over n - 1 walks with steps N(0, 2 eta^2)."""
    if gap <= 0:
        return 1.0
    if eta == 0:
        return 0.0
    return min(1.0, (n - 1) * 2 * tail(gap / (math.sqrt(2) * eta * math.sqrt(steps))))


BOUNDS: dict[str, Bound] = {"borell-tis": borell_tis, "reflection": reflection}


def target(size: int, t: int, n: int, alpha: float) -> float:
    """Return the largest switching bound that a batch of this size may have before round t."""
    return alpha * math.sqrt(math.log(n) / (t + size))


def batch_size(
    bound: Bound, gap: float, t: int, *, n: int, rounds: int, alpha: float, eta: float, r: float
) -> int:
    """Return the largest allowed B in 1..T, by trying all of them; 1 if there is none."""
    allowed = [
        size
        for size in range(1, rounds + 1)
        if bound(gap - r * size, size, n, eta) <= target(size, t, n, alpha)
    ]
    return max(allowed, default=1)


def required_gap(
    bound: Bound, size: int, t: int, *, n: int, alpha: float, eta: float, r: float
) -> float:
    """Return the smallest gap that allows a batch of `size` before round t, by bisection."""
    limit = target(size, t, n, alpha)
    if limit >= 1:
        return 0.0
    high = 1.0
    while bound(high, size, n, eta) > limit:
        high *= 2
    return r * size + optimize.bisect(
        lambda k: bound(k, size, n, eta) - limit, 0.0, high, xtol=1e-12, rtol=1e-14
    )


def rw_adabatch(
    noisy_gains: np.ndarray,
    initial: np.ndarray,
    bound: Bound,
    *,
    alpha: float,
    eta: float,
    r: float = 1.0,
) -> tuple[list[int], list[int]]:
    rounds, n = noisy_gains.shape
    actions: list[int] = []
    sizes: list[int] = []
    while len(actions) < rounds:
        done = len(actions)
        totals = [initial[i] + sum(gains[i] for gains in noisy_gains[:done]) for i in range(n)]
        first, second = sorted(totals)[:-3:-1]
        size = batch_size(
            bound, first - second, done + 1, n=n, rounds=rounds, alpha=alpha, eta=eta, r=r
        )
        actions += [totals.index(first)] * size
        sizes += [size] * size
    return actions[:rounds], sizes[:rounds]


def gap_density(x: float, n: int) -> float:
    """Return the density of leader minus runner-up of n standard normals, at x >= 0."""

    def integrand(z: float) -> float:
        return math.exp(-(z * z + (z - x) ** 2) / 2) / (2 * math.pi) * tail(x - z) ** (n - 2)

    return n * (n - 1) * integral(integrand, x / 2 - 9, x / 2 + 9)


def gap_survival(x: float, n: int) -> float:
    """Return P(leader minus runner-up >= x)."""

    def integrand(z: float) -> float:
        return math.exp(-z * z / 2) / math.sqrt(2 * math.pi) * tail(x - z) ** (n - 1)

    return n * integral(integrand, x / 2 - 9, x + 12)


def heuristic_exceeding(size: int, t: int, *, n: int, alpha: float, eta: float) -> float:
    """Return P(batch > size) as guessed in section A.11, bisecting the gap that size + 1 needs."""
    steps, failure = size + 1, alpha * math.sqrt(math.log(n) / t)
    mean, variance = 2 * eta * math.sqrt(steps * math.log(2 * n - 2) / 2), 2 * eta**2 * steps

    def excess(gap: float) -> float:
        return math.exp(-((gap - mean) ** 2) / (2 * variance)) - failure

    gap = mean if failure >= 1 else optimize.bisect(excess, mean, mean + 100 * eta * steps)
    # The gap of two experts is |N(0, 2 eta^2 t)|, whose density is largest at 0.
    two = gap * 2 / math.sqrt(2 * math.pi * 2 * eta**2 * t)
    return max(0.0, 1 - math.comb(n, 2) * two)


def integral(integrand: Callable[[float], float], low: float, high: float) -> float:
    nodes, weights = np.polynomial.legendre.leggauss(32)
    ends = np.linspace(low, high, 9)
    half = (high - low) / 16
    values = [[integrand(float(end + half * (1 + node))) for node in nodes] for end in ends[:-1]]
    return float(half * (np.array(values) @ weights).sum())


def exceeding(
    bound: Bound,
    size: int,
    t: int,
    needed: float,
    *,
    n: int,
    eta: float,
    r: float,
    window: int | None = None,
) -> float:
    """Return q_b for b = `size`: the probability that no gap of the window is below `needed`.

    Args:
        bound: switching bound for the dip within the window.
        size: b, batch size.
        t: round.
        needed: k_b, required gap.
        n: number of experts.
        eta: noise scale.
        r: range of the gains.
        window: steps of the window after its start; by default min(b, t) - 1.
    """
    steps = min(size, t) - 1 if window is None else window
    scale = eta * math.sqrt(max(1, t - size + 1))

    def integrand(x: float) -> float:
        dip = bound(x * scale - needed - r * steps, steps, n, eta) if steps else 0.0
        return gap_density(x, n) * max(1 - dip, 0.0)

    # The integrand starts where the dip falls below 1.
    start = needed + r * steps
    reach = 12.0
    if steps:
        spread = eta * math.sqrt(2 * steps)
        start += spread * optimize.bisect(
            lambda z: (bound(z * spread, steps, n, eta) < 1) - 0.5, 0.0, 10.0, xtol=1e-13
        )
    return integral(integrand, start / scale, reach) if start < reach * scale else 0.0
