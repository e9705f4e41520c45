"""Stochastic and oblivious losses for judging lazy algorithms, generated batch by batch."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, seed_sequence

Bits = NDArray[np.int8]
"""Losses 0 and 1, a byte each."""
Sums = NDArray[np.integer[Any]]
"""Sums of losses 0 and 1."""
MOST_SUMS = 60_000_000
"""Most sums of losses to keep; of more, parts are made again for each algorithm."""


@dataclass(frozen=True)
class GapLosses:
    """Stochastic losses: Bernoulli(1/2 - gap) for expert 0, Bernoulli(1/2) for all others.

    Args:
        n_rounds: T, the number of rounds.
        n_experts: d, the number of experts.
        gap: advantage of the best expert, in [0, 1/2].
        seed: root seed; the losses are the same for every batch size.
        replicate: number of the replicate; each has a sequence of its own.
    """

    n_rounds: int
    n_experts: int
    gap: float
    seed: int
    replicate: int = 0

    def batches(self, size: int) -> Iterator[Bits]:
        """Yield the (rounds, d) losses of consecutive batches; the last may be shorter."""
        rest = np.empty((0, self.n_experts), dtype=np.int8)
        for block in self._blocks():
            rest = np.concatenate([rest, block])
            while len(rest) >= size:
                yield rest[:size]
                rest = rest[size:]
        if len(rest):
            yield rest

    def _blocks(self) -> Iterator[Bits]:
        """Yield the same (rounds, d) losses in the parts in which they are generated."""
        key = ("gap losses", self.n_experts, self.replicate)
        rng = np.random.default_rng(seed_sequence(self.seed, key))
        best = np.random.default_rng(seed_sequence(self.seed, (*key, "best expert")))
        # Blocks do not depend on the batch size, so neither do the numbers.
        chunk = max(1, 2_000_000 // self.n_experts)
        for first in range(0, self.n_rounds, chunk):
            rounds = min(chunk, self.n_rounds - first)
            losses = rng.integers(0, 2, (rounds, self.n_experts), np.int8)
            losses[:, 0] = best.random(rounds) < 0.5 - self.gap
            yield losses


@dataclass(frozen=True)
class TurnLosses:
    """Oblivious losses: experts 0 and 1 take turns to lose, others lose in every round.

    Nothing is random. A loss is 0 or 1, and the first turn is that of expert 0.

    Args:
        n_rounds: T, the number of rounds.
        n_experts: d, the number of experts, at least 2.
        turn: rounds of a turn.
    """

    n_rounds: int
    n_experts: int
    turn: int

    def batches(self, size: int) -> Iterator[Bits]:
        """Yield the (rounds, d) losses of consecutive batches; the last may be shorter."""
        for first in range(0, self.n_rounds, size):
            turns = np.arange(first, min(first + size, self.n_rounds)) // self.turn
            losses = np.ones((len(turns), self.n_experts), dtype=np.int8)
            losses[:, :2] = turns[:, None] % 2 == np.arange(2)
            yield losses


@dataclass(frozen=True)
class PairedLosses:
    """Sequences of losses of R replicates, which every algorithm plays on: its own for each.

    They are summed once, so a batch costs no more than the experts that are played in it.

    Args:
        sequences: the sequences, of losses 0 and 1, with the same rounds and experts; if there is
            one, all replicates have it.
        replicates: R, by default the number of sequences.
    """

    sequences: tuple[GapLosses | TurnLosses, ...]
    replicates: int | None = None

    def sums_of_batches(self, size: int) -> Iterator[Sums]:
        """Yield the (R, k + 1, d) total losses before and after k consecutive batches.

        A batch has `size` rounds; the last may be shorter. All batches come at once if there is
        memory for the sums of all rounds.
        """
        T, most = self.sequences[0].n_rounds, self._most_rounds
        edges = [*range(0, T, size), T]
        if most >= T:
            yield self._whole if size == 1 else self._whole[:, edges]
            return
        sums = self._at(edges)
        last = next(sums)
        for first in range(1, len(edges), many := max(1, most // 20)):
            some = np.empty(
                (len(last), len(edges[first : first + many]) + 1, last.shape[1]), last.dtype
            )
            some[:, 0] = last
            for k in range(1, some.shape[1]):
                some[:, k] = next(sums)
            yield some
            last = some[:, -1]

    def between(self, edges: Iterable[int]) -> Iterator[Floats]:
        """Yield the (R, d) losses between rounds, in increasing order."""
        for before, after in itertools.pairwise(self._at(edges)):
            yield np.asarray(after - before, dtype=float)

    def parts(self) -> Iterator[Sums]:
        """Yield the (R, rounds + 1, d) total losses before and after each round of a part.

        All rounds are one part if there is memory; parts are a twentieth of what is kept.
        """
        if self._most_rounds < self.sequences[0].n_rounds:
            yield from self._sums(max(1, self._most_rounds // 20))
        else:
            yield self._whole

    def of(self, replicate: int) -> Sums:
        """Return the (T + 1, d) total losses of a replicate before and after each round."""
        if self._most_rounds < self.sequences[0].n_rounds:
            alone = PairedLosses((self.sequences[replicate % len(self.sequences)],))
            return np.asarray(alone._whole[0])
        return np.asarray(self._whole[replicate])

    @cached_property
    def totals(self) -> Floats:
        """(R, d) total losses of all rounds."""
        *_, last = self.parts()
        return last[:, -1].astype(float)

    @property
    def _most_rounds(self) -> int:
        """Most rounds whose sums are kept."""
        return MOST_SUMS // ((self.replicates or len(self.sequences)) * self.sequences[0].n_experts)

    def _at(self, edges: Iterable[int]) -> Iterator[Sums]:
        """Yield the (R, d) total losses before some rounds, in increasing order."""
        parts, first, sums = self.parts(), 0, None
        for edge in edges:
            while sums is None or edge - first >= sums.shape[1]:
                first += 0 if sums is None else sums.shape[1] - 1
                sums = next(parts)
            yield sums[:, edge - first]

    @cached_property
    def _whole(self) -> Sums:
        (sums,) = self._sums(self.sequences[0].n_rounds)
        return sums

    def _sums(self, length: int) -> Iterator[Sums]:
        T, d = self.sequences[0].n_rounds, self.sequences[0].n_experts
        last: Any = 0
        for parts in zip(*(each.batches(length) for each in self.sequences), strict=True):
            sums: Sums = np.empty((len(parts), len(parts[0]) + 1, d), dtype=np.min_scalar_type(T))
            sums[:, 0] = last
            for own, part in zip(sums, parts, strict=True):
                np.cumsum(part, axis=0, out=own[1:], dtype=own.dtype)
                own[1:] += own[0]
            last = sums[:, -1]
            yield np.broadcast_to(sums, (self.replicates or len(sums), *sums.shape[1:]))
