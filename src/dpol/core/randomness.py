"""Random numbers that depend on what they are for and on nothing else.

Every generator is seeded with the root seed and a key such as (stream, replicate, purpose). So a
replicate's numbers are the same for any block size, number of cores, order of jobs or executor.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpol.core.arguments import check_whole
from dpol.core.words import one_line

Floats = NDArray[np.float64]
"""An array of float64."""
Key = tuple[str | int | float, ...]
"""What a generator is for, such as (stream, level)."""


def seed_sequence(seed: int, key: Key) -> np.random.SeedSequence:
    """The seed sequence of a key: child of the root seed, its spawn key a hash of the key's parts.

    Floats enter by their exact value, so 1 and 1.0 are different parts.

    Raises:
        ValueError: the seed is not a whole number of at least 0.
    """
    check_whole("seed", seed, 0)
    seed = int(seed)
    # SeedSequence(seed, spawn_key=...) puts the same words together, at twice the time.
    words = seed.to_bytes(max(16, -(seed.bit_length() // -32) * 4), "little")
    digest = hashlib.sha256(repr(key).encode()).digest()
    return np.random.SeedSequence(np.frombuffer(words + digest[:16], "<u4"))


@dataclass(frozen=True)
class ReplicateGenerators:
    """One independent generator for each replicate of a block.

    Arrays drawn here have a leading replicate axis, and row r depends on
    replicate r's generator only.
    """

    generators: tuple[np.random.Generator, ...]

    __repr__ = one_line

    @property
    def n_replicates(self) -> int:
        return len(self.generators)

    def standard_normal(self, *shape: int) -> Floats:
        """Standard normals, shape (R, ...): `shape` after the replicates."""
        out = np.empty((self.n_replicates, *shape))
        for row, generator in zip(out, self.generators, strict=True):
            generator.standard_normal(out=row)
        return out

    def of(self, rows: Iterable[int]) -> ReplicateGenerators:
        """The generators of some replicates."""
        return ReplicateGenerators(tuple(self.generators[row] for row in rows))

    def uniforms(self, count: int) -> Floats:
        """Uniform numbers in [0, 1), shape (R, count)."""
        return np.array([generator.random(count) for generator in self.generators])

    def uniform(self) -> Floats:
        """One uniform number in [0, 1) per replicate, shape (R,)."""
        return np.array([generator.random() for generator in self.generators])


def replicate_generators(
    seed: int, key: Key, replicates: Iterable[int], purpose: str
) -> ReplicateGenerators:
    """Generators for `replicates`, keyed by `key`, the replicate's number and the purpose.

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
    """The numbers of replicates, given themselves or by how many there are.

    Raises:
        ValueError: there is none, or a number is not whole.

    >>> replicate_numbers(3), replicate_numbers([7, 8])
    ((0, 1, 2), (7, 8))
    """
    listed = isinstance(replicates, Sequence | np.ndarray) and not isinstance(replicates, str)
    numbers: Any = replicates
    if not listed:
        check_whole("replicates", numbers)
        return tuple(range(numbers))
    for number in numbers:
        check_whole("a number of a replicate", number, 0)
    if not len(numbers):
        raise ValueError("replicates must not be empty; give how many, such as 100")
    return tuple(int(number) for number in numbers)
