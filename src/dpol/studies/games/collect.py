"""Result tables of all games, from what the points wrote: summary, totals, curves and others.

A row of the summary is a cell: an algorithm on a stream with a noise at a level.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from dpol.core.intervals import half_width, half_width_of
from dpol.core.randomness import Floats
from dpol.core.schemas import Schema, readable
from dpol.data.stream import GainStream, read_stream, unmeasured_of
from dpol.privacy.guarantee import NO_NOISE
from dpol.privacy.losses import Loss
from dpol.privacy.settings import keeps_level, label_of_level
from dpol.studies.games.names import (
    BEST_FIXED,
    CELL,
    LINEAR,
    ORACLE,
    PAPER_NOISE,
    REFERENCE_TOTALS,
    TABLE_2,
    UNIFORM,
)
from dpol.studies.games.replay import dates, replay_rows
from dpol.studies.games.settings import GamesSettings
from dpol.studies.study import Facts, FileLists, schemas_in

MOST_SWITCHES = 200
"""Largest S of the table of switches: its time grows with the rounds and with S."""
_TAKEN = ["replicate", "total_gain", "hits"]
_SETTING = ["algorithm", "family", "exhibit", "column", "variant", "noise", "level", "mu"]


def schema(name: str) -> Schema:
    """Return the schema of a table of the main study, from `results.yaml`."""
    return schemas_in(__package__)[name]


def collect(
    files: FileLists, settings: GamesSettings, facts: Facts
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Build the result tables that the settings ask for, from the scores of all games.

    Raises:
        DataError: a file is incomplete.
    """
    streams = {stream.label: stream for stream in map(read_stream, files["stream"])}
    jobs = (map(_read, map(Path, files[name])) for name in ("scores", "curves"))
    return results_from(*join_jobs(*jobs), streams, settings, facts)


