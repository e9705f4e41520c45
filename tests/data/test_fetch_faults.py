"""Servers that fail, change or lie: a table is taken as a whole one, or not at all."""

from __future__ import annotations

import datetime
import gzip
import zlib
from collections.abc import Callable
from dataclasses import replace
from email.utils import format_datetime

import pytest

from data.fetching import COLUMNS, NAMED, WEEKS, Fetch, file_of, rows_of, wanted
from data.http_server import (
    Answer,
    Fault,
    Row,
    TableServer,
    changed,
    cut,
    edited,
    headed,
    html,
    packed,
    replaced,
    status,
    then,
)
from dpol.core.errors import FetchError
from dpol.data.download import check_encryption
from dpol.data.query import Query

NEW = ("N9", f"{WEEKS[2]}T00:00:00", "NM", "new")


def revise(rows: list[Row]) -> None:
    """Change numbers, but not how many rows there are."""
    rows[:] = [(*row[:3], "7") for row in rows]


CHANGES: dict[str, Callable[[list[Row]], object]] = {
    "revised": revise,
    "one row less": lambda rows: rows.remove(wanted(rows)[-1]),
    "one row more": lambda rows: rows.append(NEW),
    "one row for another": lambda rows: rows.__setitem__(rows.index(wanted(rows)[0]), NEW),
}

# Faults that pass


def test_retry_after_is_honoured(server: TableServer, run: Fetch) -> None:
    when = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=90)
    date = format_datetime(when, usegmt=True)
    server.faults["page"] = [status(429, Retry_After="37"), status(503, Retry_After=date)]
    assert run(rows_of(server)) == wanted(server.rows)
    assert run.pauses[0] == 37.0
    assert 60 < run.pauses[1] <= 90
    assert any("status 429" in line and "try 2 of 3 in 37 s" in line for line in run.log)


def test_a_server_that_wants_hours_counts_as_failed(server: TableServer, run: Fetch) -> None:
    server.faults["count"] = [status(429, Retry_After="86400")]
    assert "asks for a pause of more than 600 s" in run.fails(rows_of(server))
    assert run.pauses == []


@pytest.mark.parametrize("value", ["soon", "-5", ""])
def test_a_senseless_retry_after_is_ignored(server: TableServer, run: Fetch, value: str) -> None:
    server.faults["count"] = [status(429, Retry_After=value)]
    run(rows_of(server))
    assert len(run.pauses) == 1
    assert 1 <= run.pauses[0] <= 2


def test_pauses_grow(server: TableServer, run: Fetch) -> None:
    server.faults["count"] = [status(500), status(408), status(202)]
    assert run(rows_of(server), attempts=4) == wanted(server.rows)
    assert all(low <= pause <= low + 1 for low, pause in zip((1, 2, 4), run.pauses, strict=True))


PASSING: dict[str, Fault] = {
    "cut": cut(50),
    "cut before anything": cut(0),
    "cut in a chunk": cut(50, framing="chunked"),
    "cut at the end of a chunk": cut(-20, framing="chunked"),
    "cut while compressed": packed(sent=60),
    "Content-Length too large": headed({"Content-Length": "10000"}),
    "damaged gzip": edited(lambda body: gzip.compress(body)[:-8] + b"x" * 8),
    "web page": html(),
    "web page called CSV": html("text/csv"),
}
BAD_ANSWERS: dict[str, dict[str, Fault]] = {
    "file": PASSING,
    "page": {
        **PASSING,
        "cut in a row, no length stated": cut(50, framing="close"),
        "cut in the last number, no length stated": cut(-2, framing="close"),
        "other header": replaced("beds", "seats"),
        "JSON": edited(lambda _: b"[]\n"),
    },
    "count": {
        "cut": cut(8),
        "web page": html("text/csv"),
        "no number": edited(lambda _: b"count\nmany\n"),
        "two counts": edited(lambda body: body + b"46\n"),
    },
}


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, faults in BAD_ANSWERS.items() for name in faults]
)
def test_a_bad_answer_is_asked_for_again(
    server: TableServer, run: Fetch, kind: str, name: str
) -> None:
    fault = BAD_ANSWERS[kind][name]
    if kind == "file":
        server.says = ()
    server.faults[kind] = [None, fault] if kind == "count" else [fault]
    right = server.rows if kind == "file" else wanted(server.rows)
    assert run((file_of if kind == "file" else rows_of)(server)) == right
    assert len(run.pauses) == 1


# A table that changes, or whose pages do not fit


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("cap", [20, 100])
@pytest.mark.parametrize("kind", ["count", "page"])
def test_a_table_that_changes_after_an_answer_is_read_again(
    server: TableServer,
    run: Fetch,
    change: Callable[[list[Row]], object],
    cap: int,
    kind: str,
) -> None:
    server.cap, server.says = cap, ("Last-Modified",)
    server.faults[kind] = [then(change)]
    assert run(rows_of(server)) == wanted(server.rows)
    assert len(run.pauses) == 1
    words = ("the table changed while it was read; try", "45 rows instead of 46; try")
    assert any(line.startswith(words) for line in run.log)


