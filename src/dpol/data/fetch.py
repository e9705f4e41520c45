"""Fetching a table from the web: endpoint after endpoint, with a record of where it came from."""

from __future__ import annotations

import datetime
import errno
import gzip
import importlib.metadata
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import requests

from dpol.config import Dataset, Endpoint, WebSource
from dpol.data import download, socrata
from dpol.errors import FetchError, OutputError
from dpol.files import atomic_path, sha256, write_json

_DEMO = "snakemake --cores 2 --configfile config/demo.yaml"


@dataclass(frozen=True)
class Query:
    """What is needed of a table."""

    columns: tuple[str, ...]
    """Columns to select."""
    entity: str
    """Column that identifies an entity; with `period` it gives the rows a stable order."""
    period: str
    """Column with the start of the period."""
    group: str | None
    """Column with the group of the entity, if there is one."""
    groups: tuple[str, ...]
    """Values of the group column that are wanted; empty for all."""
    first: datetime.date | None
    """First period, included; None for the first in the table."""
    last: datetime.date | None
    """Last period, included; None for the last in the table."""


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """What a dataset needs of its table, for these values of the group column."""
    columns, periods = dataset.needed_columns, dataset.periods
    return Query(
        columns=tuple(columns.needed()),
        entity=columns.entity,
        period=columns.period,
        group=columns.group,
        groups=tuple(sorted(groups)) if columns.group else (),
        first=periods.first,
        last=periods.last,
    )


def must_fetch(query: Query, destination: Path) -> bool:
    """Whether a table is missing, or was fetched by dpol for another query than this one.

    A table without provenance was placed by hand, and is used as it is.
    """
    if not destination.exists():
        return True
    try:
        record = json.loads(Path(f"{destination}.provenance.json").read_text(encoding="utf-8"))
        recorded = record["query"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return recorded is not None and recorded != _selection(query).parameters


@dataclass(frozen=True)
class _Fetched:
    """A complete table, not yet at its place."""

    file: Path
    query: dict[str, str] | None
    rows: int | None


def fetch_table(
    source: WebSource,
    query: Query,
    destination: Path,
    log: Callable[[str], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch a table into `destination` (`.csv.gz`) from the first endpoint that delivers.

    `<destination>.provenance.json` is written beside it, before it. What arrives is kept in
    `<destination>.partial/`, where the next call finds it if this one is stopped. A `socrata`
    endpoint delivers what `query` asks for, a `file` endpoint the whole table. `sleep` pauses
    for a number of seconds between two tries of a request.

    Raises:
        FetchError: no endpoint delivers.
        OutputError: the files cannot be written.
    """
    destination = Path(destination)
    partial = Path(f"{destination}.partial")
    failures = []
    try:
        _check_writable(destination, partial)
        with requests.Session() as session:
            session.headers["User-Agent"] = f"dpol/{importlib.metadata.version('dpol')}"
            http = download.Http(session, source.attempts, source.timeout_seconds, sleep, log)
            for endpoint in source.endpoints:
                log(f"fetching {endpoint.url}")
                try:
                    fetched = _fetch(http, endpoint, query, source.page_size, partial)
                except FetchError as error:
                    log(f"{endpoint.url}: {error}")
                    failures.append(f"{endpoint.kind} {endpoint.url}: {error}")
                else:
                    _publish(fetched, endpoint, destination)
                    shutil.rmtree(partial, ignore_errors=True)
                    log(f"wrote {destination}")
                    return
        if not any(partial.glob("page-*.csv")) and not (partial / "file.part").exists():
            shutil.rmtree(partial)
    except OSError as error:
        raise OutputError(
            f"cannot write {error.filename or destination}: {error.strerror or error}; "
            f"make room or choose another place for {destination}, and run again"
        ) from error
    raise FetchError(_advice(failures, query, destination, partial))


def _fetch(
    http: download.Http, endpoint: Endpoint, query: Query, page_size: int, partial: Path
) -> _Fetched:
    """The table from one endpoint, as a gzip file in `partial`."""
    selection, table = _selection(query), partial / "table.csv.gz"
    if endpoint.kind == "file":
        file = download.fetch_file(http, str(endpoint.url), selection.columns, partial)
        if download.is_gzip(file):
            return _Fetched(file, None, None)  # unchanged, so that published checksums hold
        with file.open("rb") as stream:
            _pack(iter(lambda: stream.read(download.CHUNK), b""), table)
        return _Fetched(table, None, None)
    rows = socrata.fetch_pages(http, str(endpoint.url), selection, page_size, partial)
    _pack(socrata.joined(partial), table)
    return _Fetched(table, selection.parameters, rows)


def _selection(query: Query) -> socrata.Selection:
    where = socrata.where_clause(query.group, query.groups, query.period, query.first, query.last)
    columns = tuple(dict.fromkeys(query.columns))
    return socrata.Selection(columns, where, f"{query.period},{query.entity},:id")


def _pack(chunks: Iterable[bytes], file: Path) -> None:
    """Compress; equal content gives equal bytes, so neither name nor time goes in."""
    with (
        atomic_path(file) as temporary,
        temporary.open("wb") as stream,
        gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0) as packed,
    ):
        for chunk in chunks:
            packed.write(chunk)


def _publish(fetched: _Fetched, endpoint: Endpoint, destination: Path) -> None:
    """Put the table and its provenance in place; never a table without provenance."""
    provenance: dict[str, object] = {
        "url": str(endpoint.url),
        "kind": endpoint.kind,
        "query": fetched.query,
        "retrieved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "sha256": sha256(fetched.file),
        "dpol": importlib.metadata.version("dpol"),
    }
    if fetched.rows is not None:
        provenance["rows"] = fetched.rows
    with fetched.file.open("rb") as stream:
        os.fsync(stream.fileno())
    write_json(f"{destination}.provenance.json", provenance)
    fetched.file.replace(destination)


def _check_writable(destination: Path, partial: Path) -> None:
    """Raise before anything is fetched in vain."""
    if destination.is_dir():
        raise OutputError(f"cannot write {destination}: it is a folder; rename or remove it")
    partial.mkdir(parents=True, exist_ok=True)
    for folder in (partial, destination.parent):
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "permission denied", str(folder))


def _advice(failures: list[str], query: Query, destination: Path, partial: Path) -> str:
    """What failed at each endpoint, and what the user can do now."""
    rows = []
    if query.group and query.groups:
        rows.append(f"{query.group} is {' or '.join(query.groups)}")
    if query.first:
        rows.append(f"{query.period} is {query.first} or later")
    if query.last:
        rows.append(f"{query.period} is {query.last} or earlier")
    again = f"; {partial} holds what has arrived so far" if partial.exists() else ""
    return "\n".join(
        [
            f"cannot fetch {destination}; no endpoint delivered:",
            *(f"  {failure}" for failure in failures),
            "This machine may be offline, or behind a proxy. Then either",
            f"- run again when there is a connection{again}; or",
            f"- get the table on another machine and place it by hand as {destination}, "
            "a gzip-compressed CSV file",
            f"  with the columns {', '.join(dict.fromkeys(query.columns))};",
            f"  the rows that matter: {', '.join(rows) or 'all'}; or",
            f"- work with simulated hospitals, without network: {_DEMO} (or: make demo)",
        ]
    )
