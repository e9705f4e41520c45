"""Section on the data: their origin, and the changes that cleaning made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpol.config.models import Config
from dpol.data.panel import report_rows
from dpol.data.stream import read_stream
from dpol.report.reading import reading
from dpol.show.table import Column, Entry, Table, number, one_section


def read_source(folder: Path, config: Config) -> dict[str, Any]:
    """The origin of the raw table of a run, as `dpol.data.panel.provenance_of` describes it.

    Args:
        folder: results/<run>.
        config: of the run.

    Raises:
        DataError: the file that describes it is missing, or is not what it should be.
    """
    if config.dataset.source.kind == "gains":
        return dict(
            read_stream(folder / f"streams/{next(iter(config.streams))}.parquet").provenance
        )
    path = folder / "data/cleaning.json"
    with reading(path):
        return dict(json.loads(path.read_text(encoding="utf-8"))["provenance"])


def source_facts(provenance: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Origin of a table as terms and texts; of `dpol.data.panel.provenance_of`."""
    facts = [
        ("table", str(provenance["file"])),
        ("data", "simulated, not measured" if provenance["simulated"] else "real"),
        ("SHA-256", str(provenance["sha256"])),
    ]
    fetched = provenance.get("fetched", {})
    facts += [
        (term, str(fetched[key]))
        for term, key in (("retrieved", "retrieved"), ("address", "url"), ("licence", "licence"))
        if fetched.get(key)
    ]
    return tuple(facts)


def cleaning_table(cleaning: Mapping[str, Any], titles: Mapping[str, str]) -> Table:
    """Changes that cleaning made, rule by rule and stream by stream.

    Args:
        cleaning: report of `dpol.data.panel.report_as_dict`.
        titles: of the streams.
    """
    streams = cleaning["streams"]
    counts, idle = report_rows(cleaning)
    lines = [(text, tuple(map(number, values))) for text, values in counts]
    footers = [
        f"{cleaning['rows_read']:,} rows read, {cleaning['rows_outside']:,} of them outside the"
        " chosen groups and periods.",
        *([f"None of these: {'; '.join(idle)}."] if idle else []),
        *_selections(cleaning, titles),
        *_gaps(streams, titles),
    ]
    footers += [
        f"Almost no entity has a row in these periods ({titles[it['stream']]}). Check their dates:"
        f" {'; '.join(it['sparse_periods'])}."
        for it in streams
        if it["sparse_periods"]
    ]
    return Table(
        caption="What cleaning did",
        name="cleaning",
        corner=("rule",),
        headers=tuple(titles[it["stream"]] for it in streams),
        sections=(one_section(lines),),
        footers=tuple(footers),
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


def dropped_table(cleaning: Mapping[str, Any], titles: Mapping[str, str]) -> Table | None:
    """Table of the entities that cleaning dropped; None if it kept all."""
    facts = ("entity", "name", "reason")
    lines = [
        (titles[it["stream"]], tuple(Entry(found[fact]) for fact in facts))
        for it in cleaning["streams"]
        for found in it["dropped"]
    ]
    if not lines:
        return None
    return Table(
        caption=f"Entities dropped ({len(lines)})",
        name="dropped",
        corner=("stream",),
        headers=tuple(Column(fact, prose=True) for fact in facts),
        sections=(one_section(lines),),
    )
