"""The canonical panel on disk, and its cleaning report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.files import sha256
from dpol.core.schemas import Column, Schema, read_frame, write_frame
from dpol.core.words import escape_markdown
from dpol.data.cleaning import RULES, CleanPanel
from dpol.data.selection import SELECTIONS
from dpol.data.stream import MAX_CARRY, SELECTION

PANEL = Schema(
    "data/panel",
    "The canonical panel: one row per stream, period and entity, without holes.",
    {
        "stream": Column("text", "label of the stream"),
        "group": Column("text", "group of the entity in the raw table (state)"),
        "entity": Column("text", "identifier of the entity (hospital)"),
        "name": Column("text", "its name"),
        "period": Column("date", "first day of the period (week)"),
        "count": Column("number", "people counted"),
        "capacity": Column("number", "capacity", "beds"),
        "density": Column("number", "count / capacity, clipped to 1"),
        "count_source": Column("text", "`reported`, `suppressed`, `carried` or `zero`"),
        "capacity_source": Column("text", "`reported`, `carried` or `backfilled`"),
    },
)


def write_panel(table: pd.DataFrame, path: Path | str) -> None:
    """Check a panel and write it as Parquet.

    Raises:
        DataError: the table is not what `PANEL` says.
    """
    write_frame(PANEL.check(table, str(path)), path)


def read_panel(path: Path | str) -> pd.DataFrame:
    """Read a panel written by `write_panel`; its numbers are checked when a stream is made of them.

    Raises:
        DataError: the file is not such a table.
    """
    return read_frame(Path(path), PANEL)


def provenance_of(raw_file: Path | str, *, simulated: bool) -> dict[str, Any]:
    """Provenance of a raw table: its checksum, and what was recorded when it was fetched."""
    raw_file = Path(raw_file)
    digest = sha256(raw_file)
    facts: dict[str, Any] = {"file": raw_file.name, "sha256": digest, "simulated": simulated}
    with suppress(OSError, ValueError):
        recorded = json.loads(Path(f"{raw_file}.provenance.json").read_text(encoding="utf-8"))
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
    """Provenance of a stream: that of its table, and two rules of its cleaning.

    Args:
        report: of `report_as_dict`.
        label: of the stream.

    Raises:
        DataError: the report has no such stream.
    """
    for stream in report["streams"]:
        if stream["stream"] == label:
            return {**report["provenance"], **{key: stream[key] for key in (SELECTION, MAX_CARRY)}}
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
    simulated = " (simulated data)" if provenance["simulated"] else ""
    fetched = provenance.get("fetched", {})
    retrieved = "".join(
        f", {word} {fetched[key]}"
        for word, key in (("retrieved", "retrieved"), ("from", "url"))
        if key in fetched
    )
    lines = [
        "# Cleaning report\n",
        f"Table `{provenance['file']}`{simulated}, SHA-256 `{provenance['sha256']}`"
        f"{retrieved}. {report['rows_read']} rows read,"
        f" {report['rows_outside']} of them outside the chosen groups and periods.\n",
        "| " + _row(*(stream["stream"] for stream in streams)),
        "|---|" + "---:|" * len(streams),
        *(_row(title, *(_shown(title, number) for number in numbers)) for title, numbers in rows),
    ]
    if idle:
        lines.append(f"\nNone of these: {'; '.join(idle)}.")
    for stream in streams:
        lines += [f"\n## {stream['stream']}\n", *_details(stream)]
    return "\n".join(lines) + "\n"


def _shown(title: str, number: float) -> str:
    if isinstance(number, int):
        return str(number)
    return f"{number:.3f}" if title == "largest density" else f"{number:g}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _details(stream: Mapping[str, Any]) -> Iterator[str]:
    yield f"Entities that play: {SELECTIONS[stream['selection']]}.\n"
    missing = "; ".join(stream["missing_periods"]) or "none"
    yield f"Periods missing for the whole stream, left out: {missing}.\n"
    if sparse := "; ".join(stream["sparse_periods"]):
        yield f"Periods in which almost no entity has a row, check their dates: {sparse}.\n"
    yield (
        "| dropped | name | reason |\n|---|---|---|" if stream["dropped"] else "No entity dropped."
    )
    for drop in stream["dropped"]:
        yield _row(escape_markdown(drop["entity"]), escape_markdown(drop["name"]), drop["reason"])
