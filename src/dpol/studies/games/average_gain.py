"""The tables of average gains.

One for each noise, and one for the algorithms without any. Below them: what each mechanism
guarantees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from dpol.core.rounding import percent, rounded_up
from dpol.noise import NO_NOISE, in_order
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show import footers
from dpol.show.mechanisms import mechanisms_table
from dpol.show.names import ACCOUNTED, explain_mark, marked, name_of
from dpol.show.reported import BEST_LINEAR
from dpol.show.table import Line, Table, TableCell, one_section
from dpol.show.words import mu_title, privacy_title
from dpol.studies.games.settings import Games
from dpol.studies.games.systems import REFERENCE_TOTALS, describe_stream, is_weaker
from dpol.studies.study import Facts, Frames

CSV_COLUMNS = (
    *("stream", "stream_title", "n_experts", "n_rounds", "level", "mu"),
    *("column", "best_of", "algorithm", "noise", "model", "ours"),
    *("mean_gain", "ci_half_width", "confidence", "ci_comparisons", "replicates"),
    *("uniform_gain", "best_fixed_gain", "oracle_gain", "gain_share"),
    "simulated",
)
"""Columns of the CSV, named as in the summary; a row per cell that is not empty.

`column` is the heading in the table, `best_of` the family whose best member it shows (empty for a
single algorithm). `algorithm`, the numbers and `ours` are empty where nothing was run.
"""
OWN_NOISE = "own noise"
"""Note to a number with noise in a row without privacy."""
_ON_BOUNDS = (
    "Uniform random: an expert drawn uniformly in every round. Best fixed expert: the best single"
    " expert in hindsight. Oracle: the best expert of every round."
)
_ON_OWN_NOISE = (
    f"“{OWN_NOISE}”, and μ = ∞ without “no privacy”: noise is added even where no privacy is"
    " requested."
)
_ABSENT = TableCell("—")
WEAKER = "not at this level: μ ="
"""Beginning of the note to a number whose guarantee is weaker than the level of its line."""
_ON_WEAKER = f"“{WEAKER}”: the noise guarantees only this μ, which is weaker than the line’s."
UNMOVED = "unmoved by noise"
"""Note to a number that is the same in all replicates."""
_ON_UNMOVED = (
    f"“{UNMOVED}”: all replicates have equal gains in every round although their noise differs."
    " The algorithm ignores the noise, or has seen the gains without noise."
)
Run = Mapping[Any, Any]
"""A row of the summary."""


@dataclass(frozen=True, kw_only=True)
class ColumnSpec:
    """A column of the table.

    Args:
        label: label of the algorithm; for a family, a name for its best member.
        best_of: family whose best member is shown; empty for a single algorithm.
        model: `local`, `central`, `central/local`, or `none`.
        ours: whether the header bears the mark †.
        noises: noises whose tables have the column; empty for an algorithm without noise.
        runs: runs of the algorithm, or of all members of the family, at every level.
    """

    label: str
    best_of: str
    model: str
    ours: bool
    noises: Sequence[str]
    runs: Sequence[Run]

    @property
    def title(self) -> str:
        """The header without a mark."""
        return self.label.replace("-", " ") if self.best_of else self.label


@dataclass(frozen=True)
class CellKey:
    """Place of a cell: labels of its stream, noise, privacy level and column."""

    stream: str
    noise: str
    level: str
    column: str


@dataclass(frozen=True)
class Cell:
    """A cell that is not empty.

    Args:
        key: its place.
        column: its column.
        run: the run it shows; None if nothing was run.
    """

    key: CellKey
    column: ColumnSpec
    run: Run | None


def average_gain_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build the table of total gains with its following tables; the numbers have `CSV_COLUMNS`.

    Args:
        frames: the summary, as `dpol.studies.games.summary.conclude` returns it.
        main: the algorithms to show.
        facts: streams and levels in the order of the lines, and whether the data are simulated.
    """
    summary = frames["summary"]
    rows = summary.to_dict("records")
    sizes = {row["stream"]: row for row in reversed(rows)}  # for n, T and references by stream
    groups = _runs_by_column(rows, main)
    noises = _noises(groups, facts)
    columns = [
        _column(label, best_of, runs=runs, noises=noises, facts=facts)
        for (label, best_of), runs in groups.items()
    ]
    cells = _cells(columns, noises, facts)
    tables = [
        _table(cells, [column for column in columns if noise in column.noises], noise, sizes, facts)
        for noise in noises
    ]
    if plain := [column for column in columns if not column.noises]:
        tables.append(_without_noise(cells, plain, facts))
    shown = {column.title: _frame_of(column, noises, summary, facts) for column in columns}
    mechanisms = mechanisms_table(shown, list(facts.levels.values()), name="mechanisms")
    first, *others = tables
    return replace(
        first,
        name="average-gain",
        footers=tuple(
            _footers(cells, columns, noises=noises, summary=summary, main=main, facts=facts)
        ),
        numbers=_numbers(cells, sizes, main, facts),
        following=(*others, *([mechanisms] if mechanisms else [])),
    )


