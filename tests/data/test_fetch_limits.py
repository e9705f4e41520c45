"""Servers that drip or flood: the limits of time and size, and of memory."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest

from data.fetching import COLUMNS, Fetch, file_of, rows_of, wanted
from data.http_server import TableServer, changed


@pytest.mark.parametrize("behaviour", ["drip headers", "drip body", "silent"])
@pytest.mark.parametrize("address", [rows_of, file_of])
def test_a_slow_server_ends_with_the_time(
    server: TableServer, run: Fetch, address: Callable[[TableServer], str], behaviour: str
) -> None:
    server.faults = {kind: [changed(behaviour=behaviour)] * 9 for kind in ("count", "file")}
    message = run.fails(address(server), time_limit_minutes=0.005, attempts=20)
    assert "not done within 0.005 min; raise dataset.source.time_limit_minutes" in message


def test_unpacking_ends_with_the_time(server: TableServer, run: Fetch) -> None:
    lines = zlib.compressobj(wbits=31)
    block = b"\n" * 1_000_000
    body = b"".join(lines.compress(block) for _ in range(100)) + lines.flush()
    server.faults["file"] = [changed(body=body)] * 2
    assert "not done within 0.01 min" in run.fails(file_of(server), time_limit_minutes=0.01)


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
@pytest.mark.parametrize("content", [b"a,b,c,d,e\n", b"\n"])
def test_a_table_that_unpacks_to_too_much(
    server: TableServer, run: Fetch, name: str, content: bytes
) -> None:
    bomb = gzip.compress(",".join([*COLUMNS, ":id"]).encode() + b"\n" + content * 500_000)
    headers = {"Content-Type": "text/csv", "Content-Encoding": "gzip"}
    fault = changed(body=bomb, headers=headers)
    server.faults = {"page": [fault] * 3, "file": [fault] * 2}
    message = run.fails(f"{server.url}/{name}", size_limit_mb=0.1)
    # Of rows, no more are read than were counted.
    assert "unpacks to more than 0.1 MB; raise" in message or "the table changed" in message
