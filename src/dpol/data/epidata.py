"""The hospitals of Delphi's Epidata API, which is asked hospital by hospital, not row by row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from dpol.core.errors import FetchError
from dpol.core.files import packed_file
from dpol.data.download import Client, PassingError, get, save
from dpol.data.endpoints import Fetched
from dpol.data.periods import EARLIEST, LATEST
from dpol.data.query import Query

HOSPITALS = 10
"""Hospitals asked for at once: the server cuts off long answers."""
_FOUND, _NOTHING = 1, -2


def fetch_epidata(client: Client, query: Query) -> Fetched:
    """One try to read the rows of all hospitals of some states, a few hospitals at a time.

    Weeks, which the server writes as 20210131, become dates. What the server is asked, and the
    form of its answers, are not yet confirmed by a real answer.

    Raises:
        PassingError: something that may pass, such as an answer cut short.
        FetchError: the server refuses, no row matches, or a column is missing.
    """
    if not query.groups:
        raise FetchError("is asked state by state; name dataset.columns.group")
    table, count = client.folder / "table.csv.gz", 0
    with packed_file(table) as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(query.columns)
        for row in _rows(client, query):
            if missing := [name for name in query.columns if name not in row]:
                raise FetchError(f"has no column {', '.join(missing)}; it has {', '.join(row)}")
            row = {**row, query.named.period: _date(row[query.named.period])}
            writer.writerow(["" if row[it] is None else row[it] for it in query.columns])
            count += 1
    if not count:
        raise FetchError(f"no row matches {query.where}")
    return Fetched(table, count, client.url, ("", ""))


def _rows(client: Client, query: Query) -> Iterator[Mapping[str, Any]]:
    """The rows of the wanted weeks, of all hospitals of the wanted states."""
    lookup = replace(client, url=f"{client.url.rstrip('/')}_lookup/")
    states = [row for state in query.groups for row in _ask(lookup, {"state": state})]
    found = sorted({str(row.get(query.named.entity)) for row in states})
    first, last = query.first or EARLIEST, query.last or LATEST
    weeks = f"{first:%Y%m%d}-{last:%Y%m%d}"
    for start in range(0, len(found), HOSPITALS):
        some = ",".join(found[start : start + HOSPITALS])
        yield from _ask(client, {"hospital_pks": some, "collection_weeks": weeks})
        client.log(f"{min(start + HOSPITALS, len(found))} of {len(found)} hospitals")


def _ask(client: Client, parameters: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of an answer."""
    part = client.folder / "answer.tmp"
    with get(client, parameters) as response:
        save(client, response, part)
    try:
        answer = json.loads(part.read_text(encoding="utf-8"))
        result, rows = answer["result"], answer.get("epidata") or []
    except (ValueError, LookupError, TypeError, AttributeError):
        raise PassingError("an answer that is not Epidata's JSON") from None
    if result == _NOTHING:
        return []
    if result != _FOUND or not all(isinstance(row, dict) for row in rows):
        raise FetchError(f"result {result}: {answer.get('message', 'no message')}")
    return list(rows)


def _date(week: object) -> str:
    """A week such as 20210131 as a date; anything else as it is."""
    text = str(week)
    return f"{text[:4]}-{text[4:6]}-{text[6:]}" if len(text) == 8 and text.isdigit() else text
