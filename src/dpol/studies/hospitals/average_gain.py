"""The table of average gains, with the paper's numbers where they are comparable."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol.core.frames import check_frame
from dpol.data.settings import Stream
from dpol.noise import is_ours
from dpol.show import footers
from dpol.show.table import Entry, Group, Section, TextTable, no_formula, write_table
from dpol.show.words import mu_title, privacy_title
from dpol.studies.hospitals.layout import (
    Cell,
    Header,
    Row,
    by_noise,
    find_headers,
    make_rows,
    runs_of,
    shown_with,
)
from dpol.studies.hospitals.reported import describe_reported
from dpol.studies.hospitals.settings import Report

COLUMNS = (
    *("stream", "n_experts", "n_rounds", "first_period", "last_period"),
    *("algorithm", "family", "noise", "mu", "replicates", "mean_gain", "ci_half_width"),
    *("ci_comparisons", "model", "ours", "guaranteed_mu", "epsilon", "delta"),
    *("sampler", "sensitivity", "sensitivity_unit"),
    *("mechanism", "adjacency", "unit", "taken_as_public", "simulated"),
)
"""Columns of the summary that the table needs."""

CSV_COLUMNS: Mapping[str, str] = {
    "stream": "label of the stream",
    "stream_title": "its title",
    "n_experts": "experts in it",
    "n_rounds": "rounds in it",
    "level": "label of the privacy level",
    "mu": "Gaussian-DP parameter of the level; inf = no privacy",
    "column": "column of the table",
    "best_of": "family whose best member the column shows; empty for an algorithm's own column",
    "algorithm": "label of the algorithm; empty where it was not run",
    "noise": "how local noise is scaled in its rows; none without privacy",
    "model": "local, central or none",
    "ours": "True if the algorithm or its noise is not in the paper; empty where it was not run",
    "mean_gain": "total gain, mean over runs",
    "ci_half_width": "half width of its confidence interval",
    "confidence": "confidence of all intervals together",
    "ci_comparisons": "number of intervals that share the error (Bonferroni)",
    "replicates": "runs",
    "reported_mean_gain": "the paper's number; empty where it has none that is comparable",
    "reported_ci_half_width": "the paper's half width; empty where it gives none",
    "simulated": "True if the data are simulated",
}
"""Columns of the CSV (fields of the classes below) and what they mean."""


@dataclass(frozen=True)
class AverageGain:
    """The table; its texts are plain, the renderers escape them."""

    caption: str
    headers: tuple[Header, ...]
    rows: tuple[Row, ...]
    footers: tuple[str, ...]
    confidence: float
    ci_comparisons: int

    @property
    def noises(self) -> list[str]:
        """Of the rows, in their order."""
        return list(dict.fromkeys(row.noise for row in self.rows))


def build_average_gain(
    summary: pd.DataFrame,
    *,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
    report: Report,
) -> AverageGain:
    """The table of a summary.

    Args:
        summary: a row per stream, algorithm, noise and mu (`COLUMNS`).
        streams: label and config of the streams, in the order of the rows.
        levels: label and mu of the privacy levels, in the order of the rows.
        report: algorithms in the order of the columns, family of the best member, confidence.

    Raises:
        DataError: a column, a stream or an algorithm is missing, or rows contradict each other.
    """
    _check(summary, streams, levels, report)
    reported = summary["algorithm"].isin(report.algorithms) | (summary["family"] == report.envelope)
    shown = summary["stream"].isin(list(streams)) & summary["mu"].isin(list(levels.values()))
    used = by_noise(summary[reported & shown])
    noises = list(used["rows"].cat.categories)
    # Of all levels: an algorithm without privacy keeps its column where no level is infinite.
    headers = find_headers(summary[reported], report, several=len(noises) > 1)
    columns = {name: shown_with(name, headers, used) for name in noises}
    rows: list[Row] = []
    for label, stream in streams.items():
        runs = used[used["stream"] == label]
        if runs.empty:
            raise DataError(f"the summary has no runs of stream {label} that the report shows")
        rows.extend(make_rows(runs, columns, stream, levels))
    comparisons = int(summary["ci_comparisons"].iloc[0])
    caption = "Average total gain"
    table = AverageGain(caption, headers, tuple(rows), (), report.confidence, comparisons)
    return replace(table, footers=tuple(_footers(table, used, streams)))


def write_average_gain(table: AverageGain, path: Path) -> None:
    """Write the numbers behind the table as `.csv`, or the table itself (see `write_table`)."""
    if path.suffix == ".csv":
        write_text(path, render_csv(table))
    else:
        write_table(as_text(table), path)


def render_csv(table: AverageGain) -> str:
    """One line per cell that is not empty, in full precision; `CSV_COLUMNS` explains them.

    Texts that begin like a formula, such as a title, get an apostrophe in front.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, list(CSV_COLUMNS), extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for row in table.rows:
        for header, cell in zip(table.headers, row.cells, strict=True):
            if cell is not None:
                noise = {"noise": "none"} if header.model == "none" else {}
                values = vars(table) | vars(row) | vars(header) | vars(cell) | noise
                writer.writerow(
                    {
                        key: no_formula(value) if isinstance(value, str) else value
                        for key, value in values.items()
                    }
                )
    return out.getvalue()


