"""Fetching a table from the web: endpoint after endpoint, with a record of where it came from."""

from __future__ import annotations

import csv
import datetime
import importlib.metadata
import io
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from dpol.core.errors import FetchError, OutputError
from dpol.core.files import locked, packed_file, sha256, write_json
from dpol.data.download import Client, plain, with_retries
from dpol.data.endpoints import Fetched, fetch_file, fetch_rows, read_rows, resumable
from dpol.data.epidata import fetch_epidata
from dpol.data.query import Query
from dpol.data.settings import WebSource
from dpol.data.sources import Endpoint

_DEMO = "dpol demo"


def must_fetch(query: Query, destination: Path) -> bool:
    """True if a table is missing, or if dpol fetched it for another query than this one.

    A table without provenance was placed by hand, and is used as it is.
    """
    if not destination.exists():
        return True
    try:
        record = json.loads(Path(f"{destination}.provenance.json").read_text(encoding="utf-8"))
        recorded = record["query"]
    except (OSError, ValueError, LookupError, TypeError):
        return False
    return recorded is not None and recorded != query.soql


def fetch_table(
    source: WebSource,
    query: Query,
    destination: Path,
    log: Callable[[str], None],
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch a table into `destination` (`.csv.gz`) from the first endpoint that delivers.

    `<destination>.provenance.json`, written before it, says which one, and why others did not.
    Columns get the names of `query`. A `file` is fetched whole; `<destination>.partial/` keeps a
    part of it for the next call. A second call waits for the first. `sleep` pauses between tries.

    Raises:
        FetchError: no endpoint delivers.
        OutputError: the files cannot be written.
        ValueError: it is not called in the main thread, so that no time limit can be set.
    """
    failures, kept, places = [], Path(f"{destination}.partial"), source.places
    if destination.is_dir():
        raise OutputError(f"cannot write {destination}: it is a folder; rename or remove it")
    with locked(destination):
        try:
            kept.mkdir(exist_ok=True)
            for number, endpoint in enumerate(places, 1):
                log(f"fetching {endpoint.url} (place {number} of {len(places)})")
                client = Client(source, str(endpoint.url), kept, sleep, log)
                try:
                    fetched = _ask(client, endpoint, query)
                except FetchError as error:
                    log(failure := f"{endpoint.kind} {endpoint.url}: {plain(str(error))}")
                    failures.append(failure)
                    continue
                _publish(fetched, endpoint, query, destination, failures)
                shutil.rmtree(kept)
                log(f"wrote {destination}, {fetched.rows:,} rows from {endpoint.url}")
                return
        except OSError as error:
            what = f"{error.filename or destination}: {error.strerror or error}"
            raise OutputError(f"cannot write {what}; make room or choose another place") from error
        finally:
            if not resumable(kept):
                shutil.rmtree(kept, ignore_errors=True)
    raise FetchError(_advice(failures, query, destination, kept))


def _ask(client: Client, endpoint: Endpoint, query: Query) -> Fetched:
    """The table of one endpoint, its columns named as in the query."""
    asked = query.at(endpoint)
    tries = {
        "socrata": partial(fetch_rows, client, asked),
        "file": partial(fetch_file, client, asked, endpoint.sha256),
        "epidata": partial(fetch_epidata, client, asked),
    }
    fetched = with_retries(client, tries[endpoint.kind])
    if endpoint.columns is None:
        return fetched
    table = client.folder / "renamed.csv.gz"
    rows = read_rows(client, fetched.file)
    header = next(rows)
    places = [header.index(name) for name in asked.columns]
    with packed_file(table) as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(query.columns)
        writer.writerows([row[place] for place in places] for row in rows)
    return replace(fetched, file=table)


def _publish(
    fetched: Fetched,
    endpoint: Endpoint,
    query: Query,
    destination: Path,
    failures: Sequence[str],
) -> None:
    """Put the table and its provenance in place; never a table without provenance."""
    whole = endpoint.kind == "file" and endpoint.columns is None
    provenance = {
        "url": str(endpoint.url),
        "final_url": plain(fetched.address),
        "kind": endpoint.kind,
        "version": endpoint.version,
        "licence": endpoint.licence,
        "columns": endpoint.columns,
        "failed_before": failures,
        "query": None if whole else query.soql,
        "rows": fetched.rows,
        "etag": plain(fetched.version[0]),
        "last_modified": plain(fetched.version[1]),
        "retrieved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "sha256": sha256(fetched.file),
        "dpol": importlib.metadata.version("dpol"),
    }
    with fetched.file.open("rb") as stream:
        os.fsync(stream.fileno())
    write_json(f"{destination}.provenance.json", provenance)
    fetched.file.replace(destination)


def _advice(failures: list[str], query: Query, destination: Path, kept: Path) -> str:
    """The failure of each endpoint, and the user's ways out."""
    again = f"; {kept} holds what has arrived so far" if kept.exists() else ""
    return "\n".join(
        [
            f"cannot fetch {destination}; no endpoint delivered:",
            *(f"  {failure}" for failure in failures),
            "This machine may be offline, or behind a proxy. Then either",
            f"- run again when there is a connection{again}; or",
            f"- get the table on another machine and place it by hand as {destination}, "
            "a gzip-compressed CSV file",
            f"  with the columns {', '.join(query.columns)};",
            f"  the rows that matter: {query.where or 'all'}; or",
            f"- work with simulated hospitals, without network: {_DEMO} (or: make demo)",
        ]
    )
