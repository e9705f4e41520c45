"""Fetching against a real web server on this machine that misbehaves on demand."""

from __future__ import annotations

import datetime
import errno
import hashlib
import importlib.metadata
import json
import os
import resource
from dataclasses import replace
from pathlib import Path

import pytest

from data.fetching import (
    COLUMNS,
    PAGE,
    PAGES,
    QUERY,
    ROWS_WANTED,
    WEEKS,
    Crash,
    Fetch,
    pages,
    wanted,
)
from data.http_server import TableServer, dead_address, status
from dpol.data.fetch import must_fetch
from dpol.data.socrata import where_clause
from dpol.errors import OutputError

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


# Fetching again


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