def _table(
    cells: Sequence[Cell],
    columns: Sequence[ColumnSpec],
    noise: str,
    sizes: Mapping[str, Run],
    facts: Facts,
) -> Table:
    """Build the table of one noise: a section per stream, a line per level."""
    by_key = {cell.key: cell for cell in cells}
    sections = []
    for stream, title in facts.streams.items():
        lines = []
        for level, mu in facts.levels.items():
            keys = (CellKey(stream, noise, level, column.label) for column in columns)
            lines.append(_line(mu, [by_key.get(key) for key in keys]))
        sections.append(one_section(lines, title, describe_stream(sizes[stream])))
    name = "" if noise == NO_NOISE else f", {marked(f'{noise} noise', name_of(noise).ours)}"
    return Table(
        caption=f"Average total gain{name}",
        name=f"average-gain-{noise}",
        corner=("stream", "privacy"),
        headers=tuple(marked(column.title, column.ours) for column in columns),
        sections=tuple(sections),
    )


def _without_noise(cells: Sequence[Cell], columns: Sequence[ColumnSpec], facts: Facts) -> Table:
    """Build the table of the algorithms that never have noise: a line per stream."""
    played = {(cell.key.stream, cell.key.column): cell for cell in cells if cell.run}
    title = privacy_title(math.inf)
    lines = []
    for stream in facts.streams:
        of_stream = [played.get((stream, column.label)) for column in columns]
        entries = tuple(_entry(cell, title) if cell else _ABSENT for cell in of_stream)
        lines.append((facts.streams[stream], entries))
    return Table(
        caption="Average total gain, algorithms without noise or privacy",
        name="average-gain-none",
        corner=("stream",),
        headers=tuple(marked(column.title, column.ours) for column in columns),
        sections=(one_section(lines),),
    )


def _runs_by_column(rows: Sequence[Run], main: Games) -> dict[tuple[str, str], list[Run]]:
    """Group the runs by column: its label, and the family whose best member it shows."""
    report = main.report
    by_column = {
        (label, ""): [row for row in rows if row["algorithm"] == label]
        for label in report.algorithms
    }
    if members := [row for row in rows if row["family"] == report.envelope]:
        best = BEST_LINEAR if report.envelope == "ridge" else f"best-{report.envelope}"
        by_column[best, report.envelope] = members
    return by_column


def _is_shown(run: Run, facts: Facts) -> bool:
    """Return whether the table has a line for the stream and the level of a run."""
    return run["stream"] in facts.streams and run["mu"] in facts.levels.values()


def _noises(groups: Mapping[Any, Sequence[Run]], facts: Facts) -> list[str]:
    runs = [run for own in groups.values() for run in own if _is_shown(run, facts)]
    return in_order({run["noise"] for run in runs} - {NO_NOISE}) or [NO_NOISE]


def _row_noise(run: Run, noises: Sequence[str]) -> str:
    """Return the noise whose table shows a run: the first for a run without noise."""
    return noises[0] if run["noise"] == NO_NOISE else str(run["noise"])


def _column(
    label: str, best_of: str, *, runs: Sequence[Run], noises: Sequence[str], facts: Facts
) -> ColumnSpec:
    models = sorted({run["model"] for run in runs} - {"none"})
    played = {_row_noise(run, noises) for run in runs if _is_shown(run, facts)}
    # If nothing was played with noise, there is only one table.
    plain = not models and list(noises) != [NO_NOISE]
    # With several noises, the noises bear the marks.
    marking = [run for run in runs if len(noises) == 1 or not name_of(run["noise"]).ours]
    return ColumnSpec(
        label=label,
        best_of=best_of,
        model="/".join(models) or "none",
        ours=label not in ACCOUNTED and any(run["ours"] for run in marking),
        noises=[] if plain else [name for name in noises if name in played] or noises[:1],
        runs=runs,
    )


def _cells(columns: Sequence[ColumnSpec], noises: Sequence[str], facts: Facts) -> list[Cell]:
    best: dict[CellKey, Run] = {}
    for column in columns:
        for run in column.runs:
            if _is_shown(run, facts) and (run["best_of_family"] or not column.best_of):
                level = facts.labels[run["mu"]]
                key = CellKey(run["stream"], _row_noise(run, noises), level, column.label)
                if key not in best or run["mean_gain"] > best[key]["mean_gain"]:
                    best[key] = run
    return [
        Cell(key, column, best.get(key))
        for stream in facts.streams
        for noise in noises
        for level in facts.levels
        for column in columns
        if (key := CellKey(stream, noise, level, column.label)) in best or noise in column.noises
    ]


