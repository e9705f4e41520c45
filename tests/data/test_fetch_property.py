"""Whatever a server does: its table at one version arrives, or none."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.fetching import COLUMNS, WEEKS, Fetch, file_of, rows_of, wanted
from data.http_server import (
    Answer,
    Fault,
    Row,
    TableServer,
    changed,
    cut,
    headed,
    html,
    packed,
    serve,
    stale,
    status,
    then,
)
from dpol.core.errors import FetchError

ROWS = st.tuples(
    st.sampled_from(["a", "b"]),
    st.sampled_from([f"{week}T00:00:00" for week in WEEKS[1:4]]),
    st.sampled_from(["NM", "NM", "O'Brien", "CA"]),
    st.text(st.sampled_from('1é",\n'), max_size=3),
)


def to_row_end(place: int) -> Fault:
    """Send whole rows only, and no length."""
    return lambda _, answer: replace(
        answer, sent=answer.body.rfind(b"\n", 0, place) + 1 or None, framing="close"
    )


def some_rows(pick: Callable[[list[bytes]], list[bytes]]) -> Fault:
    """Leave out or repeat rows of a page."""

    def fault(server: TableServer, answer: Answer) -> Answer:
        header, *rows = answer.body.splitlines(keepends=True)
        body = b"".join([header, *pick(rows)])
        return replace(answer, body=body) if server.kinds()[-1] == "page" else answer

    return fault


places = st.integers(30, 400)
changes = st.one_of(
    st.sampled_from([list.reverse, list.pop, lambda rows: rows.append(rows[0])]),
    *[ROWS.map(lambda row: lambda rows: rows.__setitem__(0, row))] * 2,
)
FAULTS: st.SearchStrategy[Fault | None] = st.one_of(
    *[st.none(), changes.map(then)] * 2,
    st.lists(ROWS, min_size=2, max_size=8).map(stale),
    places.map(to_row_end),
    st.builds(cut, places, st.sampled_from(["length", "chunked", "close"])),
    st.sampled_from(["chunked", "close"]).map(lambda way: changed(framing=way)),
    st.just(some_rows(lambda rows: rows[1:])),
    st.just(some_rows(lambda rows: rows[:1] + rows[:-1])),
    st.just(some_rows(lambda rows: rows + rows[-1:])),
    st.sampled_from([packed(), packed(60), status(503), status(416), html()]),
    st.sampled_from([headed({"ETag": None}), headed({"Last-Modified": None})]),
)


def outcome(
    rows: list[Row],
    faults: dict[str, list[Fault | None]],
    cap: int,
    says: tuple[str, ...],
    address: Callable[[TableServer], str],
) -> str:
    """The outcome of a fetch, whose result must be right."""
    server = TableServer(COLUMNS, rows, cap=cap, says=says)
    server.faults = {kind: list(queue) for kind, queue in faults.items()}
    with serve(server), tempfile.TemporaryDirectory() as folder:
        run = Fetch(Path(folder))
        try:
            got = run(address(server))
        except FetchError:
            assert not run.destination.exists()
            return "refused"
    versions = [*server.history, server.rows]
    assert got in (versions if address is file_of else [wanted(version) for version in versions])
    return "fetched"


def test_a_table_at_one_version_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    seen: Counter[str] = Counter()

    @settings(max_examples=150, deadline=None)
    @given(
        rows=st.lists(ROWS, min_size=2, max_size=8),
        faults=st.fixed_dictionaries(
            {kind: st.lists(FAULTS, max_size=3) for kind in ("count", "page", "file")}
        ),
        cap=st.sampled_from([2, 3, 100]),
        says=st.sampled_from([(), ("ETag",), ("Last-Modified",), ("ETag", "Last-Modified")]),
        address=st.sampled_from([rows_of, file_of]),
    )
    def check(**case: Any) -> None:
        seen[outcome(**case)] += 1

    check()
    assert min(seen["refused"], seen["fetched"]) > 15, seen
