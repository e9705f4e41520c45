"""Fetches that stop, and go on later."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from data.fetching import PAGE, QUERY, Crash, Fetch, one_row_more, pages, stop_at, wanted
from data.http_server import TableServer, dead_address, silence, status
from dpol.data import fetch
from dpol.errors import FetchError


def test_only_missing_pages_are_fetched_after_a_stop(server: TableServer, run: Fetch) -> None:
    with pytest.raises(Crash):
        run(pages(server), log=stop_at("30 of 46"))
    assert not run.destination.exists()
    assert server.offsets() == [0, 10, 20]
    server.log.clear()
    assert run(pages(server)) == wanted(server.rows)
    assert server.kinds() == ["count", "page", "page", "count"]
    assert server.offsets() == [30, 40]
    assert not run.partial.exists()


def test_pages_survive_a_failed_fetch(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, None, status(404)]
    with dead_address() as dead:
        message = run.fails(pages(server), f"{dead}/resource/table.csv")
    assert f"{run.partial} holds what has arrived" in message
    server.log.clear()
    run(pages(server))
    assert server.offsets() == [20, 30, 40]


@pytest.mark.parametrize("difference", ["count", "page size", "query", "address", "manifest"])
def test_pages_of_another_query_are_not_used(
    server: TableServer, run: Fetch, difference: str
) -> None:
    with pytest.raises(Crash):
        run(pages(server), log=stop_at("46 of 46"))
    server.log.clear()
    query, address, page_size = QUERY, pages(server), PAGE
    if difference == "count":
        one_row_more(server)
    elif difference == "page size":
        page_size = 6  # the kept page-00004 has 6 rows as well, but others
    elif difference == "query":
        query = replace(QUERY, entity="state")
    elif difference == "address":
        address = address.replace("127.0.0.1", "localhost")
    else:
        (run.partial / "manifest.json").write_text("{")
    rows = run(address, query=query, page_size=page_size)
    assert sorted(rows) == sorted(wanted(server.rows))
    assert server.offsets() == list(range(0, len(rows), page_size))


@pytest.mark.parametrize("damage", ["bytes", "row", "all"])
def test_a_damaged_page_is_fetched_again(server: TableServer, run: Fetch, damage: str) -> None:
    with pytest.raises(Crash):
        run(pages(server), log=stop_at("30 of 46"))
    page = run.partial / "page-00001.csv"
    content = page.read_bytes()
    last_row = content.rindex(b"\nN") + 1
    page.write_bytes(content[: {"bytes": -20, "row": last_row, "all": 0}[damage]])
    server.log.clear()
    assert run(pages(server)) == wanted(server.rows)
    assert server.offsets() == [10, 30, 40]


def test_a_killed_fetch_leaves_no_table_and_can_go_on(server: TableServer, run: Fetch) -> None:
    server.faults["page"] = [None, None, silence()]
    program = (
        "import sys; from pathlib import Path; from dpol.config import WebSource\n"
        "from dpol.data.fetch import fetch_table; from data import test_fetch\n"
        "source = WebSource(kind='web', endpoints=[dict(kind='socrata', url=sys.argv[1])],\n"
        "                   file='raw/hhs.csv.gz', page_size=10)\n"
        "fetch_table(source, test_fetch.QUERY, Path(sys.argv[2]), print)\n"
    )
    paths = [str(Path(fetch.__file__).parents[2]), str(Path(__file__).parents[1])]
    child = subprocess.Popen(
        [sys.executable, "-c", program, pages(server), str(run.destination)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 30
        while server.offsets() != [0, 10, 20] and time.monotonic() < until:
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert not run.destination.exists()
    server.log.clear()
    assert run(pages(server)) == wanted(server.rows)
    assert server.offsets() == [20, 30, 40]


def test_an_old_table_stays_until_the_new_one_is_complete(server: TableServer, run: Fetch) -> None:
    run(pages(server))
    old = run.destination.read_bytes()
    server.faults["page"] = [None, status(404)]
    with pytest.raises(FetchError):
        run(pages(server))
    assert run.destination.read_bytes() == old
