"""Hit-and-run on a ball, for log-concave densities that cannot be drawn from directly.

The draws are approximate: they have the right law only as the number of steps grows. Privacy
statements about regularised multiplicative weights assume exact draws from the measure and do
not cover these. `mixing` says whether the chains look converged; it can show that they are
not, never prove that they are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpol.convex.truncated_gaussian import into_ball
from dpol.core.randomness import Floats, ReplicateGenerators

# Potential along lines: (points (k, d), directions (k, d)) -> a function of rows, (j,) indices
# into the k lines, and (j,) positions t on them, that gives the potential at x + t v, (j,).
AlongLine = Callable[[Floats, Floats], Callable[[np.ndarray, Floats], Floats]]
"""A potential along lines, from points and directions."""

# Limits of `Mixing.mixed`.
R_HAT_LIMIT = 1.1
MIN_INDEPENDENT = 10.0


@dataclass(frozen=True, eq=False)
class Chains:
    """What hit-and-run returns.

    Args:
        points: (R, d) where the chains ended.
        potentials: (R, steps) the negative log density after every step.
    """

    points: Floats
    potentials: Floats


@dataclass(frozen=True)
class Mixing:
    """Diagnostics of the negative log density over the steps of several chains.

    Args:
        r_hat: split R-hat: the root of total over within-half-chain variance; near 1 if halves
            of chains agree.
        autocorrelation_time: steps per independent value, 1 + 2 times the summed
            autocorrelations.
        steps: length of the chains.
    """

    r_hat: float
    autocorrelation_time: float
    steps: int

    @property
    def mixed(self) -> bool:
        """Whether R-hat is at most 1.1 and a chain is 10 autocorrelation times long."""
        long_enough = self.steps >= MIN_INDEPENDENT * self.autocorrelation_time
        return self.r_hat <= R_HAT_LIMIT and long_enough


def along(potential: Callable[[Floats], Floats]) -> AlongLine:
    """The along-line form of a potential of points, (k, d) -> (k,)."""

    def line(points: Floats, directions: Floats) -> Callable[[np.ndarray, Floats], Floats]:
        return lambda rows, t: potential(points[rows] + t[:, None] * directions[rows])

    return line


def hit_and_run(
    line: AlongLine,
    initial: Floats,
    diameter: float,
    steps: int,
    generators: ReplicateGenerators,
) -> Chains:
    """Chains with limit density proportional to e^-potential on the ball.

    Each step takes a uniform direction and moves on the chord through the current point by
    slice sampling with shrinkage from the whole chord (Neal, "Slice sampling", 2003), which
    leaves the density invariant; nothing has to be tuned. Approximate: see the module.

    Args:
        line: the potential along lines; `along` makes one.
        initial: (R, d) starting points in the ball.
        diameter: D of the ball around 0.
        steps: moves of each chain; of the order of d^2 at least, more for ill-shaped densities.
        generators: one for each chain.

    Raises:
        ValueError: steps is below 1, or the potential is not finite at a point.
    """
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    points = into_ball(np.asarray(initial, dtype=float), diameter)
    potentials = np.empty((len(points), steps))
    for step in range(steps):
        directions = generators.standard_normal(points.shape[1])
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        low, high = _chord(points, directions, diameter / 2)
        moved, potentials[:, step] = _slice(line(points, directions), low, high, generators)
        points = into_ball(points + moved[:, None] * directions, diameter)
    return Chains(points, potentials)


def uniform_in_ball(dimension: int, diameter: float, generators: ReplicateGenerators) -> Floats:
    """(R, d) uniform points: starting points as far apart as the ball allows."""
    points = generators.standard_normal(dimension)
    norms = diameter / 2 * generators.uniform() ** (1 / dimension)
    return np.asarray(points * (norms / np.linalg.norm(points, axis=1))[:, None])


def mixing(chains: Chains) -> Mixing:
    """Diagnostics of the second half of the chains: the first is taken as warm-up."""
    steps = chains.potentials.shape[1]
    kept = chains.potentials[:, steps // 2 :]
    if kept.shape[1] < 4:
        return Mixing(np.inf, np.inf, kept.shape[1])
    return Mixing(split_r_hat(kept), autocorrelation_time(kept), kept.shape[1])


def split_r_hat(values: Floats) -> float:
    """Split R-hat of (R, n) values, n >= 4 (Gelman et al., "Bayesian Data Analysis", 11.4)."""
    half = values.shape[1] // 2
    halves = np.concatenate([values[:, :half], values[:, -half:]])
    within = float(halves.var(axis=1, ddof=1).mean())
    between = float(halves.mean(axis=1).var(ddof=1))
    if within == 0:
        return 1.0 if between == 0 else float("inf")
    return float(np.sqrt((half - 1) / half + between / within))


def autocorrelation_time(values: Floats) -> float:
    """1 + 2 times the summed autocorrelations of (R, n) values about their common mean.

    The sum ends before the first pair of lags whose sum is not positive (Geyer, "Practical
    Markov chain Monte Carlo", 1992).
    """
    n = values.shape[1]
    centred = values - values.mean()
    spectrum = np.abs(np.fft.rfft(centred, 2 * n, axis=1)) ** 2
    covariances = np.fft.irfft(spectrum, axis=1)[:, :n].mean(axis=0) / np.arange(n, 0, -1)
    if covariances[0] <= 0:
        return 1.0
    pairs = (covariances[: n // 2 * 2] / covariances[0]).reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    last = int(ends[0]) if len(ends) else len(pairs)
    return max(float(2 * pairs[:last].sum() - 1), 1.0)


def _chord(points: Floats, directions: Floats, radius: float) -> tuple[Floats, Floats]:
    """(R,) ends of the t with |x + t v| <= radius, for unit v; they enclose 0."""
    along_direction = (points * directions).sum(axis=1)
    room = np.maximum(radius**2 - (points * points).sum(axis=1), 0.0)
    root = np.sqrt(along_direction**2 + room)
    return np.minimum(-along_direction - root, 0.0), np.maximum(-along_direction + root, 0.0)


def _slice(
    potential: Callable[[np.ndarray, Floats], Floats],
    low: Floats,
    high: Floats,
    generators: ReplicateGenerators,
) -> tuple[Floats, Floats]:
    """(R,) new positions, from position 0 on each line, and the potential there."""
    t = np.zeros(len(low))
    pending = np.arange(len(low))
    value = potential(pending, t)
    if not np.isfinite(value).all():
        raise ValueError(f"the potential must be finite on the ball, got {value}")
    level = value - np.log1p(-generators.uniform())
    while len(pending):
        left, right = low[pending], high[pending]
        proposed = left + (right - left) * generators.of(pending).uniform()
        found = potential(pending, proposed)
        inside = found <= level[pending]
        t[pending[inside]], value[pending[inside]] = proposed[inside], found[inside]
        below = ~inside & (proposed < 0)
        low[pending[below]] = proposed[below]
        above = ~inside & (proposed >= 0)
        high[pending[above]] = proposed[above]
        pending = pending[~inside]
    return t, value
