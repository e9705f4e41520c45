"""A fetch from a real web server on this machine gives the whole table, or none and an error."""

from __future__ import annotations

import csv
import gzip
import hashlib
import importlib.metadata
import io
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import requests

from data.drawn import BED_SUMS, COUNT_SUMS, SUMS, dataset
from dpol.core.errors import FetchError
from dpol.data import fetch as module
from dpol.data.fetch import fetch_table
from dpol.data.query import Query, must_fetch
from dpol.data.settings import Read, WebSource
from dpol.data.table import provenance_of_table, read_file

COLUMNS = ["hospital", "week", "state", "beds"]
QUERY = Query(dataset({"count": "beds", "capacity": None}), ["NM", "O'Brien"])
ROWS = [
    (f"{state[0]}{i}", f"2021-01-{day:02}T00:00:00", state, str(day + i) if i else 'A,"\nÉ')
    for day in (8, 1)
    for state in ("NM", "O'Brien", "CA")
    for i in range(3)
]
"""Newest week first, with a text that needs quotes."""
WANTED = sorted((row for row in ROWS if row[2] != "CA"), key=lambda row: (row[1], row[0]))


Fault = Mapping[str, Any]
"""Arguments of `reply` that are not as they should be."""


def as_csv(rows: list[tuple[str, ...]]) -> bytes:
    """Return a table as text."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    return text.getvalue().encode()


BODIES = {
    "rows": as_csv(WANTED),
    "file": as_csv(ROWS),
    "packed": gzip.compress(as_csv(ROWS), mtime=0),
}


def reply(
    body: bytes,
    status: str = "200 OK",
    headers: str = "",
    framing: str = "length",
    sent: int | None = None,
) -> bytes:
    """Return an answer of HTTP, of whose body the first `sent` bytes are sent."""
    part, end = body[:sent], b"0\r\n\r\n" * (sent is None)
    if framing == "length":
        headers += f"Content-Length: {len(body)}\r\n"
    elif framing == "chunked":
        headers += "Transfer-Encoding: chunked\r\n"
        part = b"1\r\n%b\r\n%x\r\n%b\r\n" % (part[:1], len(part) - 1, part[1:]) + end
    facts = 'Connection: close\r\nETag: "1"\r\nLast-Modified: Sun, 01 Jan 2023\r\n'
    return f"HTTP/1.1 {status}\r\n{facts}{headers}\r\n".encode() + part


@dataclass
class Web:
    """A server of a table as `/rows`, which answers queries, `/file` and `/packed`; and fetches.

    Each answer gets the next fault of its kind: arguments of `reply`, or bytes, or None for none.
    `/rows` gives at most `most` rows at a time. The first `stops` answers stop in the middle.
    """

    table: Path
    most: int = 1000
    stops: int = 0
    faults: dict[str, list[Any]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    pauses: list[float] = field(default_factory=list)
    url: str = ""

    def answer(self, address: str) -> bytes | None:
        path, _, query = address.partition("?")
        asked = dict(parse_qsl(query))
        kind = path[1:]
        self.asked.append((kind, asked))
        coming = self.faults.get(kind, [])
        fault = coming.pop(0) if coming else {}
        first = int(asked.get("$offset", 0))
        body = as_csv(WANTED[first : first + self.most]) if kind == "rows" else BODIES[kind]
        return reply(**{"body": body, **fault}) if isinstance(fault, dict) else fault

    def at(self, name: str, **keys: Any) -> dict[str, Any]:
        """Return the endpoint named `rows`, `file` or `packed`."""
        kind = "socrata" if name == "rows" else "file"
        return {"kind": kind, "url": f"{self.url}/{name}", **keys}

    def fetch(self, *endpoints: dict[str, Any], query: Query = QUERY) -> list[tuple[str, ...]]:
        """Return the rows that are fetched."""
        source = {"kind": "web", "endpoints": endpoints, "file": "raw/t.csv.gz"}
        fetch_table(WebSource.model_validate(source), query, self.table, self.log.append)
        cells = read_file(self.table, query.dataset.read).cells
        assert list(cells) == query.dataset.must_have
        return list(cells.astype(str).itertuples(index=False, name=None))

    def refused(self, *endpoints: dict[str, Any]) -> str:
        """Return the message of a fetch that must fail and change no file."""
        before = self.files()
        with pytest.raises(FetchError) as raised:
            self.fetch(*endpoints)
        assert self.files() == before
        return str(raised.value)

    def files(self) -> dict[str, bytes]:
        """Return the table and the files next to it, except the lock."""
        return {it.name: it.read_bytes() for it in self.table.parent.glob("*[!k]")}

    def record(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(Path(f"{self.table}.provenance.json").read_text())
        return made


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """Run the server on a free port, without a proxy; pauses take no time."""
    web = Web(tmp_path / "raw/t.csv.gz")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("urllib3.util.retry.time.sleep", web.pauses.append)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            address = self.rfile.readline().split()[1].decode()
            while self.rfile.readline().strip():
                pass
            if (answer := web.answer(address)) is None:
                stopped.wait(20)
                return
            with suppress(ConnectionError):  # the client may close the line at any time
                if len(web.asked) <= web.stops:
                    self.wfile.write(answer[:-20])
                    stopped.wait(20)
                else:
                    self.wfile.write(answer)

    stopped = threading.Event()
    listening = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    with listening as listener, ThreadPoolExecutor() as pool:
        pool.submit(listener.serve_forever, 0.01)
        web.url = f"http://127.0.0.1:{listener.server_address[1]}"
        yield web
        stopped.set()
        listener.shutdown()


def test_rows_are_asked_for_and_recorded_until_the_table_is_replaced(web: Web) -> None:
    assert web.fetch(web.at("rows", version="2023", licence="CC0")) == WANTED
    soql = {"$select": ",".join(COLUMNS), "$where": QUERY.where, "$order": "week,hospital,:id"}
    first, again = web.asked
    assert first == ("rows", {**soql, "$limit": "1000000000"})
    assert again == ("rows", {**first[1], "$offset": str(len(WANTED) - 1)})
    record = web.record()
    assert record.pop("retrieved")
    assert record == {
        "url": web.at("rows")["url"],
        "final_url": web.at("rows")["url"],
        "kind": "socrata",
        "version": "2023",
        "licence": "CC0",
        "failed_before": [],
        "query": soql,
        "rows": len(WANTED),
        "etag": '"1"',
        "last_modified": "Sun, 01 Jan 2023",
        "sha256": hashlib.sha256(web.table.read_bytes()).hexdigest(),
        "dpol": importlib.metadata.version("dpol"),
    }
    assert provenance_of_table(web.table, simulated=False)["fetched"] == web.record()
    web.table.write_bytes(b"replaced by hand")
    digest = hashlib.sha256(b"replaced by hand").hexdigest()
    facts = {"file": "t.csv.gz", "sha256": digest, "simulated": True}
    assert provenance_of_table(web.table, simulated=True) == facts


@pytest.mark.parametrize("most", [2, 5, len(WANTED)])
def test_a_server_that_gives_fewer_rows_than_asked_is_asked_for_the_others(
    web: Web, most: int
) -> None:
    web.most = most
    assert web.fetch(web.at("rows")) == WANTED
    assert web.record()["rows"] == len(WANTED)
    offsets = [int(asked.get("$offset", 0)) for _, asked in web.asked]
    assert offsets == [0, *range(most - 1, len(WANTED) - 1, most - 1), len(WANTED) - 1]


@pytest.mark.parametrize(
    "again",
    [BODIES["rows"], as_csv(WANTED[3:])],
    ids=["it ignores where to start", "a row was added"],
)
def test_a_server_that_gives_another_row_when_asked_again_is_refused(
    web: Web, again: bytes
) -> None:
    web.most = 5
    web.faults["rows"] = [{}, {"body": again}] * 2
    assert "gives another row 5 when asked for that row again" in web.refused(web.at("rows"))
    assert web.fetch(web.at("rows"), web.at("file")) == ROWS


def test_a_table_of_a_known_checksum_is_whole_as_it_comes(web: Web) -> None:
    digest = hashlib.sha256(BODIES["rows"]).hexdigest()
    assert web.fetch(web.at("rows", sha256=digest)) == WANTED
    assert len(web.asked) == 1
    web.most = 5
    assert f" instead of {digest}" in web.refused(web.at("rows", sha256=digest))


@pytest.mark.parametrize("name", ["file", "packed"])
@pytest.mark.parametrize("framing", ["length", "chunked", "none"])
def test_a_file_of_stated_length_or_checksum_is_taken_whole(
    web: Web, name: str, framing: str
) -> None:
    web.faults[name] = [{"framing": framing}]
    digest = hashlib.sha256(BODIES[name]).hexdigest()
    assert web.fetch(web.at(name, **({"sha256": digest} if framing == "none" else {}))) == ROWS
    assert name == "file" or web.table.read_bytes() == BODIES[name]
    assert web.record()["query"] is None


def busy(after: object) -> Fault:
    """Return an answer that says when to ask again."""
    return {"status": "429 Busy", "headers": f"Retry-After: {after}\r\n"}


@pytest.mark.parametrize(
    ("fault", "pauses"),
    [
        ({"status": "503 Busy"}, [2, 4]),
        (None, [2, 4]),
        (b"", [2, 4]),
        (busy(7), [7, 7, 7]),
        (busy(0), [2, 4]),
        (busy(9000), [300, 300, 300]),
    ],
    ids=str,
)
def test_what_may_pass_is_asked_for_again(
    web: Web, fault: Any, pauses: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is busy, is silent, closes the line, or says how long to wait."""
    monkeypatch.setattr(module, "SILENCE", 20 if fault is not None else 0.4)
    web.faults["file"] = [fault] * 3
    assert web.fetch(web.at("file")) == ROWS
    assert web.pauses == pauses
    web.faults["file"] = [fault] * 4
    assert "no endpoint delivered" in web.refused(web.at("file"))


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("file", {"sent": 50}),
        ("packed", {"sent": 50}),
        ("rows", {"sent": 0}),
        ("rows", {"sent": -20, "framing": "chunked"}),
        ("file", {"body": b"hospital,week,state,beds\na,b,c", "framing": "chunked"}),
    ],
    ids=str,
)
def test_a_cut_answer_is_asked_for_again(web: Web, kind: str, fault: Fault) -> None:
    web.most, web.faults[kind] = 5, [{}, *[fault] * 3][kind != "rows" :]
    assert web.fetch(web.at(kind)) == (WANTED if kind == "rows" else ROWS)
    assert web.pauses == [2, 4]
    web.faults[kind] = [fault] * 4
    assert "the answer was cut: " in web.refused(web.at(kind))


