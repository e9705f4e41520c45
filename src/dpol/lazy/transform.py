"""The L2P transformation and its predecessor, one batch at a time for all replicates."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_number, check_numbers, check_whole
from dpol.core.randomness import Floats, ReplicateGenerators

Points = NDArray[Any]
"""(R, ...) array of points, one for each replicate."""


class Measure(Protocol):
    """Measures nu_1, nu_2, ... on a set of points, each determined by the losses before it.

    Replicates with the same losses share the state of a measure. If they have losses of their own,
    the state after a batch is an array (R, d), a row for each. Source: "Private Online Learning via
    Lazy Algorithms", Assumption 3.1.
    """

    def initial(self) -> Any:
        """Return the state of nu_1."""

    def absorb(self, state: Any, batch: Any) -> Any:
        """Return the state of the next measure, given the losses of a batch."""

    def sample(self, state: Any, generators: ReplicateGenerators) -> Points:
        """Draw (R, ...) points from the normalised measure, one for each generator."""

    def log_ratio(self, batch: Any, points: Points) -> Floats:
        """Return (R,) log nu_{s+1}(x) / nu_s(x), unnormalised: a function of the batch only."""

    def loss(self, batch: Any, points: Points) -> Floats:
        """Return the (R,) losses of the points, summed over a batch."""


class Losses(Protocol):
    """T rounds of losses."""

    def batches(self, size: int) -> Iterator[Any]:
        """Yield the losses of consecutive batches, as (rounds, d) or in the measure's own form."""


@dataclass(frozen=True)
class LazyParameters:
    """Parameters of L2P, or of a predecessor that has no shadow point.

    Args:
        batch_size: B, rounds in a batch.
        eta: bound on the measure's log ratio per round.
        fake_switch: p, probability of a redraw that does not depend on the data.
        normaliser: c; keep probabilities are scaled by e^(-c B eta). c = 2 is the paper's. c = 1
            (not in the paper) switches less, and suffices if the ratio of x and y never exceeds
            e^(B eta), as for multiplicative weights.
        shadow: whether a shadow point normalises the keep probability; if not, the keep
            probability is the measure's own ratio, without a scale.
        limit: most redraws of x, the first draw not counted; inf for no limit.

    Raises:
        ValueError: a parameter is out of range.
    """

    batch_size: int
    eta: float
    fake_switch: float
    _: KW_ONLY
    normaliser: float = 1.0
    shadow: bool = True
    limit: float = math.inf

    def __post_init__(self) -> None:
        check_whole("batch_size", self.batch_size)
        check_number("eta", self.eta, "(0, 1e6]")
        check_number("fake_switch", self.fake_switch, "[0, 1]")
        check_numbers("[0, inf]", normaliser=self.normaliser, limit=self.limit)

    @property
    def log_scale(self) -> float:
        """Logarithm of the scale of the keep probability: -c B eta, or 0 without a shadow point."""
        return -self.normaliser * self.batch_size * self.eta * self.shadow


@dataclass(frozen=True, kw_only=True)
class LazyState:
    """State of L2P between batches.

    Args:
        measure: state of the measure of the current batch.
        played: (R, ...) points x that are played.
        shadow: (R, ...) points y that only normalise the keep probability.
        redraws: (R,) number of redraws of x so far, without the first draw.
    """

    measure: Any
    played: Points
    shadow: Points
    redraws: NDArray[np.int64]


def start(measure: Measure, generators: ReplicateGenerators) -> LazyState:
    """Return the state of the first batch: x and y are independent draws from nu_1.

    >>> from dpol.lazy.weights import WeightsMeasure
    >>> from dpol.core.randomness import replicate_generators
    >>> generators = replicate_generators(1, ("example",), range(3), "L2P")
    >>> start(WeightsMeasure(n_experts=4, eta=0.1), generators).played.shape
    (3,)
    """
    first = measure.initial()
    none = np.zeros(generators.n_replicates, dtype=np.int64)
    return LazyState(
        measure=first,
        played=measure.sample(first, generators),
        shadow=measure.sample(first, generators),
        redraws=none,
    )


def advance(
    measure: Measure,
    parameters: LazyParameters,
    state: LazyState,
    batch: Any,
    generators: ReplicateGenerators,
) -> LazyState:
    """Return the state of the next batch, given the losses of the current one.

    Unless there is a fake switch, with probability p, x is kept with probability
    e^(-c B eta) [nu_s(x)/nu_{s-1}(x)] [nu_{s-1}(y)/nu_s(y)], capped at 1; y is kept with
    probability 1 - p. A point that is not kept is drawn again from nu_s, unless x was redrawn as
    often as the limit allows. Source: "Private Online Learning via Lazy Algorithms", Algorithm 1;
    without y, "Private Online Prediction from Experts", Algorithm 1.
    """
    real, fake, shadow = generators.uniforms(3).T
    ratio = measure.log_ratio(batch, state.played)
    if parameters.shadow:
        ratio = ratio - measure.log_ratio(batch, state.shadow)
    keep = np.exp(np.minimum(parameters.log_scale + ratio, 0.0))
    redraw = (real >= keep) | (fake < parameters.fake_switch)
    redraw &= state.redraws < parameters.limit
    redraw_shadow = parameters.shadow & (shadow < parameters.fake_switch)
    current = measure.absorb(state.measure, batch)
    return LazyState(
        measure=current,
        played=_redrawn(measure, current, state.played, redraw, generators),
        shadow=_redrawn(measure, current, state.shadow, redraw_shadow, generators),
        redraws=state.redraws + redraw,
    )


def play_measure(
    measure: Measure, parameters: LazyParameters, losses: Losses, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """Play a whole game; return the (R,) total losses and the (R,) redraws of x.

    A batch that is an array (rounds, d) is summed for the measure; others are passed unchanged.
    """
    state, total = start(measure, generators), np.zeros(generators.n_replicates)
    batch: Any = None
    for rounds in losses.batches(parameters.batch_size):
        if batch is not None:
            state = advance(measure, parameters, state, batch, generators)
        batch = rounds.sum(axis=0) if isinstance(rounds, np.ndarray) else rounds
        total += measure.loss(batch, state.played)
    return total, state.redraws.astype(float)


def _redrawn(
    measure: Measure,
    current: Any,
    points: Points,
    redraw: NDArray[np.bool_],
    generators: ReplicateGenerators,
) -> Points:
    (rows,) = redraw.nonzero()
    if not len(rows):
        return points
    points = points.copy()
    own = current[rows] if np.ndim(current) == 2 else current
    points[rows] = measure.sample(own, generators.of(rows))
    return points
