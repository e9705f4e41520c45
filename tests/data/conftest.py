from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from data.fetching import COLUMNS, Fetch, table
from data.http_server import TableServer, serve


@pytest.fixture
def server() -> Iterator[TableServer]:
    """A web server on this machine that misbehaves on demand."""
    with serve(TableServer(COLUMNS, table())) as running:
        yield running


@pytest.fixture
def big(server: TableServer) -> TableServer:
    """The server with a file of several read blocks, which hardly compresses."""
    server.rows = [
        (hashlib.sha256(str(number).encode()).hexdigest(), "2021-01-01", "NM", str(number))
        for number in range(4_000)
    ]
    return server


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fetch:
    """Fetch into a new folder, from this machine without a proxy."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return Fetch(tmp_path)
