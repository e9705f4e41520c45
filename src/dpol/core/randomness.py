"""Random numbers that depend only on the root seed and their purpose.

Every generator is seeded with the root seed and a key such as (stream, replicate, purpose). So a
replicate's numbers are the same for any block size, number of cores, order of jobs or executor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_whole

Floats = NDArray[np.float64]
"""An array of float64."""
SeedKey = tuple[str | int | float, ...]
"""The purpose of a generator, such as (stream, level)."""
_AHEAD = 1024
"""Uniform numbers that are drawn at once from a generator that draws no others."""


def seed_sequence(seed: int, key: SeedKey) -> np.random.SeedSequence:
    """Return the seed sequence of a key: a child of the root seed, spawned by the key's hash.

    Numbers enter by their exact value and type, so 1 and 1.0 are different.

    Raises:
        ValueError: the seed is not a whole number of at least 0.
    """
    seed = check_whole("seed", seed, 0)
    # The same as SeedSequence(seed, spawn_key=...), in half the time.
    words = seed.to_bytes(max(16, -(seed.bit_length() // -32) * 4), "little")
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.SeedSequence(np.frombuffer(words + digest[:16], "<u4"))


@dataclass(frozen=True)
class ReplicateGenerators:
    """Independent generators, one for each of R replicates.

    Arrays drawn from them have a leading axis of replicates; row r depends only on the generator
    of replicate r.
    """

    generators: tuple[np.random.Generator, ...]

    @property
    def n_replicates(self) -> int:
        return len(self.generators)

    def standard_normal(self, *shape: int) -> Floats:
        """Draw standard normal numbers of shape `(R, *shape)`."""
        out = np.empty((self.n_replicates, *shape))
        for row, generator in zip(out, self.generators, strict=True):
            generator.standard_normal(out=row)
        return out

    def of(self, rows: Iterable[int]) -> ReplicateGenerators:
        """Return the generators of some replicates, by row."""
        return ReplicateGenerators(tuple(self.generators[row] for row in rows))

    def uniforms(self, count: int) -> Floats:
        """Draw uniform numbers in [0, 1), shape (R, count)."""
        return np.array([generator.random(count) for generator in self.generators])

    def uniform(self) -> Floats:
        """Draw one uniform number in [0, 1) per replicate, shape (R,)."""
        return np.array([generator.random() for generator in self.generators])

    def only_uniform(self) -> Uniforms:
        """Return generators that draw only uniform numbers, the same as these, but faster."""
        every, ahead = np.arange(self.n_replicates), np.empty((self.n_replicates, _AHEAD))
        return Uniforms(self.generators, every, ahead, np.full_like(every, _AHEAD))


@dataclass(frozen=True, eq=False)
class Uniforms(ReplicateGenerators):
    """Generators of replicates that draw uniform numbers in blocks, and numbers of no other kind.

    Args:
        generators: generators of all replicates.
        rows: (k,) different replicates that draw.
        ahead: (R, 1024) numbers that are drawn ahead.
        used: (R,) how many of them are used; `of` shares both.
    """

    rows: NDArray[np.intp]
    ahead: Floats
    used: NDArray[np.intp]

    def of(self, rows: Iterable[int]) -> Uniforms:
        return Uniforms(self.generators, self.rows[np.asarray(rows)], self.ahead, self.used)

    def uniforms(self, count: int) -> Floats:
        places = self._next(count)[:, None] + np.arange(count)
        return np.asarray(self.ahead[self.rows[:, None], places])

    def uniform(self) -> Floats:
        return np.asarray(self.ahead[self.rows, self._next(1)])

    def _next(self, count: int) -> NDArray[np.intp]:
        """Return where each replicate's next numbers begin, which are used from now on."""
        first = self.used[self.rows]
        if (short := first + count > _AHEAD).any():
            for row in self.rows[short]:
                rest = self.ahead[row, self.used[row] :]
                drawn = self.generators[row].random(_AHEAD - len(rest))
                self.ahead[row], self.used[row] = np.concatenate([rest, drawn]), 0
            first = self.used[self.rows]
        self.used[self.rows] = first + count
        return first


def replicate_generators(
    seed: int, key: SeedKey, replicates: Iterable[int], purpose: str
) -> ReplicateGenerators:
    """Return generators for replicates, seeded by `key`, the replicate's number and the purpose.

    >>> generators = replicate_generators(1, ("NM", 0.5), range(3), "coins")
    >>> generators.standard_normal(2).shape
    (3, 2)
    """
    return ReplicateGenerators(
        tuple(
            np.random.default_rng(seed_sequence(seed, (*key, int(replicate), purpose)))
            for replicate in replicates
        )
    )


def replicate_numbers(replicates: int | Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of replicates, given as such or as how many there are.

    Raises:
        ValueError: there is no replicate, a number is not a whole number of at least 0, or one is
            given twice.

    >>> replicate_numbers(3), replicate_numbers([7, 8])
    ((0, 1, 2), (7, 8))
    """
    if isinstance(replicates, str) or not isinstance(replicates, Sequence | np.ndarray):
        return tuple(range(check_whole("replicates", replicates, most=10**9)))
    known = tuple(check_whole("the number of a replicate", number, 0) for number in replicates)
    if not known:
        raise ValueError("replicates must not be empty; give their number, such as 100")
    if len(set(known)) < len(known):
        raise ValueError(
            "a replicate is given twice; its games are equal, so give each number once"
        )
    return known
