"""Number of replicates that a job plays at a time, so that its memory stays bounded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpol.data.stream import GainStream
from dpol.experts.interface import Member

# Bytes of a float, of Python with all imports, and of what a row of the results takes.
_FLOAT = 8
_PROCESS = 220 * 2**20
_ROW = 80

# Arrays of rounds times experts that remain when a stream was read. Reading itself takes twice as
# many for a moment, before anything is played.
_READ = 12

# Arrays of experts that learners and their temporary results take for each replicate, and
# arrays of learners times learners of RW-Meta. Both are upper bounds; the tests measure them.
_PER_EXPERT = 320
_PER_PAIR = 8


def bytes_per_replicate(stream: GainStream, members: Sequence[Member]) -> int:
    """Memory that one more replicate takes, at most, while a suite is played.

    Noise is held for all rounds, and once more by windows as long as the game.
    """
    noisy = members[0].algorithm.model != "none"
    held = _PER_EXPERT + (2 * stream.n_rounds if noisy else 0)
    learners = max(member.algorithm.n_learners for member in members)
    return _FLOAT * (held * stream.n_experts + _PER_PAIR * learners**2)


def results_mb(stream: GainStream, members: Sequence[Member], replicates: Sequence[int]) -> float:
    """Megabytes that the results of one game take."""
    return _ROW * len(members) * len(replicates) * stream.n_rounds / 2**20


def parts(
    stream: GainStream, members: Sequence[Member], replicates: Sequence[int], memory_mb: float
) -> Iterator[Sequence[int]]:
    """The replicates of a job in parts of nearly equal size that are played one after another.

    The largest parts whose estimated memory, all results included, is less than `memory_mb`
    megabytes; if not even one replicate fits, parts of one.

    Raises:
        ValueError: no replicate, or memory_mb not above 0.
    """
    if not len(replicates):
        raise ValueError("at least one replicate is needed")
    if not memory_mb > 0:
        raise ValueError(f"memory_mb must be above 0, got {memory_mb}")
    fixed = _PROCESS + _READ * _FLOAT * stream.gains.size
    memory_mb -= results_mb(stream, members, replicates)
    fitting = (memory_mb * 2**20 - fixed) / bytes_per_replicate(stream, members)
    most = max(1, int(min(fitting, len(replicates))))
    count = -(-len(replicates) // most)
    for part in range(count):
        first, end = (len(replicates) * it // count for it in (part, part + 1))
        yield replicates[first:end]
