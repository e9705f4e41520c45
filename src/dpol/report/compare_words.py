"""A comparison of two runs in plain words, and as a table."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dpol.core.words import counted, printable
from dpol.report.compare import (
    HIGHER,
    LOWER,
    ONLY_NEW,
    ONLY_OLD,
    OTHER_DATA,
    SAME,
    WITHIN,
    Change,
    RunComparison,
)
from dpol.show.table import Column, Entry, Table, number, one_section

if TYPE_CHECKING:
    import pandas as pd

MOST_LINES = 20
"""Lines of each list that the plain words show."""

_MEANING = {
    "paired": "{} paired by replicate (Student): both runs have the same seed, data and replicates,"
    " so that replicate r of both shares its random numbers.",
    "Welch": "{} not paired (Welch): the runs differ in seed or replicates, or runs/ lacks them.",
    OTHER_DATA: "{} on other data: the streams differ, so that no interval says whether the"
    " algorithm changed.",
}
"""Notes on differences with such an interval, or such a verdict."""


def describe_comparison(found: RunComparison) -> str:
    """The comparison in plain words, the largest differences first."""
    table = comparison_table(found)
    ((group,),) = (section.groups for section in table.sections)
    rows = [[label, *(it.text for it in entries)] for label, entries in group.lines]
    settings = [_change(it) for it in found.settings]
    settings = settings or ["nothing: config, data, code and versions are the same"]
    lines = [f"old: {found.old}", f"new: {found.new}", "", "What differs in the settings"]
    lines += [*_listed(settings), "", "Mean total gain, new minus old"]
    for note in (_counts(found.cells), *_notes(found.cells)):
        lines += textwrap.wrap(note, 96, initial_indent="  ", subsequent_indent="  ")
    differing = [row for row in rows if row[-1] in (HIGHER, LOWER, OTHER_DATA, WITHIN)]
    lines += ["", *_aligned([table.titles, *differing])] if differing else []
    for verdict in (ONLY_OLD, ONLY_NEW):
        names = [", ".join(row[:4]) for row in rows if row[-1] == verdict]
        lines += ["", verdict.capitalize(), *_listed(names)] if names else []
    if found.verdicts:
        changed = [_change(it) for it in found.verdicts]
        lines += ["", "Verdicts that changed", *_listed(changed)]
    return "\n".join(map(printable, lines))


def comparison_table(found: RunComparison) -> Table:
    """All numbers of both runs, next to each other; the notes say what else differs."""
    lines = [(row["algorithm"], _entries(row)) for row in found.cells.to_dict("records")]
    changes = [f"Setting {_change(it)}." for it in found.settings]
    changes += [f"Verdict of {_change(it)}." for it in found.verdicts]
    stream, noise, verdict = (Column(it, prose=True) for it in ("stream", "noise", "verdict"))
    return Table(
        caption=f"Runs {found.old.name} (old) and {found.new.name} (new): mean total gain",
        name="runs",
        corner=("algorithm",),
        headers=(stream, noise, "μ", "old", "new", "new − old", verdict),
        sections=(one_section(lines),),
        footers=(_counts(found.cells), *_notes(found.cells), *changes),
        numbers=found.cells,
    )


def _entries(row: Mapping[Any, Any]) -> tuple[Entry, ...]:
    gap, half = row["difference"], row["difference_half_width"]
    interval = "" if math.isnan(half) else f" ± {_number(half, 3).text}"
    difference = _number(gap, 3, sign="+" if gap > 0 else "")
    return (
        Entry(row["stream"]),
        Entry(row["noise"]),
        number(row["mu"], f"{row['mu']:g}".replace("inf", "∞")),
        _number(row["mean_gain_old"], 4),
        _number(row["mean_gain_new"], 4),
        replace(difference, text=difference.text + interval),
        Entry(row["verdict"]),
    )


def _number(value: float, digits: int, sign: str = "") -> Entry:
    """A number of some digits; a dash for none."""
    if math.isnan(value):
        return Entry("–")
    short = f"{value:,.0f}" if 1000 <= abs(value) < math.inf else f"{value:#.{digits}g}"
    return number(value, sign + short.replace("inf", "∞"))


def _counts(cells: pd.DataFrame) -> str:
    """Number of rows with each verdict."""
    found = cells["verdict"].tolist()
    kinds = (HIGHER, LOWER, WITHIN, SAME, OTHER_DATA, ONLY_OLD, ONLY_NEW)
    parts = [f"{found.count(it):,} {it}" for it in kinds if it in found]
    return f"{counted(len(found), 'number')}: {', '.join(parts)}."


def _notes(cells: pd.DataFrame) -> Iterator[str]:
    """Notes on the intervals: their kind, and the randomness that they cover."""
    for kind, text in _MEANING.items():
        if found := int((cells[["interval", "verdict"]] == kind).any(axis=1).sum()):
            yield text.format(counted(found, "difference"))
    if (cells["interval"] != "").any():
        confidence, comparisons = cells[["confidence", "ci_comparisons"]].iloc[0]
        yield (
            f"All intervals hold together with confidence {100 * confidence:g}% (Bonferroni over"
            f" {counted(int(comparisons), 'shared number')}). They cover the noise on these data,"
            " not other data."
        )


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with columns of equal width, the first of which is a head."""
    widths = [max(map(len, column)) for column in zip(*rows[: MOST_LINES + 1], strict=True)]
    padded = [[text.ljust(width) for text, width in zip(row, widths, strict=True)] for row in rows]
    head, *lines = ("  ".join(row).rstrip() for row in padded)
    return [f"  {head}", *_listed(lines)]


def _listed(lines: Sequence[str]) -> list[str]:
    """The first lines, indented, and how many more there are."""
    left = len(lines) - MOST_LINES
    more = [f"  {left:,} more: --output FILE.html writes all"] if left > 0 else []
    return [*(f"  {line}" for line in lines[:MOST_LINES]), *more]


def _change(it: Change) -> str:
    return f"{it.name}: {it.old} → {it.new}"
