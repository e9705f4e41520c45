"""The L2P transformation, batch by batch, for all replicates at once."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.core.words import one_line

Points = NDArray[Any]
"""An array (R, ...) of points, one for each replicate."""
Normaliser = Literal["published", "tight"]
"""Names of the constant c of the keep probability."""
NORMALISERS: dict[Normaliser, float] = {"published": 2.0, "tight": 1.0}
"""c by name."""


class Measure(Protocol):
    """Measures nu_1, nu_2, ... on a set of points, each made from the losses before it.

    The losses are the same for all replicates, so a measure's state is shared by them.
    """

    def initial(self) -> Any:
        """The state of nu_1."""

    def absorb(self, state: Any, batch: Any) -> Any:
        """The state of the next measure, once the losses of a batch are known."""

    def sample(self, state: Any, generators: ReplicateGenerators) -> Points:
        """One point for each generator, (R, ...), drawn from the normalised measure."""

    def log_ratio(self, batch: Any, points: Points) -> Floats:
        """(R,) log nu_{s+1}(x) / nu_s(x), unnormalised: a function of the batch's losses only."""

    def loss(self, batch: Any, points: Points) -> Floats:
        """(R,) summed losses of the points in a batch."""


class Losses(Protocol):
    """T rounds of losses, the same for all replicates."""

    def batches(self, size: int) -> Iterator[Any]:
        """Losses of consecutive batches, (rounds, d) or what the measure takes."""


@dataclass(frozen=True)
class LazyParameters:
    """Parameters of L2P.

    Args:
        batch_size: B, rounds in a batch.
        eta: bound on the log ratio of the measure per round.
        fake_switch: p, probability of a redraw that does not depend on the data.
        normaliser: keep probabilities are scaled by e^(-c B eta); c = 2 is `published`,
            c = 1 (`tight`, ours) suffices where the ratio of x and y never exceeds
            e^(B eta), as for multiplicative weights, and switches less.

    Raises:
        ValueError: a parameter is unknown or out of range.
    """

    batch_size: int
    eta: float
    fake_switch: float
    _: KW_ONLY
    normaliser: Normaliser = "tight"

    def __post_init__(self) -> None:
        if not (isinstance(self.batch_size, int) and self.batch_size >= 1):
            raise ValueError(f"batch_size must be a whole number >= 1, got {self.batch_size!r}")
        if not 0 < self.eta < math.inf:
            raise ValueError(f"eta must be a positive number, got {self.eta}")
        if not 0 <= self.fake_switch <= 1:
            raise ValueError(f"fake_switch must lie in [0, 1], got {self.fake_switch}")
        if self.normaliser not in NORMALISERS:
            raise ValueError(f"normaliser must be published or tight, got {self.normaliser!r}")

    @property
    def log_scale(self) -> float:
        """-c B eta."""
        return -NORMALISERS[self.normaliser] * self.batch_size * self.eta


@dataclass(frozen=True, kw_only=True)
class LazyState:
    """The state that L2P carries from batch to batch.

    Args:
        measure: state of the measure of the current batch.
        played: (R, ...) the points x that are played.
        shadow: (R, ...) the points y that only normalise the keep probability.
        redraws: (R,) how often x was drawn afresh so far, the first draw excepted.
    """

    measure: Any
    played: Points
    shadow: Points
    redraws: NDArray[np.int64]

    __repr__ = one_line


def start(measure: Measure, generators: ReplicateGenerators) -> LazyState:
    """The state of the first batch: x and y independent draws from nu_1.

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
    """The state of the next batch, once the losses of the current one are known.

    x is kept with probability e^(-c B eta) [nu_s(x)/nu_{s-1}(x)] [nu_{s-1}(y)/nu_s(y)],
    at most 1, unless a fake switch comes with probability p; y is kept with probability
    1 - p. Whatever is not kept is drawn from nu_s. Source: "Private Online Learning via
    Lazy Algorithms", Algorithm 1.
    """
    own, other, shadow = generators.uniforms(3).T
    ratio = measure.log_ratio(batch, state.played) - measure.log_ratio(batch, state.shadow)
    keep = np.exp(np.minimum(parameters.log_scale + ratio, 0.0))
    redraw = (own >= keep) | (other < parameters.fake_switch)
    redraw_shadow = shadow < parameters.fake_switch
    current = measure.absorb(state.measure, batch)
    return LazyState(
        measure=current,
        played=_redrawn(measure, current, state.played, redraw, generators),
        shadow=_redrawn(measure, current, state.shadow, redraw_shadow, generators),
        redraws=state.redraws + redraw,
    )


def play(
    measure: Measure, parameters: LazyParameters, losses: Losses, generators: ReplicateGenerators
) -> tuple[Floats, Floats]:
    """The total losses (R,) and the redraws of x (R,) of a whole game.

    An array of rounds is given to the measure as their sum, anything else as it is.
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
    rows = np.flatnonzero(redraw)
    if not len(rows):
        return points
    points = points.copy()
    points[rows] = measure.sample(current, generators.of(rows))
    return points
