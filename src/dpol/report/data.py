"""What the page says about the data: where they came from, and what cleaning did to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dpol.data.panel import report_rows
from dpol.show.plain import Cell, PlainTable, number


def source_facts(provenance: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Where a table came from, as terms and texts; of `dpol.data.panel.provenance_of`."""
    facts = [
        ("table", str(provenance["file"])),
        ("data", "simulated, not measured" if provenance["simulated"] else "real"),
        ("SHA-256", str(provenance["sha256"])),
    ]
    fetched = provenance.get("fetched", {})
    facts += [
        (term, str(fetched[key]))
        for term, key in (("retrieved", "retrieved"), ("address", "url"))
        if key in fetched
    ]
    return tuple(facts)


def cleaning_tables(cleaning: Mapping[str, Any], titles: Mapping[str, str]) -> list[PlainTable]:
    """What cleaning did, rule by rule and stream by stream, and which entities it dropped.

    Args:
        cleaning: report of `dpol.data.panel.report_as_dict`.
        titles: of the streams.
    """
    streams = cleaning["streams"]
    counts, idle = report_rows(cleaning)
    rows = tuple((Cell(text), *map(number, values)) for text, values in counts)
    notes = [
        f"{cleaning['rows_read']:,} rows read, {cleaning['rows_outside']:,} of them outside the"
        " chosen groups and periods."
    ]
    notes += [f"None of these: {'; '.join(idle)}."] if idle else []
    notes += _selections(cleaning, titles)
    notes += _gaps(streams, titles)
    notes += [
        f"Periods in which almost no entity has a row ({titles[it['stream']]}), check their dates:"
        f" {'; '.join(it['sparse_periods'])}."
        for it in streams
        if it["sparse_periods"]
    ]
    tables = [
        PlainTable(
            "cleaning",
            "What cleaning did",
            ("rule", *(titles[it["stream"]] for it in streams)),
            rows,
            tuple(notes),
        )
    ]
    dropped = [(titles[it["stream"]], found) for it in streams for found in it["dropped"]]
    if dropped:
        tables.append(_dropped_table(dropped))
    return tables


def _selections(cleaning: Mapping[str, Any], titles: Mapping[str, str]) -> Iterator[str]:
    """How the entities that play were chosen; streams chosen in the same way share a sentence."""
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


def _dropped_table(dropped: list[tuple[str, Mapping[str, Any]]]) -> PlainTable:
    return PlainTable(
        "dropped",
        f"Entities dropped ({len(dropped)})",
        ("stream", "entity", "name", "reason"),
        tuple(
            tuple(map(Cell, (title, found["entity"], found["name"], found["reason"])))
            for title, found in dropped
        ),
        folded=True,
    )