def results_from(
    scores: pd.DataFrame,
    cells: pd.DataFrame,
    streams: Mapping[str, GainStream],
    settings: GamesSettings,
    facts: Facts,
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the result tables of games on some streams, from what `join_jobs` returns."""
    summary = summarize(cells, scores, streams, settings, facts)
    yield "totals", totals_of(summary, scores)
    del scores  # there may be millions of rows
    yield "summary", conclude(summary).filter(list(schema("summary").columns))
    if not facts.asks_several:
        yield "cumulative", cumulative_curves(summary, streams)
        yield "switches", best_sequences(streams[label] for label in facts.streams)
    if facts.replayed:
        yield "replay", replay_rows(cells, streams, settings, facts)


# ---- from the rows of jobs to cells --------------------------------------------------------------


def _read(path: Path) -> pa.Table:
    """Read a table of a job; of the scores, what `join_jobs` takes."""
    with readable(path):
        return parquet.read_table(path, columns=_TAKEN if path.stem == "scores" else None)


def join_jobs(
    scores: Iterable[pa.Table], curves: Iterable[pa.Table]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Join the tables `scores` and `curves` of all jobs, as `score_tables` makes them.

    Args:
        scores: a row for each run of each part, a block of replicates of a cell, of jobs in the
            order of streams, suites, levels and blocks.
        curves: likewise a row for each part.

    Returns:
        `scores`, with the number of the cell instead of its stream, algorithm, noise and mu; and a
        row per cell. The levels of a suite and noise come together.
    """
    parts = pa.concat_tables(curves).to_pandas()
    run = parts.groupby(["stream", "suite", "noise"], sort=False).ngroup()
    first = parts["replicates"].cumsum() - parts["replicates"]
    parts = parts.loc[run.sort_values(kind="stable").index]
    place = parts.groupby(CELL, sort=False).ngroup()
    cells = _cells_of(parts, place)
    sizes = parts["replicates"]
    del parts  # it has the curves of each block
    # Numbers are put in order before they are read, and not held twice: there may be millions.
    every = pa.concat_tables(it.select(_TAKEN) for it in scores)
    order = place.sort_index().sort_values(kind="stable").index
    slices = map(every.slice, first[order].tolist(), sizes[order].tolist())
    every = pa.concat_tables(slices)
    runs = every.to_pandas(split_blocks=True, self_destruct=True)
    del every, slices
    pa.default_memory_pool().release_unused()  # Arrow keeps what it freed; pandas needs it next
    of_rows = np.arange(len(cells), dtype=np.int32).repeat(cells["replicates"])
    return runs.assign(cell=of_rows), cells


def _cells_of(parts: pd.DataFrame, place: pd.Series) -> pd.DataFrame:
    """Return a row per cell from a row per block, and the number of the cell of each block."""
    cells = parts[~place.duplicated()].reset_index(drop=True)
    if len(cells) == len(parts):
        return cells
    blocks = [own for _, own in parts.groupby(place)]
    means, deviations = zip(*map(_joined_curves, blocks), strict=True)
    return cells.assign(
        replicates=[int(own["replicates"].sum()) for own in blocks],
        mean_cumulative_gain=pd.Series(means, dtype=object),
        squared_deviations=pd.Series(deviations, dtype=object),
    )


def _joined_curves(blocks: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return mean and squared deviations by round over blocks; no deviation where all are equal."""
    sizes = blocks["replicates"].to_numpy()[:, np.newaxis]
    means = np.stack(blocks["mean_cumulative_gain"].to_list())
    same = (means == means[0]).all(axis=0)
    mean = np.where(same, means[0], (sizes * means).sum(axis=0) / sizes.sum())
    between = np.where(same, 0.0, (sizes * (means - mean) ** 2).sum(axis=0))
    return mean, np.stack(blocks["squared_deviations"].to_list()).sum(axis=0) + between


# ---- summary, totals and curves ------------------------------------------------------------------


def summarize(
    cells: pd.DataFrame,
    scores: pd.DataFrame,
    streams: Mapping[str, GainStream],
    main: GamesSettings,
    facts: Facts,
) -> pd.DataFrame:
    """Build one row per cell (columns: docs/reference/tables.md).

    The intervals of all cells that are shown or chosen from hold jointly. The page shows the best
    of the linear models, so all of them count. If the run plays all of the first paper's
    algorithms, the cells of its Table 2 count too.

    Args:
        cells: a row per cell, of `join_jobs`.
        scores: its rows per cell and replicate.
        streams: streams they were played on, by label.
        main: the report, whose intervals hold jointly.
        facts: privacy levels, and the delta at which epsilon is reported.
    """
    paper = main.has_table_2(facts)
    cells = with_columns(cells, main.beside)
    named = cells["algorithm"].isin(main.report.algorithms)
    shown = named | (cells["family"] == LINEAR)
    comparisons = int((shown | (paper & cells["exhibit"].eq(TABLE_2))).sum())
    half = partial(half_width, confidence=facts.confidence, comparisons=comparisons)
    about = pd.DataFrame([_stream_facts(stream) for stream in streams.values()])
    rows = cells.merge(about, how="left", on="stream", validate="many_to_one")
    ends = rows["replicates"].cumsum().to_numpy()[:-1]
    totals = np.split(scores["total_gain"].to_numpy(), ends)
    hits = np.split(scores["hits"].to_numpy(), ends)
    right = [own / n_rounds for own, n_rounds in zip(hits, rows["n_rounds"], strict=True)]
    rows = rows.assign(
        level=rows["mu"].map(label_of_level),
        shown_as=cells["algorithm"].where(named, cells["family"].where(shown, "")).to_numpy(),
        mean_gain=[float(own.mean()) for own in totals],
        ci_half_width=[float(half(own)) for own in totals],
        std_gain=[float(own.std(ddof=1)) if len(own) > 1 else math.nan for own in totals],
        named_right=[float(own.mean()) for own in right],
        named_right_half_width=[float(half(own)) for own in right],
        epsilon=[Loss.of_data(json.loads(it)).epsilon(facts.delta) for it in rows["loss"]],
        delta=facts.delta,
        confidence=facts.confidence,
        ci_comparisons=comparisons,
    )
    regret = rows["best_fixed_gain"] - rows["mean_gain"]
    return rows.assign(
        static_regret=regret, keeps_level=keeps_level(rows["guaranteed_mu"], rows["mu"])
    )


def with_columns(cells: pd.DataFrame, beside: Iterable[str]) -> pd.DataFrame:
    """Give algorithms that the paper lacks a column of Table 2, as variants of its own have one.

    It is of the games with the paper's noise. An algorithm that does not play with it has a column
    for each other noise, which the name of the column tells.

    Args:
        cells: a row per cell, of `join_jobs`.
        beside: labels; the paper's own algorithms and their variants keep their columns.
    """
    usual = cells["noise"].isin([PAPER_NOISE, NO_NOISE])
    papers = cells["algorithm"].isin(cells.loc[usual, "algorithm"])
    own = cells["algorithm"].isin(beside) & cells["column"].eq("") & (usual | ~papers)
    own &= keeps_level(cells["guaranteed_mu"], cells["mu"])
    named = cells["algorithm"].where(usual, cells["algorithm"] + ", " + cells["noise"] + " noise")
    return cells.assign(
        exhibit=cells["exhibit"].mask(own, TABLE_2),
        column=cells["column"].mask(own, named),
        variant=cells["variant"] | own,
    )


def totals_of(summary: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Build one row per cell and replicate: its total gain (docs/reference/tables.md).

    Args:
        summary: a row per cell, in the order of the cells.
        scores: rows per cell and replicate, of `join_jobs`.
    """
    cells = scores["cell"].to_numpy()
    # Categories, since there may be millions of rows: texts would take ten times the memory.
    texts = summary[["stream", "algorithm", "noise", "level"]].astype("category")
    columns: dict[Any, Any] = {name: own.array.take(cells) for name, own in texts.items()}
    columns["mu"] = summary["mu"].to_numpy()[cells]
    return pd.DataFrame(columns | {name: scores[name].array for name in _TAKEN}, copy=False)


def _stream_facts(stream: GainStream) -> dict[str, Any]:
    return {
        "stream": stream.label,
        "n_experts": stream.n_experts,
        "n_rounds": stream.n_rounds,
        "first_period": dates(stream)[0],
        "last_period": dates(stream)[-1],
        "simulated": bool(stream.provenance.get("simulated", False)),
        "best_fixed": stream.names[stream.best_fixed_expert()],
        **{REFERENCE_TOTALS[it]: float(gains.sum()) for it, gains in _bounds(stream).items()},
        **{f"unmeasured_{name}": value for name, value in unmeasured_of(stream).items()},
    }


def _bounds(stream: GainStream) -> dict[str, Floats]:
    """Return the (T,) gains of the three references, by label."""
    return {
        UNIFORM: stream.gains.mean(axis=1),
        BEST_FIXED: stream.gains[:, stream.best_fixed_expert()],
        ORACLE: stream.gains.max(axis=1),
    }


def cumulative_curves(summary: pd.DataFrame, streams: Mapping[str, GainStream]) -> pd.DataFrame:
    """Compute the mean cumulative gain by round with half-widths, and for the three references.

    In each round the intervals of all cells hold jointly, as in the summary. Columns:
    docs/reference/tables.md.

    Args:
        summary: table of `summarize`, which has the curves of each cell.
        streams: streams they were played on, by label.
    """
    frames = []
    for stream in streams.values():
        for label, gains in _bounds(stream).items():
            bound: dict[str, Any] = {"algorithm": label, "family": label}
            bound |= {"exhibit": "", "column": "", "variant": False}
            bound |= {"noise": NO_NOISE, "level": "", "mu": math.nan}
            frames.append(_curve(stream, bound, gains.cumsum(), 0.0))
    for cell in summary.to_dict("records"):
        together = (cell[name] for name in ("replicates", "confidence", "ci_comparisons"))
        half = half_width_of(cell["squared_deviations"], *together)
        setting = {str(name): cell[name] for name in _SETTING}
        mean = cell["mean_cumulative_gain"]
        frames.append(_curve(streams[cell["stream"]], setting, mean, half))
    return pd.concat(frames, ignore_index=True)


def _curve(
    stream: GainStream, setting: Mapping[str, Any], mean: Floats, half: Floats | float
) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "stream": stream.label,
            **setting,
            "round": np.arange(1, stream.n_rounds + 1, dtype=np.int32),
            "period": dates(stream).astype("datetime64[ms]"),
            "mean_cumulative_gain": mean,
            "ci_half_width": half,
        }
    )


