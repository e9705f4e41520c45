"""A query, the table that the test server holds, and fetches of it."""

from __future__ import annotations

import csv
import datetime
import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from data.http_server import TableServer
from dpol.config import WebSource
from dpol.data.download import CHUNK
from dpol.data.fetch import Query, fetch_table
from dpol.errors import FetchError

COLUMNS = ("hospital_pk", "collection_week", "state", "beds")
QUERY = Query(
    columns=COLUMNS,
    entity="hospital_pk",
    period="collection_week",
    group="state",
    groups=("NM", "O'Brien"),
    first=datetime.date(2021, 1, 8),
    last=datetime.date(2021, 2, 5),
)
WEEKS = [datetime.date(2021, 1, 1) + datetime.timedelta(weeks=week) for week in range(7)]
STATES = {"NM": 5, "O'Brien": 4, "CA": 3}
ROWS_WANTED = 5 * (5 + 4) + 1
PAGE = 10
PAGES = 5
CUT = 2 * CHUNK
"""Where a file is cut: a whole number of blocks, since some HTTP libraries drop a part of one."""


class Crash(BaseException):
    """Stops a fetch the hard way."""


def table() -> list[tuple[str, ...]]:
    """Hospitals of three groups, newest week first, with texts that need quotes, and a tie."""
    rows = [
        (
            f"{state[0]}{number}",
            f"{week}T00:00:00",
            state,
            str(100 + number) if number else 'A,"\nB',
        )
        for week in reversed(WEEKS)
        for state, hospitals in STATES.items()
        for number in range(hospitals)
    ]
    return [("N0", f"{WEEKS[1]}T00:00:00", "NM", "again"), *rows]


def wanted(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """What the query selects, in the order it asks for."""
    low, high = "2021-01-08T00:00:00", "2021-02-05T00:00:00"
    kept = [row for row in rows if row[2] in QUERY.groups and low <= row[1] <= high]
    return sorted(kept, key=lambda row: (row[1], row[0]))


def read(path: Path) -> list[tuple[str, ...]]:
    """The rows of a fetched table, its header checked."""
    with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert tuple(header) == COLUMNS
    return [tuple(row) for row in rows]


class Fetch:
    """Runs fetch_table against servers and keeps what it said and how long it paused."""

    def __init__(self, folder: Path) -> None:
        self.destination = folder / "raw" / "hhs.csv.gz"
        self.partial = folder / "raw" / "hhs.csv.gz.partial"
        self.provenance = folder / "raw" / "hhs.csv.gz.provenance.json"
        self.log: list[str] = []
        self.pauses: list[float] = []

    def __call__(
        self,
        *endpoints: str,
        query: Query = QUERY,
        log: Callable[[str], None] | None = None,
        page_size: int = PAGE,
        attempts: int = 3,
        timeout: float = 20.0,
    ) -> list[tuple[str, ...]]:
        source = WebSource.model_validate(
            {
                "kind": "web",
                "endpoints": [
                    {"kind": "socrata" if "/resource/" in url else "file", "url": url}
                    for url in endpoints
                ],
                "file": "raw/hhs.csv.gz",
                "page_size": page_size,
                "attempts": attempts,
                "timeout_seconds": timeout,
            }
        )
        log = log or self.log.append
        fetch_table(source, query, self.destination, log, sleep=self.pauses.append)
        return read(self.destination)

    def fails(self, *endpoints: str, **options: object) -> str:
        """The message of a fetch that must fail with FetchError."""
        with pytest.raises(FetchError) as raised:
            self(*endpoints, **options)  # type: ignore[arg-type]
        assert not self.destination.exists()
        return str(raised.value)


def pages(server: TableServer) -> str:
    return f"{server.url}/resource/table.csv"


def stop_at(words: str) -> Callable[[str], None]:
    """A log that breaks the fetch off when a line starts with these words."""

    def log(line: str) -> None:
        if line.startswith(words):
            raise Crash

    return log


def turn_around(server: TableServer) -> None:
    server.rows.reverse()


def one_row_less(server: TableServer) -> None:
    server.rows.remove(wanted(server.rows)[-1])


def one_row_more(server: TableServer) -> None:
    server.rows.append(("N9", f"{WEEKS[2]}T00:00:00", "NM", "new"))