def test_an_answer_that_stops_is_asked_for_again(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SILENCE", 0.4)
    web.stops = 1
    assert web.fetch(web.at("file")) == ROWS
    assert [kind for kind, _ in web.asked] == ["file", "file"]


FINAL: dict[str, tuple[str, Fault, str]] = {
    "bad query": ("rows", {"status": "400 Bad"}, "status 400"),
    "a pause that is none": ("file", busy("soon"), "no answer: Invalid Retry-After header: soon"),
    "web page": ("file", {"body": b"\n<!DOCTYPE html>\nDown\n"}, "is a web page, not a table"),
    "other header": (
        "rows",
        {"body": BODIES["rows"].replace(b"beds", b"seats")},
        "no column named beds; it has hospital",
    ),
    "damaged gzip": (
        "packed",
        {"body": BODIES["packed"][:-8] + b"x" * 8},
        "cannot be read as a .gz file",
    ),
    "nothing": ("file", {"body": b""}, "holds no table"),
    "no row": ("rows", {"body": as_csv([])}, "has a header but no rows"),
    "no length": ("packed", {"framing": "none"}, "states no length: a cut file"),
    "length that is none": (
        "file",
        {"framing": "none", "headers": "Content-Length: abc\r\n", "sent": 50},
        "states no length: a cut file",
    ),
    "redirect to nowhere": (
        "file",
        {"status": "302 Found", "headers": "Location: http://[::1\r\n"},
        "no answer: ",
    ),
    "other checksum": ("packed", {}, f" instead of {'0' * 64}"),
}


@pytest.mark.parametrize("name", FINAL)
def test_what_does_not_pass_gives_way_to_the_next_endpoint(web: Web, name: str) -> None:
    kind, fault, words = FINAL[name]
    pinned = {"sha256": "0" * 64} if name == "other checksum" else {}
    first = web.at(kind, **pinned)
    web.faults[kind] = [fault] * 2
    told = web.refused(first)
    assert words in told
    last = "file" if kind == "packed" else "packed"
    assert web.fetch(first, web.at(last)) == ROWS
    assert not web.pauses, "no second try"
    (failure,) = web.record()["failed_before"]
    assert failure in told
    assert failure in web.log


def test_a_table_is_read_as_the_config_says(web: Web) -> None:
    body = as_csv(ROWS).decode().replace(",", ";").encode("cp1252")
    of = QUERY.dataset.model_copy(update={"read": Read(sep=";", encoding="cp1252")})
    web.faults["file"] = [{"body": body}] * 2
    assert "codec can't decode" in web.refused(web.at("file"))
    rows = [tuple(cell.replace(",", ";") for cell in row) for row in ROWS]
    assert web.fetch(web.at("file"), query=replace(QUERY, dataset=of)) == rows


def test_when_no_endpoint_delivers_each_is_named_with_the_ways_out(web: Web) -> None:
    web.faults["file"] = [{"status": "404 Gone", "body": b"\x1b[31mgone"}]
    dead = {"kind": "socrata", "url": "http://127.0.0.1:9/t.csv"}
    lines = web.refused(dead, web.at("file")).splitlines()
    assert lines[0] == f"cannot fetch {web.table}; no endpoint delivered:"
    assert lines[1] == "  socrata http://127.0.0.1:9/t.csv: no answer: Connection refused"
    assert lines[2].startswith(f"  file {web.url}/file: status 404")
    assert f"place it at {web.table}, a gzip-compressed CSV file" in lines[5]
    assert (", ".join(COLUMNS) in lines[6], QUERY.where in lines[7]) == (True, True)
    assert all(line.isprintable() for line in lines)


def test_a_redirect_is_recorded_and_may_not_give_up_encryption(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.faults["packed"] = [{"status": "302 Found", "headers": "Location: /file?key=secret\r\n"}]
    assert web.fetch(web.at("packed")) == ROWS
    assert web.record()["final_url"] == f"{web.url}/file"
    plain = requests.Response()
    plain.status_code, plain.url = 200, web.at("file")["url"]
    monkeypatch.setattr(requests.Session, "get", lambda *_, **__: plain)
    secret = {"kind": "file", "url": "https://data.example/t.csv"}
    assert "which is not encrypted" in web.refused(secret)


def test_fetches_at_once_wait_for_each_other_and_remove_what_a_killed_one_left(web: Web) -> None:
    web.table.parent.mkdir()
    for name in (".t.csv.gz~12.csv.gz", ".t.csv.gz.provenance.json~12.json", ".other~12"):
        (web.table.parent / name).write_text("left")
    with ThreadPoolExecutor() as pool:
        fetches = [pool.submit(web.fetch, web.at("file")) for _ in range(3)]
    assert [fetched.result() for fetched in fetches] == [ROWS] * 3
    assert {*web.files()} == {"t.csv.gz", "t.csv.gz.provenance.json", ".other~12"}
    assert [line.split()[0] for line in web.log] == ["fetching", str(len(ROWS))] * 3


def test_only_a_table_fetched_for_another_query_must_be_fetched_again(tmp_path: Path) -> None:
    table = tmp_path / "t.csv.gz"
    record = Path(f"{table}.provenance.json")
    assert must_fetch(QUERY, table)
    table.touch()
    assert not must_fetch(QUERY, table), "placed by hand"
    for text in ('{"query": null}', "{", json.dumps({"query": QUERY.soql})):
        record.write_text(text)
        assert not must_fetch(QUERY, table), "a whole file, a damaged record, the same query"
    assert must_fetch(replace(QUERY, groups=[]), table)


FRIDAY = "2021-01-08"


@pytest.mark.parametrize(
    ("columns", "periods", "groups", "where"),
    [
        ({"group": None}, {}, ["all"], ""),
        ({}, {}, [], ""),
        ({}, {}, ["a') or ('1'='1"], "state in ('a'') or (''1''=''1')"),
        ({}, {"first": FRIDAY}, ["NM"], f"state in ('NM') and week >= '{FRIDAY}T00:00:00'"),
        ({"group": None}, {"last": FRIDAY}, ["all"], f"week <= '{FRIDAY}T00:00:00'"),
        ({}, {"first": FRIDAY, "last": FRIDAY}, ["B", "A"],
         f"state in ('A','B') and week >= '{FRIDAY}T00:00:00' and week <= '{FRIDAY}T00:00:00'"),
    ],
)  # fmt: skip
def test_a_dataset_asks_for_its_columns_groups_and_periods(
    columns: dict[str, Any], periods: dict[str, str], groups: list[str], where: str
) -> None:
    named = {"cases": ["adult", *COUNT_SUMS[:1]], "name": "title"}
    query = Query(dataset({**SUMS, **named, **columns}, periods), groups)
    state = ["state"] if "group" not in columns else []
    numbers = ["patients", "beds", *COUNT_SUMS, *BED_SUMS, "adult"]
    assert query.dataset.must_have == ["hospital", "week", *state, "title", *numbers]
    assert (query.where, query.soql["$order"]) == (where, "week,hospital,:id")
