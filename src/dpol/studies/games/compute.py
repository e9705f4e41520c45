"""Points of the main study: play a suite."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa

from dpol.core.errors import DpolError, in_one_line
from dpol.data.stream import GainStream, read_stream
from dpol.experts.games import seeds_of
from dpol.experts.interface import Actions, Member
from dpol.experts.play import RawGains, Source, guarantee_of, play_rounds
from dpol.experts.registry import make_members
from dpol.noise import MemoryChoice, find_noise, noise_scale, privatize
from dpol.privacy.guarantee import Guarantee
from dpol.studies.games.scores import Played, rounds_of, score_tables
from dpol.studies.games.settings import GamePoint, columns_in_paper
from dpol.studies.study import Inputs

POINT = GamePoint
MOST_TOGETHER = 7_500
"""Most replicates times experts to play together: their arrays of a round stay in a cache, so games
of 300 to 5,000 experts take a fifth to a third less time. No result depends on it."""


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
        memory=game.memory,
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
    memory: MemoryChoice = "designed",
) -> list[Played]:
    """Play all algorithms of a suite on the same data and score them on the raw gains.

    Local algorithms share one draw of noisy gains; other algorithms get the raw stream.
    For `memory` see `privatize`.

    Raises:
        DpolError: an algorithm of another package fails.
        ValueError: no replicate, unknown noise, or mu not above 0.
    """
    model = members[0].algorithm.model
    columns, best = columns_in_paper(members, noise), stream.gains.max(axis=1)
    count_noise = _count_noise(stream, noise, mu) if model == "local" else math.nan

    def play_part(part: Sequence[int]) -> tuple[list[Actions], list[Guarantee]]:
        """Play some replicates; their data are freed before the next part is played."""
        source: Source
        if model == "local":
            source = privatize(stream, noise, mu, seed=seed, replicates=part, memory=memory)
        else:
            source = RawGains(stream, mu, part, seed=seed)
            if model == "central":
                source = replace(source, noise=noise)
        actions, guarantees = list[Actions](), list[Guarantee]()
        for member in members:
            with _named_if_it_fails(member):
                algorithm = member.algorithm
                generators = seeds_of(algorithm, source).algorithm(member.label)
                actions.append(play_rounds(algorithm, source, generators, name=member.label))
                guarantees.append(guarantee_of(algorithm, source))
        return actions, guarantees

    played = list[list[Actions]]()
    for part in parts(stream, members, replicates):
        # A guarantee may hold numbers of every round, so those of one part are kept.
        actions, guarantees = play_part(part)
        played.append(actions)
    joined = [np.concatenate(own) for own in zip(*played, strict=True)]
    return [
        Played(
            stream=stream.label,
            noise=noise,
            mu=float(mu),
            label=member.label,
            family=member.family,
            origin=member.origin,
            guarantee=guarantee,
            replicates=replicates,
            actions=own,
            gains=stream.gains[np.arange(stream.n_rounds), own],
            best=best,
            column=column,
            variant=variant,
            count_noise=count_noise,
        )
        for member, (column, variant), guarantee, own in zip(
            members, columns, guarantees, joined, strict=True
        )
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


def parts(
    stream: GainStream, members: Sequence[Member], replicates: Sequence[int]
) -> Iterator[Sequence[int]]:
    """Split the replicates of a job into parts of nearly equal size, to be played one by one.

    Parts keep the arrays of a round below `MOST_TOGETHER`, and the noise of a long game below 240
    MB; RW-Meta has (learners, learners) arrays.

    Raises:
        ValueError: there are no replicates.
    """
    if not len(replicates):
        raise ValueError("at least one replicate is needed")
    n, learners = stream.n_experts, max(it.algorithm.n_learners for it in members)
    each = max(n, learners**2 / 64, n * stream.n_rounds / 4_000)
    most = max(1, int(min(len(replicates), MOST_TOGETHER / each)))
    count = -(-len(replicates) // most)
    for part in range(count):
        first, end = (len(replicates) * index // count for index in (part, part + 1))
        yield replicates[first:end]
