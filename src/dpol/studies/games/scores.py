"""What a point keeps of its games: totals by replicate, curves by round, perhaps every round.

The curves are the mean cumulative gain and its squared deviations. Their size does not grow with
the replicates, and collecting needs no rounds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.experts.interface import Actions
from dpol.noise import is_ours
from dpol.privacy.guarantee import Guarantee, Origin
from dpol.privacy.mixtures import BatchMixture


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One algorithm on one stream at one privacy level: a cell of the table.

    Args:
        stream: label of the stream.
        noise: scaling of the local noise.
        mu: requested privacy level.
        label: name of the algorithm in tables and figures.
        family: registered name of the algorithm.
        origin: `paper`, `standard`, `ours` or `other`.
        guarantee: privacy of the actions.
        amplification: batch sizes behind an amplified central guarantee, if any.
    """

    stream: str
    noise: str
    mu: float
    label: str
    family: str
    origin: Origin
    guarantee: Guarantee
    amplification: BatchMixture | None = None


@dataclass(frozen=True, kw_only=True)
class Played(Cell):
    """Runs of a cell.

    Args:
        stream: label of the stream.
        noise: scaling of the local noise.
        mu: requested privacy level.
        label: name of the algorithm in tables and figures.
        family: registered name of the algorithm.
        origin: `paper`, `standard`, `ours` or `other`.
        guarantee: privacy of the actions.
        amplification: batch sizes behind an amplified central guarantee, if any.
        actions: (R, T) experts, counted from 0.
        gains: (R, T) raw gains of the actions.
    """

    actions: Actions
    gains: Floats

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


@dataclass(frozen=True, kw_only=True)
class Scores(Cell):
    """Scores of a cell.

    Args:
        stream: label of the stream.
        noise: scaling of the local noise.
        mu: requested privacy level.
        label: name of the algorithm in tables and figures.
        family: registered name of the algorithm.
        origin: `paper`, `standard`, `ours` or `other`.
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
    cell = {part.name: getattr(played, part.name) for part in fields(Cell)}
    if played.amplification:
        cell["amplification"] = played.amplification.without_empty()
    return Scores(
        **cell,
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


# ---- tables --------------------------------------------------------------------------------------


KEY = ("stream", "algorithm", "noise", "mu")
"""Columns of both tables by which a row of `curves` has its rows of `scores`."""


def tables_of(block: RunBlock) -> dict[str, pa.Table]:
    """Tabulate the scores of a block (docs/reference/tables.md).

    Returns:
        `scores`, one row per algorithm and replicate, and `curves`, one row per algorithm.
    """
    every = [scores_of(played, block.replicates, block.best) for played in block.played]
    curves = [_curves(own) for own in every]
    size = len(block.replicates)
    scores = {name: column([row[name] for row in curves for _ in range(size)]) for name in KEY}
    return {
        "scores": pa.table(
            {
                **scores,
                "replicate": column(np.concatenate([own.replicates for own in every])),
                "total_gain": column(np.concatenate([own.totals for own in every])),
                "hits": column(np.concatenate([own.hits for own in every])),
            }
        ),
        "curves": pa.table({name: column([row[name] for row in curves]) for name in curves[0]}),
    }


def _curves(own: Scores) -> dict[str, Any]:
    """Return a row of the table of curves."""
    mixture = own.amplification
    return {
        "stream": own.stream,
        "algorithm": own.label,
        "family": own.family,
        "origin": own.origin,
        "noise": own.noise,
        "mu": own.mu,
        "replicates": len(own.replicates),
        "equal": own.equal,
        **own.guarantee.as_row(),
        "batch_mu": mixture.mu if mixture else math.nan,
        "batch_sizes": mixture.sizes if mixture else np.array([], dtype=np.int64),
        "batch_weights": mixture.weights if mixture else np.array([]),
        "mean_cumulative_gain": own.mean,
        "squared_deviations": own.squares,
        "first_actions": own.first,
        "first_gains": own.first_gains,
    }


def rounds_of(block: RunBlock) -> pa.Table:
    """Tabulate every round of a block: one row per algorithm, replicate and round.

    Columns: docs/reference/tables.md.
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
            "mu": column(np.repeat([played.mu for played in block.played], size)),
            "replicate": column(np.tile(replicate, count)),
            "round": column(np.tile(round_numbers, count * replicates)),
            "action": column(np.concatenate([runs.actions.ravel() for runs in block.played])),
            "gain": column(np.concatenate([runs.gains.ravel() for runs in block.played])),
        }
    )


def column(values: NDArray[Any] | Sequence[Any]) -> pa.Array:
    """Return numbers, truths, texts or lists of numbers as a column.

    Arrow's `pa.array` imports pandas, which takes longer than playing a small stream.

    Args:
        values: all of one kind; an array of numbers may be empty.

    >>> column(["a", "μ"]).to_pylist(), column([[0.5, 1.5], [2.5]]).to_pylist()
    (['a', 'μ'], [[0.5, 1.5], [2.5]])
    """
    first = values[0] if len(values) else 0
    if isinstance(first, str):
        texts = [text.encode() for text in values]
        buffers = pa.py_buffer(_ends(texts)), pa.py_buffer(b"".join(texts))
        return pa.StringArray.from_buffers(len(texts), *buffers)
    if isinstance(first, Sequence | np.ndarray):
        return pa.ListArray.from_arrays(column(_ends(values)), column(np.concatenate(values)))
    numbers = np.ascontiguousarray(values)
    if numbers.dtype == bool:  # Arrow packs truths into bits
        return column(numbers.astype(np.int8)).cast(pa.bool_())
    buffers = None, pa.py_buffer(numbers)
    return pa.Array.from_buffers(pa.from_numpy_dtype(numbers.dtype), len(numbers), buffers)


def _ends(values: Iterable[Sized]) -> NDArray[np.int32]:
    return np.cumsum([0, *map(len, values)], dtype=np.int32)
