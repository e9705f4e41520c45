"""Scores: what a point keeps of its games for the result tables.

Scores hold total gains by replicate, and the mean cumulative gain and its squared deviations by
round. Their size per round does not grow with the replicates, and collecting needs no rounds.
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

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.noise import is_ours
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.privacy.mixtures import BatchMixture
from dpol.studies.games.play import Played, RunBlock, column


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Scores of one algorithm on one stream at one privacy level.

    Args:
        stream: label of the stream.
        label: name of the algorithm in tables and figures.
        family: registered name of the algorithm.
        origin: `paper`, `standard`, `ours` or `other`.
        noise: scaling of the local noise.
        mu: requested privacy level.
        guarantee: privacy of the actions.
        amplification: batch sizes behind an amplified central guarantee, if any.
        replicates: (R,) numbers of the replicates, increasing.
        totals: (R,) total gain of each replicate.
        hits: (R,) number of rounds in which it named an expert with the largest gain.
        mean: (T,) cumulative gain by round, mean over the replicates.
        squares: (T,) sum over the replicates of squared deviations from `mean`.
        equal: whether all replicates have equal gains in every round.
        first: (T,) actions of the first replicate: experts, counted from 0.
        first_gains: (T,) raw gains of these actions.
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
        """Whether the algorithm or its noise is not in the papers."""
        return self.origin == "ours" or is_ours(self.noise)

    @property
    def unmoved(self) -> bool:
        """Whether all replicates have equal gains although their noise differs."""
        noisy = self.guarantee.model != "none" and self.mu < math.inf
        return noisy and len(self.totals) > 1 and self.equal


def scores_of(played: Played, replicates: Sequence[int], best: Floats) -> Scores:
    """Score an algorithm's runs.

    Args:
        played: the runs.
        replicates: numbers of the replicates.
        best: (T,) largest raw gain of each round.
    """
    gains = played.gains
    running = gains.cumsum(axis=1)
    # The mean of equal numbers may have a rounding error; their deviations must be exactly 0.
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


def join_scores(parts: Sequence[Scores]) -> Scores:
    """Join the scores of several blocks of replicates.

    Source: Chan, Golub and LeVeque, Algorithms for computing the sample variance (1983).

    Raises:
        ValueError: the replicates are not 0, 1, 2, ...
    """
    first, *others = sorted(parts, key=lambda part: int(part.replicates[0]))
    whole = first
    for part in others:
        n, more = len(whole.totals), len(part.totals)
        apart = part.mean - whole.mean
        whole = replace(
            whole,
            replicates=np.concatenate([whole.replicates, part.replicates]),
            totals=np.concatenate([whole.totals, part.totals]),
            hits=np.concatenate([whole.hits, part.hits]),
            mean=whole.mean + apart * (more / (n + more)),
            squares=whole.squares + part.squares + apart**2 * (n * more / (n + more)),
            equal=bool(
                whole.equal and part.equal and (whole.first_gains == part.first_gains).all()
            ),
        )
    numbers = whole.replicates
    if not np.array_equal(numbers, np.arange(len(numbers))):
        raise ValueError(
            f"{whole.stream}, {whole.label}, mu {whole.mu}: replicates {numbers.tolist()} are not"
            " 0, 1, 2, ..."
        )
    return whole


def collect_cells(parts: Iterable[Scores]) -> list[Scores]:
    """Join the scores of every cell of the table, with all its replicates.

    Raises:
        ValueError: a replicate is missing or occurs twice.
    """
    cells: dict[tuple[str, str, float, str], list[Scores]] = {}
    for part in parts:
        cells.setdefault((part.stream, part.noise, part.mu, part.label), []).append(part)
    return [join_scores(own) for own in cells.values()]


_TEXTS = {name: name for name in ("stream", "family", "origin", "noise")} | {"algorithm": "label"}
_LISTS = {
    "replicates": "replicates",
    "total_gains": "totals",
    "hits": "hits",
    "mean_cumulative_gain": "mean",
    "squared_deviations": "squares",
    "first_actions": "first",
    "first_gains": "first_gains",
}
"""Columns of the file, with the attribute of `Scores` that each holds."""


def table_of(block: RunBlock) -> pa.Table:
    """Tabulate the scores of a block: one row per algorithm, noise and mu."""
    rows = [scores_of(played, block.replicates, block.best) for played in block.played]
    return pa.table(
        {
            **{name: column([getattr(row, of) for row in rows]) for name, of in _TEXTS.items()},
            "mu": column([row.mu for row in rows]),
            "guarantee": column([_json(row.guarantee) for row in rows]),
            "amplification": column([_json(row.amplification) for row in rows]),
            "equal": column([int(row.equal) for row in rows]).cast(pa.bool_()),
            **{name: column([getattr(row, of) for row in rows]) for name, of in _LISTS.items()},
        }
    )


def _json(record: Guarantee | BatchMixture | None) -> str:
    return json.dumps(record and record.as_dict(), sort_keys=True)


def read_scores(path: Path | str) -> list[Scores]:
    """Read the scores that a job wrote.

    Raises:
        DataError: the file is damaged, or is not such a table.
    """
    try:
        table = pq.read_table(path, use_threads=False)
        columns = {of: table[name].to_pylist() for name, of in _TEXTS.items()}
        columns |= {of: _arrays(table[name]) for name, of in _LISTS.items()}
        columns |= {name: table[name].to_pylist() for name in ("mu", "equal")}
        columns["guarantee"] = [
            Guarantee(**json.loads(text)) for text in table["guarantee"].to_pylist()
        ]
        mixtures = map(json.loads, table["amplification"].to_pylist())
        columns["amplification"] = [own and BatchMixture.from_dict(own) for own in mixtures]
        scores = [
            Scores(**dict(zip(columns, row, strict=True)))
            for row in zip(*columns.values(), strict=True)
        ]
        if not scores:
            raise ValueError("it has no rows")
    except (OSError, LookupError, TypeError, ValueError, pa.ArrowException) as error:
        raise DataError(f"{path} is not a whole run ({error}); delete it and run again") from None
    return scores


def _arrays(column: pa.ChunkedArray) -> list[NDArray[Any]]:
    """Return a column of lists of numbers as arrays. Raises TypeError for another column."""
    if not pa.types.is_list(column.type):
        raise TypeError(f"a column has {column.type}, not lists of numbers")
    arrays = []
    for chunk in column.chunks:
        values, ends = chunk.values.to_numpy(), chunk.offsets.to_numpy()
        arrays += [values[a:b] for a, b in itertools.pairwise(ends)]
    return arrays
