"""Points of the main study: play a suite in as much memory as a job has."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dpol.core.errors import DpolError, in_one_line
from dpol.data.stream import GainStream, read_stream
from dpol.experts.interface import Member
from dpol.experts.play import RawGains, Source, guarantee_of, play_rounds
from dpol.experts.registry import make_members
from dpol.noise import MemoryChoice, find_noise, noise_scale, privatize
from dpol.noise.noisy_gains import Seeds
from dpol.studies.games.scores import Played, rounds_of, score_tables
from dpol.studies.games.settings import GamePoint, columns_in_paper
from dpol.studies.study import Inputs

POINT = GamePoint


def run(game: GamePoint, inputs: Inputs) -> dict[str, pa.Table]:
    """Play the games of a suite; return its scores, and every round if rounds are kept."""
    stream = read_stream(inputs.files["stream"])
    members = [member for entry in game.algorithms for member in make_members(entry)]
    played = play_suite(
        stream,
        members,
        noise=game.noise,
        mu=game.mu,
        seed=inputs.seed,
        replicates=range(game.block[0], game.block[1] + 1),
        memory_mb=inputs.memory_mb,
        noise_memory=game.memory,
    )
    tables = score_tables(played, game.suite)
    if game.keep_rounds:
        tables["rounds"] = rounds_of(played)
    return tables


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
) -> list[Played]:
    """Play all algorithms of a suite on the same data and score them on the raw gains.

    Local algorithms share one draw of noisy gains; other algorithms get the raw stream.
    `memory_mb` limits the RAM and does not change the result. For `noise_memory` see `privatize`.

    Raises:
        DpolError: an algorithm of another package fails.
        ValueError: no replicate, unknown noise, or mu or memory_mb not above 0.
    """
    model = members[0].algorithm.model
    columns, best = columns_in_paper(members, noise), stream.gains.max(axis=1)
    count_noise = _count_noise(stream, noise, mu) if model == "local" else math.nan

    def play_part(part: Sequence[int]) -> list[Played]:
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
            stay=stream.stay,
        )
        played = []
        for member, (column, variant) in zip(members, columns, strict=True):
            with _named_if_it_fails(member):
                algorithm, generators = member.algorithm, seeds.algorithm(member.label)
                actions = play_rounds(algorithm, source, generators, name=member.label)
                played.append(
                    Played(
                        stream=stream.label,
                        noise=noise,
                        mu=float(mu),
                        label=member.label,
                        family=member.family,
                        origin=member.origin,
                        guarantee=guarantee_of(algorithm, source),
                        replicates=part,
                        actions=actions,
                        gains=stream.gains[np.arange(stream.n_rounds), actions],
                        best=best,
                        column=column,
                        variant=variant,
                        count_noise=count_noise,
                    )
                )
        return played

    played = [play_part(part) for part in parts(stream, members, replicates, memory_mb)]
    return [
        replace(
            own[0],
            replicates=replicates,
            actions=np.concatenate([part.actions for part in own]),
            gains=np.concatenate([part.gains for part in own]),
        )
        for own in zip(*played, strict=True)
    ]


def _count_noise(stream: GainStream, noise: str, mu: float) -> float:
    """Return the median standard deviation of independent noise on a count; nan without any."""
    if mu == math.inf or stream.capacity is None or find_noise(noise).memory != "none":
        return math.nan
    return float(np.median(noise_scale(stream, noise, mu) * stream.capacity))


@contextmanager
def _named_if_it_fails(member: Member) -> Iterator[None]:
    """Turn an error of another package into a message; an error of dpol keeps its traceback."""
    try:
        yield
    except Exception as error:
        if not member.foreign:
            raise
        raise DpolError(
            f"{member.label} fails: {in_one_line(error)}; it plays code of another package, where"
            " dpol.play shows the line"
        ) from error


# ---- memory --------------------------------------------------------------------------------------

# Bytes per float, per process (Python with all imports), and per result row.
_FLOAT = 8
_PROCESS = 220 * 2**20
_ROW = 80

# (rounds, experts) arrays kept after a stream is read. Reading briefly takes twice as many, before
# anything is played.
_READ = 12

# (experts,) arrays per replicate for learners with their temporaries; (learners, learners) arrays
# for RW-Meta. All are upper bounds; the tests measure them.
_PER_EXPERT = 400
_PER_PAIR = 8


def bytes_per_replicate(stream: GainStream, members: Sequence[Member]) -> int:
    """Return an upper bound on the memory of one more replicate while a suite is played.

    Noise is held for all rounds, and once more by windows as long as the game.
    """
    noisy = members[0].algorithm.model != "none"
    held = _PER_EXPERT + (2 * stream.n_rounds if noisy else 0)
    learners = max(member.algorithm.n_learners for member in members)
    return _FLOAT * (held * stream.n_experts + _PER_PAIR * learners**2)


def parts(
    stream: GainStream,
    members: Sequence[Member],
    replicates: Sequence[int],
    memory_mb: float,
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
    results = _ROW * len(members) * len(replicates) * stream.n_rounds
    fitting = (memory_mb * 2**20 - results - fixed) / bytes_per_replicate(stream, members)
    most = max(1, int(min(fitting, len(replicates))))
    count = -(-len(replicates) // most)
    for part in range(count):
        first, end = (len(replicates) * index // count for index in (part, part + 1))
        yield replicates[first:end]
