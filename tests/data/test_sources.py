"""Tables whose publisher is gone: what the other places hold is taken, or each is named."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from data.fetching import (
    COLUMNS,
    GROUPS,
    QUERY,
    ROWS_WANTED,
    Fetch,
    endpoint,
    epidata,
    file_of,
    read,
    rows_of,
    table,
    wanted,
)
from data.http_server import (
    Fault,
    Row,
    TableServer,
    changed,
    cut,
    dead_address,
    html,
    serve,
    status,
)
from dpol.config.experiment import load_experiment
from dpol.core.errors import ConfigError, FetchError
from dpol.data.cleaning import clean_panel
from dpol.data.fetch import fetch_table, must_fetch
from dpol.data.query import query_for
from dpol.data.simulator import simulate_hospitals
from dpol.data.sources import SOURCES, KnownTable, known_tables, parse_sources
from dpol.data.table import read_table
from pipeline import ROOT

NAMES = dict(zip(COLUMNS, ["pk", "week", "beds", "collection_week"], strict=True))
"""The mirror's names of the columns: two of its names mean something else at the primary."""
WRONG = "0" * 64


@pytest.fixture
def mirror() -> Iterator[TableServer]:
    """Another server with the same rows, under other names."""
    with serve(TableServer(tuple(NAMES.values()), table())) as running:
        yield running


def entry(url: str, **keys: Any) -> dict[str, Any]:
    return endpoint({"url": url, **keys})


# The file of tables


def test_the_shipped_tables_say_what_each_place_holds() -> None:
    assert (ROOT / "data/sources.yaml").resolve() == SOURCES.resolve()
    for name, known in known_tables().items():
        hosts = {it.url.host for it in known.endpoints}
        assert len(hosts) > 1, f"all places of {name} are gone when one host is"
        assert all(it.version and it.licence for it in known.endpoints)


GOOD = {"kind": "file", "url": "https://a.example/x.csv"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"primary": {**GOOD, "kind": "sql"}},
         "primary.kind = 'sql': must be 'socrata', 'file' or 'epidata'"),
        ({"mirror": []}, "mirror = []: unknown key; did you mean mirrors?"),
        ({"mirrors": [{**GOOD, "sha256": "abc"}]},
         "mirrors[0].sha256 = 'abc': must be 64 digits from 0 to f"),
        ({"mirrors": [{**GOOD, "columns": {"a": "x", "b": "x"}}]}, "columns names x twice"),
        ({"archive": [GOOD]}, "archive: each file needs sha256 and version; or list it in mirrors"),
        ({"primary": None}, "primary = None: must be a block of keys"),
    ],
)  # fmt: skip
def test_mistakes_in_the_tables_are_told_with_file_and_key(
    changes: dict[str, Any], problem: str
) -> None:
    raw = {"tables": {"mine": {"title": "Mine", "primary": GOOD, **changes}}}
    with pytest.raises(ConfigError) as raised:
        parse_sources(raw, "sources.yaml")
    text = str(raised.value)
    assert text.startswith("sources.yaml: 1 problem\n  tables.mine")
    assert problem in text
    assert text.endswith("config/README.md explains every key.")


# Mirrors


@pytest.mark.parametrize("way", [rows_of, file_of])
def test_columns_of_a_mirror_get_the_names_of_the_primary(
    server: TableServer, mirror: TableServer, run: Fetch, way: Callable[[TableServer], str]
) -> None:
    mirror.columns = (*mirror.columns[:2], "state", *mirror.columns[2:])  # its own `state`: noise
    mirror.rows = [(*row[:2], "?", *row[2:]) for row in mirror.rows]
    rows = run(entry(way(mirror), columns=NAMES, version="2024", licence="CC0"))
    assert rows == (wanted(table()) if way is rows_of else table())
    record = json.loads(run.provenance.read_text())
    assert (record["columns"], record["version"], record["licence"]) == (NAMES, "2024", "CC0")
    assert record["sha256"] == hashlib.sha256(run.destination.read_bytes()).hexdigest()
    assert not must_fetch(QUERY, run.destination)
    assert must_fetch(replace(QUERY, last=None), run.destination), "it holds no other columns"
    if way is rows_of:
        fetched = run.destination.read_bytes()
        run(rows_of(server))
        assert run.destination.read_bytes() == fetched


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"groups": ["NM"]}, "not asked: it holds NM only, not O'Brien"),
        ({"columns": {"hospital_pk": "pk"}},
         "not asked: it is not known to hold collection_week, state, beds; if it does, name them"),
    ],
)  # fmt: skip
def test_a_place_that_holds_a_part_is_not_asked(
    server: TableServer, run: Fetch, keys: dict[str, Any], told: str
) -> None:
    assert told in run.fails(entry(rows_of(server), **keys))
    assert server.log == []
    rows = run(entry(rows_of(server), groups=list(GROUPS)))
    assert rows == wanted(server.rows)


