"""Files that arrive in pieces, and fetches that are killed."""

from __future__ import annotations

import gzip
import signal
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from data.fetching import CUT, Fetch, file_of, rows_of, wanted
from data.http_server import (
    Answer,
    Fault,
    TableServer,
    changed,
    cut,
    headed,
    status,
    then,
)
from dpol.core.errors import FetchError

REST = f"bytes={CUT - 1}-"
"""The last byte is asked for again."""


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_cut_file_is_continued(big: TableServer, run: Fetch, name: str, framing: str) -> None:
    big.faults["file"] = [cut(CUT, framing), headed({"Last-Modified": None})]  # it need not repeat
    assert run(f"{big.url}/{name}") == big.rows
    assert big.ranges() == [None, REST, None]  # the last is for the version
    assert big.log[1].headers["if-range"] == big.validators(f"/{name}")["ETag"]


@pytest.mark.parametrize("etag", [None, 'W/"weak"', "unquoted"])
def test_without_a_strong_etag_a_file_is_not_continued(
    big: TableServer, run: Fetch, etag: str | None
) -> None:
    weak = headed({"ETag": etag})
    big.faults["file"] = [lambda *to: cut(CUT)(to[0], weak(*to)), weak, weak]
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [None, None, None]


def rest(size: int | None = None, **headers: str | None) -> Fault:
    """A rest of other bytes, or, with a `size`, the true one up to there."""

    def fault(server: TableServer, answer: Answer) -> Answer:
        assert answer.status == 206
        body = answer.body[:size] if size else b"x" * (len(answer.body) - 1) + b"\n"
        total = CUT - 1 + len(body)
        named = {"Content-Range": f"bytes {CUT - 1}-{total - 1}/{total}"}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        return headed(named)(server, replace(answer, body=body))

    return fault


def to_row_end(server: TableServer, answer: Answer) -> Answer:
    """A rest that ends with a row, but too early, and says that this is the end."""
    return rest(answer.body.index(b"\n", 100) + 1)(server, answer)


def new_file(server: TableServer, answer: Answer) -> Answer:
    """A rest of a file that has changed, from a server that does not look at If-Range."""
    whole = server.csv()
    place = {"Content-Range": f"bytes {CUT - 1}-{len(whole) - 1}/{len(whole)}"}
    return replace(answer, status=206, headers=answer.headers | place, body=whole[CUT - 1 :])


WRONG_RESTS = {
    "206 without ETag": rest(ETag=None),
    "206 with another ETag": rest(ETag='"other"'),
    "no range": rest(Content_Range=None),
    "another start": rest(Content_Range="bytes 0-9/10"),
    "another end": rest(size=10, Content_Range=f"bytes {CUT - 1}-{CUT + 8}/{CUT + 90}"),
    "too short": rest(size=10, Content_Range=f"bytes {CUT - 1}-{CUT + 98}/{CUT + 99}"),
    "no length": rest(Content_Range=f"bytes {CUT - 1}-{CUT + 8}/*"),
    "another length": to_row_end,
    "200": changed(status=200, body=b"a new table\n"),
    "416": status(416),
}


@pytest.mark.parametrize("wrong", WRONG_RESTS.values(), ids=WRONG_RESTS.keys())
def test_a_wrong_rest_is_not_appended(big: TableServer, run: Fetch, wrong: Fault) -> None:
    big.faults["file"] = [cut(CUT), wrong]
    assert run(file_of(big)) == big.rows
    assert big.ranges()[:2] == [None, REST]
    assert None in big.ranges()[2:-1] or big.ranges()[2:] == [None, None]


@pytest.mark.parametrize(
    "answer", [None, new_file, lambda *to: headed({"ETag": None})(to[0], new_file(*to))]
)
def test_a_file_that_changed_meanwhile_is_not_continued(
    big: TableServer, run: Fetch, answer: Fault | None
) -> None:
    big.faults["file"] = [lambda *to: cut(CUT)(to[0], then(list.reverse)(*to)), answer]
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [None, REST, None] + [None] * (answer is not None)


def test_the_next_call_goes_on_where_the_last_one_failed(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [cut(CUT), status(404)]
    with pytest.raises(FetchError, match=r"hhs.csv.gz.partial holds what has arrived"):
        run(file_of(big))
    big.log.clear()
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [REST, None]
    assert not run.partial.exists()


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_complete_file_is_not_sent_again_to_learn_its_version(
    big: TableServer, run: Fetch, framing: str
) -> None:
    big.faults["file"] = [changed(framing=framing), status(503), changed(framing=framing)]
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [None, None, f"bytes={len(big.csv()) - 1}-", None]


def test_an_old_table_stays_until_the_new_one_is_complete(server: TableServer, run: Fetch) -> None:
    run(rows_of(server))
    old = run.destination.read_bytes(), run.provenance.read_bytes()
    server.faults["page"] = [status(404)]
    with pytest.raises(FetchError):
        run(rows_of(server))
    assert old == (run.destination.read_bytes(), run.provenance.read_bytes())


def test_the_file_of_another_address_is_not_continued(big: TableServer, run: Fetch) -> None:
    same = headed({"ETag": '"same"'})
    big.faults["file"] = [lambda *to: cut(CUT)(to[0], same(*to)), status(404), same, same]
    assert run(file_of(big), f"{file_of(big)}?copy=2") == big.rows
    assert big.ranges() == [None, REST, None, None]


@pytest.mark.parametrize("address", [file_of, rows_of])
def test_a_killed_fetch_leaves_no_table_and_the_next_is_whole(
    big: TableServer, run: Fetch, address: Callable[[TableServer], str]
) -> None:
    kind = "file" if address is file_of else "page"
    if kind == "page":
        big.rows = [(row[0], "2021-01-08T00:00:00", *row[2:]) for row in big.rows]
    big.faults[kind] = [changed(behaviour="stall")]
    child = run.child(address(big))
    try:
        until = time.monotonic() + 30
        while not any(path.stat().st_size >= CUT for path in run.partial.glob("*")):
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert not run.destination.exists()
    big.log.clear()
    assert run(address(big)) == (big.rows if kind == "file" else wanted(big.rows))
    assert big.ranges()[0] == (REST if kind == "file" else None)
    assert not run.partial.exists()
    assert gzip.decompress(run.destination.read_bytes()).endswith(b"\n")
