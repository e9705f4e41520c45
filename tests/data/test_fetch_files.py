"""Whole files, without a query."""

from __future__ import annotations

import gzip
import hashlib
import json
from dataclasses import replace

import pytest

from data.fetching import COLUMNS, CUT, QUERY, Crash, Fetch, turn_around
from data.http_server import Answer, Fault, TableServer, cut, html, replaced, status, then
from dpol.data import fetch


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
