"""Regularised multiplicative weights on a ball, as a measure for L2P.

nu_s(x) is proportional to `exp(-beta (losses of x so far + lambda |x|^2))` on the ball.
Source: "Private Online Learning via Lazy Algorithms", section 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.core.errors import DataError
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.convex.ball import Accepted, Ball, Rows, first_accepted, sample_truncated_gaussian
from dpol.lazy.convex.losses import STEEPNESS, ConvexLosses, LinearLosses, LogisticLosses

MOST_TRIES = 2_000
"""Most attempts at a draw, each of up to `MOST_AT_ONCE` proposals."""
MOST_AT_ONCE = 64
"""Most proposals for a replicate in one attempt."""
STEPS = 3
"""Steps of the anchor per batch."""


@dataclass(frozen=True, kw_only=True)
class RegularisedWeights:
    """The measure for linear losses <a_t, x>; sampling is exact.

    The state is the (d,) sum of the gradients so far; a batch is the (d,) sum of its gradients;
    points are (R, d). If each replicate has losses of its own, both sums are (R, d). For summed
    gradients A, nu is N(-A/(2 lambda), I/(2 beta lambda)) truncated to the ball.

    Args:
        ball: ball of the points.
        beta: inverse temperature.
        regulariser: lambda, the weight of `|x|^2`.
    """

    ball: Ball
    beta: float
    regulariser: float

    def initial(self) -> Floats:
        return np.zeros(self.ball.dimension)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> Floats:
        if state.ndim == 2:
            own = [self.sample(it, generators.of([r])) for r, it in enumerate(state)]
            return np.concatenate(own)
        sigma = 1 / math.sqrt(2 * self.beta * self.regulariser)  # before truncation
        mean = -state / (2 * self.regulariser)
        return sample_truncated_gaussian(mean, sigma, self.ball.diameter, generators)

    def log_ratio(self, batch: Floats, points: Floats) -> Floats:
        return -self.beta * self.loss(batch, points)

    def loss(self, batch: Floats, points: Floats) -> Floats:
        return np.asarray((points * batch).sum(axis=1))


@dataclass(frozen=True, kw_only=True)
class Absorbed:
    """The state of `LogisticWeights`.

    Args:
        losses: losses of the rounds so far.
        anchor: (d,) point of the ball near the mode; any point gives the same distribution. If each
            replicate has losses of its own, (R, d), and the state has rows as such an array has.
    """

    losses: LogisticLosses
    anchor: Floats

    @property
    def ndim(self) -> int:
        return self.anchor.ndim

    def __getitem__(self, rows: int | Rows) -> Absorbed:
        return Absorbed(losses=self.losses.of(rows), anchor=self.anchor[rows])


@dataclass(frozen=True, kw_only=True)
class LogisticWeights:
    """The measure for logistic losses; sampling is exact.

    A convex loss is nowhere below its tangent at a point, the anchor. So the measure for the
    tangents, which are linear, is an envelope: a draw x from it is accepted with probability
    `exp(-beta (losses of x - tangents at x))`, which is at most 1. Draws are exact for any anchor.
    The time of a draw, and whether it is given up, depend on the data: the guarantee covers the
    points played by a run that ends, and no part of its delta covers running time or a refusal.

    Args:
        linear: the measure for linear losses with the same ball, beta and lambda.
        none: the losses of no round.
    """

    linear: RegularisedWeights
    none: LogisticLosses

    def initial(self) -> Absorbed:
        return Absorbed(losses=self.none, anchor=np.zeros(self.none.vectors.shape[1:]))

    def absorb(self, state: Absorbed, batch: LogisticLosses) -> Absorbed:
        losses = state.losses.followed_by(batch)
        return Absorbed(losses=losses, anchor=self._nearer_the_mode(losses, state.anchor))

    def sample(self, state: Absorbed, generators: ReplicateGenerators) -> Floats:
        """Draw one point for each generator.

        Raises:
            DataError: none of more than 120,000 proposals for a replicate was accepted.
        """
        if state.ndim == 2:
            own = [self.sample(state[r], generators.of([r])) for r in range(len(state.anchor))]
            return np.concatenate(own)
        losses, anchor, tries = state.losses, state.anchor, iter(range(MOST_TRIES))
        slope, height = losses.slope_at(anchor), losses.sum_at(anchor[None])

        def propose(pending: Rows, coins: ReplicateGenerators) -> tuple[Floats, Accepted]:
            attempt = next(tries, None)
            if attempt is None:
                raise DataError(
                    f"a point for {losses.n_rounds} rounds of logistic losses cannot be drawn"
                    " exactly: too few proposals are accepted; take fewer rounds or a smaller"
                    " epsilon"
                )
            # A generator listed k times draws k proposals in turn.
            each = min(2**attempt, MOST_AT_ONCE)
            copies = coins.of(np.repeat(np.arange(len(pending)), each))
            points = self.linear.sample(slope, copies)
            excess = losses.sum_at(points) - height - (points - anchor) @ slope
            accepted = np.log1p(-copies.uniform()) <= -self.linear.beta * excess
            by_replicate = accepted.reshape(len(pending), each)
            first = by_replicate.argmax(axis=1) + each * np.arange(len(pending))
            return points[first], np.asarray(by_replicate.any(axis=1))

        return first_accepted(generators, propose)

    def log_ratio(self, batch: LogisticLosses, points: Floats) -> Floats:
        return -self.linear.beta * self.loss(batch, points)

    def loss(self, batch: LogisticLosses, points: Floats) -> Floats:
        return batch.sum_at(points)

    def _nearer_the_mode(self, losses: LogisticLosses, anchor: Floats) -> Floats:
        """Return the anchor after a few steps towards the mode of its tangents' measure."""
        weight = 2 * self.linear.regulariser
        squares = (losses.vectors**2).sum(axis=0).sum(axis=-1)
        share = 1 / (1 + STEEPNESS * squares / losses.dimension / weight)
        for _ in range(STEPS):
            mode = self.linear.ball.project(-losses.slope_at(anchor) / weight)
            anchor = anchor + share[..., None] * (mode - anchor)
        return anchor


def measure_for(
    losses: ConvexLosses, ball: Ball, *, beta: float, regulariser: float
) -> RegularisedWeights | LogisticWeights:
    """Return the measure for a kind of losses on a ball.

    Args:
        losses: losses of the kind that will be played.
        ball: ball of the points.
        beta: inverse temperature.
        regulariser: lambda, the weight of `|x|^2`.
    """
    linear = RegularisedWeights(ball=ball, beta=beta, regulariser=regulariser)
    if isinstance(losses, LinearLosses):
        return linear
    return LogisticWeights(linear=linear, none=losses.rounds(0, 0))
