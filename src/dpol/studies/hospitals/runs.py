"""Playing a suite and keeping every round of it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dpol.core.arrow import as_arrow, as_texts
from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.core.randomness import Floats, Seeds
from dpol.data.stream import GainStream
from dpol.experts.interface import Actions, Member
from dpol.experts.play import RawGains, Source, amplification_of, guarantee_of, play_rounds
from dpol.noise import MemoryChoice, is_ours, privatize
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.hospitals.memory import parts

_METADATA_KEY = b"dpol.runs"
RUN_COLUMNS = ("stream", "algorithm", "noise", "mu", "replicate", "round", "action", "gain")
"""Columns of a table of runs (docs/reference/tables.md)."""


@dataclass(frozen=True)
class Played:
    """One algorithm's runs on one stream at one privacy level.

    Args:
        stream: label of the stream.
        noise: how local noise was scaled.
        mu: privacy level that was asked for.
        label: name of the algorithm in tables and figures.
        family: its registered name.
        origin: `paper`, `standard` or `ours`.
        guarantee: the privacy of the actions.
        actions: (R, T) experts, counted from 0.
        gains: (R, T) raw gains of the actions.
        amplification: batch sizes behind an amplified central guarantee, if there is one.
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

    @property
    def totals(self) -> Floats:
        """Total gains, (R,)."""
        return np.asarray(self.gains.sum(axis=1))

    @property
    def ours(self) -> bool:
        """True if the algorithm or its noise is not in the papers."""
        return self.origin == "ours" or is_ours(self.noise)


@dataclass(frozen=True)
class RunBlock:
    """Part of a run that one job plays: a suite on a stream, for consecutive replicates."""

    replicates: tuple[int, ...]
    played: tuple[Played, ...]


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
) -> RunBlock:
    """Play all algorithms of a suite on the same data and score them on the raw gains.

    Local algorithms share one draw of noisy gains; the others get the raw stream. The
    result does not depend on `memory_mb`, below which `parts` keeps the memory. For `noise_memory`
    see `privatize`.

    Raises:
        ValueError: no replicate, unknown noise, or mu or memory_mb not above 0.
    """
    played = [
        _play_part(stream, members, noise, mu, seed, part, noise_memory)
        for part in parts(stream, members, replicates, memory_mb)
    ]
    return RunBlock(tuple(replicates), tuple(joined(own) for own in zip(*played, strict=True)))


def _play_part(
    stream: GainStream,
    members: Sequence[Member],
    noise: str,
    mu: float,
    seed: int,
    part: Sequence[int],
    noise_memory: MemoryChoice,
) -> list[Played]:
    """Some replicates; their data are gone before those of others are made."""
    source: Source
    if members[0].algorithm.model == "local":
        source = privatize(stream, noise, mu, seed=seed, replicates=part, memory=noise_memory)
    else:
        source = RawGains(stream, mu, part)
        if members[0].algorithm.model == "central":
            source = replace(source, noise=noise)
    seeds = Seeds(seed=seed, stream=stream.label, noise=noise, mu=float(mu), replicates=tuple(part))
    played = []
    for it in members:
        generators = seeds.algorithm(it.label)
        actions = play_rounds(it.algorithm, source, generators, name=it.label)
        facts = stream.label, noise, mu, it.label, it.family, it.algorithm.origin
        guarantee = guarantee_of(it.algorithm, source)
        gains = stream.gains[np.arange(stream.n_rounds), actions]
        mixture = amplification_of(it.algorithm, source)
        played.append(Played(*facts, guarantee, actions, gains, mixture))
    return played


def joined(parts: Sequence[Played]) -> Played:
    """One algorithm's runs of several blocks as one; all that is not by replicate is equal."""
    return replace(
        parts[0],
        actions=np.concatenate([part.actions for part in parts]),
        gains=np.concatenate([part.gains for part in parts]),
    )


def write_runs(block: RunBlock, path: Path | str) -> None:
    """Write a block as Parquet: one row per algorithm, replicate and round (`RUN_COLUMNS`).

    Rounds are counted from 1, replicates and experts from 0.
    """
    first, count = block.played[0], len(block.played)
    replicates, rounds = first.actions.shape
    size = replicates * rounds

    def label(names: Sequence[str], repeats: int) -> pa.Array:
        indices = as_arrow(np.repeat(np.arange(len(names), dtype=np.int32), repeats))
        return pa.DictionaryArray.from_arrays(indices, as_texts(names))

    replicate = np.repeat(np.asarray(block.replicates, dtype=np.int32), rounds)
    round_numbers = np.arange(1, rounds + 1, dtype=np.int32)
    table = pa.table(
        {
            "stream": label([first.stream], count * size),
            "algorithm": label([played.label for played in block.played], size),
            "noise": label([first.noise], count * size),
            "mu": as_arrow(np.full(count * size, first.mu)),
            "replicate": as_arrow(np.tile(replicate, count)),
            "round": as_arrow(np.tile(round_numbers, count * replicates)),
            "action": as_arrow(np.concatenate([it.actions.ravel() for it in block.played])),
            "gain": as_arrow(np.concatenate([it.gains.ravel() for it in block.played])),
        }
    )
    about = {
        "rounds": rounds,
        "members": [
            {
                "label": played.label,
                "family": played.family,
                "origin": played.origin,
                "guarantee": played.guarantee.as_dict(),
                "amplification": played.amplification and played.amplification.as_dict(),
            }
            for played in block.played
        ],
    }
    table = table.replace_schema_metadata({_METADATA_KEY: json.dumps(about, sort_keys=True)})
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


def read_runs(path: Path | str) -> RunBlock:
    """Read a block written by `write_runs`.

    Raises:
        DataError: the file is damaged or not such a table.
    """
    try:
        table = pq.read_table(path, columns=list(RUN_COLUMNS), use_threads=False)
        about = json.loads((table.schema.metadata or {})[_METADATA_KEY])
        shape = (len(about["members"]), -1, about["rounds"])
        columns = ("replicate", "action", "gain")
        numbers, actions, gains = (table[it].to_numpy().reshape(shape) for it in columns)
        shared = {name: table[name][0].as_py() for name in ("stream", "noise", "mu")}
        played = [
            _read_member(shared | member, *own)
            for member, *own in zip(about["members"], actions, gains, strict=True)
        ]
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a whole run ({error}); delete it and run again") from None
    return RunBlock(tuple(numbers[0, :, 0].tolist()), tuple(played))


def _read_member(facts: dict[str, Any], actions: Actions, gains: Floats) -> Played:
    """A member from plain values, with its (R, T) slices of the columns."""
    mixture = facts["amplification"]
    whole = {
        "guarantee": Guarantee(**facts["guarantee"]),
        "amplification": mixture and BatchMixture.from_dict(mixture),
    }
    return Played(**facts | whole, actions=actions, gains=gains)