# ---- what follows from the summary ---------------------------------------------------------------


def conclude(summary: pd.DataFrame) -> pd.DataFrame:
    """Add the shares of the possible gain (docs/reference/tables.md).

    They are 0 for uniform random and 1 for the oracle, and empty where all experts have the same
    gain in every round.

    Args:
        summary: table of `summarize`.
    """
    uniform, mean = summary["uniform_gain"], summary["mean_gain"]
    possible = (summary["oracle_gain"] - uniform).replace(0.0, math.nan)
    return summary.assign(
        best_fixed_share=(summary["best_fixed_gain"] - uniform) / possible,
        gain_share=(mean - uniform) / possible,
        gain_share_half_width=summary["ci_half_width"] / possible,
    )


# ---- switches ------------------------------------------------------------------------------------


def best_sequences(streams: Iterable[GainStream]) -> pd.DataFrame:
    """Return a row per stream and S, up to `MOST_SWITCHES` (docs/reference/tables.md)."""
    frames = []
    for stream in streams:
        best = switching_gains(stream.gains, min(stream.n_rounds - 1, MOST_SWITCHES))
        rows = {"stream": stream.label, "switches": range(len(best)), "best_gain": best}
        frames.append(pd.DataFrame(rows))
    return pd.concat(frames, ignore_index=True)


def switching_gains(gains: Floats, most: int) -> Floats:
    """Return the largest gains of sequences of experts with at most S switches, S = 0, ..., `most`.

    The first is the gain of the best fixed expert, that of T - 1 switches the gain of each round's
    best. The regret of a game against S switches is one of them minus its own gain.

    Args:
        gains: (T, n) gains.
        most: largest number of switches.

    Returns:
        (most + 1,) gains, which never fall with S.

    >>> switching_gains(np.array([[3.0, 0.0], [0.0, 1.0], [3.0, 0.0]]), 2).tolist()
    [6.0, 6.0, 7.0]
    """
    # Largest gains so far with at most S switches, by the expert of the last round. To "switch" to
    # the same expert is never better than to stay, so the best predecessor may be any.
    best = np.tile(gains[0], (most + 1, 1))
    for gain in gains[1:]:
        best[1:] = np.maximum(best[1:], best[:-1].max(axis=1, keepdims=True))
        best += gain
    return np.asarray(best.max(axis=1))
