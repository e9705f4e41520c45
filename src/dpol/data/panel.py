"""Reading and writing the canonical panel and its cleaning report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import yaml

from dpol.core.files import read_json, sha256
from dpol.core.safe_text import escape_markdown
from dpol.core.schemas import read_frame, read_schemas, write_frame
from dpol.data.query import record_of
from dpol.data.stream import MANY_UNMEASURED, MAX_CARRY, SELECTION, SUMS, unmeasured_in_words

if TYPE_CHECKING:
    import pandas as pd

    from dpol.data.tables.settings import Columns

LINES = {
    "rows": "rows", "dates": "dates", "largest": "the largest number",
    "fullest": "fullest most often", "alike": "alike", "scale": "scale",
}  # fmt: skip
"""What was understood of a stream, in lines of fixed meaning: the key of each and its words."""

DATA_SCHEMAS = read_schemas(Path(__file__).with_name("results.yaml"))
PANEL = DATA_SCHEMAS["data/panel"]
"""Schema of the canonical panel."""

RULES: Mapping[str, str] = yaml.safe_load(
    Path(__file__).with_name("rules.yaml").read_text(encoding="utf-8")
)
"""Descriptions of the cleaning rules, by key. Duplicates and cases are counted in all rows of the
stream, everything else in the cells of the entities that play. Missing and filled cells add up:
absent, missing and negative counts are carried or 0; absent, missing, negative, suppressed and
zero capacities are carried or backfilled."""

_MANY_ZEROED = 0.01  # share of the cells of a stream that may become 0 without a warning
IDLE = "a count above 0 beside a capacity of 0 or less"
"""Why an entity without a share does not play."""
IDLE_READ = {
    "absent": "counts above 0 beside a capacity of 0 or less, read as 0",
    "carry": "counts above 0 beside a capacity of 0 or less, over the last capacity above 0",
}
"""What is done with these counts, by `cleaning.capacity_zero`."""
ZERO_WOULD_BE_BEST = "a zero would be the best if it hid a count"
_LONGEST = 300
"""Number of characters of a warning on the terminal."""

Selection: TypeAlias = Literal["counts", "given", "all"]

SELECTIONS: dict[Selection, str] = {
    "counts": "the entities with at least dataset.cleaning.min_total_cases over all periods, so"
    " the private counts decide who plays",
    "given": "those that dataset.cleaning.entities lists, whatever their counts",
    "all": "all entities, whatever their counts",
}
"""Ways to select the entities that play. An entity without any capacity never plays."""


@dataclass(frozen=True, kw_only=True)
class StreamReport:
    """Report on the cleaning of one stream.

    Args:
        stream: label of the stream.
        entities: number of entities kept.
        periods: number of periods kept.
        cells: number of cells that each of `RULES` touched.
        dropped: entity, name and reason of each entity that does not play.
        selection: key of `SELECTIONS`: how the entities were selected.
        max_carry: for how many periods at most a missing count repeats the last one.
        missing_periods: gaps in the calendar, in words.
        smallest_capacity: smallest capacity of a cell; None without capacities.
        largest_density: largest density of a cell; None without capacities.
        sums: what suppressed sums are read as, and the days behind them
            (`dpol.data.stream.SUMS`); None without sums.
        unmeasured: in how many periods no measured number is the largest share
            (`dpol.data.stream.UNMEASURED`).
        checks: places in the table that its owner should check, by what they are.
        changed: number of cells whose count or capacity is not the one that was reported.
        understood: the text of each of `LINES`.
    """

    stream: str
    entities: int
    periods: int
    cells: Mapping[str, int]
    dropped: tuple[Mapping[str, str], ...]
    selection: Selection
    max_carry: int
    missing_periods: tuple[str, ...]
    smallest_capacity: float | None
    largest_density: float | None
    sums: Mapping[str, Any] | None
    unmeasured: Mapping[str, Any]
    checks: Mapping[str, tuple[str, ...]]
    changed: int
    understood: Mapping[str, str]

    def changes(self) -> list[str]:
        """Return the rules that touched cells, with the number of cells of each."""
        return [f"{text}: {self.cells[rule]:,}" for rule, text in RULES.items() if self.cells[rule]]

    def to_check(self) -> Iterator[str]:
        """Yield what the owner of the table should check, a line each."""
        zeroed, cells = self.cells["zero_counts"], self.entities * self.periods
        if zeroed > _MANY_ZEROED * cells:
            yield f"missing counts set to 0: {zeroed:,} of {cells:,} cells"
        periods, share = self.unmeasured["periods"], self.unmeasured["share"]
        if share > MANY_UNMEASURED:
            said = unmeasured_in_words(periods, share, of=self.periods)
            yield f"{said}; results depend on how these are read"
        if zeros := self.unmeasured.get("zero_share"):
            yield f"with {100 * zeros:.0f}% of the possible gain, {ZERO_WOULD_BE_BEST}"
        for what, texts in self.checks.items():
            if texts:
                yield f"{what}: {'; '.join(texts)}"


@dataclass(frozen=True, kw_only=True)
class CleanPanel:
    """The canonical panel and the reports on its streams.

    Args:
        table: the panel, with the columns of `PANEL`.
        rows_read: rows of the raw table.
        rows_dropped: rows left out by `drop_where`.
        rows_outside: rows outside the streams' groups and periods.
        reports: one report per stream.
        warnings: what the owner of the table should check, a line each.
    """

    table: pd.DataFrame
    rows_read: int
    rows_dropped: int = 0
    rows_outside: int
    reports: tuple[StreamReport, ...] = ()
    warnings: tuple[str, ...] = ()


def write_panel(table: pd.DataFrame, path: Path | str) -> None:
    """Check a panel and write it as Parquet.

    Raises:
        DataError: the table does not match `PANEL`.
    """
    write_frame(PANEL.check(table, str(path)), path)


def read_panel(path: Path | str) -> pd.DataFrame:
    """Read a panel that `write_panel` wrote; `build_stream` checks its numbers.

    Raises:
        DataError: the file is not such a table.
    """
    return read_frame(Path(path), PANEL)


def provenance_of_table(raw_file: Path | str, *, simulated: bool) -> dict[str, Any]:
    """Return the provenance of a raw table: its checksum, and the record of its download."""
    raw_file = Path(raw_file)
    digest = sha256(raw_file)
    facts: dict[str, Any] = {"file": raw_file.name, "sha256": digest, "simulated": simulated}
    # The record does not hold for a table that was replaced by hand.
    if (recorded := record_of(raw_file)).get("sha256") == digest:
        facts["fetched"] = recorded
    return facts


def report_as_dict(panel: CleanPanel, provenance: dict[str, Any]) -> dict[str, Any]:
    """Return the cleaning report as plain values for JSON."""
    facts = {key: it for key, it in vars(panel).items() if key not in ("table", "reports")}
    streams = [asdict(report) for report in panel.reports]
    return {"provenance": provenance, **facts, "rules": RULES, "streams": streams}


def provenance_of_stream(report: dict[str, Any], label: str) -> dict[str, Any]:
    """Return the provenance of a stream: its table's, and two rules of its cleaning.

    Args:
        report: a report from `report_as_dict`.
        label: label of the stream.
    """
    stream = next(it for it in report["streams"] if it["stream"] == label)
    kept = (SELECTION, MAX_CARRY, SUMS) if stream[SUMS] else (SELECTION, MAX_CARRY)
    return {**report["provenance"], **{key: stream[key] for key in kept}}


def in_warning(text: str) -> str:
    """Return a warning of the cleaning as a line for the terminal."""
    return f"warning: {text if len(text) <= _LONGEST else text[:_LONGEST] + ' ...'}"


def in_lines_of(understood: Mapping[str, str]) -> list[str]:
    """Return what was understood as lines, for the terminal and for the cleaning report."""
    return [f"{words}: {understood[key]}" for key, words in LINES.items() if understood.get(key)]


def pictured(columns: Columns) -> tuple[str, str]:
    """Return the column of a panel that plays by default, and what it is, for its picture."""
    if columns.capacity is None:
        return "count", columns.called("count")
    return "density", f"{columns.called('count')} / {columns.called('capacity')}"


def last_warnings(report: Path | str, shown: int = 8) -> list[str]:
    """Return the warnings in a cleaning report and the number of changed cells, to end a run with.

    There are no lines without a report.

    Args:
        report: the file `cleaning.json` of a run.
        shown: the largest number of warnings to return.
    """
    report = Path(report)
    if not report.is_file():
        return []
    facts = read_json(report)
    lines = [in_warning(text) for text in facts["warnings"][:shown]]
    cells = sum(it["entities"] * it["periods"] for it in facts["streams"])
    if changed := sum(it["changed"] for it in facts["streams"]):
        lines.append(f"Cleaning changed {changed:,} of {cells:,} cells.")
    return [*lines, f"Read {report.with_suffix('.md')} on them."] if lines else []


def report_as_markdown(report: Mapping[str, Any]) -> str:
    """Return a report from `report_as_dict` as a Markdown page."""
    streams, provenance = report["streams"], report["provenance"]
    cells = {text: [it["cells"][rule] for it in streams] for rule, text in report["rules"].items()}
    rows: dict[str, list[Any]] = {
        "entities kept": [stream["entities"] for stream in streams],
        "entities dropped": [len(stream["dropped"]) for stream in streams],
        "periods": [stream["periods"] for stream in streams],
        "cells": [stream["entities"] * stream["periods"] for stream in streams],
        **{text: numbers for text, numbers in cells.items() if any(numbers)},
    }
    if streams[0]["smallest_capacity"] is not None:
        rows["smallest capacity"] = [f"{stream['smallest_capacity']:g}" for stream in streams]
        rows["largest density"] = [f"{stream['largest_density']:.3f}" for stream in streams]
    best = [stream["unmeasured"] for stream in streams]
    rows["periods in which no measured number is the largest"] = [it["periods"] for it in best]
    rows["their share of the possible gain, %"] = [_percent(it["share"]) for it in best]
    if {*(zeros := [_percent(it.get("zero_share", 0)) for it in best])} != {"0"}:
        rows[f"share of the possible gain with which {ZERO_WOULD_BE_BEST}, %"] = zeros
    simulated = " (simulated data)" if provenance["simulated"] else ""
    fetched = provenance.get("fetched", {})
    told = (("retrieved", "retrieved"), ("from", "url"))  # one placed by hand lacks them
    where = "".join(f", {word} {fetched[key]}" for word, key in told if key in fetched)
    lines = [
        "# Cleaning report\n",
        f"Table `{provenance['file']}`{simulated}, SHA-256 `{provenance['sha256']}`"
        f"{where}. {rows_read_of(report)}\n",
        "| " + _row(*(stream["stream"] for stream in streams)),
        "|---|" + "---:|" * len(streams),
        *(_row(text, *shown) for text, shown in rows.items()),
    ]
    if idle := [text for text in cells if text not in rows]:
        lines.append(f"\nNone of these: {'; '.join(idle)}.")
    if report["warnings"]:
        lines.append("\n## Check in the table\n")
        lines += [f"- {escape_markdown(text)}" for text in report["warnings"]]
    for stream in streams:
        lines += [f"\n## {stream['stream']}\n", *_details(stream)]
    lines.append("\n## What was understood\n")
    for stream in streams:
        lines.append(f"Of {stream['stream']}, confirm:\n")
        lines += [f"- {escape_markdown(text)}" for text in in_lines_of(stream["understood"])]
        lines.append("")
    lines.append("![A row for each place, a column for each period](understood.svg)")
    return "\n".join(lines) + "\n"


def rows_read_of(report: Mapping[str, Any]) -> str:
    """Return a sentence on the rows that were read and left out."""
    dropped = report["rows_dropped"]
    return (
        f"{report['rows_read']:,} rows read, {report['rows_outside']:,} of them outside the chosen"
        " groups and periods"
        + (f", {dropped:,} more left out by dataset.cleaning.drop_where." if dropped else ".")
    )


def _percent(share: float) -> str:
    return f"{round(100 * share, 1):g}"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def _details(stream: Mapping[str, Any]) -> Iterator[str]:
    yield f"Entities that play: {SELECTIONS[stream['selection']]}.\n"
    missing = "; ".join(stream["missing_periods"]) or "none"
    yield f"Periods missing for the whole stream, left out: {missing}.\n"
    yield (
        "| dropped | name | reason |\n|---|---|---|" if stream["dropped"] else "No entity dropped."
    )
    for drop in stream["dropped"]:
        yield _row(escape_markdown(drop["entity"]), escape_markdown(drop["name"]), drop["reason"])
