"""The canonical panel on disk, and its cleaning report."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pandera.pandas as pa
import pyarrow as arrow

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, sha256
from dpol.data.cleaning import RULES, CleanPanel, StreamReport
from dpol.data.selection import SELECTIONS
from dpol.data.stream import SELECTION
from dpol.show.words import escape_markdown

PANEL_SCHEMA = pa.DataFrameSchema(
    {
        "stream": pa.Column(str),
        "group": pa.Column(str),
        "entity": pa.Column(str, pa.Check.str_length(min_value=1)),
        "name": pa.Column(str),
        "period": pa.Column("datetime64[ns]"),
        "count": pa.Column(float, pa.Check.in_range(0, float("inf"), include_max=False)),
        "capacity": pa.Column(
            float, pa.Check.in_range(0, float("inf"), include_min=False, include_max=False)
        ),
        "density": pa.Column(float, pa.Check.in_range(0, 1)),
        "count_source": pa.Column(
            str, pa.Check.isin(["reported", "suppressed", "carried", "zero"])
        ),
        "capacity_source": pa.Column(str, pa.Check.isin(["reported", "carried", "backfilled"])),
    },
    unique=["stream", "period", "entity"],
    strict=True,
    ordered=True,
    coerce=True,
)
"""One row per stream, period and entity; count in persons, capacity in beds, density = their ratio
clipped to 1; the sources say how a cell was filled."""

PANEL_COLUMNS = tuple(PANEL_SCHEMA.columns)


def check_panel(table: pd.DataFrame, place: str) -> pd.DataFrame:
    """The table with the schema's types.

    Raises:
        DataError: the table breaks the schema; every broken rule is listed.
    """
    try:
        return PANEL_SCHEMA.validate(table.reset_index(drop=True), lazy=True)
    except pa.errors.SchemaErrors as error:
        cases = error.failure_cases
        rules = cases.fillna({"column": ""}).drop_duplicates(["column", "check"])
        lines = "\n".join(
            f"  {it.column or 'column'}: {it.failure_case!r} breaks {it.check}"
            for it in rules.itertuples()
        )
        raise DataError(f"{place} is not a canonical panel:\n{lines}") from None


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


def report_as_markdown(panel: CleanPanel, provenance: dict[str, Any]) -> str:
    """The cleaning report for people."""
    streams = panel.reports
    idle = {rule for rule in RULES if not any(report.cells[rule] for report in streams)}
    lines = [
        "# Cleaning report",
        "",
        f"Table `{provenance['file']}`"
        + (" (simulated data)" if provenance["simulated"] else "")
        + f", SHA-256 `{provenance['sha256']}`"
        + (f", retrieved {when}" if (when := _retrieved(provenance)) else "")
        + f". {panel.rows_read} rows read, {panel.rows_outside} of them outside the chosen groups"
        " and periods.",
        "",
        "| | " + " | ".join(report.stream for report in streams) + " |",
        "|---|" + "---:|" * len(streams),
        _row("entities kept", [report.entities for report in streams]),
        _row("entities dropped", [len(report.dropped) for report in streams]),
        _row("periods", [report.periods for report in streams]),
        _row("cells", [report.entities * report.periods for report in streams]),
        *(
            _row(text, [report.cells[rule] for report in streams])
            for rule, text in RULES.items()
            if rule not in idle
        ),
        _row("smallest capacity", [f"{report.smallest_capacity:g}" for report in streams]),
        _row("largest density", [f"{report.largest_density:.3f}" for report in streams]),
    ]
    if idle:
        none = "; ".join(text for rule, text in RULES.items() if rule in idle)
        lines += ["", f"None of these: {none}."]
    for report in streams:
        lines += ["", f"## {report.stream}", "", *_details(report)]
    return "\n".join(lines) + "\n"


def _retrieved(provenance: dict[str, Any]) -> str | None:
    value = provenance.get("fetched", {}).get("retrieved")
    return None if value is None else str(value)


def _row(title: str, values: list[Any]) -> str:
    return f"| {title} | " + " | ".join(str(value) for value in values) + " |"


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return escape_markdown(" ".join(text.split()))


def _details(report: StreamReport) -> list[str]:
    gaps = "; ".join(report.missing_periods) or "none"
    lines = [
        f"Entities that play: {SELECTIONS[report.selection]}.",
        "",
        f"Periods missing for the whole stream, left out: {gaps}.",
        "",
    ]
    if report.sparse_periods:
        sparse = "; ".join(report.sparse_periods)
        lines += [f"Periods in which almost no entity has a row, check their dates: {sparse}.", ""]
    if not report.dropped:
        return [*lines, "No entity dropped."]
    return [
        *lines,
        "| dropped | name | reason |",
        "|---|---|---|",
        *(_row(_plain(d["entity"]), [_plain(d["name"]), d["reason"]]) for d in report.dropped),
    ]
