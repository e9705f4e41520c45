"""Fetching against a real web server on this machine that misbehaves on demand."""

from __future__ import annotations

import csv
import datetime
import errno
import gzip
import hashlib
import importlib.metadata
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.utils import format_datetime
from pathlib import Path

import pytest

from data.http_server import (
    Answer,
    Fault,
    TableServer,
    cut,
    dead_address,
    framed,
    html,
    packed,
    replaced,
    serve,
    silence,
    status,
    then,
)
from dpol.config import WebSource
from dpol.data import fetch
from dpol.data.download import CHUNK
from dpol.data.fetch import Query, fetch_table, must_fetch
from dpol.data.socrata import where_clause
from dpol.errors import FetchError, OutputError

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


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[TableServer]:
    with serve(TableServer(COLUMNS, table())) as running:
        yield running


@pytest.fixture
def big(server: TableServer) -> TableServer:
    """The server with a file of several read blocks, which hardly compresses."""
    server.rows = [
        (hashlib.sha256(str(number).encode()).hexdigest(), "2021-01-01", "NM", str(number))
        for number in range(4_000)
    ]
    return server


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


@pytest.fixture
def run(tmp_path: Path) -> Fetch:
    return Fetch(tmp_path)


def pages(server: TableServer) -> str:
    return f"{server.url}/resource/table.csv"


def stop_at(words: str) -> Callable[[str], None]:
    """A log that breaks the fetch off when a line starts with these words."""

    def log(line: str) -> None:
        if line.startswith(words):
            raise Crash

    return log


# Pages of a Socrata server


def test_pages_are_joined_in_a_stable_order(server: TableServer, run: Fetch) -> None:
    rows = run(pages(server))
    assert len(rows) == ROWS_WANTED
    assert rows == wanted(server.rows)
    assert server.kinds() == ["count", *["page"] * PAGES, "count"]
    assert server.offsets() == [0, 10, 20, 30, 40]
    assert run.pauses == []
    assert not run.partial.exists()
    assert sorted(path.name for path in run.destination.parent.iterdir()) == [
        "hhs.csv.gz",
        "hhs.csv.gz.provenance.json",
    ]


def test_where_and_order_reach_the_server(server: TableServer, run: Fetch) -> None:
    run(pages(server))
    where = (
        "state in ('NM','O''Brien') and "
        "collection_week between '2021-01-08T00:00:00' and '2021-02-05T00:00:00'"
    )
    assert {one.parameters["$where"] for one in server.log} == {where}
    assert server.log[1].parameters["$order"] == "collection_week,hospital_pk,:id"
    assert server.log[1].parameters["$select"] == ",".join(COLUMNS)
    assert server.log[5].parameters["$limit"] == str(PAGE)
    assert server.log[1].headers["user-agent"].startswith("dpol/")


@pytest.mark.parametrize(
    ("group", "groups", "first", "last", "clause"),
    [
        (None, ("NM",), None, None, ""),
        ("state", (), None, None, ""),
        ("state", ("a') or ('1'='1",), None, None, "state in ('a'') or (''1''=''1')"),
        ("state", ("NM",), WEEKS[0], None, "state in ('NM') and week >= '2021-01-01T00:00:00'"),
        (None, (), None, WEEKS[1], "week <= '2021-01-08T00:00:00'"),
    ],
)
def test_where_clause(
    group: str | None,
    groups: tuple[str, ...],
    first: datetime.date | None,
    last: datetime.date | None,
    clause: str,
) -> None:
    assert where_clause(group, groups, "week", first, last) == clause


def test_all_rows_are_asked_for_without_a_condition(server: TableServer, run: Fetch) -> None:
    rows = run(pages(server), query=replace(QUERY, groups=(), first=None, last=None))
    assert len(rows) == len(server.rows)
    assert all("$where" not in one.parameters for one in server.log)


def test_a_column_needed_twice_is_asked_for_once(server: TableServer, run: Fetch) -> None:
    run(pages(server), query=replace(QUERY, columns=(*COLUMNS, "beds")))
    assert server.log[1].parameters["$select"] == ",".join(COLUMNS)


