"""Section on the data: their origin, and the changes that cleaning made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpol.data.panel import report_rows, rows_read_of
from dpol.data.stream import read_stream
from dpol.report.part import Part
from dpol.report.reading import reading
from dpol.show.reported import describe_smallest
from dpol.show.table import Table, number, one_section, to_fragment
from dpol.studies.page import PageFacts


def read_source(folder: Path, facts: PageFacts) -> dict[str, Any]:
    """The origin of the raw table of a run, as `dpol.data.panel.provenance_of` describes it.

    Args:
        folder: results/<run>.
        facts: of the run.

    Raises:
        DataError: the file that describes it is missing, or is not what it should be.
    """
    if facts.columns is None:  # a table of gains
        return dict(read_stream(folder / f"streams/{next(iter(facts.streams))}.parquet").provenance)
    path = folder / "data/cleaning.json"
    with reading(path):
        return dict(json.loads(path.read_text(encoding="utf-8"))["provenance"])


def data_part(folder: Path, facts: PageFacts) -> Part:
    """The part on the origin of the data and on cleaning; a table of gains is not cleaned."""
    source = source_facts(
        read_source(folder, facts), licence=facts.licence, citation=facts.citation
    )
    if facts.columns is None:
        intro = "The table of gains was used as it is. Nothing was cleaned."
        return Part(key="data", title="Data", intro=intro, facts=source)
    path = folder / "data/cleaning.json"
    with reading(path):
        cleaning = json.loads(path.read_text(encoding="utf-8"))
        starts = range(0, len(cleaning["streams"]), MOST_STREAMS)
        tables = [cleaning_table(cleaning, facts.cleaned, start) for start in starts]
    return Part(
        key="data",
        title="Data and cleaning",
        intro="Where the data came from, and how many cells each cleaning rule changed.",
        folded=tuple((it.caption, to_fragment(it)) for it in tables),
        elsewhere=(("Cleaning report, with each entity dropped", "../data/cleaning.md"),),
        files=(("cleaning.json", "../data/cleaning.json"), ("panel", "../data/panel.parquet")),
        facts=source,
    )


def source_facts(
    provenance: Mapping[str, Any], *, licence: str | None = None, citation: str | None = None
) -> tuple[tuple[str, str], ...]:
    """Origin of a table as terms and texts; of `dpol.data.panel.provenance_of`."""
    fetched = provenance.get("fetched", {})
    capacities = provenance.get("capacities", {})
    every = {
        "table": provenance["file"],
        "table of capacities": capacities.get("file"),
        "SHA-256 of it": capacities.get("sha256"),
        "data": "simulated, not measured" if provenance["simulated"] else "real",
        "SHA-256": provenance["sha256"],
        "archive": fetched.get("archive"),
        "SHA-256 of the archive": fetched.get("archive_sha256"),
        "retrieved": fetched.get("retrieved"),
        "address": fetched.get("url"),
        "licence": licence or fetched.get("licence"),
        "citation": citation,
    }
    return tuple((term, str(text)) for term, text in every.items() if text)


MOST_STREAMS = 6
"""Streams for which a table has room."""


def cleaning_table(cleaning: Mapping[str, Any], titles: Mapping[str, str], start: int = 0) -> Table:
    """Changes that cleaning made, rule by rule and stream by stream.

    Args:
        cleaning: report of `dpol.data.panel.report_as_dict`.
        titles: of the streams.
        start: place of the first stream; the table of the first streams has the notes.
    """
    streams = cleaning["streams"]
    shown = slice(start, start + MOST_STREAMS)
    names = [titles[it["stream"]] for it in streams[shown]]
    counts, idle = report_rows(cleaning)
    lines = [(text, tuple(map(number, values[shown]))) for text, values in counts]
    footers = [
        rows_read_of(cleaning),
        *([f"None of these: {'; '.join(idle)}."] if idle else []),
        *_selections(cleaning, titles),
        *_smallest(streams, titles),
        *_gaps(streams, titles),
    ]
    footers += [
        f"Almost no entity has a row in these periods ({titles[it['stream']]}). Check their dates:"
        f" {'; '.join(it['sparse_periods'])}."
        for it in streams
        if it["sparse_periods"]
    ]
    several = f": {names[0]} to {names[-1]}" if len(streams) > MOST_STREAMS else ""
    return Table(
        caption=f"What cleaning did{several}",
        name=f"cleaning-{start}" if start else "cleaning",
        corner=("rule",),
        headers=tuple(names),
        sections=(one_section(lines),),
        footers=() if start else tuple(footers),
    )


def _selections(cleaning: Mapping[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    """Sentences on the choice of entities; streams with the same choice share one."""
    for kind, text in cleaning["selections"].items():
        names = [titles[it["stream"]] for it in cleaning["streams"] if it["selection"] == kind]
        if names:
            yield f"Entities that play ({', '.join(names)}): {text}."


def _gaps(streams: list[Mapping[str, Any]], titles: Mapping[str, str]) -> Iterator[str]:
    """Periods that a whole stream lacks; streams that lack the same share a sentence."""
    of_gaps: dict[str, list[str]] = {}
    for it in streams:
        if it["missing_periods"]:
            gaps = "; ".join(it["missing_periods"])
            of_gaps.setdefault(gaps, []).append(titles[it["stream"]])
    if not of_gaps:
        yield "No stream lacks a period."
    for gaps, names in of_gaps.items():
        yield f"Periods that are missing and left out ({', '.join(names)}): {gaps}."


def _smallest(streams: list[Mapping[str, Any]], titles: Mapping[str, str]) -> Iterator[str]:
    """A sentence on the smallest entity of each period, which scales isotropic noise."""
    if streams[0]["smallest_of_periods"] is None:
        return
    ranges = []
    for it in streams:
        low, high = it["smallest_of_periods"]
        ranges.append(f"{low:g} to {high:g} ({titles[it['stream']]})")
    yield f"Capacity of the smallest entity of a period: {', '.join(ranges)}."
    yield from describe_smallest(it["stream"] for it in streams)
