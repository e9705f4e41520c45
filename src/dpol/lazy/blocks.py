"""L2P or the dartboard for many games on the same losses; only redraws cost time.

A batch can redraw x or y only if a uniform number passes a bound that holds for all x and y.
All games jump together from one such batch to the next, over blocks of rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, ReplicateGenerators
from dpol.lazy.adversaries import ExpertLosses
from dpol.lazy.transform import LazyParameters, start
from dpol.lazy.weights import WeightsMeasure

Game = tuple[LazyParameters, ReplicateGenerators]
"""Parameters, and a random generator for each replicate."""
_HELD = 2_000_000  # most losses of a block, and most batches of all rows in a block
_Integers = NDArray[np.int64]


def play_weights(losses: ExpertLosses, games: Sequence[Game]) -> list[tuple[Floats, Floats]]:
    """Return the (R,) total losses and the (R,) redraws of x of each game.

    `dpol.lazy.play` over `WeightsMeasure` returns the same from the same random numbers, except
    that sums of fractional losses differ in their last digits.

    Args:
        losses: losses in [0, 1], shared by all games.
        games: parameters and generators of each game; at least one replicate in total.
    """
    if not games:
        return []
    d, replicates = losses.n_experts, [generators.n_replicates for _, generators in games]
    size = max(1, _HELD // max(d, sum(replicates)))
    rows = _Rows.begin(games, d, min(size, losses.n_rounds))
    prefix, first = np.zeros((1, d)), 0
    for block in losses.batches(size):
        prefix = np.concatenate([prefix[-1:], block]).cumsum(axis=0)
        # Nothing is redrawn after the last batch.
        last = min(first + len(block), losses.n_rounds - 1)
        while len(behind := np.flatnonzero(rows.following <= last)):
            candidates = rows.refill()
            while len(behind):
                behind = rows.jump(behind, candidates, last)
                rows.redraw(behind, prefix, first)
        rows.leave(prefix, first)
        first += len(block)
    rows.total += prefix[-1, rows.played]
    edges = np.cumsum(replicates)[:-1]
    redraws = rows.redraws.astype(float)
    return list(zip(np.split(rows.total, edges), np.split(redraws, edges), strict=True))


@dataclass(eq=False, kw_only=True)
class _Rows:
    """The N replicates of all games, one per row. A prefix is a sum of losses since round 1.

    Args:
        games: the games, in the order of the rows.
        widths: (games,) uniform numbers that a row of each game holds; multiples of 3.
        uniforms: uniform numbers of all rows, flat.
        batch, eta, fake_switch, log_scale, shadowed, limit: (N,) parameters.
        begins: (N,) where a row's uniform numbers begin in `uniforms`.
        width: (N,) uniform numbers of a row.
        read: (N,) uniform numbers used so far.
        following: (N,) rounds before the next batch that may redraw.
        played, shadow: (N,) x and y.
        prefixes: (2, N) prefixes of x and y before the current batch.
        total: (N,) loss so far, minus the prefix of x at its last redraw.
        redraws: (N,) how often x was redrawn.
    """

    games: Sequence[Game]
    widths: list[int]
    uniforms: Floats
    batch: _Integers
    eta: Floats
    fake_switch: Floats
    log_scale: Floats
    shadowed: Floats
    limit: Floats
    begins: _Integers
    width: _Integers
    read: _Integers
    following: _Integers
    played: _Integers
    shadow: _Integers
    prefixes: Floats
    total: Floats
    redraws: _Integers

    @classmethod
    def begin(cls, games: Sequence[Game], n_experts: int, block: int) -> Self:
        """Return the state before the first batch; `block` is the number of rounds in a block."""
        counts = [generators.n_replicates for _, generators in games]
        widths = [_width(parameters, block) for parameters, _ in games]

        def each(values: Sequence[float]) -> Floats:
            return np.repeat(np.array(values), counts)

        first = [start(WeightsMeasure(n_experts, rules.eta), coins) for rules, coins in games]
        width, batch = each(widths).astype(int), each([rules.batch_size for rules, _ in games])
        n = sum(counts)
        return cls(
            games=games,
            widths=widths,
            uniforms=np.empty(width.sum()),
            batch=batch.astype(int),
            eta=each([rules.eta for rules, _ in games]),
            fake_switch=each([rules.fake_switch for rules, _ in games]),
            log_scale=each([rules.log_scale for rules, _ in games]),
            shadowed=each([rules.shadow for rules, _ in games]),
            limit=each([rules.limit for rules, _ in games]),
            begins=width.cumsum() - width,
            width=width,
            read=width.copy(),
            following=batch.astype(int),
            played=np.concatenate([state.played for state in first]).astype(int),
            shadow=np.concatenate([state.shadow for state in first]).astype(int),
            prefixes=np.zeros((2, n)),
            total=np.zeros(n),
            redraws=np.zeros(n, dtype=int),
        )

    def refill(self) -> _Integers:
        """Replace the used uniform numbers; return the sorted candidates: batches that may redraw.

        A batch that reads from uniform number i + 3k on, i < 3, is at begins + i width / 3 + k.
        """
        candidates, row = [], 0
        for (parameters, generators), width in zip(self.games, self.widths, strict=True):
            base = self.begins[row]
            for generator in generators.generators:
                begin, read = self.begins[row], self.read[row]
                numbers = self.uniforms[begin : begin + width]
                numbers[: width - read] = numbers[read:].copy()
                numbers[width - read :] = generator.random(read)
                row += 1
            held = self.uniforms[base : self.begins[row - 1] + width].reshape(-1, width)
            fake, may = held < parameters.fake_switch, np.zeros(held.shape, dtype=bool)
            # The redraws of a batch read up to two more numbers.
            may[:, :-4] = (held >= _least_keep(parameters))[:, :-4]
            may[:, :-4] |= fake[:, 1:-3] | fake[:, 2:-2]
            by_phase = may.reshape(-1, width // 3, 3).swapaxes(1, 2)
            candidates.append(base + np.flatnonzero(by_phase))
        self.read[:] = 0
        return np.concatenate([*candidates, [len(self.uniforms)]])

    def jump(self, rows: _Integers, candidates: _Integers, last: int) -> _Integers:
        """Move rows to their next candidate; return the rows with one by round `last`.

        The other rows move to `last`, or until their uniform numbers run out.
        """
        k, phase = np.divmod(self.read[rows], 3)
        third = self.width[rows] // 3
        begins = self.begins[rows] + phase * third
        place = candidates[np.searchsorted(candidates, begins + k)]
        # A batch within 4 numbers of the end waits for the next refill.
        reach = np.maximum((self.width[rows] - 2 - self.read[rows]) // 3, 0)
        skipped = np.where(place < begins + third, place - begins - k, reach)
        left = (last - self.following[rows]) // self.batch[rows] + 1
        skipped, at_candidate = (
            np.minimum(skipped, left),
            (place < begins + third) & (place - begins - k < left),
        )
        self.read[rows] += 3 * skipped
        self.following[rows] += skipped * self.batch[rows]
        return rows[at_candidate]

    def redraw(self, rows: _Integers, prefix: Floats, first: int) -> None:
        """Redraw x and y of rows at a candidate if their uniform numbers say so.

        Args:
            rows: rows that are at a candidate.
            prefix: (rounds + 1, d) prefixes of a block.
            first: rounds before the block.
        """
        eta, now = self.eta[rows], self.following[rows] - first
        before, at = now - self.batch[rows], self.begins[rows] + self.read[rows]
        ratios = []
        for points, carried in zip((self.played, self.shadow), self.prefixes, strict=True):
            point = points[rows]
            old = np.where(before >= 0, prefix[np.maximum(before, 0), point], carried[rows])
            ratios.append(-eta * (prefix[now, point] - old))
        ratio = ratios[0] - self.shadowed[rows] * ratios[1]
        keep = np.exp(np.minimum(self.log_scale[rows] + ratio, 0.0))
        fake = self.fake_switch[rows]
        of_x = (self.uniforms[at] >= keep) | (self.uniforms[at + 1] < fake)
        of_x &= self.redraws[rows] < self.limit[rows]
        of_y = self.uniforms[at + 2] < fake * self.shadowed[rows]
        self.following[rows] += self.batch[rows]
        self.read[rows] += 3 + of_x + of_y
        drawn = of_x | of_y
        rows, now, at, of_x, of_y = (each[drawn] for each in (rows, now, at + 3, of_x, of_y))
        states = prefix[now]
        states -= states.min(axis=1, keepdims=True)
        states *= -self.eta[rows, None]
        distributions = np.exp(states, out=states).cumsum(axis=1)
        old = self.played[rows]
        for points, redrawn, place in (self.played, of_x, at), (self.shadow, of_y, at + of_x):
            cumulated = distributions[redrawn]
            thresholds = self.uniforms[place[redrawn]] * cumulated[:, -1]
            passed = (cumulated <= thresholds[:, None]).sum(axis=1)
            points[rows[redrawn]] = np.minimum(passed, prefix.shape[1] - 1)
        self.total[rows] += prefix[now, old] - prefix[now, self.played[rows]]
        self.redraws[rows] += of_x

    def leave(self, prefix: Floats, first: int) -> None:
        """Keep the prefixes that the next block needs."""
        begun = self.following - self.batch - first
        inside = np.flatnonzero(begun >= 0)
        for carried, points in zip(self.prefixes, (self.played, self.shadow), strict=True):
            carried[inside] = prefix[begun[inside], points[inside]]


def _least_keep(parameters: LazyParameters) -> float:
    """Return a lower bound on the probability of keeping x, for losses in [0, 1].

    It allows for rounding in sums of fractional losses.
    """
    # The loss of x, and with a shadow point the scale: at most B eta, and c B eta.
    lost = parameters.batch_size * parameters.eta - parameters.log_scale
    return float(np.exp(-lost) * (1 - 1e-9))


def _width(parameters: LazyParameters, rounds: int) -> int:
    """Return the uniform numbers that a row holds: usually enough for a block of rounds."""
    p, batches = parameters.fake_switch, rounds // parameters.batch_size + 1
    redraws = batches * min(1 - (1 - p) * _least_keep(parameters) + p, 2.0)
    return 3 * int(batches + (redraws + 4 * redraws**0.5) / 3 + 4)
