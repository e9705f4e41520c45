"""Multiplicative weights as a measure for L2P: private prediction from expert advice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import CoinsAhead, Floats, ReplicateGenerators
from dpol.lazy.stochastic_losses import PairedLosses, Sums
from dpol.lazy.transform import LazyParameters


@dataclass(frozen=True)
class WeightsMeasure:
    """Multiplicative weights: nu_s(x) is proportional to exp(-eta times the losses of x so far).

    x is one of d experts. A batch is the (d,) sum of its losses; points are (R,) expert indices.
    Source: "Private Online Learning via Lazy Algorithms", section 3.1, Lemma 3.9 (delta_0 = 0).

    Args:
        n_experts: d, the number of experts.
        eta: learning rate.
    """

    n_experts: int
    eta: float

    def initial(self) -> Floats:
        """Return the (d,) cumulative losses before round 1, all 0."""
        return np.zeros(self.n_experts)

    def absorb(self, state: Floats, batch: Floats) -> Floats:
        return state + batch

    def sample(self, state: Floats, generators: ReplicateGenerators) -> NDArray[np.int32]:
        return self.drawn(state, generators.uniform())

    def drawn(self, state: Sums | Floats, uniforms: Floats) -> NDArray[np.int32]:
        """Return the experts that uniform numbers draw, from one state or from one for each."""
        distribution = self._weights(state).cumsum(axis=-1)
        passed = distribution <= (uniforms * distribution[..., -1])[..., None]
        return np.asarray(np.minimum(passed.sum(axis=-1), self.n_experts - 1), dtype=np.int32)

    def log_ratio(self, batch: Any, points: NDArray[np.int32]) -> Floats:
        return -self.eta * self.loss(batch, points)

    def loss(self, batch: Any, points: NDArray[np.int32]) -> Floats:
        return np.asarray(batch[points])

    def probabilities(self, state: Floats) -> Floats:
        """Return the (d,) probabilities of the experts, the normalised measure."""
        weights = self._weights(state)
        return np.asarray(weights / weights.sum())

    def _weights(self, state: Sums | Floats) -> Floats:
        return np.asarray(np.exp(-self.eta * (state - state.min(axis=-1, keepdims=True))))


_WINDOW = 16
"""Batches in which a next redraw is looked for at once."""


def play_weights(
    measure: WeightsMeasure,
    parameters: LazyParameters,
    losses: PairedLosses,
    generators: ReplicateGenerators,
) -> tuple[Floats, Floats]:
    """Play a whole game as `dpol.lazy.transform.play_measure` does, from redraw to redraw.

    Between redraws nothing happens but losses, so the time grows with the redraws of a replicate,
    not with its batches.

    Args:
        measure: multiplicative weights.
        parameters: parameters of L2P or of a predecessor.
        losses: losses of each replicate.
        generators: one for each replicate; they must draw nothing else.

    Returns:
        The (R,) total losses and the (R,) redraws of x.
    """
    R, size = generators.n_replicates, parameters.batch_size
    coins = CoinsAhead(generators)
    last = -(-losses.sequences[0].n_rounds // size) - 1  # no redraw follows the last batch
    played, shadow = measure.drawn(measure.initial(), coins.next(np.arange(R), 2).T)
    coins.used += 2
    total, redraws, first = np.zeros(R), np.zeros(R, dtype=np.int64), 0
    for sums in losses.sums_of_batches(size):
        batches, at = sums.shape[1] - 1, np.zeros(R, dtype=np.int64)
        while len(rows := (at < batches).nonzero()[0]):
            ahead = at[rows, None] + np.arange(_WINDOW + 1)
            places = rows[:, None], np.minimum(ahead, batches)
            lost = np.diff(sums[*places, played[rows, None]].astype(float))
            ratio = -measure.eta * lost
            if parameters.shadow:
                other = np.diff(sums[*places, shadow[rows, None]].astype(float))
                ratio = ratio - -measure.eta * other
            keep = np.exp(np.minimum(parameters.log_scale + ratio, 0.0))
            drawn = coins.next(rows, 3 * _WINDOW).reshape(len(rows), _WINDOW, 3)
            real, fake, fake_shadow = np.moveaxis(drawn, 2, 0)
            redraw = (real >= keep) | (fake < parameters.fake_switch)
            redraw &= (redraws[rows] < parameters.limit)[:, None]
            redraw_shadow = parameters.shadow & (fake_shadow < parameters.fake_switch)
            events = (redraw | redraw_shadow) & (ahead[:, :-1] < min(batches, last - first))
            ends = np.where(events.any(axis=1), events.argmax(axis=1) + 1, _WINDOW)
            passed = np.minimum(ends, batches - at[rows])
            total[rows] += (lost * (np.arange(_WINDOW) < passed[:, None])).sum(axis=1)
            at[rows] += passed
            coins.used[rows] += 3 * passed
            end = np.arange(len(rows)), passed - 1
            redraws[rows] += events[end] & redraw[end]
            for points, which in ((played, redraw), (shadow, redraw_shadow)):
                own = rows[events[end] & which[end]]
                points[own] = measure.drawn(sums[own, at[own]], coins.next(own, 1)[:, 0])
                coins.used[own] += 1
        first += batches
    return total, redraws.astype(float)
