"""Requests to a real web server on this machine, and the files that are written."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import importlib.metadata
import json
import os
import resource
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from data.drawn import dataset
from data.fetching import (
    COLUMNS,
    ORDER,
    QUERY,
    ROWS_WANTED,
    WHERE,
    Crash,
    Fetch,
    file_of,
    read,
    rows_of,
    wanted,
)
from data.http_server import Fault, TableServer, changed, dead_address, packed, replaced, status
from dpol.core.errors import FetchError, OutputError
from dpol.data.fetch import must_fetch
from dpol.data.query import query_for


def test_rows_come_with_one_request_between_two_counts(server: TableServer, run: Fetch) -> None:
    before = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    assert run(rows_of(server)) == wanted(server.rows)
    assert server.kinds() == ["count", "page", "count"]
    assert run.pauses == []
    count, page, _ = (one.parameters for one in server.log)
    assert count == {"$select": "count(*)", "$where": WHERE}
    place = {"$limit": str(ROWS_WANTED + 1), "$offset": "0"}
    select = ",".join([*COLUMNS, ":id"])
    assert page == {"$select": select, "$where": WHERE, "$order": ORDER, **place}
    for name, value in (("accept-encoding", "identity"), ("cache-control", "no-cache")):
        assert {one.headers[name] for one in server.log} == {value}
    assert server.log[1].headers["user-agent"].startswith("dpol/")
    record = json.loads(run.provenance.read_text())
    retrieved = datetime.datetime.fromisoformat(record.pop("retrieved"))
    assert before <= retrieved <= datetime.datetime.now(datetime.UTC)
    headers = server.validators(str(count))
    assert record == {
        "url": rows_of(server),
        "final_url": rows_of(server),
        "kind": "socrata",
        **{"version": None, "licence": None, "columns": None, "failed_before": []},
        "query": {"$select": ",".join(COLUMNS), "$where": WHERE, "$order": ORDER},
        "rows": ROWS_WANTED,
        "etag": headers["ETag"],
        "last_modified": headers["Last-Modified"],
        "sha256": hashlib.sha256(run.destination.read_bytes()).hexdigest(),
        "dpol": importlib.metadata.version("dpol"),
    }
    assert run.left() == {run.destination, run.provenance}


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
         f"state in ('A','B') and week between '{FRIDAY}T00:00:00' and '{FRIDAY}T00:00:00'"),
    ],
)  # fmt: skip
def test_a_dataset_asks_for_its_columns_groups_and_periods(
    columns: dict[str, Any], periods: dict[str, str], groups: list[str], where: str
) -> None:
    more = {"cases": ["adult", "patients"], "name": "title"}
    rules = dataset({**more, **columns}, periods)
    query = query_for(rules, groups)
    assert query.where == where
    assert query.soql["$order"] == "week,hospital,:id"
    state = ["state"] if "group" not in columns else []
    assert list(query.columns) == ["hospital", "week", *state, "title", "patients", "beds", "adult"]
    assert query.columns == tuple(rules.columns.needed())


def test_a_server_that_caps_its_pages(server: TableServer, run: Fetch) -> None:
    server.cap, server.says = 20, ("Last-Modified",)
    assert run(rows_of(server)) == wanted(server.rows)
    assert server.places() == [(0, 47), (20, 27), (40, 7)]


@pytest.mark.parametrize(
    "way",
    [
        changed(framing="chunked"),
        changed(framing="close"),
        packed(),
        replaced("hospital_pk", "\ufeffhospital_pk"),
    ],
    ids=["chunked", "until the line closes", "compressed", "with a byte order mark"],
)
def test_other_ways_to_send_rows(server: TableServer, run: Fetch, way: Fault) -> None:
    run(rows_of(server))
    first = run.destination.read_bytes()
    server.faults["page"] = [way]
    run(rows_of(server))
    assert run.destination.read_bytes() == first
    assert first[3:8] == bytes(5)  # neither name nor time in the gzip header
    assert run.pauses == []


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_a_whole_file(big: TableServer, run: Fetch, name: str) -> None:
    assert run(f"{big.url}/{name}") == big.rows
    assert big.ranges() == [None, None]  # the file, and its version once more
    first = run.destination.read_bytes()
    assert name == "table.csv" or first == gzip.compress(big.csv(), mtime=0)
    run(f"{big.url}/{name}")
    assert run.destination.read_bytes() == first
    assert not run.partial.exists()


def test_a_gzip_file_may_end_without_a_newline_or_length(server: TableServer, run: Fetch) -> None:
    server.says = ()
    content = gzip.compress(server.csv()[:-1])
    server.faults["file"] = [changed(body=content, framing="close")] * 2
    assert run(f"{server.url}/table.csv.gz") == server.rows


def test_the_final_address_is_recorded(server: TableServer, run: Fetch) -> None:
    moved = status(302, Location="/table.csv?signature=secret")
    server.faults["file"] = [moved, None, moved]
    run(f"{server.url}/nothing.csv")
    record = json.loads(run.provenance.read_text())
    assert record["url"] == f"{server.url}/nothing.csv"
    assert record["final_url"] == file_of(server)
    assert (record["kind"], record["query"], record["rows"]) == ("file", None, len(server.rows))


def test_the_provenance_is_there_before_the_table(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def crash(old: Path, new: Path) -> None:
        if Path(new) == run.destination:
            raise Crash
        real(old, new)

    monkeypatch.setattr(os, "replace", crash)
    with pytest.raises(Crash):
        run(rows_of(server))
    assert run.provenance.exists()
    assert not run.destination.exists()


def test_the_next_endpoint_is_used_when_one_fails(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [status(403)]
    with dead_address() as dead:
        assert run(f"{dead}/resource/table.csv", rows_of(server), file_of(server)) == server.rows
    assert server.kinds() == ["count", "page", "file", "file"]
    assert len(run.pauses) == 2
    assert any(dead in line and "Connection refused (tried 3x)" in line for line in run.log)


def test_the_message_when_everything_is_dead(run: Fetch) -> None:
    with dead_address() as dead, pytest.raises(FetchError) as raised:
        run(f"{dead}/resource/t.csv", "http://no-such.invalid/t.csv")
    message = str(raised.value)
    for words in (
        f"  socrata {dead}/resource/t.csv: no connection, or it was cut: Connection refused (tr",
        "  file http://no-such.invalid/t.csv: no connection, or it was cut: ",
        "may be offline",
        f"by hand as {run.destination}, a gzip-compressed CSV",
        ", ".join(COLUMNS),
        f"the rows that matter: {WHERE}; or",
        "dpol demo (or: make demo)",
    ):
        assert words in message
    assert "HTTPConnection" not in message
    assert not run.partial.exists()


def test_places_that_cannot_be_written(server: TableServer, run: Fetch) -> None:
    run.destination.parent.write_text("a file, not a folder")
    with pytest.raises(OutputError, match=r"cannot write .*raw"):
        run(rows_of(server))
    run.destination.parent.unlink()
    run.destination.mkdir(parents=True)
    with pytest.raises(OutputError, match=r"hhs.csv.gz: it is a folder"):
        run(rows_of(server))
    assert server.log == []


def test_a_file_larger_than_the_system_allows(big: TableServer, run: Fetch) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"hhs.csv.gz: File too large; make room"):
            run(file_of(big), rows_of(big))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert big.kinds() == ["file"]


def test_only_a_table_fetched_for_another_query_must_be_fetched_again(tmp_path: Path) -> None:
    table = tmp_path / "table.csv.gz"
    record = Path(f"{table}.provenance.json")
    assert must_fetch(QUERY, table)
    table.touch()
    assert not must_fetch(QUERY, table), "placed by hand"
    same = {"$select": ",".join(QUERY.columns), "$where": WHERE, "$order": ORDER}
    for text in ('{"query": null}', "{", json.dumps({"query": same})):
        record.write_text(text)
        assert not must_fetch(QUERY, table), "a whole file, a damaged record, the same query"
    assert must_fetch(replace(QUERY, last=None), table)


def test_fetches_at_once_do_not_mix(big: TableServer, run: Fetch) -> None:
    children = [run.child(file_of(big)) for _ in range(3)]
    assert [child.wait() for child in children] == [0] * 3
    assert read(run.destination) == big.rows
    assert run.left() == {run.destination, run.provenance}
    assert big.kinds() == ["file"] * 6


def test_a_thread_in_which_no_time_limit_holds_is_refused(server: TableServer, run: Fetch) -> None:
    with ThreadPoolExecutor() as pool, pytest.raises(ValueError, match="main thread"):
        pool.submit(run, file_of(server)).result()
    assert server.log == []
