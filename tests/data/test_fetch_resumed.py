"""Files that arrive in pieces, and fetches that are killed."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from data.fetching import CUT, Crash, Fetch, file_of, rows_of, wanted
from data.http_server import (
    Answer,
    Fault,
    TableServer,
    changed,
    cut,
    edited,
    headed,
    status,
    then,
)
from dpol.data import endpoints, fetch
from dpol.errors import FetchError

REST = f"bytes={CUT}-"


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_cut_file_is_continued(big: TableServer, run: Fetch, name: str, framing: str) -> None:
    big.faults["file"] = [cut(CUT, framing)]
    assert run(f"{big.url}/{name}") == big.rows
    # The cut file, its version, the rest, its version.
    assert big.ranges() == [None, None, REST, None]
    assert big.log[2].headers["if-range"] == big.validators(f"/{name}")["ETag"]


@pytest.mark.parametrize("etag", [None, 'W/"weak"', "unquoted"])
def test_without_a_strong_etag_a_file_is_not_continued(
    big: TableServer, run: Fetch, etag: str | None
) -> None:
    weak = headed({"ETag": etag})
    big.faults["file"] = [lambda *to: cut(CUT)(to[0], weak(*to)), weak, weak]
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [None, None, None]


def rest_with(**headers: str | None) -> Fault:
    """A partial answer of new bytes with other headers."""

    def fault(server: TableServer, answer: Answer) -> Answer:
        assert answer.status == 206
        total = CUT + len(answer.body)
        named = {
            name.replace("_", "-"): value and value.format(last=total - 1, total=total)
            for name, value in headers.items()
        }
        return headed(named)(server, replace(answer, body=b"x" * (len(answer.body) - 1) + b"\n"))

    return fault


@pytest.mark.parametrize(
    "rest",
    [
        rest_with(ETag=None),
        rest_with(ETag='"other"'),
        rest_with(Content_Range=None),
        rest_with(Content_Range="bytes 0-{last}/{total}"),
        rest_with(Content_Range=f"bytes {CUT}-{CUT + 9}/{CUT + 10}"),
        rest_with(Content_Range=f"bytes {CUT}-{{last}}/*"),
        rest_with(Content_Range=f"bytes {CUT}-{CUT + 9}/{{total}}"),
        edited(lambda body: body[:-100]),
        changed(status=200, body=b"a new table\n"),
        status(416),
    ],
    ids=[
        "206 without ETag",
        "206 with another ETag",
        "no range",
        "another start",
        "another length",
        "no length",
        "another end",
        "too short",
        "whole",
        "416",
    ],
)
def test_a_wrong_rest_is_not_appended(big: TableServer, run: Fetch, rest: Fault) -> None:
    big.faults["file"] = [cut(CUT), None, rest]
    assert run(file_of(big)) == big.rows
    assert big.ranges()[:4] == [None, None, REST, None]


def test_a_file_that_changed_meanwhile_is_not_continued(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [lambda *to: cut(CUT)(to[0], then(list.reverse)(*to))]
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [None, None, None]


def test_the_next_call_goes_on_where_the_last_one_failed(big: TableServer, run: Fetch) -> None:
    big.faults["file"] = [cut(CUT), status(404)]
    with pytest.raises(FetchError, match=r"hhs.csv.gz.partial holds what has arrived"):
        run(file_of(big))
    big.log.clear()
    assert run(file_of(big)) == big.rows
    assert big.ranges() == [None, REST, None]
    assert not run.partial.exists()


def test_the_file_of_another_address_is_not_continued(big: TableServer, run: Fetch) -> None:
    same = headed({"ETag": '"same"'})
    big.faults["file"] = [lambda *to: cut(CUT)(to[0], same(*to)), status(404), same, same]
    assert run(file_of(big), f"{file_of(big)}?copy=2") == big.rows
    assert big.ranges() == [None] * 4


@pytest.mark.parametrize("length", [True, False])
def test_a_complete_file_of_a_stopped_call(
    big: TableServer, run: Fetch, monkeypatch: pytest.MonkeyPatch, length: bool
) -> None:
    way = changed(framing="length" if length else "chunked")
    big.faults["file"] = [way]
    with monkeypatch.context() as patch:
        patch.setattr(endpoints, "_packed", lambda *_: (_ for _ in ()).throw(Crash))
        with pytest.raises(Crash):
            run(file_of(big))
    big.log.clear()
    big.faults["file"] = [way]
    assert run(file_of(big)) == big.rows
    assert len(big.log) == (2 if length else 4)


def test_an_old_table_stays_until_the_new_one_is_complete(server: TableServer, run: Fetch) -> None:
    run(rows_of(server))
    old = run.destination.read_bytes(), run.provenance.read_bytes()
    server.faults["page"] = [status(404)]
    with pytest.raises(FetchError):
        run(rows_of(server))
    assert old == (run.destination.read_bytes(), run.provenance.read_bytes())


@pytest.mark.parametrize("address", [file_of, rows_of])
def test_a_killed_fetch_leaves_no_table_and_the_next_is_whole(
    big: TableServer, run: Fetch, address: Callable[[TableServer], str]
) -> None:
    kind = "file" if address is file_of else "page"
    if kind == "page":
        big.rows = [(row[0], "2021-01-08T00:00:00", *row[2:]) for row in big.rows]
    big.faults[kind] = [changed(behaviour="stall")]
    program = (
        "import sys; from pathlib import Path; from data import fetching\n"
        "from dpol.data.fetch import fetch_table\n"
        "fetch_table(fetching.source(sys.argv[1]), fetching.QUERY, Path(sys.argv[2]), print)\n"
    )
    paths = [str(Path(fetch.__file__).parents[2]), str(Path(__file__).parents[1])]
    child = subprocess.Popen(
        [sys.executable, "-c", program, address(big), str(run.destination)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
    )
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
    assert big.ranges()[1] == (REST if kind == "file" else None)
    assert not run.partial.exists()
    assert gzip.decompress(run.destination.read_bytes()).endswith(b"\n")
