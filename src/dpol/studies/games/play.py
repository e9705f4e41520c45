"""Play a suite in as much memory as a job has, and tabulate its rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpol.core.errors import AlgorithmError, in_one_line
from dpol.core.randomness import Floats
from dpol.core.schemas import write_frame
from dpol.data.stream import GainStream
from dpol.experts.interface import Actions, Member, forecasts_gains
from dpol.experts.play import (
    RawGains,
    Source,
    amplification_of,
    guarantee_of,
    play_rounds,
)
from dpol.noise import MemoryChoice, NoisyGains, privatize
from dpol.noise.seeds import Seeds
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.games.allocation import Demand, Row, play_and_divide

RUN_COLUMNS = ("stream", "algorithm", "noise", "mu", "replicate", "round", "action", "gain")
"""Columns of a table of runs (docs/reference/tables.md)."""


@dataclass(frozen=True, kw_only=True)
class Played:
    """Runs of one algorithm on one stream at one privacy level.

    Args:
        stream: label of the stream.
        noise: scaling of the local noise.
        mu: requested privacy level.
        label: name of the algorithm in tables and figures.
        family: registered name of the algorithm.
        origin: `paper`, `standard`, `ours` or `other`.
        guarantee: privacy of the actions.
        actions: (R, T) experts, counted from 0.
        gains: (R, T) raw gains of the actions.
        amplification: batch sizes behind an amplified central guarantee, if any.
        divided: need left unmet by dividing help; empty if the run divides none.
    """

    stream: str
    noise: str
    mu: float
    label: str
    family: str
    origin: Origin
    guarantee: Guarantee
    actions: Actions
    gains: Floats
    amplification: BatchMixture | None = None
    divided: tuple[Row, ...] = ()

    @property
    def totals(self) -> Floats:
        """(R,) total gains."""
        return np.asarray(self.gains.sum(axis=1))


@dataclass(frozen=True)
class RunBlock:
    """Games of one job: algorithms on a stream, for consecutive replicates.

    Args:
        replicates: numbers of the replicates.
        played: runs of each algorithm.
        best: (T,) largest raw gain of each round.
    """

    replicates: tuple[int, ...]
    played: tuple[Played, ...]
    best: Floats


def play_suite(
    stream: GainStream,
    members: Sequence[Member],
    *,
    noise: str,
    mu: float,
    seed: int,
    replicates: Sequence[int],
    memory_mb: float = math.inf,
    noise_memory: MemoryChoice = "designed",
    demand: Demand | None = None,
) -> RunBlock:
    """Play all algorithms of a suite on the same data and score them on the raw gains.

    Local algorithms share one draw of noisy gains; other algorithms get the raw stream.
    `memory_mb` limits the RAM and does not change the result. For `noise_memory` see `privatize`.
    If a `demand` is given, local algorithms that forecast gains also divide help.

    Raises:
        AlgorithmError: an algorithm of another package fails.
        ValueError: no replicate, unknown noise, or mu or memory_mb not above 0.
    """
    model = members[0].algorithm.model

    def play(part: Sequence[int]) -> list[Played]:
        """Play some replicates; their data are freed before the next part is played."""
        source: Source
        if model == "local":
            source = privatize(stream, noise, mu, seed=seed, replicates=part, memory=noise_memory)
        else:
            source = RawGains(stream, mu, part)
            if model == "central":
                source = replace(source, noise=noise)
        seeds = Seeds(
            seed=seed,
            stream=stream.label,
            noise=noise,
            mu=float(mu),
            replicates=tuple(part),
        )
        played = []
        for member in members:
            with _named_if_it_fails(member):
                algorithm, generators = member.algorithm, seeds.algorithm(member.label)
                divided = list[Row]()
                if demand and isinstance(source, NoisyGains) and forecasts_gains(algorithm):
                    facts: Any = {"stream": stream.label, "algorithm": member.label, "noise": noise}
                    facts |= {"mu": float(mu), "first": part[0]}
                    actions, divided = play_and_divide(algorithm, source, generators, demand, facts)
                else:
                    actions = play_rounds(algorithm, source, generators, name=member.label)
                played.append(
                    Played(
                        stream=stream.label,
                        noise=noise,
                        mu=mu,
                        label=member.label,
                        family=member.family,
                        origin=member.origin,
                        guarantee=guarantee_of(algorithm, source),
                        actions=actions,
                        gains=stream.gains[np.arange(stream.n_rounds), actions],
                        amplification=amplification_of(algorithm, source),
                        divided=tuple(divided),
                    )
                )
        return played

    divisions = demand.units.size * len(demand.follow) if demand else 0
    played = [play(part) for part in parts(stream, members, replicates, memory_mb, divisions)]
    return RunBlock(
        replicates=tuple(replicates),
        played=tuple(join_played(own) for own in zip(*played, strict=True)),
        best=stream.gains.max(axis=1),
    )


@contextmanager
def _named_if_it_fails(member: Member) -> Iterator[None]:
    """Turn an error of another package into a message; an error of dpol keeps its traceback."""
    try:
        yield
    except Exception as error:
        if not member.foreign:
            raise
        raise AlgorithmError(
            f"{member.label} fails: {in_one_line(error)}; it plays code of another package, where"
            " dpol.play shows the line"
        ) from error


def join_played(parts: Sequence[Played]) -> Played:
    """Join one algorithm's runs of several blocks, which differ in their replicates only."""
    return replace(
        parts[0],
        actions=np.concatenate([part.actions for part in parts]),
        gains=np.concatenate([part.gains for part in parts]),
        divided=tuple(row for part in parts for row in part.divided),
    )