def test_a_place_with_some_groups_is_not_asked_for_all(server: TableServer, run: Fetch) -> None:
    told = run.fails(entry(rows_of(server), groups=["NM"]), query=replace(QUERY, groups=()))
    assert "it holds NM only, not all groups" in told


def test_a_file_with_another_checksum_is_refused(server: TableServer, run: Fetch) -> None:
    right = hashlib.sha256(server.csv()).hexdigest()
    told = run.fails(entry(file_of(server), sha256=WRONG))
    assert f"has SHA-256 {right} instead of {WRONG}" in told
    assert len(server.log) == 2, "the same file comes again, so it is not asked for again"
    assert not run.partial.exists()
    assert run(entry(file_of(server), sha256=right)) == server.rows
    packed = gzip.compress(server.csv(), mtime=0)
    digest = hashlib.sha256(packed).hexdigest()
    assert run(entry(f"{server.url}/table.csv.gz", sha256=digest)) == server.rows


# The paper's config without its publisher


@contextmanager
def publisher(way: str, hospitals: TableServer) -> Iterator[dict[str, Any]]:
    """A primary that does not deliver any more."""
    faults: dict[str, Fault] = {
        "status 404": status(404),
        "no connection, or it was cut": cut(2_000),
        "a web page instead": html("text/csv"),
        "ends in the middle": changed(framing="chunked", body=hospitals.csv()[:5_000]),
        "no answer within": changed(behaviour="silent"),
    }
    if way == "Connection refused":
        with dead_address() as dead:
            yield entry(f"{dead}/resource/table.csv")
    elif way == "cannot be found":
        yield entry("http://gone.invalid/resource/table.csv")
    elif way == "has SHA-256":
        yield entry(file_of(hospitals), sha256=WRONG)
    else:
        hospitals.faults["file"] = [faults[way]] * 4
        yield entry(file_of(hospitals))


@pytest.fixture(scope="module")
def hospitals() -> TableServer:
    """The table of simulated hospitals of the three states."""
    cells = simulate_hospitals({"NM": 4, "PA": 4, "CA": 5}, 30, datetime.date(2020, 8, 2), 7)
    return TableServer(tuple(cells.columns), [tuple(row) for row in cells.to_numpy()])


GONE = [
    "status 404", "Connection refused", "cannot be found", "no answer within",
    "no connection, or it was cut", "ends in the middle", "a web page instead", "has SHA-256",
]  # fmt: skip


