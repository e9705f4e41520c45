"""Regularised multiplicative weights on a convex body, as a measure for L2P.

nu_s(x) is proportional to `exp(-beta (losses of x so far + lambda |x|^2))` on the body.
Source: "Private Online Learning via Lazy Algorithms", section 3.2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpol.core.errors import DataError
from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.studies.lazy.convex.bodies import Body
from dpol.studies.lazy.convex.losses import LinearLosses, LinkedLosses
from dpol.studies.lazy.convex.rejection import Accepted, Rows, first_accepted

MOST_TRIES = 1_000
"""Attempts at a draw, of up to `MOST_AT_ONCE` proposals each."""
MOST_AT_ONCE = 64
"""Most proposals for a replicate in an attempt."""
STEPS = 3
"""Steps of the anchor in a batch."""


@dataclass(frozen=True, kw_only=True)
class RegularisedWeights:
    """The measure for linear losses <a_t, x>, drawn from without approximation.

    The state is the (d,) sum of the gradients so far, a batch the (d,) sum of its own; points
    are (R, d). For summed gradients A, nu is N(-A/(2 lambda), I/(2 beta lambda)) truncated to
    the body.

    Args:
        body: where points are played.
        beta: inverse temperature.
        regulariser: lambda.
    """

    body: Body
    beta: float
    regulariser: float

    def initial(self) -> Floats:
        return np.zeros(self.body.dimension)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> Floats:
        return self.body.sample(-state / (2 * self.regulariser), self.sigma, generators)

    def log_ratio(self, batch: Floats, points: Floats) -> Floats:
        return -self.beta * self.loss(batch, points)

    def loss(self, batch: Floats, points: Floats) -> Floats:
        return np.asarray((points * batch).sum(axis=1))

    @property
    def sigma(self) -> float:
        """Standard deviation of a coordinate before truncation."""
        return 1 / math.sqrt(2 * self.beta * self.regulariser)


@dataclass(frozen=True, kw_only=True)
class Absorbed:
    """The state of `LinkedWeights`.

    Args:
        losses: of the rounds so far.
        anchor: (d,) a point of the body near the mode; draws have the same law for any.
    """

    losses: LinkedLosses
    anchor: Floats


@dataclass(frozen=True, kw_only=True)
class LinkedWeights:
    """The measure for losses f(<a_t, x> - b_t), drawn from without approximation.

    A convex loss is nowhere below its tangent at a point, the anchor. So the measure for the
    tangents, which are linear, is an envelope: a draw x from it is accepted with probability
    `exp(-beta (losses of x - tangents at x))`, which is at most 1. The law is exact for any
    anchor; a good one makes draws cheap. How long a draw takes depends on the data: the
    guarantee is about what is played, not about time.

    Args:
        linear: the measure for linear losses of the same body, beta and lambda.
        none: the losses of no round.
    """

    linear: RegularisedWeights
    none: LinkedLosses

    def initial(self) -> Absorbed:
        return Absorbed(losses=self.none, anchor=self.linear.body.centre)

    def absorb(self, state: Absorbed, batch: LinkedLosses) -> Absorbed:
        losses = state.losses.followed_by(batch)
        return Absorbed(losses=losses, anchor=self._nearer_the_mode(losses, state.anchor))

    def sample(self, state: Absorbed, generators: ReplicateGenerators) -> Floats:
        """A point for each generator.

        Raises:
            DataError: none of 60,000 proposals for a replicate was accepted.
        """
        losses, anchor = state.losses, state.anchor
        slope, height = losses.slope_at(anchor), losses.sum_at(anchor[None])
        tries = iter(range(MOST_TRIES))

        def propose(pending: Rows, coins: ReplicateGenerators) -> tuple[Floats, Accepted]:
            attempt = next(tries, None)
            if attempt is None:
                raise DataError(
                    f"a point for {losses.n_rounds} rounds of losses that are not linear cannot be"
                    " drawn exactly: too few proposals are accepted; take fewer rounds or a"
                    " smaller epsilon"
                )
            # A generator that is named k times draws k proposals, one after the other.
            each = min(2**attempt, MOST_AT_ONCE)
            copies = coins.of(np.repeat(np.arange(len(pending)), each))
            points, height_of_coin = self.linear.sample(slope, copies), copies.uniform()
            excess = losses.sum_at(points) - height - (points - anchor) @ slope
            accepted = np.log1p(-height_of_coin) <= -self.linear.beta * excess
            by_replicate = accepted.reshape(len(pending), each)
            first = by_replicate.argmax(axis=1) + each * np.arange(len(pending))
            return points[first], np.asarray(by_replicate.any(axis=1))

        return first_accepted(generators, propose)

    def log_ratio(self, batch: LinkedLosses, points: Floats) -> Floats:
        return -self.linear.beta * self.loss(batch, points)

    def loss(self, batch: LinkedLosses, points: Floats) -> Floats:
        return batch.sum_at(points)

    def _nearer_the_mode(self, losses: LinkedLosses, anchor: Floats) -> Floats:
        """The anchor after some steps towards the mode of the tangents' measure at the anchor."""
        weight = 2 * self.linear.regulariser
        curvature = losses.link.steepness(losses.lipschitz * self.linear.sigma)
        share = 1 / (1 + curvature * float((losses.vectors**2).sum()) / losses.dimension / weight)
        for _ in range(STEPS):
            mode = self.linear.body.project(-losses.slope_at(anchor)[None] / weight)[0]
            anchor = anchor + share * (mode - anchor)
        return anchor


def measure_for(
    losses: LinearLosses | LinkedLosses, body: Body, *, beta: float, regulariser: float
) -> RegularisedWeights | LinkedWeights:
    """The measure of a kind of losses on a body.

    Args:
        losses: whose kind to take.
        body: where points are played.
        beta: inverse temperature.
        regulariser: lambda.
    """
    linear = RegularisedWeights(body=body, beta=beta, regulariser=regulariser)
    if isinstance(losses, LinearLosses):
        return linear
    return LinkedWeights(linear=linear, none=losses.rounds(0, 0))