@pytest.mark.parametrize("says", [(), ("ETag",)])
def test_rows_without_last_modified_are_refused(
    server: TableServer, run: Fetch, says: tuple[str, ...]
) -> None:
    server.says = says
    assert "sends no Last-Modified" in run.fails(rows_of(server))


@pytest.mark.parametrize("says", ["ETag", "Last-Modified"])
def test_a_file_that_changes_while_it_is_sent(server: TableServer, run: Fetch, says: str) -> None:
    def mixed(server: TableServer, answer: Answer) -> Answer:
        then(list.reverse)(server, answer)
        half = len(answer.body) // 2
        return replace(answer, body=answer.body[:half] + server.csv()[half:])

    server.says = (says,)
    server.rows = [(*row[:3], "123") for row in server.rows]
    server.faults["file"] = [mixed]
    assert run(file_of(server)) == server.rows
    assert any("the table changed while it was read" in line for line in run.log)


def overlap(server: TableServer, answer: Answer) -> Answer:
    """A page that begins with the last row of the page before."""
    header, *rows = answer.body.splitlines(keepends=True)
    lines = [header, b"N0,2021-01-08T00:00:00,NM,again,row-0\n", *rows[:-1]]
    return replace(answer, body=b"".join(lines))


ONLY_A_HEADER = edited(lambda body: body.partition(b"\n")[0] + b"\n")
LATIN = edited(lambda body: body.decode().encode("latin-1"))
NEVER_WHOLE: list[tuple[str, Fault, str]] = [
    ("page", overlap, "the table changed while it was read (tried 3x)"),
    ("page", ONLY_A_HEADER, "20 rows instead of 46 (tried 3x)"),
    ("page", replaced(",NM,", ",NM,,"), "row 1 has 6 fields instead of 5"),
    ("page", replaced(",NM,", ',"NM"x,'), "is not CSV in row 1"),
    ("page", LATIN, "is not UTF-8 text"),
    ("page", replaced("NM", "N\0M"), "has a NUL byte"),
    ("page", status(403, "no \x1b[31m column \x9b"), "status 403 Forbidden: no ?[31m column ?"),
    ("file", ONLY_A_HEADER, "has a header but no rows"),
    ("file", edited(lambda _: b""), "has no column hospital_pk"),
    ("file", replaced("beds", "seats"), "has no column beds; it has hospital_pk, coll"),
    ("file", LATIN, "is not UTF-8 text"),
    ("file", edited(lambda body: gzip.compress(body.replace(b"\xc3", b""))), "is not UTF-8 text"),
    ("file", replaced("NM", "N\0M"), "has a NUL byte"),
    ("file", edited(lambda body: body[:-2]), "ends in the middle of a line (tried 3x)"),
    ("file", edited(lambda body: body + b'"\n'), "is not CSV in row"),
    ("file", changed(framing="close"), "states no length"),
]


@pytest.mark.parametrize(("kind", "fault", "words"), NEVER_WHOLE)
def test_answers_that_are_never_whole(
    server: TableServer, run: Fetch, kind: str, fault: Fault, words: str
) -> None:
    server.cap = 20
    server.faults[kind] = [fault] * 6 if kind == "file" else [None, fault] * 3
    assert words in run.fails((file_of if kind == "file" else rows_of)(server))
    assert not run.partial.exists()


def test_a_query_that_no_row_matches(server: TableServer, run: Fetch) -> None:
    query = Query(NAMED, ("Atlantis",))
    assert "no row matches state in ('Atlantis')" in run.fails(rows_of(server), query=query)
    assert server.kinds() == ["count"]


# Redirects


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("http://[::1", "cannot be asked"),
        ("gopher://example.invalid/", "cannot be asked"),
        ("http://" + "a" * 70 + ".invalid/\x1b[31m", ""),
        ("/table.csv", "Exceeded 30 redirects"),
    ],
)
def test_redirects_that_lead_nowhere(
    server: TableServer, run: Fetch, location: str, words: str
) -> None:
    server.faults["file"] = [status(302, Location=location)] * 40
    assert words in run.fails(file_of(server))


def test_a_redirect_does_not_give_up_encryption() -> None:
    check_encryption(["http://a.invalid/", "http://b.invalid/", "https://c.invalid/"])
    with pytest.raises(FetchError, match=r"redirects to http://b.invalid/t, which is not encr"):
        check_encryption(["https://a.invalid/", "https://c.invalid/", "http://b.invalid/t"])


# Servers that drip or flood: the limits of time and size, and of memory


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
