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
"""Uniform numbers in a block of `CoinsAhead`."""


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


class CoinsAhead:
    """Uniform numbers in [0, 1) of R replicates, drawn in blocks, and looked at before use.

    Args:
        generators: one for each replicate; they must draw nothing else.

    Attributes:
        used: (R,) how many numbers of the block in hand are used; the caller moves it on.
    """

    def __init__(self, generators: ReplicateGenerators) -> None:
        self.used = np.full(generators.n_replicates, _AHEAD)
        self._generators = generators.generators
        self._block = np.empty((generators.n_replicates, _AHEAD))

    def next(self, rows: NDArray[np.intp], count: int) -> Floats:
        """Return the (k, count) next numbers of k different replicates; count is at most 1024."""
        for row in rows[self.used[rows] + count > _AHEAD]:
            rest = self._block[row, self.used[row] :]
            drawn = self._generators[row].random(_AHEAD - len(rest))
            self._block[row], self.used[row] = np.concatenate([rest, drawn]), 0
        return np.asarray(self._block[rows[:, None], self.used[rows, None] + np.arange(count)])


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
