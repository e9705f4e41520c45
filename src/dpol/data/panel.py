"""The canonical panel on disk, and its cleaning report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as arrow

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, sha256
from dpol.data.cleaning import RULES, CleanPanel
from dpol.data.selection import SELECTIONS
from dpol.data.stream import SELECTION
from dpol.show.words import counted, escape_markdown

_SOURCES = {
    "count_source": ("reported", "suppressed", "carried", "zero"),
    "capacity_source": ("reported", "carried", "backfilled"),
}
PANEL_COLUMNS = (
    *("stream", "group", "entity", "name", "period", "count", "capacity", "density"),
    *_SOURCES,
)
"""One row per stream, period and entity; count in persons, capacity in beds, density = their ratio
clipped to 1; the sources say how a cell was filled."""


def check_panel(table: pd.DataFrame, place: str) -> pd.DataFrame:
    """The table, its rows numbered from 0, with numbers and dates where they belong.

    Raises:
        DataError: the table is no canonical panel; each broken rule, with its first row.
    """
    if list(table.columns) != list(PANEL_COLUMNS):
        found = f"its columns are {', '.join(table.columns)}, not {', '.join(PANEL_COLUMNS)}"
        raise DataError(f"{place} is not a canonical panel: {found}; delete it and run again")
    numbers = {
        name: pd.to_numeric(table[name], errors="coerce").astype(float)
        for name in ("count", "capacity", "density")
    }
    period = pd.to_datetime(table["period"], errors="coerce").astype("datetime64[ns]")
    checked = table.assign(period=period, **numbers).reset_index(drop=True)
    broken = [
        f"  column {name}, row {row + 1}: {table[name].tolist()[row]!r} is not {wanted}"
        f" ({counted(int((~good).sum()), 'such cell')})"
        for name, good, wanted in _rules(checked)
        for row in np.flatnonzero(~good)[:1]
    ]
    if broken:
        lines = [f"{place} is not a canonical panel:", *broken, "Delete it and run again."]
        raise DataError("\n".join(lines))
    return checked


def _rules(panel: pd.DataFrame) -> list[tuple[str, pd.Series[bool], str]]:
    """Each rule of a panel: its column, where it holds, and what the column should hold."""
    finite = panel[["count", "capacity"]].abs() < np.inf
    once = ~panel.duplicated(["stream", "period", "entity"])
    return [
        *((name, panel[name].notna(), "text") for name in ("stream", "group", "name")),
        ("entity", panel["entity"].fillna("") != "", "the name of an entity"),
        ("entity", once, "there once in its stream and period"),
        ("period", panel["period"].notna(), "a date"),
        ("count", (panel["count"] >= 0) & finite["count"], "a number of at least 0"),
        ("capacity", (panel["capacity"] > 0) & finite["capacity"], "a number above 0"),
        ("density", panel["density"].between(0, 1), "a number in [0, 1]"),
        *((name, panel[name].isin(of), " or ".join(of)) for name, of in _SOURCES.items()),
    ]


def write_panel(table: pd.DataFrame, path: Path | str) -> None:
    """Check a panel and write it as Parquet.

    Raises:
        DataError: the table breaks the schema.
    """
    checked = check_panel(table, str(path))
    with atomic_path(path) as temporary:
        checked.to_parquet(temporary, index=False)


def read_panel(path: Path | str) -> pd.DataFrame:
    """Read and check a panel written by `write_panel`.

    Raises:
        DataError: the file is not such a table.
    """
    try:
        table = pd.read_parquet(path)
    except (OSError, arrow.ArrowException) as error:
        raise DataError(f"{path} cannot be read ({error}); delete it and run again") from None
    return check_panel(table, str(path))


def provenance_of(raw_file: Path | str, *, simulated: bool) -> dict[str, Any]:
    """Where a raw table came from: its checksum, and what was recorded when it was fetched."""
    raw_file = Path(raw_file)
    digest = sha256(raw_file)
    facts: dict[str, Any] = {"file": raw_file.name, "sha256": digest, "simulated": simulated}
    record = raw_file.with_name(raw_file.name + ".provenance.json")
    if record.exists():
        try:
            recorded = json.loads(record.read_text(encoding="utf-8"))
        except ValueError:
            recorded = {}
        # A table replaced by hand no longer is the one that was fetched.
        if recorded.get("sha256") == digest:
            facts["fetched"] = recorded
    return facts


def report_as_dict(panel: CleanPanel, provenance: dict[str, Any]) -> dict[str, Any]:
    """The cleaning report as plain values for JSON."""
    return {
        "provenance": provenance,
        "rows_read": panel.rows_read,
        "rows_outside": panel.rows_outside,
        "rules": RULES,
        "selections": SELECTIONS,
        "streams": [asdict(report) for report in panel.reports],
    }


def provenance_of_stream(report: dict[str, Any], label: str) -> dict[str, Any]:
    """Where a stream came from: the provenance of its table, and how its entities were chosen.

    Args:
        report: of `report_as_dict`.
        label: of the stream.

    Raises:
        DataError: the report has no such stream.
    """
    for stream in report["streams"]:
        if stream["stream"] == label:
            return {**report["provenance"], SELECTION: stream["selection"]}
    raise DataError(f"the cleaning report has no stream {label}; clean the table again")


def report_rows(report: Mapping[str, Any]) -> tuple[list[tuple[str, list[float]]], list[str]]:
    """Rows of the cleaning report: a title and a number for each stream, and the idle rules.

    Args:
        report: of `report_as_dict`.

    Returns:
        The rows, and the texts of the rules that concerned nothing, which have no row.
    """
    streams = report["streams"]
    cells = {
        text: [stream["cells"][rule] for stream in streams]
        for rule, text in report["rules"].items()
    }
    rows = {
        "entities kept": [stream["entities"] for stream in streams],
        "entities dropped": [len(stream["dropped"]) for stream in streams],
        "periods": [stream["periods"] for stream in streams],
        "cells": [stream["entities"] * stream["periods"] for stream in streams],
        **{text: numbers for text, numbers in cells.items() if any(numbers)},
        "smallest capacity": [stream["smallest_capacity"] for stream in streams],
        "largest density": [stream["largest_density"] for stream in streams],
    }
    return list(rows.items()), [text for text in cells if text not in rows]


def report_as_markdown(report: Mapping[str, Any]) -> str:
    """The cleaning report of `report_as_dict` for people."""
    streams, provenance = report["streams"], report["provenance"]
    rows, idle = report_rows(report)
    retrieved = provenance.get("fetched", {}).get("retrieved")
    lines = [
        "# Cleaning report",
        "",
        f"Table `{provenance['file']}`"
        + (" (simulated data)" if provenance["simulated"] else "")
        + f", SHA-256 `{provenance['sha256']}`"
        + (f", retrieved {retrieved}" if retrieved else "")
        + f". {report['rows_read']} rows read, {report['rows_outside']} of them outside the chosen"
        " groups and periods.",
        "",
        "| | " + " | ".join(stream["stream"] for stream in streams) + " |",
        "|---|" + "---:|" * len(streams),
        *(_row(title, [_shown(title, number) for number in numbers]) for title, numbers in rows),
    ]
    if idle:
        lines += ["", f"None of these: {'; '.join(idle)}."]
    for stream in streams:
        lines += ["", f"## {stream['stream']}", "", *_details(stream)]
    return "\n".join(lines) + "\n"


def _shown(title: str, number: float) -> str:
    if isinstance(number, int):
        return str(number)
    return f"{number:.3f}" if title == "largest density" else f"{number:g}"


def _row(title: str, values: Sequence[object]) -> str:
    return f"| {title} | " + " | ".join(map(str, values)) + " |"


def _details(stream: Mapping[str, Any]) -> list[str]:
    lines = [
        f"Entities that play: {SELECTIONS[stream['selection']]}.",
        "",
        "Periods missing for the whole stream, left out:"
        f" {'; '.join(stream['missing_periods']) or 'none'}.",
        "",
    ]
    if stream["sparse_periods"]:
        sparse = "; ".join(stream["sparse_periods"])
        lines += [f"Periods in which almost no entity has a row, check their dates: {sparse}.", ""]
    dropped = [
        _row(escape_markdown(drop["entity"]), [escape_markdown(drop["name"]), drop["reason"]])
        for drop in stream["dropped"]
    ]
    header = ["| dropped | name | reason |", "|---|---|---|"]
    return [*lines, *header, *dropped] if dropped else [*lines, "No entity dropped."]