def test_progress_is_reported(server: TableServer, run: Fetch) -> None:
    run(pages(server))
    lines = [line for line in run.log if "rows/s" in line]
    assert len(lines) == PAGES
    assert lines[1].startswith("20 of 46 rows, ")
    assert lines[-1].endswith(" rows/s, 0 s left")


def test_provenance(server: TableServer, run: Fetch) -> None:
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    run(pages(server))
    record = json.loads(run.provenance.read_text())
    retrieved = datetime.datetime.fromisoformat(record.pop("retrieved"))
    assert before <= retrieved <= datetime.datetime.now(datetime.UTC)
    assert record == {
        "url": pages(server),
        "kind": "socrata",
        "query": {key: server.log[1].parameters[key] for key in ("$select", "$where", "$order")},
        "rows": ROWS_WANTED,
        "sha256": hashlib.sha256(run.destination.read_bytes()).hexdigest(),
        "dpol": importlib.metadata.version("dpol"),
    }


def test_the_provenance_is_there_before_the_table(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def crash(source: Path, target: Path) -> None:
        if Path(target) == run.destination:
            raise Crash
        real(source, target)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(Crash):
        run(pages(server))
    assert run.provenance.exists()
    assert not run.destination.exists()


def test_repeating_gives_identical_bytes(server: TableServer, run: Fetch, tmp_path: Path) -> None:
    run(pages(server))
    first = run.destination.read_bytes()
    other = Fetch(tmp_path / "elsewhere")
    other(pages(server), page_size=7)
    assert other.destination.read_bytes() == first
    assert first[3] == 0  # no file name in the gzip header
    assert first[4:8] == bytes(4)  # no time


# Faults that pass


def test_retry_after_is_honoured(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, status(429, Retry_After="37")]
    assert run(pages(server)) == wanted(server.rows)
    assert run.pauses == [37.0]
    assert any("status 429" in line and "try 2 of 3 in 37 s" in line for line in run.log)


def test_retry_after_may_be_a_date(server: TableServer, run: Fetch) -> None:
    when = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=90)
    server.faults["count"] = [status(503, Retry_After=format_datetime(when, usegmt=True))]
    run(pages(server))
    assert len(run.pauses) == 1
    assert 60 < run.pauses[0] <= 90


@pytest.mark.parametrize("value", ["soon", "-5", ""])
def test_a_senseless_retry_after_is_ignored(server: TableServer, run: Fetch, value: str) -> None:
    server.faults["count"] = [status(429, Retry_After=value)]
    run(pages(server))
    assert len(run.pauses) == 1
    assert 1 <= run.pauses[0] <= 2


def test_a_server_that_wants_hours_counts_as_failed(server: TableServer, run: Fetch) -> None:
    server.faults["count"] = [status(429, Retry_After="86400")]
    assert "come back in 86400 s" in run.fails(pages(server))
    assert run.pauses == []


def test_server_errors_pass_with_growing_pauses(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [status(500), status(502), status(503)]
    assert run(pages(server), attempts=4) == wanted(server.rows)
    assert [low <= pause <= low + 1 for low, pause in zip((1, 2, 4), run.pauses, strict=True)] == [
        True,
        True,
        True,
    ]


PASSING: dict[str, Fault] = {
    "cut, length stated": cut(50),
    "cut, no length stated": cut(50, framing="close"),
    "cut at the end of a row": lambda _, answer: replace(
        answer, sent=answer.body.index(b"\nN") + 1, framing="close"
    ),
    "cut in the last number": cut(-2, framing="close"),
    "cut before anything": cut(0),
    "cut in a chunk": cut(50, framing="chunked"),
    "cut at the end of a chunk": cut(-20, framing="chunked"),
    "cut while compressed": packed(sent=60),
    "not compressed as it says": lambda _, answer: replace(
        answer, headers={**answer.headers, "Content-Encoding": "gzip"}
    ),
    "CSV called a web page": lambda _, answer: replace(
        answer, headers={"Content-Type": "text/html"}
    ),
    "web page": html(),
    "web page called CSV": html("text/csv"),
    "timeout": status(408),
    "still computing": status(202),
    "other header": replaced("beds", "seats"),
    "field missing in a row": replaced("NM,", "NM"),
    "open quote": replaced('"\n', ""),
    "not UTF-8": lambda _, answer: replace(answer, body=answer.body.replace(b"N", b"\xff")),
    "JSON": lambda _, answer: Answer(200, {"Content-Type": "application/json"}, b"[]"),
}


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING.keys())
@pytest.mark.parametrize("page", [0, 4])
def test_a_bad_page_is_asked_for_again(
    server: TableServer, run: Fetch, fault: Fault, page: int
) -> None:
    server.faults["page"] = [*[None] * page, fault]
    assert run(pages(server)) == wanted(server.rows)
    asked = [0, 10, 20, 30, 40]
    assert server.offsets() == sorted([*asked, asked[page]])
    assert len(run.pauses) == 1


