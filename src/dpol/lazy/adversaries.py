"""Loss sequences for judging lazy algorithms, generated batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpol.core.randomness import Floats, seed_sequence


@dataclass(frozen=True)
class ExpertLosses(ABC):
    """A sequence of losses.

    Args:
        n_rounds: T, the number of rounds.
        n_experts: d, the number of experts.
    """

    n_rounds: int
    n_experts: int

    def batches(self, size: int) -> Iterator[Floats]:
        """Yield the (rounds, d) losses of consecutive batches; the last may be shorter."""
        waiting: list[Floats] = []
        count = 0
        for block in self._blocks():
            while len(block):
                part, block = block[: size - count], block[size - count :]
                waiting.append(part)
                count += len(part)
                if count == size:
                    yield np.concatenate(waiting) if len(waiting) > 1 else part
                    waiting, count = [], 0
        if waiting:
            yield np.concatenate(waiting)

    @abstractmethod
    def _blocks(self) -> Iterator[Floats]:
        """Yield the same (rounds, d) losses in the parts in which they are generated."""


@dataclass(frozen=True)
class GapLosses(ExpertLosses):
    """Stochastic losses: Bernoulli(1/2 - gap) for expert 0, Bernoulli(1/2) for all others.

    Args:
        n_rounds: T, the number of rounds.
        n_experts: d, the number of experts.
        gap: advantage of the best expert, in [0, 1/2].
        seed: root seed; the losses are the same for every batch size.
    """

    gap: float
    seed: int

    def _blocks(self) -> Iterator[Floats]:
        rng = np.random.default_rng(seed_sequence(self.seed, ("gap losses", self.n_experts)))
        best = np.random.default_rng(seed_sequence(self.seed, ("gap losses, best expert",)))
        # Blocks do not depend on the batch size, so neither do the numbers.
        chunk = max(1, 2_000_000 // self.n_experts)
        for first in range(0, self.n_rounds, chunk):
            rounds = min(chunk, self.n_rounds - first)
            losses = rng.integers(0, 2, (rounds, self.n_experts), np.int8).astype(float)
            losses[:, 0] = best.random(rounds) < 0.5 - self.gap
            yield losses


@dataclass(frozen=True)
class EpochLosses(ExpertLosses):
    """The adversary of the lower bound: one Bernoulli(1/2)^d loss per epoch.

    There are E = (T eps)^(4/3) epochs, at least 1 and at most T. Source: "Private Online Learning
    via Lazy Algorithms", proof of Theorem 4.2.

    Args:
        n_rounds: T, the number of rounds.
        n_experts: d, the number of experts.
        epsilon: eps, the privacy parameter of the lower bound.
        seed: root seed.
    """

    epsilon: float
    seed: int

    @property
    def epochs(self) -> int:
        """E, the number of epochs."""
        wanted: float = (self.n_rounds * self.epsilon) ** (4 / 3)
        return max(1, round(min(wanted, self.n_rounds)))

    def _blocks(self) -> Iterator[Floats]:
        rng = np.random.default_rng(seed_sequence(self.seed, ("epoch losses", self.n_experts)))
        edges = np.round(np.linspace(0, self.n_rounds, self.epochs + 1)).astype(int)
        loss, begun = np.empty((1, self.n_experts)), 0
        chunk = max(1, 2_000_000 // self.n_experts)
        for first in range(0, self.n_rounds, chunk):
            rounds = np.arange(first, min(first + chunk, self.n_rounds))
            epoch = edges.searchsorted(rounds, side="right")
            # An epoch may continue into the next block, so its loss comes first there.
            fresh = rng.integers(0, 2, (epoch[-1] - begun, self.n_experts))
            loss = np.concatenate([loss[-1:], fresh])
            yield loss[epoch - begun]
            begun = epoch[-1]


@lru_cache(maxsize=64)
def total_losses(losses: ExpertLosses) -> Floats:
    """Return the (d,) total losses of the experts."""
    total = np.zeros(losses.n_experts)
    for batch in losses.batches(max(1, 1_000_000 // losses.n_experts)):
        total += batch.sum(axis=0)
    return total
