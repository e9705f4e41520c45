"""Servers that drip or flood: the limits of time and size, and of memory."""

from __future__ import annotations

import tracemalloc
import zlib
from collections.abc import Callable

import pytest

from data.fetching import COLUMNS, Fetch, file_of, rows_of, wanted
from data.http_server import TableServer, changed, status


@pytest.mark.parametrize("behaviour", ["drip headers", "drip body", "silent"])
@pytest.mark.parametrize("address", [rows_of, file_of])
def test_a_slow_server_ends_with_the_time(
    server: TableServer, run: Fetch, address: Callable[[TableServer], str], behaviour: str
) -> None:
    server.faults = {kind: [changed(behaviour=behaviour)] * 9 for kind in ("count", "file")}
    message = run.fails(address(server), time_limit_minutes=0.005, attempts=20)
    assert "not done within 0.005 min; raise dataset.source.time_limit_minutes" in message


def test_a_pause_beyond_the_time_is_not_waited_for(server: TableServer, run: Fetch) -> None:
    server.faults["file"] = [status(503, Retry_After="500")]
    assert "not done within 5 min" in run.fails(file_of(server), time_limit_minutes=5)
    assert run.pauses == []


def test_silence_is_tried_again(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [changed(behaviour="silent")]
    assert run(rows_of(server), timeout_seconds=0.2) == wanted(server.rows)
    assert any("no answer within 0.2 s" in line for line in run.log)


@pytest.mark.parametrize("address", [rows_of, file_of])
def test_an_endless_body_ends_with_the_size(
    server: TableServer, run: Fetch, address: Callable[[TableServer], str]
) -> None:
    endless = changed(behaviour="endless", framing="close")
    server.faults = {"count": [endless], "file": [endless]}
    message = run.fails(address(server), size_limit_mb=0.5)
    assert "sends more than 0.5 MB; raise dataset.source.size_limit_mb" in message


@pytest.mark.parametrize("name", ["resource/table.csv", "table.csv", "table.csv.gz"])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b,c,d,e\n", "unpacks to more than 0.1 MB; raise dataset.source.size_limit_mb"),
        (b"\n", "unpacks to more than 0.1 MB"),
        (b"a", "has 50,000 characters or more"),
        (b'"\n",', "has 50,000 characters or more"),
        (b"\0", "NUL"),
    ],
)
def test_gzip_bombs(
    server: TableServer,
    run: Fetch,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    content: bytes,
    words: str,
) -> None:
    packer = zlib.compressobj(wbits=31)
    header = b",".join(name.encode() for name in [*COLUMNS, ":id"]) + b"\n"
    block = content * (100_000 // len(content))
    bomb = packer.compress(header) + b"".join(packer.compress(block) for _ in range(100))
    encoding = {"Content-Type": "text/csv"} | (
        {} if name.endswith("gz") else {"Content-Encoding": "gzip"}
    )
    fault = changed(body=bomb + packer.flush(), headers=encoding)
    server.faults = {"page": [fault] * 3, "file": [fault]}
    monkeypatch.setattr("dpol.data.endpoints.LONGEST_ROW", 50_000)
    tracemalloc.start()
    message = run.fails(f"{server.url}/{name}", size_limit_mb=0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert words in message or (name[0] == "r" and "the table changed" in message)
    assert peak < 2e6, "it unpacks to 10 MB"