def test_a_cut_inside_quotes_is_noticed(server: TableServer, run: Fetch) -> None:
    def inside(_: TableServer, answer: Answer) -> Answer:
        assert answer.body.endswith(b'"A,""\nB"\n')
        return replace(answer, sent=len(answer.body) - 3, framing="close")

    server.faults["page"] = [None, inside]
    assert run(pages(server)) == wanted(server.rows)
    assert server.offsets() == [0, 10, 10, 20, 30, 40]


@pytest.mark.parametrize(
    "fault", [html("text/csv"), replaced("46", "many"), cut(0, framing="close")]
)
def test_a_bad_count_is_asked_for_again(server: TableServer, run: Fetch, fault: Fault) -> None:
    server.faults["count"] = [fault]
    assert run(pages(server)) == wanted(server.rows)
    assert server.kinds()[:2] == ["count", "count"]


def test_a_missing_last_newline_is_mended(server: TableServer, run: Fetch) -> None:
    shorten: Fault = lambda _, answer: replace(answer, body=answer.body[:-1])  # noqa: E731
    server.faults["page"] = [shorten] * PAGES
    assert run(pages(server)) == wanted(server.rows)
    assert run.pauses == []


def test_a_silent_server_is_asked_again(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, silence()]
    assert run(pages(server), timeout=0.5) == wanted(server.rows)
    assert any("no answer within 0.5 s" in line for line in run.log)


@pytest.mark.parametrize(
    "way",
    [framed("chunked"), framed("close"), packed(), replaced("hospital_pk", "\ufeffhospital_pk")],
    ids=["chunked", "until the connection closes", "compressed", "with a byte order mark"],
)
def test_other_ways_to_send_a_page(server: TableServer, run: Fetch, way: Fault) -> None:
    run(pages(server))
    plain = run.destination.read_bytes()
    server.faults["page"] = [way] * PAGES
    run(pages(server))
    assert run.destination.read_bytes() == plain
    assert run.pauses == []


# Faults that stay


def test_other_client_errors_are_final(server: TableServer, run: Fetch) -> None:
    server.faults["count"] = [status(400, '{"message":\n "No such column: bedz"}')]
    message = run.fails(pages(server))
    assert 'status 400 Bad Request: {"message": "No such column: bedz"}' in message
    assert server.kinds() == ["count"]
    assert run.pauses == []


def test_tries_come_to_an_end(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, *[status(500)] * 9]
    assert "status 500 Internal Server Error (tried 3x)" in run.fails(pages(server))
    assert server.offsets() == [0, 10, 10, 10]


def test_no_matching_row_is_an_error(server: TableServer, run: Fetch) -> None:
    message = run.fails(pages(server), query=replace(QUERY, groups=("Atlantis",)))
    assert "no row matches state in ('Atlantis')" in message
    assert server.kinds() == ["count"]