def column(values: NDArray[Any] | Sequence[Any]) -> pa.Array:
    """Return numbers, texts or lists of numbers as a column.

    Arrow's `pa.array` imports pandas, which takes longer than playing a small stream.

    Args:
        values: at least one value, all of one kind.

    >>> column(["a", "μ"]).to_pylist(), column([[0.5, 1.5], [2.5]]).to_pylist()
    (['a', 'μ'], [[0.5, 1.5], [2.5]])
    """
    if isinstance(values[0], str):
        texts = [text.encode() for text in values]
        buffers = pa.py_buffer(_ends(texts)), pa.py_buffer(b"".join(texts))
        return pa.StringArray.from_buffers(len(texts), *buffers)
    if isinstance(values[0], Sequence | np.ndarray):
        return pa.ListArray.from_arrays(column(_ends(values)), column(np.concatenate(values)))
    numbers = np.ascontiguousarray(values)
    buffers = None, pa.py_buffer(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def _ends(values: Iterable[Sized]) -> NDArray[np.int32]:
    return np.cumsum([0, *map(len, values)], dtype=np.int32)


def table_of(block: RunBlock) -> pa.Table:
    """Tabulate a block: one row per algorithm, noise, mu, replicate and round (`RUN_COLUMNS`).

    Rounds are counted from 1, replicates and experts from 0.
    """
    replicates, n_rounds = block.played[0].actions.shape
    size, count = replicates * n_rounds, len(block.played)

    def label(names: Sequence[str]) -> pa.Array:
        distinct = list(dict.fromkeys(names))
        indices = np.array([distinct.index(name) for name in names], dtype=np.int32)
        return pa.DictionaryArray.from_arrays(column(np.repeat(indices, size)), column(distinct))

    replicate = np.repeat(np.asarray(block.replicates, dtype=np.int32), n_rounds)
    round_numbers = np.arange(1, n_rounds + 1, dtype=np.int32)
    return pa.table(
        {
            "stream": label([played.stream for played in block.played]),
            "algorithm": label([played.label for played in block.played]),
            "noise": label([played.noise for played in block.played]),
            "mu": column(np.repeat([float(played.mu) for played in block.played], size)),
            "replicate": column(np.tile(replicate, count)),
            "round": column(np.tile(round_numbers, count * replicates)),
            "action": column(np.concatenate([runs.actions.ravel() for runs in block.played])),
            "gain": column(np.concatenate([runs.gains.ravel() for runs in block.played])),
        }
    )


def write_runs(block: RunBlock, path: Path | str) -> None:
    """Write a block as Parquet (`table_of`)."""
    write_frame(table_of(block), path)


# ---- memory --------------------------------------------------------------------------------------

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
