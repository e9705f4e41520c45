"""Regularised multiplicative weights on a ball, as measures for L2P.

nu_s(x) is proportional to `exp(-beta (losses of x so far + lambda |x|^2))` for `|x| <= D/2`.
Source: "Private Online Learning via Lazy Algorithms", section 3.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpol.convex.hit_and_run import (
    Chains,
    Mixing,
    hit_and_run,
    mixing,
    uniform_in_ball,
)
from dpol.convex.losses import LogisticLosses, log_loss
from dpol.convex.truncated_gaussian import sample_truncated_gaussian
from dpol.core.randomness import Floats, ReplicateGenerators

Rounds = tuple[int, int]
"""First round, and the one after the last."""


@dataclass(frozen=True)
class RegularisedWeights:
    """The measure for linear losses <a_t, x>, drawn from without approximation.

    The state is the (d,) sum of the gradients so far, a batch the (d,) sum of its own; points
    are (R, d). For summed gradients A, nu is N(-A/(2 lambda), I/(2 beta lambda)) truncated to
    the ball.

    Args:
        dimension: d of the space.
        diameter: D of the ball around 0.
        beta: inverse temperature.
        regulariser: lambda.

    Raises:
        ValueError: a parameter is not above 0.
    """

    dimension: int
    diameter: float
    beta: float
    regulariser: float

    def __post_init__(self) -> None:
        if not (isinstance(self.dimension, int) and self.dimension >= 1):
            raise ValueError(f"dimension must be a whole number >= 1, got {self.dimension!r}")
        _check_positive(diameter=self.diameter, beta=self.beta, regulariser=self.regulariser)

    def initial(self) -> Floats:
        return np.zeros(self.dimension)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> Floats:
        return sample_truncated_gaussian(
            -state / (2 * self.regulariser), self.sigma, self.diameter, generators
        )

    def log_ratio(self, batch: Floats, points: Floats) -> Floats:
        return np.asarray(-self.beta * (points * batch).sum(axis=1))

    def log_density(self, state: Floats, points: Floats) -> Floats:
        """(R,) log nu, unnormalised; the points must lie in the ball."""
        penalty = self.regulariser * (points * points).sum(axis=1)
        return np.asarray(-self.beta * ((points * state).sum(axis=1) + penalty))

    @property
    def sigma(self) -> float:
        """Standard deviation of a coordinate before truncation."""
        return 1 / math.sqrt(2 * self.beta * self.regulariser)


@dataclass(frozen=True, eq=False)
class RegularisedLogisticWeights:
    """The measure for logistic losses, drawn from by hit-and-run: approximately.

    The state is the number of rounds so far, a batch its rounds (start, stop), counted from 0
    and without a gap to the rounds before; points are (R, d). Every draw starts a new chain at
    the mode of the measure. Privacy statements assume exact draws and do not cover these:
    look at `mixing` before choosing `steps`.

    Args:
        losses: all losses; the measure uses those of the rounds so far.
        diameter: D of the ball around 0.
        beta: inverse temperature.
        regulariser: lambda.
        steps: moves of a chain for one draw.

    Raises:
        ValueError: a parameter is not above 0.
    """

    losses: LogisticLosses
    diameter: float
    beta: float
    regulariser: float
    steps: int

    def __post_init__(self) -> None:
        _check_positive(diameter=self.diameter, beta=self.beta, regulariser=self.regulariser)
        if not (isinstance(self.steps, int) and self.steps >= 1):
            raise ValueError(f"steps must be a whole number >= 1, got {self.steps!r}")

    def initial(self) -> int:
        return 0

    def absorb(self, state: int, batch: Rounds) -> int:
        start, stop = batch
        if not (start == state and start < stop <= self.losses.n_rounds):
            raise ValueError(
                f"a batch of rounds {start + 1}..{stop} cannot follow round {state} of "
                f"{self.losses.n_rounds}"
            )
        return stop

    def sample(self, state: int, generators: ReplicateGenerators) -> Floats:
        # A chain needs no better start than a hundredth below the mode in log density.
        mode = self.losses.minimise(
            slice(0, state), self.diameter, self.regulariser, tolerance=0.01 / self.beta
        )
        initial = np.tile(mode, (generators.n_replicates, 1))
        return self._run(state, initial, self.steps, generators).points

    def log_ratio(self, batch: Rounds, points: Floats) -> Floats:
        return -self.beta * self.losses.value(slice(*batch), points)

    def log_density(self, state: int, points: Floats) -> Floats:
        """(R,) log nu, unnormalised; the points must lie in the ball."""
        penalty = self.regulariser * (points * points).sum(axis=1)
        return np.asarray(-self.beta * (self.losses.value(slice(0, state), points) + penalty))

    def mixing(self, state: int, generators: ReplicateGenerators) -> Mixing:
        """Diagnostics of chains from uniform points: `steps` of warm-up and `steps` more."""
        initial = uniform_in_ball(self.losses.dimension, self.diameter, generators)
        return mixing(self._run(state, initial, 2 * self.steps, generators))

    def _run(
        self, state: int, initial: Floats, steps: int, generators: ReplicateGenerators
    ) -> Chains:
        def line(points: Floats, directions: Floats) -> Callable[[np.ndarray, Floats], Floats]:
            return self._along(state, points, directions)

        return hit_and_run(line, initial, self.diameter, steps, generators)

    def _along(
        self, state: int, points: Floats, directions: Floats
    ) -> Callable[[np.ndarray, Floats], Floats]:
        """The negative log density on lines: margins are linear in the position."""
        here = self.losses.margins(slice(0, state), points)
        change = self.losses.margins(slice(0, state), directions)

        def potential(rows: np.ndarray, t: Floats) -> Floats:
            loss = log_loss(here[rows] + t[:, None] * change[rows])
            moved = points[rows] + t[:, None] * directions[rows]
            penalty = self.regulariser * (moved * moved).sum(axis=1)
            return np.asarray(self.beta * (loss + penalty))

        return potential


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a positive number, got {value}")