def as_text(table: AverageGain) -> TextTable:
    """The table as it is shown."""
    sections = []
    for _, found in groupby(table.rows, key=lambda row: row.stream):
        rows = list(found)
        groups = tuple(
            Group(
                _marked(name, is_ours(name)),
                tuple((_privacy(row), tuple(map(_entry, row.cells))) for row in same),
            )
            for name, same in groupby(rows, key=lambda row: row.noise)
        )
        size = f"n = {rows[0].n_experts}, T = {rows[0].n_rounds}"
        sections.append(Section(rows[0].stream_title, size, groups))
    several = len(table.noises) > 1
    return TextTable(
        caption=table.caption,
        name="average-gain",
        corner=("stream", "noise", "privacy") if several else ("stream", "privacy"),
        headers=tuple(_marked(it.column, it.marked) for it in table.headers),
        sections=tuple(sections),
        footers=table.footers,
    )


def _marked(title: str, marked: bool) -> str:
    return f"{title} †" if marked else title


def _privacy(row: Row) -> str:
    """The level; "no privacy" only if noise was switched off: one noise never does so."""
    guaranteed = [cell.guaranteed_mu for cell in row.shown if cell.guaranteed_mu is not None]
    private = guaranteed and max(guaranteed) < float("inf")
    return mu_title(row.mu) if private else privacy_title(row.mu)


def _entry(cell: Cell | None) -> Entry:
    if cell is None:
        return Entry("")
    if cell.mean_gain is None:
        return Entry("—")
    notes = [cell.note] if cell.note else []
    if cell.reported_mean_gain is not None:
        reported = footers.amount(cell.reported_mean_gain, cell.reported_ci_half_width)
        notes.append(f"[paper: {reported}]")
    return Entry(footers.amount(cell.mean_gain, cell.ci_half_width), tuple(notes))


def _check(
    summary: pd.DataFrame,
    streams: Mapping[str, Stream],
    levels: Mapping[str, float],
    report: Report,
) -> None:
    check_frame(summary, COLUMNS, "the summary")
    if not streams or not levels:
        raise DataError("a table needs at least one stream and one privacy level")
    for name, wanted in (("stream", streams), ("algorithm", report.algorithms)):
        if unknown := [label for label in wanted if label not in set(summary[name])]:
            what = f"{name} {', '.join(unknown)}"
            raise DataError(f"the summary has no runs of {what}; run them or do not report them")
    key = ["stream", "algorithm", "noise", "mu"]
    comparisons = summary["ci_comparisons"]
    for problem, rows in (
        ("two rows of", summary.duplicated(key)),
        ("no mean_gain for", summary["mean_gain"].isna()),
        ("another ci_comparisons for", comparisons != comparisons.iloc[0]),
    ):
        if rows.any():
            where = summary.loc[rows.to_numpy(), key].iloc[0].to_dict()
            raise DataError(f"the summary has {problem} {where}; delete it and run again")


def _footers(
    table: AverageGain, used: pd.DataFrame, streams: Mapping[str, Stream]
) -> Iterator[str]:
    cells = [cell for row in table.rows for cell in row.shown]
    runs = sorted({cell.replicates for cell in cells if cell.replicates is not None})
    number = " to ".join(dict.fromkeys((f"{runs[0]}", f"{runs[-1]}")))
    yield (
        f"Each number is the mean, over {number} runs, of the gain summed over all T rounds"
        " of a stream of n experts."
    )
    yield footers.describe_interval(table.confidence, table.ci_comparisons)
    for header in table.headers:
        if header.best_of:
            yield footers.describe_best(header.column, header.best_of)
    yield footers.describe_data({row.stream_title: row.simulated for row in table.rows})
    yield from footers.describe_models([(it.column, it.model) for it in table.headers])
    of_column = {it.column: runs_of(used, it.label, it.best_of) for it in table.headers}
    yield from footers.describe_guarantee(
        of_column, list(dict.fromkeys(row.mu for row in table.rows))
    )
    if any(cell.mean_gain is None for cell in cells):
        yield "—: not run; an algorithm without privacy has no privacy levels."
    if any(None in row.cells for row in table.rows):
        yield "Empty: an algorithm without local noise is shown once, not for each noise."
    yield from _marks(table)
    beside = [
        row for row in table.rows if any(it.reported_mean_gain is not None for it in row.shown)
    ]
    yield from describe_reported(
        {row.stream_title: (row.n_experts, streams[row.stream].reported_as) for row in beside},
        any(row.simulated for row in beside),
    )


def _marks(table: AverageGain) -> Iterator[str]:
    names = table.noises if len(table.noises) > 1 else []
    ours = [f"{name} noise" for name in names if is_ours(name)]
    ours += [it.column for it in table.headers if it.marked]
    if ours:
        yield f"†: ours, not in the paper: {', '.join(ours)}."
