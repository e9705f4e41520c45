"""Servers that fail, and what is asked of them again."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import replace
from email.utils import format_datetime

import pytest

from data.fetching import (
    PAGES,
    QUERY,
    ROWS_WANTED,
    Fetch,
    one_row_less,
    one_row_more,
    pages,
    wanted,
)
from data.http_server import (
    Answer,
    Fault,
    TableServer,
    cut,
    framed,
    html,
    packed,
    replaced,
    silence,
    status,
    then,
)

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
