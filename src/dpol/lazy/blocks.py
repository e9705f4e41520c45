"""L2P or the dartboard for many games on the same losses; only redraws cost time.

A batch can redraw x or y only if a uniform number passes a bound that holds for all x and y.
Each replicate jumps from one such batch to the next, over blocks of rounds.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.adversaries import ExpertLosses
from dpol.lazy.transform import LazyParameters, start
from dpol.lazy.weights import WeightsMeasure

Game = tuple[LazyParameters, ReplicateGenerators]
"""Parameters, and a random generator for each replicate."""
_HELD = 2_000_000  # most losses of a block, and most batches of all replicates in a block


def play_weights(losses: ExpertLosses, games: Sequence[Game]) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and the (R,) redraws of x of each game.

    `dpol.lazy.play` over `WeightsMeasure` returns the same from the same random numbers, except
    that sums of fractional losses differ in their last digits.

    Args:
        losses: losses in [0, 1], shared by all games.
        games: parameters and generators of each game.
    """
    d = losses.n_experts
    by_game = [_replicates(WeightsMeasure(d, rules.eta), rules, coins) for rules, coins in games]
    replicates = list(itertools.chain.from_iterable(by_game))
    prefix, first = np.zeros((1, d)), 0
    for block in losses.batches(max(1, _HELD // max(d, len(replicates)))):
        prefix = np.concatenate([prefix[-1:], block]).cumsum(axis=0)
        # Nothing is redrawn after the last batch.
        last = min(first + len(block), losses.n_rounds - 1)
        for replicate in replicates:
            replicate.play(prefix, first, last)
        first += len(block)
    return [
        (
            np.array([each.total + prefix[-1, each.played] for each in game]),
            np.array([float(each.redraws) for each in game]),
        )
        for game in by_game
    ]


@dataclass(eq=False, kw_only=True)
class _Replicate:
    """A replicate of a game. A prefix is a sum of losses since round 1.

    Args:
        measure: multiplicative weights.
        parameters: parameters of the game.
        generator: generator of the replicate.
        played: x.
        shadow: y.
        following: rounds before the next batch.
        begun: prefixes of x and y before the current batch, if it began in an earlier block.
        total: loss so far, minus the prefix of x.
        redraws: how often x was redrawn.
        uniforms: uniform numbers that are drawn, but not used.
    """

    measure: WeightsMeasure
    parameters: LazyParameters
    generator: np.random.Generator
    played: int
    shadow: int
    following: int
    begun: tuple[float, float] = (0.0, 0.0)
    total: float = 0.0
    redraws: int = 0
    uniforms: Floats = field(default_factory=lambda: np.empty(0))

    def play(self, prefix: Floats, first: int, last: int) -> None:
        """Redraw x and y after every batch that ends in a block.

        Args:
            prefix: (rounds + 1, d) prefixes of a block.
            first: rounds before the block.
            last: last round of the block, or the round before the last of the game.
        """
        size = self.parameters.batch_size
        left = max((last - self.following) // size + 1, 0)
        # A batch uses three numbers, and one more for each redraw.
        fresh = self.generator.random(max(5 * left + 2 - len(self.uniforms), 0))
        uniforms, used = np.concatenate([self.uniforms, fresh]), 0
        real = uniforms >= _least_keep(self.parameters)
        fake = uniforms < self.parameters.fake_switch
        # A batch that uses the numbers from 3k + i on may redraw if column k of row i is true.
        flat = np.ones(len(uniforms) // 3 * 3 + 3, dtype=bool)
        flat[: len(uniforms) - 2] = real[:-2] | fake[1:-1] | fake[2:]
        may = np.ascontiguousarray(flat.reshape(-1, 3).T)
        while left:
            k, i = divmod(used, 3)
            skipped = min(int(may[i, k:].argmax()), left)
            used, left = used + 3 * skipped, left - skipped
            self.following += skipped * size
            if left:
                now = self.following - first
                used += self._redraw(uniforms[used : used + 5], prefix, now)
                self.following, left = self.following + size, left - 1
        self.uniforms = uniforms[used:]
        self.begun = self._begun(prefix, self.following - first)

    def _begun(self, prefix: Floats, now: int) -> tuple[float, float]:
        """Return the prefixes of x and y before the batch that ends `now` rounds into a block."""
        before = now - self.parameters.batch_size
        if before < 0:
            return self.begun
        return prefix[before, self.played], prefix[before, self.shadow]

    def _redraw(self, uniforms: Floats, prefix: Floats, now: int) -> int:
        """Redraw x and y after a batch if the numbers say so; return how many numbers are used."""
        rules, state = self.parameters, prefix[now]
        of_x, of_y = self._begun(prefix, now)
        ratio = -rules.eta * (state[self.played] - of_x)
        if rules.shadow:
            ratio += rules.eta * (state[self.shadow] - of_y)
        keep = math.exp(min(rules.log_scale + ratio, 0.0))
        redraw = bool(uniforms[0] >= keep or uniforms[1] < rules.fake_switch)
        redraw &= self.redraws < rules.limit
        redraw_shadow = bool(rules.shadow and uniforms[2] < rules.fake_switch)
        if redraw:
            self.total += state[self.played]
            self.played = int(self.measure.draw(state, uniforms[3]))
            self.total -= state[self.played]
            self.redraws += 1
        if redraw_shadow:
            self.shadow = int(self.measure.draw(state, uniforms[3 + redraw]))
        return 3 + redraw + redraw_shadow


def _replicates(
    measure: WeightsMeasure, parameters: LazyParameters, generators: ReplicateGenerators
) -> list[_Replicate]:
    """Return all replicates of a game before the first batch."""
    first = start(measure, generators)
    return [
        _Replicate(
            measure=measure,
            parameters=parameters,
            generator=generator,
            played=int(played),
            shadow=int(shadow),
            following=parameters.batch_size,
        )
        for generator, played, shadow in zip(
            generators.generators, first.played, first.shadow, strict=True
        )
    ]


def _least_keep(parameters: LazyParameters) -> float:
    """Return a lower bound on the probability of keeping x, for losses in [0, 1].

    It allows for rounding in sums of fractional losses.
    """
    # The loss of x, and with a shadow point the scale: at most B eta, and c B eta.
    lost = parameters.batch_size * parameters.eta - parameters.log_scale
    return math.exp(-lost) * (1 - 1e-9)
