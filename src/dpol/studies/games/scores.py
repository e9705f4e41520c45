"""What a point keeps of its games, from which the result tables are made.

Total gains by replicate, and by round the mean of the cumulative gain and its squared deviations:
the rows do not grow with the replicates, and what collects them needs no rounds.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpol.core.arrow import as_arrow, as_texts
from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.noise import is_ours
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.games.runs import Played, RunBlock


@dataclass(frozen=True, kw_only=True)
class Scores:
    """One algorithm's scores on one stream at one privacy level.

    Args:
        stream: label of the stream.
        label: name of the algorithm in tables and figures.
        family: its registered name.
        origin: `paper`, `standard`, `ours` or `other`.
        noise: how local noise was scaled.
        mu: privacy level that was asked for.
        guarantee: the privacy of the actions.
        amplification: batch sizes behind an amplified central guarantee, if there is one.
        replicates: (R,) their numbers, in increasing order.
        totals: (R,) total gain of each replicate.
        hits: (R,) rounds in which it named an expert of the largest gain.
        mean: (T,) cumulative gain by round, mean over the replicates.
        squares: (T,) sum over the replicates of the squared deviations from `mean`.
        equal: whether all replicates have equal gains in every round.
        first: (T,) actions of the first replicate: experts, counted from 0.
        first_gains: (T,) their raw gains.
    """

    stream: str
    label: str
    family: str
    origin: Origin
    noise: str
    mu: float
    guarantee: Guarantee
    amplification: BatchMixture | None = None
    replicates: NDArray[np.int32]
    totals: Floats
    hits: NDArray[np.int32]
    mean: Floats
    squares: Floats
    equal: bool
    first: NDArray[np.int32]
    first_gains: Floats

    @property
    def ours(self) -> bool:
        """True if the algorithm or its noise is not in the papers."""
        return self.origin == "ours" or is_ours(self.noise)

    @property
    def unmoved(self) -> bool:
        """True if all replicates have equal gains although their noise differs."""
        noisy = self.guarantee.model != "none" and self.mu < math.inf
        return noisy and len(self.totals) > 1 and self.equal


def scores_of(played: Played, replicates: Sequence[int], best: Floats) -> Scores:
    """The scores of an algorithm's runs.

    Args:
        played: its runs.
        replicates: their numbers.
        best: (T,) the largest raw gain of each round.
    """
    gains = played.gains
    running = gains.cumsum(axis=1)
    # Means of equal numbers may be off by rounding, and so may their deviations be off 0.
    same = (running == running[0]).all(axis=0)
    mean = np.where(same, running[0], running.mean(axis=0))
    return Scores(
        stream=played.stream,
        label=played.label,
        family=played.family,
        origin=played.origin,
        noise=played.noise,
        mu=float(played.mu),
        guarantee=played.guarantee,
        amplification=played.amplification,
        replicates=np.asarray(replicates, dtype=np.int32),
        totals=np.asarray(gains.sum(axis=1)),
        hits=(gains == best).sum(axis=1, dtype=np.int32),
        mean=mean,
        squares=np.where(same, 0.0, ((running - mean) ** 2).sum(axis=0)),
        equal=bool((gains == gains[0]).all()),
        first=np.asarray(played.actions[0], dtype=np.int32),
        first_gains=np.asarray(gains[0]),
    )


def joined(parts: Sequence[Scores]) -> Scores:
    """The scores of several blocks of replicates as one.

    Source: Chan, Golub and LeVeque, Algorithms for computing the sample variance (1983).

    Raises:
        ValueError: the replicates are not 0, 1, 2, ...
    """
    first, *others = sorted(parts, key=lambda it: int(it.replicates[0]))
    found = first
    for part in others:
        n, more = len(found.totals), len(part.totals)
        apart = part.mean - found.mean
        found = replace(
            found,
            replicates=np.concatenate([found.replicates, part.replicates]),
            totals=np.concatenate([found.totals, part.totals]),
            hits=np.concatenate([found.hits, part.hits]),
            mean=found.mean + apart * (more / (n + more)),
            squares=found.squares + part.squares + apart**2 * (n * more / (n + more)),
            equal=bool(
                found.equal and part.equal and (found.first_gains == part.first_gains).all()
            ),
        )
    numbers = found.replicates
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise ValueError(
            f"{found.stream}, {found.label}, mu {found.mu}: replicates {numbers.tolist()} are not"
            " 0, 1, 2, ..."
        )
    return found


def collect_cells(parts: Iterable[Scores]) -> list[Scores]:
    """The scores of every cell of the table, with all its replicates.

    Raises:
        ValueError: a replicate is missing or comes twice.
    """
    cells: dict[tuple[str, str, float, str], list[Scores]] = {}
    for it in parts:
        cells.setdefault((it.stream, it.noise, it.mu, it.label), []).append(it)
    return [joined(own) for own in cells.values()]


_TEXTS = {it: it for it in ("stream", "family", "origin", "noise")} | {"algorithm": "label"}
_LISTS = {
    "replicates": "replicates",
    "total_gains": "totals",
    "hits": "hits",
    "mean_cumulative_gain": "mean",
    "squared_deviations": "squares",
    "first_actions": "first",
    "first_gains": "first_gains",
}
"""Columns of the file, and what they hold of `Scores`."""


def table_of(block: RunBlock) -> pa.Table:
    """The scores of a block as a table: one row per algorithm, noise and mu."""
    rows = [scores_of(played, block.replicates, block.best) for played in block.played]
    return pa.table(
        {
            **{name: as_texts([getattr(it, of) for it in rows]) for name, of in _TEXTS.items()},
            "mu": as_arrow(np.array([it.mu for it in rows])),
            "guarantee": as_texts([_json(it.guarantee) for it in rows]),
            "amplification": as_texts([_json(it.amplification) for it in rows]),
            "equal": as_arrow(np.array([it.equal for it in rows], np.uint8)).cast(pa.bool_()),
            **{name: _lists([getattr(it, of) for it in rows]) for name, of in _LISTS.items()},
        }
    )


def _json(record: Guarantee | BatchMixture | None) -> str:
    return json.dumps(record and record.as_dict(), sort_keys=True)


def _lists(arrays: Sequence[NDArray[Any]]) -> pa.ListArray:
    ends = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    return pa.ListArray.from_arrays(as_arrow(ends), as_arrow(np.concatenate(arrays)))


def read_scores(path: Path | str) -> list[Scores]:
    """The scores that a job wrote.

    Raises:
        DataError: the file is damaged or not such a table.
    """
    try:
        table = pq.read_table(path, use_threads=False)
        columns = {of: table[name].to_pylist() for name, of in _TEXTS.items()}
        columns |= {of: _arrays(table[name]) for name, of in _LISTS.items()}
        columns |= {name: table[name].to_pylist() for name in ("mu", "equal")}
        columns["guarantee"] = [
            Guarantee(**json.loads(it)) for it in table["guarantee"].to_pylist()
        ]
        mixtures = map(json.loads, table["amplification"].to_pylist())
        columns["amplification"] = [it and BatchMixture.from_dict(it) for it in mixtures]
        found = [
            Scores(**dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ]
        if not found:
            raise ValueError("it has no rows")
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a whole run ({error}); delete it and run again") from None
    return found


def _arrays(column: pa.ChunkedArray) -> list[NDArray[Any]]:
    """A column of lists of numbers as arrays; TypeError for another column."""
    if not pa.types.is_list(column.type):
        raise TypeError(f"a column of {column.type} where lists of numbers belong")
    found = []
    for chunk in column.chunks:
        values, ends = chunk.values.to_numpy(), chunk.offsets.to_numpy()
        found += [values[a:b] for a, b in itertools.pairwise(ends)]
    return found
