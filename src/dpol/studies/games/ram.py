"""Memory model of a job: how many replicates it plays at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpol.data.stream import GainStream
from dpol.experts.interface import Member

# Bytes per float, per process (Python with all imports), and per result row.
_FLOAT = 8
_PROCESS = 220 * 2**20
_ROW = 80

# (rounds, experts) arrays kept after a stream is read. Reading briefly takes twice as many, before
# anything is played.
_READ = 12

# (experts,) arrays per replicate for learners with their temporaries, and for each need and number
# of units that is divided; (learners, learners) arrays for RW-Meta. All are upper bounds; the tests
# measure them.
_PER_EXPERT = 400
_PER_DIVISION = 10
_PER_PAIR = 8


def bytes_per_replicate(stream: GainStream, members: Sequence[Member], divisions: int = 0) -> int:
    """Return an upper bound on the memory of one more replicate while a suite is played.

    Noise is held for all rounds, and once more by windows as long as the game.
    """
    noisy = members[0].algorithm.model != "none"
    held = _PER_EXPERT + _PER_DIVISION * divisions + (2 * stream.n_rounds if noisy else 0)
    learners = max(member.algorithm.n_learners for member in members)
    return _FLOAT * (held * stream.n_experts + _PER_PAIR * learners**2)


def results_mb(stream: GainStream, members: Sequence[Member], replicates: Sequence[int]) -> float:
    """Return the size of the results of one game, in MB."""
    return _ROW * len(members) * len(replicates) * stream.n_rounds / 2**20


def parts(
    stream: GainStream,
    members: Sequence[Member],
    replicates: Sequence[int],
    memory_mb: float,
    divisions: int = 0,
) -> Iterator[Sequence[int]]:
    """Split the replicates of a job into parts of nearly equal size, to be played one by one.

    Parts are as large as fits: their estimated memory, with all results, is below `memory_mb` MB.
    If not even one replicate fits, parts have one replicate.

    Raises:
        ValueError: there are no replicates, or memory_mb is not above 0.
    """
    if not len(replicates):
        raise ValueError("at least one replicate is needed")
    if not memory_mb > 0:
        raise ValueError(f"memory_mb must be above 0, got {memory_mb}")
    fixed = _PROCESS + _READ * _FLOAT * stream.gains.size
    memory_mb -= results_mb(stream, members, replicates)
    fitting = (memory_mb * 2**20 - fixed) / bytes_per_replicate(stream, members, divisions)
    most = max(1, int(min(fitting, len(replicates))))
    count = -(-len(replicates) // most)
    for part in range(count):
        first, end = (len(replicates) * index // count for index in (part, part + 1))
        yield replicates[first:end]
