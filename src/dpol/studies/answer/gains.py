"""Tables of total gain: their lines, and the table of every algorithm of the report."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from dpol.core.rounding import percent, rounded_up
from dpol.privacy.guarantee import MU_OF_STAYS, NO_NOISE
from dpol.privacy.stays import STAYS
from dpol.show import footers
from dpol.show.names import ACCOUNTED, explain_mark, marked, name_of
from dpol.show.table import Group, Line, Section, Table, TableCell
from dpol.show.words import privacy_title
from dpol.studies.answer.systems import describe_stream
from dpol.studies.games.levels import is_weaker
from dpol.studies.games.names import BEST_LINEAR, LINEAR, Shown
from dpol.studies.study import Facts, Frames

COLUMNS = [
    "stream", "stream_title", "n_experts", "n_rounds", "first_period", "last_period", "mu",
    "column", "algorithm", "noise", "model", "ours", "mean_gain", "ci_half_width", "confidence",
    "ci_comparisons", "replicates", "uniform_gain", "best_fixed_gain", "oracle_gain", "gain_share",
    "simulated",
]  # fmt: skip
"""Columns of the numbers, named as in the summary, with a row per cell that is not empty. `column`
is the header; its `algorithm` may be the best of a family."""
OWN_NOISE, WEAKER, UNMOVED = "own noise", "not at this level", "unmoved by noise"
"""Notes to a number: with noise where no privacy is asked for, with a guarantee weaker than its
level, and the same in all replicates."""
_EXPLAINED = {
    OWN_NOISE: f"“{OWN_NOISE}”: noise is added even where no privacy is requested.",
    WEAKER: f"“{WEAKER}”: the noise guarantees only this μ, which is weaker than the line’s.",
    UNMOVED: f"“{UNMOVED}”: all replicates have equal gains in every round although their noise"
    " differs. The algorithm ignores the noise, or has seen the gains without noise.",
}
Run = Mapping[Any, Any]
"""A row of the summary."""


def gain_lines(
    rows: pd.DataFrame,
    columns: Collection[str],
    mus: Sequence[float],
    cell: Callable[[Run], TableCell],
    *,
    name: Callable[[float], str] = privacy_title,
) -> tuple[Line, ...]:
    """Return a line for each level, with a cell for each column.

    Args:
        rows: at most one row for each `column` and `mu`, with `mean_gain`.
        columns: the columns, in their order.
        mus: the levels, in their order.
        cell: takes a row and returns its cell.
        name: takes a level and returns the name of its line.
    """
    lines = []
    for mu in mus:
        of_column = {row["column"]: row for row in rows[rows["mu"] == mu].to_dict("records")}
        cells = (cell(of_column[it]) if it in of_column else TableCell("—") for it in columns)
        lines.append((name(mu), tuple(cells)))
    return tuple(lines)


def best_of_columns(columns: Mapping[str, pd.DataFrame], *keys: str) -> pd.DataFrame:
    """Return the row with the largest mean of each column, stream and level, and of other keys.

    Ties go to the first label.
    """
    rows = pd.concat(columns, names=["column"]).reset_index("column").reset_index(drop=True)
    ordered = rows.sort_values(["mean_gain", "algorithm"], ascending=[False, True])
    return ordered.drop_duplicates(["column", "stream", "mu", *keys]).sort_index()


def average_gain_table(frames: Frames, main: Shown, facts: Facts) -> Table:
    """Build the table of total gains, with a group for each noise; the numbers have `COLUMNS`.

    Args:
        frames: the summary, as `dpol.studies.games.summary.conclude` returns it.
        main: the algorithms to show.
        facts: streams and levels in the order of the lines, and whether the data are simulated.
    """
    summary, mus = frames["summary"], list(facts.levels.values())
    runs = summary[summary["stream"].isin(facts.streams) & summary["mu"].isin(mus)]
    columns = {label: runs[runs["algorithm"] == label] for label in main.algorithms}
    family = main.envelope
    best = name_of(BEST_LINEAR).short if family == LINEAR else f"best {family}"
    if len(members := runs[runs["family"] == family]):
        columns[best] = members
    shown = {*pd.concat(columns.values())["noise"]}
    noises = [noise for noise in main.noises if noise in shown] or [NO_NOISE]
    # Algorithms without noise stand in the first group.
    for title, rows in columns.items():
        columns[title] = rows.assign(shown_at=rows["noise"].replace(NO_NOISE, noises[0]))
    picked = best_of_columns(columns, "shown_at")
    # Of several noises, those of ours bear the marks.
    named = [it for it in noises if len(noises) > 1 and name_of(it).ours]
    marks = [
        title
        for title, rows in columns.items()
        if title not in ACCOUNTED and rows.loc[~rows["noise"].isin(named), "ours"].any()
    ]
    several = len(noises) > 1
    sections = []
    for stream, title in facts.streams.items():
        own, groups = picked[picked["stream"] == stream], list[Group]()
        for noise in noises:
            rows = own[own["shown_at"] == noise]
            lines = gain_lines(rows, columns, mus, lambda run: _cell(run, best))
            name = marked(noise, name_of(noise).ours)
            groups.append(Group(name if several else "", lines))
        note = describe_stream(summary[summary["stream"] == stream].iloc[0])
        sections.append(Section(title, note, tuple(groups)))
    replicates = [*dict.fromkeys((picked["replicates"].min(), picked["replicates"].max()))]
    noted = {note.partition(":")[0] for run in picked.to_dict("records") for note in _remarks(run)}
    notes = [
        "Each number is the total gain over all T rounds of a stream of n experts, mean over"
        f" {' to '.join(map(str, replicates))} runs. Below it: its share of the possible gain (0%"
        " is uniform random, 100% the oracle). —: not run.",
        "Uniform random: an expert drawn uniformly in every round. Best fixed expert: the best"
        " single expert in hindsight. Oracle: the best expert of every round.",
        footers.describe_interval(facts.confidence, summary["ci_comparisons"].iloc[0]),
        *(text for note, text in _EXPLAINED.items() if note in noted),
        *([footers.describe_best(best, family)] if best in columns else []),
        footers.describe_data(facts.simulated),
        *footers.describe_guarantee(pd.concat(columns.values())),
        *explain_mark([*(f"{it} noise" for it in named), *marks]),
        *(f"{it}: {ACCOUNTED[it]}." for it in columns if it in ACCOUNTED),
    ]
    played = "" if several or noises == [NO_NOISE] else f", {noises[0]} noise"
    return Table(
        caption=f"Average total gain{played}",
        corner=("stream", "noise", "privacy") if several else ("stream", "privacy"),
        headers=tuple(marked(it, it in marks) for it in columns),
        sections=tuple(sections),
        footers=tuple(notes),
        numbers=picked.assign(stream_title=picked["stream"].map(facts.streams))[COLUMNS],
    )


def _cell(run: Run, best: str) -> TableCell:
    text = footers.amount(run["mean_gain"], run["ci_half_width"])
    hint = run["algorithm"] if run["column"] == best else ""
    return TableCell(text, tuple(_remarks(run)), order=run["mean_gain"], hint=hint)


def _remarks(run: Run) -> Iterator[str]:
    """Yield the notes below a number; those in `_EXPLAINED` begin with its keys."""
    if not math.isnan(run["gain_share"]):
        yield percent(run["gain_share"])
    if run["guaranteed_mu"] < run["mu"] == math.inf:
        yield OWN_NOISE
    if is_weaker(run["guaranteed_mu"], run["mu"]):
        yield f"{WEAKER}: μ = {rounded_up(run['guaranteed_mu'], 3)}"
    if run["unmoved"]:
        yield UNMOVED
    if run["noise_memory"]:
        mus = ", ".join(rounded_up(run[name], 3) for name in MU_OF_STAYS)
        yield f"μ for {', '.join(map(str, STAYS))} rounds: {mus}"
