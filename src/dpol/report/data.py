"""Section on the data: their origin, and the changes made by cleaning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpol.data.panel import report_rows, rows_read_of
from dpol.data.stream import read_stream
from dpol.report.part import Part
from dpol.report.reading import reading
from dpol.show.table import Table, number, one_section, to_fragment
from dpol.studies.page import PageFacts


def read_source(folder: Path, facts: PageFacts) -> dict[str, Any]:
    """Read the origin of a run's raw table, as `dpol.data.panel.provenance_of` describes it.

    Args:
        folder: results/<run>.
        facts: facts of the run.

    Raises:
        DataError: the file that describes it is missing or invalid.
    """
    if facts.columns is None:  # a table of gains
        return dict(read_stream(folder / f"streams/{next(iter(facts.streams))}.parquet").provenance)
    path = folder / "data/cleaning.json"
    with reading(path):
        return dict(json.loads(path.read_text(encoding="utf-8"))["provenance"])


def data_part(folder: Path, facts: PageFacts, provenance: Mapping[str, Any]) -> Part:
    """Build the part on the origin of the data and on cleaning; gains are not cleaned."""
    source = source_facts(provenance, licence=facts.licence, citation=facts.citation)
    if facts.columns is None:
        intro = "The table of gains was used as it is, without cleaning."
        return Part(key="data", title="Data", intro=intro, facts=source)
    path = folder / "data/cleaning.json"
    with reading(path):
        cleaning = json.loads(path.read_text(encoding="utf-8"))
        starts = range(0, len(cleaning["streams"]), MOST_STREAMS)
        tables = [cleaning_table(cleaning, facts.cleaned, start) for start in starts]
    return Part(
        key="data",
        title="Data and cleaning",
        intro="The origin of the data, and the number of cells that each cleaning rule changed.",
        folded=tuple((table.caption, to_fragment(table)) for table in tables),
        files=(
            ("cleaning report with every entity dropped", "../data/cleaning.md"),
            ("cleaning.json", "../data/cleaning.json"),
            ("panel.parquet", "../data/panel.parquet"),
        ),
        facts=source,
    )


def source_facts(
    provenance: Mapping[str, Any], *, licence: str | None = None, citation: str | None = None
) -> tuple[tuple[str, str], ...]:
    """Turn the provenance of a table (`dpol.data.panel.provenance_of`) into terms and texts."""
    fetched = provenance.get("fetched", {})
    capacities = provenance.get("capacities", {})
    every = {
        "table": provenance["file"],
        "table of capacities": capacities.get("file"),
        "SHA-256 of the capacities": capacities.get("sha256"),
        "data": "simulated, not measured" if provenance["simulated"] else "real",
        "SHA-256": provenance["sha256"],
        "retrieved": fetched.get("retrieved"),
        "address": fetched.get("url"),
        "licence": licence or fetched.get("licence"),
        "citation": citation,
    }
    return tuple((term, str(text)) for term, text in every.items() if text)


MOST_STREAMS = 6
"""Number of streams that fit into one table."""


def cleaning_table(cleaning: Mapping[str, Any], titles: Mapping[str, str], start: int = 0) -> Table:
    """Build a table of the changes by cleaning, by rule and stream.

    Args:
        cleaning: report of `dpol.data.panel.report_as_dict`.
        titles: titles of the streams.
        start: index of the first stream; the first table has the notes.
    """
    streams = cleaning["streams"]
    shown = slice(start, start + MOST_STREAMS)
    names = [titles[stream["stream"]] for stream in streams[shown]]
    counts, idle = report_rows(cleaning)
    lines = [(text, tuple(map(number, values[shown]))) for text, values in counts]
    footers = [
        rows_read_of(cleaning),
        *([f"None of these: {'; '.join(idle)}."] if idle else []),
        *_selections(cleaning, titles),
        *(f"Check the table: {text}." for text in cleaning["warnings"]),
    ]
    if not any(stream["missing_periods"] for stream in streams):
        footers.append("No stream lacks a period.")
    several = f": {names[0]} to {names[-1]}" if len(streams) > MOST_STREAMS else ""
    return Table(
        caption=f"Changes by cleaning{several}",
        corner=("rule",),
        headers=tuple(names),
        sections=(one_section(lines),),
        footers=() if start else tuple(footers),
    )


def _selections(cleaning: Mapping[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    """Describe the choice of entities; streams with the same choice share a sentence."""
    for kind, text in cleaning["selections"].items():
        names = [titles[row["stream"]] for row in cleaning["streams"] if row["selection"] == kind]
        if names:
            yield f"Entities that play ({', '.join(names)}): {text}."