@pytest.mark.parametrize("way", GONE)
def test_the_paper_survives_a_primary_that_is_gone(
    hospitals: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    config = load_experiment(ROOT / "config/config.yaml").config
    query = query_for(config.dataset, ["NM", "PA", "CA"])
    names = {name: f"{name}_there" for name in query.columns}
    there = [names.get(name, name) for name in hospitals.columns]
    mirrored = TableServer(tuple(there), hospitals.rows)
    with (
        serve(TableServer(hospitals.columns, hospitals.rows)) as first,
        serve(mirrored) as second,
        publisher(way, first) as primary,
    ):
        mirrors = [entry(rows_of(second), columns=names)]
        known = KnownTable.model_validate({"title": "x", "primary": primary, "mirrors": mirrors})
        monkeypatch.setattr("dpol.data.settings.known_tables", lambda: {"hhs-facility": known})
        limits = {"attempts": 2, "timeout_seconds": 0.3 if "within" in way else 20}
        source = config.dataset.source.model_copy(update=limits)
        fetch_table(source, query, run.destination, run.log.append, sleep=run.pauses.append)
    record = json.loads(run.provenance.read_text())
    assert record["url"] == rows_of(second)
    (failure,) = record["failed_before"]
    assert failure in run.log
    assert way in failure or way == "cannot be found", failure
    assert run.log[-1].endswith(f"rows from {rows_of(second)}")
    panel = clean_panel(
        read_table(run.destination, query.columns), config.dataset, config.streams
    ).table
    assert set(panel["stream"]) == {"NM", "PA", "CA"}


def test_when_all_places_are_gone_each_is_named(server: TableServer, run: Fetch) -> None:
    server.faults["file"] = [status(404)]
    partial = entry(rows_of(server), groups=["CA"])
    with dead_address() as dead, pytest.raises(FetchError) as raised:
        run(f"{dead}/t.csv", entry(file_of(server)), partial)
    lines = str(raised.value).splitlines()
    assert [line.split(": ")[0].strip() for line in lines[1:4]] == [
        f"file {dead}/t.csv", f"file {file_of(server)}", f"socrata {rows_of(server)}"
    ]  # fmt: skip
    assert [words in line for words, line in zip(
        ["Connection refused (tried 3x)", "status 404", "holds CA only"], lines[1:4], strict=True
    )] == [True] * 3  # fmt: skip
    assert f"place it by hand as {run.destination}" in str(raised.value)


# Delphi's Epidata API


def shortened(rows: list[Row]) -> list[dict[str, Any]]:
    """Rows as the API has them: beds are a number under a short name, or null."""
    return [
        {
            "hospital_pk": pk,
            "collection_week": int(day[:10].replace("-", "")),
            "state": state,
            "beds_7d_avg": float(beds) if beds.isdigit() else None,
        }
        for pk, day, state, beds in rows
    ]


SHORT = {**{name: name for name in COLUMNS}, "beds": "beds_7d_avg"}


def delphi(server: TableServer, **keys: Any) -> dict[str, Any]:
    url = f"{server.url}/epidata/hospitals/"
    return {"kind": "epidata", "url": url, "columns": SHORT, **keys}


def test_epidata_is_asked_for_the_hospitals_of_states(
    server: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpol.data.epidata.HOSPITALS", 4)
    rows = [row for row in server.rows if row[3] != "again" and (row[2], row[0]) != ("NM", "N4")]
    late = ("N4", "2022-01-07T00:00:00", "NM", "7")  # a hospital without a row in these weeks
    server.faults["file"] = [epidata(shortened([*rows, late]))] * 5
    fetched = run(delphi(server))
    assert [one.parameters for one in server.log[:3]] == [
        {"state": "NM"},
        {"state": "O'Brien"},
        {"hospital_pks": "N0,N1,N2,N3", "collection_weeks": "20210108-20210205"},
    ]
    expected = {
        (pk, day[:10], state, f"{float(beds)}" if beds.isdigit() else "")
        for pk, day, state, beds in wanted(rows)
    }
    assert set(fetched) == expected
    assert len(fetched) == len(expected) == ROWS_WANTED - 1 - 5
    assert read(run.destination) == fetched
    assert not must_fetch(QUERY, run.destination)


@pytest.mark.parametrize(
    ("keys", "answer", "told"),
    [
        ({}, epidata(shortened(table()), result=2, message="too many"), "result 2: too many"),
        ({}, epidata([]), "no row matches state in"),
        (
            {"columns": {**SHORT, "beds": "seats"}},
            epidata(shortened(table())),
            "has no column seats; it has",
        ),
        ({}, html(), "an answer that is not Epidata's JSON (tried 3x)"),
        ({}, changed(status=200, body=b"[1]"), "an answer that is not Epidata's JSON (tried 3x)"),
    ],
)
def test_epidata_that_cannot_be_used(
    server: TableServer, run: Fetch, keys: dict[str, Any], answer: Fault, told: str
) -> None:
    server.faults["file"] = [answer] * 9
    assert told in run.fails(delphi(server, **keys))
    assert not run.partial.exists()


def test_epidata_needs_states(server: TableServer, run: Fetch) -> None:
    told = run.fails(delphi(server), query=replace(QUERY, groups=()))
    assert "name dataset.columns.group" in told