def _line(mu: float, cells: Sequence[Cell | None]) -> Line:
    """Return the line of a level; it is "no privacy" only if the noise can be switched off."""
    guaranteed = {cell.run["guaranteed_mu"] for cell in cells if cell and cell.run}
    noisy = any(value < math.inf for value in guaranteed) and math.inf not in guaranteed
    title = mu_title(mu) if noisy else privacy_title(mu)
    return title, tuple(_entry(cell, title) if cell else _ABSENT for cell in cells)


def _entry(cell: Cell, title: str) -> TableCell:
    run = cell.run
    if run is None:
        return _ABSENT
    notes = [] if math.isnan(run["gain_share"]) else [percent(run["gain_share"])]
    if title == privacy_title(math.inf) and run["guaranteed_mu"] < math.inf:
        notes.append(OWN_NOISE)
    if is_weaker(run["guaranteed_mu"], run["mu"]):
        notes.append(f"{WEAKER} {rounded_up(run['guaranteed_mu'], 3)}")
    if run["unmoved"]:
        notes.append(UNMOVED)
    if run["noise_memory"]:
        mus = ", ".join(rounded_up(run[name], 3) for name in MU_OF_STAYS)
        notes.append(f"μ for {', '.join(map(str, STAYS))} rounds: {mus}")
    gain = run["mean_gain"]
    member = run["algorithm"] if cell.column.best_of else ""
    return TableCell(
        footers.amount(gain, run["ci_half_width"]), tuple(notes), order=gain, hint=member
    )


def _footers(
    cells: Sequence[Cell],
    columns: Sequence[ColumnSpec],
    *,
    noises: Sequence[str],
    summary: pd.DataFrame,
    main: Games,
    facts: Facts,
) -> Iterator[str]:
    runs = [cell.run for cell in cells if cell.run]
    replicates = sorted({run["replicates"] for run in runs}) or [0]
    number = " to ".join(f"{count}" for count in dict.fromkeys((replicates[0], replicates[-1])))
    yield (
        "Each number is the total gain over all T rounds of a stream of n experts, mean over"
        f" {number} runs. Below it: its share of the possible gain (0% is uniform random, 100% the"
        " oracle)."
    )
    yield _ON_BOUNDS
    yield footers.describe_interval(main.report.confidence, summary["ci_comparisons"].iloc[0])
    if any(run["mu"] == math.inf and run["guaranteed_mu"] < math.inf for run in runs):
        yield _ON_OWN_NOISE
    if any(is_weaker(run["guaranteed_mu"], run["mu"]) for run in runs):
        yield _ON_WEAKER
    if any(run["unmoved"] for run in runs):
        yield _ON_UNMOVED
    for column in columns:
        if column.best_of:
            yield footers.describe_best(column.title, column.best_of)
    yield footers.describe_data(facts.simulated)
    yield from footers.describe_guarantee(
        pd.concat([_frame_of(column, noises, summary, facts) for column in columns])
    )
    if len(runs) < len(cells):
        yield "—: not run."
    ours = [f"{name} noise" for name in noises if len(noises) > 1 and name_of(name).ours]
    yield from explain_mark([*ours, *(column.title for column in columns if column.ours)])
    accounted = [column.label for column in columns if column.label in ACCOUNTED]
    yield from (f"{label}: {ACCOUNTED[label]}." for label in accounted)


def _frame_of(
    column: ColumnSpec, noises: Sequence[str], summary: pd.DataFrame, facts: Facts
) -> pd.DataFrame:
    """Return the rows of the summary that a column shows, in the order of the noises."""
    runs = [run for run in column.runs if _is_shown(run, facts)]
    runs.sort(key=lambda run: noises.index(_row_noise(run, noises)))
    return pd.DataFrame(runs, columns=summary.columns).astype(summary.dtypes)


def _numbers(
    cells: Sequence[Cell], sizes: Mapping[str, Run], main: Games, facts: Facts
) -> pd.DataFrame:
    of_stream = ("n_experts", "n_rounds", "simulated", "ci_comparisons", *REFERENCE_TOTALS.values())
    of_run = ("algorithm", "replicates", "mean_gain", "ci_half_width", "gain_share", "ours")
    rows = []
    for cell in cells:
        key, column, size = cell.key, cell.column, sizes[cell.key.stream]
        row = {
            "stream": key.stream,
            "stream_title": facts.streams[key.stream],
            "level": key.level,
            "mu": facts.levels[key.level],
            "column": column.title,
            "best_of": column.best_of,
            "noise": "none" if column.model == "none" else key.noise,
            "model": column.model,
            "confidence": main.report.confidence,
        }
        row |= {name: size[name] for name in of_stream}
        row |= {name: cell.run[name] if cell.run else None for name in of_run}
        rows.append(row)
    return pd.DataFrame(rows, columns=list(CSV_COLUMNS)).astype(
        {"replicates": "Int64", "ours": "boolean"}
    )