def test_a_server_that_sends_fewer_rows_than_it_counts(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [replaced("N0,2021-01-08T00:00:00,NM,again\n", "")] * 3
    assert "9 rows instead of 10 (tried 3x)" in run.fails(pages(server))


# A table that changes


def turn_around(server: TableServer) -> None:
    server.rows.reverse()


def one_row_less(server: TableServer) -> None:
    server.rows.remove(wanted(server.rows)[-1])


def one_row_more(server: TableServer) -> None:
    server.rows.append(("N9", f"{WEEKS[2]}T00:00:00", "NM", "new"))


@pytest.mark.parametrize("change", [one_row_less, one_row_more])
@pytest.mark.parametrize("page", [0, 4])
def test_a_changed_table_is_read_again(
    server: TableServer, run: Fetch, change: Callable[[TableServer], None], page: int
) -> None:
    server.faults["page"] = [*[None] * page, then(change)]
    rows = run(pages(server))
    assert rows == wanted(server.rows)
    assert len(rows) != ROWS_WANTED
    assert server.offsets() == [0, 10, 20, 30, 40] * 2
    assert any("the table changed from 46 to" in line for line in run.log)


def test_pages_are_discarded_even_if_the_old_count_comes_back(
    server: TableServer, run: Fetch
) -> None:
    server.faults["count"] = [None, replaced("46", "47")]
    assert run(pages(server)) == wanted(server.rows)
    assert server.offsets() == [0, 10, 20, 30, 40] * 2


def test_a_table_that_never_rests_is_an_error(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [then(one_row_more)] * 100
    assert "changed while it was read, 3 times" in run.fails(pages(server))
    assert server.offsets().count(0) == 3


# Stopping and going on


def test_only_missing_pages_are_fetched_after_a_stop(server: TableServer, run: Fetch) -> None:
    with pytest.raises(Crash):
        run(pages(server), log=stop_at("30 of 46"))
    assert not run.destination.exists()
    assert server.offsets() == [0, 10, 20]
    server.log.clear()
    assert run(pages(server)) == wanted(server.rows)
    assert server.kinds() == ["count", "page", "page", "count"]
    assert server.offsets() == [30, 40]
    assert not run.partial.exists()


def test_pages_survive_a_failed_fetch(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, None, status(404)]
    with dead_address() as dead:
        message = run.fails(pages(server), f"{dead}/resource/table.csv")
    assert f"{run.partial} holds what has arrived" in message
    server.log.clear()
    run(pages(server))
    assert server.offsets() == [20, 30, 40]


@pytest.mark.parametrize("difference", ["count", "page size", "query", "address", "manifest"])
def test_pages_of_another_query_are_not_used(
    server: TableServer, run: Fetch, difference: str
) -> None:
    with pytest.raises(Crash):
        run(pages(server), log=stop_at("46 of 46"))
    server.log.clear()
    query, address, page_size = QUERY, pages(server), PAGE
    if difference == "count":
        one_row_more(server)
    elif difference == "page size":
        page_size = 6  # the kept page-00004 has 6 rows as well, but others
    elif difference == "query":
        query = replace(QUERY, entity="state")
    elif difference == "address":
        address = address.replace("127.0.0.1", "localhost")
    else:
        (run.partial / "manifest.json").write_text("{")
    rows = run(address, query=query, page_size=page_size)
    assert sorted(rows) == sorted(wanted(server.rows))
    assert server.offsets() == list(range(0, len(rows), page_size))


@pytest.mark.parametrize("damage", ["bytes", "row", "all"])
def test_a_damaged_page_is_fetched_again(server: TableServer, run: Fetch, damage: str) -> None:
    with pytest.raises(Crash):
        run(pages(server), log=stop_at("30 of 46"))
    page = run.partial / "page-00001.csv"
    content = page.read_bytes()
    last_row = content.rindex(b"\nN") + 1
    page.write_bytes(content[: {"bytes": -20, "row": last_row, "all": 0}[damage]])
    server.log.clear()
    assert run(pages(server)) == wanted(server.rows)
    assert server.offsets() == [10, 30, 40]


def test_a_killed_fetch_leaves_no_table_and_can_go_on(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, None, silence()]
    program = (
        "import sys; from pathlib import Path; from dpol.config import WebSource\n"
        "from dpol.data.fetch import fetch_table; from data import test_fetch\n"
        "source = WebSource(kind='web', endpoints=[dict(kind='socrata', url=sys.argv[1])],\n"
        "                   file='raw/hhs.csv.gz', page_size=10)\n"
        "fetch_table(source, test_fetch.QUERY, Path(sys.argv[2]), print)\n"
    )
    paths = [str(Path(fetch.__file__).parents[2]), str(Path(__file__).parents[1])]
    child = subprocess.Popen(
        [sys.executable, "-c", program, pages(server), str(run.destination)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 30
        while server.offsets() != [0, 10, 20] and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert not run.destination.exists()
    server.log.clear()
    assert run(pages(server)) == wanted(server.rows)
    assert server.offsets() == [20, 30, 40]


def test_an_old_table_stays_until_the_new_one_is_complete(server: TableServer, run: Fetch) -> None:
    run(pages(server))
    old = run.destination.read_bytes()
    server.faults["page"] = [None, status(404)]
    with pytest.raises(FetchError):
        run(pages(server))
    assert run.destination.read_bytes() == old


# Endpoints


def test_the_second_endpoint_is_used_when_the_first_is_dead(
    server: TableServer, run: Fetch
) -> None:
    with dead_address() as dead:
        rows = run(f"{dead}/resource/table.csv", pages(server))
    assert rows == wanted(server.rows)
    assert json.loads(run.provenance.read_text())["url"] == pages(server)
    assert len(run.pauses) == 2
    assert any(dead in line and "Connection refused" in line for line in run.log)


def test_a_file_can_stand_in_for_a_socrata_server(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, status(403)]
    rows = run(pages(server), f"{server.url}/table.csv")
    assert rows == server.rows
    assert not run.partial.exists()
    record = json.loads(run.provenance.read_text())
    assert (record["kind"], record["query"]) == ("file", None)
    assert "rows" not in record


def test_the_first_endpoint_that_delivers_ends_the_search(server: TableServer, run: Fetch) -> None:
    run(pages(server), f"{server.url}/table.csv")
    assert "file" not in server.kinds()


def test_the_message_when_everything_is_dead(run: Fetch) -> None:
    with dead_address() as dead:
        message = run.fails(
            f"{dead}/resource/table.csv", f"{dead}/table.csv", "http://no-such-host.invalid/t.csv"
        )
    lines = message.splitlines()
    assert lines[0] == f"cannot fetch {run.destination}; no endpoint delivered:"
    assert lines[1].startswith(f"  socrata {dead}/resource/table.csv: ")
    assert "Connection refused (tried 3x)" in lines[1]
    assert lines[2].startswith(f"  file {dead}/table.csv: ")
    assert lines[3].startswith("  file http://no-such-host.invalid/t.csv: ")
    rest = "\n".join(lines[4:])
    assert "may be offline" in rest
    assert f"by hand as {run.destination}, a gzip-compressed CSV" in rest
    assert ", ".join(COLUMNS) in rest
    assert "state is NM or O'Brien" in rest
    assert (
        "collection_week is 2021-01-08 or later, collection_week is 2021-02-05 or earlier" in rest
    )
    assert "snakemake --cores 2 --configfile config/demo.yaml (or: make demo)" in rest
    assert "Traceback" not in message
    assert "HTTPConnection" not in message
    assert not run.partial.exists()


# Places that cannot be written


def test_a_folder_that_cannot_be_made(server: TableServer, run: Fetch) -> None:
    run.destination.parent.write_text("a file, not a folder")
    with pytest.raises(OutputError, match=r"cannot write .*raw"):
        run(pages(server))
    assert server.log == []


def test_a_destination_that_is_a_folder(server: TableServer, run: Fetch) -> None:
    run.destination.mkdir(parents=True)
    with pytest.raises(OutputError, match=r"hhs.csv.gz: it is a folder"):
        run(pages(server))
    assert server.log == []


def test_a_folder_without_permission(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != run.destination.parent)
    with pytest.raises(OutputError, match=r"raw: permission denied; .* choose another place"):
        run(pages(server))
    assert server.log == []


def test_a_file_larger_than_the_system_allows(big: TableServer, run: Fetch) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"hhs.csv.gz: File too large; make room"):
            run(f"{big.url}/table.csv", pages(big))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert big.kinds() == ["file"]


@pytest.mark.parametrize("kind", ["/resource/table.csv", "/table.csv"])
def test_a_full_disk_is_not_blamed_on_the_server(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"(the disk is full|No space left)"):
        run(f"{server.url}{kind}", pages(server))
    assert not run.destination.exists()
    assert run.pauses == []


# Whole files


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_whole_file(big: TableServer, run: Fetch, name: str) -> None:
    assert run(f"{big.url}/{name}") == big.rows
    assert [one.headers["accept-encoding"] for one in big.log] == ["identity"]
    first = run.destination.read_bytes()
    assert first[3:8] == bytes(5)
    assert json.loads(run.provenance.read_text())["sha256"] == hashlib.sha256(first).hexdigest()
    run(f"{big.url}/{name}")
    assert run.destination.read_bytes() == first
    assert not run.partial.exists()


def test_a_gzip_file_keeps_its_bytes(big: TableServer, run: Fetch) -> None:
    run(f"{big.url}/table.csv.gz")
    assert run.destination.read_bytes() == gzip.compress(big.csv(), mtime=0)


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
@pytest.mark.parametrize("etag", [True, False])
def test_a_cut_file_is_resumed(big: TableServer, run: Fetch, name: str, etag: bool) -> None:
    big.etag = etag
    big.faults["file"] = [cut(CUT)]
    assert run(f"{big.url}/{name}") == big.rows
    assert len(big.log) == 2
    assert big.log[1].headers["range"] == f"bytes={CUT}-"
    assert big.log[1].headers["if-range"].startswith('"' if etag else "Thu, 01 Jan 1970")


def test_a_file_is_resumed_by_the_next_call(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [cut(CUT), status(404)]
    message = run.fails(f"{big.url}/table.csv")
    assert f"{run.partial} holds what has arrived" in message
    big.log.clear()
    assert run(f"{big.url}/table.csv") == big.rows
    assert [one.headers.get("range") for one in big.log] == [f"bytes={CUT}-"]


def test_the_file_of_another_address_is_not_continued(big: TableServer, run: Fetch) -> None:
    big.etag = False  # so that the server cannot tell the two apart
    big.faults["file"] = [cut(CUT), status(404)]
    run(f"{big.url}/table.csv", f"{big.url}/table.csv?copy=2")
    assert big.log[1].headers["range"] == f"bytes={CUT}-"
    assert "range" not in big.log[2].headers


def test_a_complete_file_is_not_fetched_again_after_a_stop(
    big: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(fetch, "_pack", lambda *_: (_ for _ in ()).throw(Crash))
        with pytest.raises(Crash):
            run(f"{big.url}/table.csv")
    big.log.clear()
    assert run(f"{big.url}/table.csv") == big.rows
    assert big.log == []


def test_a_file_that_changed_meanwhile_is_fetched_anew(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [
        lambda server, answer: replace(then(turn_around)(server, answer), sent=CUT)
    ]
    assert run(f"{big.url}/table.csv") == big.rows
    assert big.log[1].headers["range"] == f"bytes={CUT}-"
    assert len(big.log) == 2


@pytest.mark.parametrize("wrong", ["place", "version", "total", "unit"])
def test_a_wrong_continuation_is_not_appended(big: TableServer, run: Fetch, wrong: str) -> None:
    def other(server: TableServer, answer: Answer) -> Answer:
        total = len(server.csv())
        unit, start, all_ = "bytes", CUT, total
        headers = {}
        if wrong == "place":
            start = 0
        elif wrong == "version":
            headers["ETag"] = '"other"'
        elif wrong == "total":
            all_ += 1
        else:
            unit = "rows"
        headers["Content-Range"] = f"{unit} {start}-{total - 1}/{all_}"
        return Answer(206, headers, b"x" * (total - CUT))

    big.faults["file"] = [cut(CUT), other]
    assert run(f"{big.url}/table.csv") == big.rows
    assert [one.headers.get("range") for one in big.log] == [None, f"bytes={CUT}-", None]


def test_a_continuation_that_ends_too_early(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [cut(CUT), lambda _, answer: replace(answer, body=answer.body[:-100])]
    assert run(f"{big.url}/table.csv") == big.rows
    assert any(" bytes instead of " in line for line in run.log)


def test_a_range_that_cannot_be_given(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [cut(CUT), status(416)]
    assert run(f"{big.url}/table.csv") == big.rows
    assert [one.headers.get("range") for one in big.log] == [None, f"bytes={CUT}-", None]


def test_a_server_without_ranges(big: TableServer, run: Fetch) -> None:
    def whole(server: TableServer, answer: Answer) -> Answer:
        return Answer(200, {"Content-Type": "text/plain"}, server.csv())

    big.faults["file"] = [cut(CUT), whole]
    assert run(f"{big.url}/table.csv") == big.rows
    big.faults["file"] = [
        lambda server, answer: replace(whole(server, answer), sent=CUT),
        whole,
    ]
    big.log.clear()
    assert run(f"{big.url}/table.csv") == big.rows
    assert [one.headers.get("range") for one in big.log] == [None, None]


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_cut_without_a_stated_length_is_noticed(big: TableServer, run: Fetch, name: str) -> None:
    big.faults["file"] = [cut(-3, framing="close")]
    assert run(f"{big.url}/{name}") == big.rows
    assert len(big.log) == 2
    assert len(run.pauses) == 1


WEB_PAGES = [
    html(),
    html("text/csv"),
    lambda _, answer: Answer(200, {"Content-Type": "text/html"}, b"Down for maintenance"),
]


@pytest.mark.parametrize("page", WEB_PAGES)
def test_a_web_page_is_not_a_table(server: TableServer, run: Fetch, page: Fault) -> None:
    server.faults["file"] = [page] * 3
    assert "a web page instead of a CSV file (tried 3x)" in run.fails(f"{server.url}/table.csv")
    assert not run.partial.exists()
    server.faults["file"] = [page]
    assert run(f"{server.url}/table.csv") == server.rows


def test_a_gzip_file_may_end_without_a_newline(server: TableServer, run: Fetch) -> None:
    content = gzip.compress(server.csv()[:-1])
    server.faults["file"] = [lambda _, answer: replace(answer, body=content, framing="close")]
    assert run(f"{server.url}/table.csv.gz") == server.rows
    assert run.pauses == []


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_file_without_a_needed_column(server: TableServer, run: Fetch, name: str) -> None:
    message = run.fails(
        f"{server.url}/{name}", query=replace(QUERY, columns=(*COLUMNS, "cases", "icu"))
    )
    assert "the file has no column cases, icu; it starts: 'hospital_pk,coll" in message
    assert len(server.log) == 1
    assert not run.partial.exists()


def test_a_damaged_gzip_file(big: TableServer, run: Fetch) -> None:
    def damage(_: TableServer, answer: Answer) -> Answer:
        middle = len(answer.body) // 2
        return replace(answer, body=answer.body[:middle] + b"\0" + answer.body[middle + 1 :])

    big.faults["file"] = [damage]
    assert run(f"{big.url}/table.csv.gz") == big.rows
    assert any("gzip file is cut short or damaged" in line for line in run.log)


def test_an_empty_file(server: TableServer, run: Fetch) -> None:
    server.faults["file"] = [lambda _, answer: replace(answer, body=b"")]
    assert "has no column hospital_pk" in run.fails(f"{server.url}/table.csv")


def test_a_byte_order_mark_does_not_hide_the_first_column(server: TableServer, run: Fetch) -> None:
    server.faults["file"] = [replaced("hospital_pk", "\ufeffhospital_pk")]
    assert run(f"{server.url}/table.csv") == server.rows


def test_missing_file(server: TableServer, run: Fetch) -> None:
    message = run.fails(f"{server.url}/nothing.csv")
    assert "nothing.csv: status 404 Not Found\n" in message
    assert len(server.log) == 1


def test_only_a_table_fetched_for_another_query_must_be_fetched_again(tmp_path: Path) -> None:
    table = tmp_path / "table.csv.gz"
    record = Path(f"{table}.provenance.json")
    assert must_fetch(QUERY, table)
    table.touch()
    assert not must_fetch(QUERY, table), "placed by hand"
    record.write_text('{"query": null}')
    assert not must_fetch(QUERY, table), "a whole file"
    record.write_text("{")
    assert not must_fetch(QUERY, table), "a damaged record"
    where = where_clause(QUERY.group, QUERY.groups, QUERY.period, QUERY.first, QUERY.last)
    order = f"{QUERY.period},{QUERY.entity},:id"
    same = {"$select": ",".join(QUERY.columns), "$where": where, "$order": order}
    record.write_text(json.dumps({"query": same}))
    assert not must_fetch(QUERY, table)
    assert must_fetch(replace(QUERY, groups=("XX",)), table)
