"""A query, the table that the test server holds, and fetches of it."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data.http_server import Answer, Fault, Row, TableServer
from dpol.core.errors import FetchError
from dpol.data import fetch
from dpol.data.download import CHUNK
from dpol.data.fetch import fetch_table
from dpol.data.query import Query
from dpol.data.settings import Columns, WebSource

COLUMNS = ("hospital_pk", "collection_week", "state", "beds")
GROUPS = ("NM", "O'Brien")
WHERE = (
    "state in ('NM','O''Brien') and "
    "collection_week between '2021-01-08T00:00:00' and '2021-02-05T00:00:00'"
)
ORDER = "collection_week,hospital_pk,:id"
WEEKS = [datetime.date(2021, 1, 1) + datetime.timedelta(weeks=week) for week in range(7)]
NAMED = Columns(
    entity="hospital_pk", period="collection_week", group="state", count="beds", capacity="beds"
)
QUERY = Query(NAMED, GROUPS, WEEKS[1], WEEKS[5])
STATES = {"NM": 5, "O'Brien": 4, "CA": 3}
ROWS_WANTED = 5 * (5 + 4) + 1
CUT = 2 * CHUNK
"""Position of a cut: a whole number of blocks, since some HTTP libraries drop a part of one."""


class Crash(BaseException):
    """Stops a fetch the hard way."""


def table() -> list[Row]:
    """Hospitals of three groups, newest week first, with texts that need quotes, and a tie."""
    rows = [
        (f"{state[0]}{i}", f"{week}T00:00:00", state, str(100 + i) if i else 'A,"\nÉ')
        for week in reversed(WEEKS)
        for state, hospitals in STATES.items()
        for i in range(hospitals)
    ]
    return [("N0", f"{WEEKS[1]}T00:00:00", "NM", "again"), *rows]


def wanted(rows: list[Row]) -> list[Row]:
    """Rows that the query selects, in the order it asks for."""
    low, high = "2021-01-08T00:00:00", "2021-02-05T00:00:00"
    kept = [row for row in rows if row[2] in GROUPS and low <= row[1] <= high]
    return sorted(kept, key=lambda row: (row[1], row[0]))


def read(path: Path) -> list[Row]:
    """The rows of a fetched table, its header checked."""
    with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as stream:
        header, *rows = csv.reader(stream)
    assert tuple(header) == COLUMNS
    return [tuple(row) for row in rows]


Place = str | dict[str, Any]
"""An address, or a whole endpoint."""


def endpoint(place: Place) -> dict[str, Any]:
    """An endpoint, of the kind that its address shows."""
    keys = {"url": place} if isinstance(place, str) else place
    return {"kind": "socrata" if "/resource/" in keys["url"] else "file", **keys}


def source(*places: Place, **keys: Any) -> WebSource:
    """A source with these endpoints."""
    listed = [endpoint(place) for place in places]
    keys = {"attempts": 3, "timeout_seconds": 20.0, **keys}
    return WebSource(kind="web", endpoints=listed, file="raw/hhs.csv.gz", **keys)


class Fetch:
    """A run of fetch_table against servers, with what it said and how long it paused."""

    def __init__(self, folder: Path) -> None:
        self.destination = folder / "raw" / "hhs.csv.gz"
        self.partial = folder / "raw" / "hhs.csv.gz.partial"
        self.provenance = folder / "raw" / "hhs.csv.gz.provenance.json"
        self.log: list[str] = []
        self.pauses: list[float] = []
        self.sleep: Callable[[float], None] = self.pauses.append

    def __call__(self, *endpoints: Place, query: Query = QUERY, **keys: Any) -> list[Row]:
        web = source(*endpoints, **keys)
        fetch_table(web, query, self.destination, self.log.append, sleep=self.sleep)
        return read(self.destination)

    def left(self) -> set[Path]:
        """The files next to the table, apart from the lock."""
        return {path for path in self.destination.parent.iterdir() if path.suffix != ".lock"}

    def child(self, address: str) -> subprocess.Popen[bytes]:
        """Another process that fetches into the same place."""
        program = (
            "import sys; from pathlib import Path; from data import fetching\n"
            "from dpol.data.fetch import fetch_table\n"
            "fetch_table(fetching.source(sys.argv[1]), fetching.QUERY, Path(sys.argv[2]), print)\n"
        )
        paths = [str(Path(fetch.__file__).parents[2]), str(Path(__file__).parents[1])]
        return subprocess.Popen(
            [sys.executable, "-c", program, address, str(self.destination)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdout=subprocess.DEVNULL,
        )

    def fails(self, *endpoints: Place, **options: Any) -> str:
        """The reason why the last endpoint failed, in a fetch that must fail."""
        with pytest.raises(FetchError) as raised:
            self(*endpoints, **options)
        assert not self.destination.exists()
        assert not self.provenance.exists()
        everything = [str(raised.value), *self.log]
        assert all(line.isprintable() for text in everything for line in text.split("\n"))
        return str(raised.value).splitlines()[len(endpoints)]


def rows_of(server: TableServer) -> str:
    """The address of the Socrata endpoint."""
    return f"{server.url}/resource/table.csv"


def file_of(server: TableServer) -> str:
    """The address of the plain file."""
    return f"{server.url}/table.csv"


def epidata(rows: list[dict[str, Any]], **other: Any) -> Fault:
    """Answers of Delphi's API: the hospitals of a state, or rows of hospitals and weeks."""

    def fault(server: TableServer, _: Answer) -> Answer:
        request = server.log[-1]
        asked = request.parameters
        if request.path.endswith("_lookup/"):
            there = {row["hospital_pk"] for row in rows if row["state"] == asked["state"]}
            found = [{"hospital_pk": it, "zip": "1"} for it in sorted(there)]
        else:
            first, last = map(int, asked["collection_weeks"].split("-"))
            wanted = [row for row in rows if row["hospital_pk"] in asked["hospital_pks"].split(",")]
            found = [row for row in wanted if first <= row["collection_week"] <= last]
        body = {"result": 1 if found else -2, "epidata": found, "message": "success", **other}
        return Answer(200, {"Content-Type": "application/json"}, json.dumps(body).encode())

    return fault
