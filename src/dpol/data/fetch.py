"""Fetching a table from the web: endpoint after endpoint, with a record of where it came from."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from dpol.core.errors import FetchError, OutputError
from dpol.core.files import locked, sha256, write_json
from dpol.data.download import Client, plain, with_retries
from dpol.data.endpoints import Fetched, Query, fetch_file, fetch_rows, resumable
from dpol.data.settings import Dataset, Endpoint, WebSource

_FETCH = {"socrata": fetch_rows, "file": fetch_file}
_MOVED = datetime.timedelta(days=3)
_DEMO = "snakemake --cores 2 --configfile config/demo.yaml"


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """What a dataset needs of its table, for these values of the group column."""
    columns, first, last = dataset.needed_columns, dataset.periods.first, dataset.periods.last
    if dataset.periods.align:  # weeks that are moved into the periods
        first, last = first and first - _MOVED, last and last + _MOVED
    quoted = ",".join("'" + group.replace("'", "''") + "'" for group in sorted(groups))
    where = [f"{columns.group} in ({quoted})"] if columns.group and quoted else []
    if first and last:
        where.append(f"{columns.period} between '{first}T00:00:00' and '{last}T00:00:00'")
    elif day := first or last:
        where.append(f"{columns.period} {'>=' if first else '<='} '{day}T00:00:00'")
    order = f"{columns.period},{columns.entity},:id"
    return Query(tuple(columns.needed()), " and ".join(where), order)


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

    `<destination>.provenance.json` is written before it. A `socrata` endpoint delivers what
    `query` asks for, a `file` endpoint the whole table; `<destination>.partial/` keeps a part of
    it for the next call. A second call waits for the first. `sleep` pauses between two tries.

    Raises:
        FetchError: no endpoint delivers.
        OutputError: the files cannot be written.
        ValueError: it is not called in the main thread, so that no time limit can be set.
    """
    failures, kept = [], Path(f"{destination}.partial")
    if destination.is_dir():
        raise OutputError(f"cannot write {destination}: it is a folder; rename or remove it")
    with locked(destination):
        try:
            kept.mkdir(exist_ok=True)
            for endpoint in source.endpoints:
                log(f"fetching {endpoint.url}")
                client = Client(source, str(endpoint.url), kept, sleep, log)
                try:
                    fetched = with_retries(client, partial(_FETCH[endpoint.kind], client, query))
                except FetchError as error:
                    log(failure := f"{endpoint.kind} {endpoint.url}: {plain(str(error))}")
                    failures.append(failure)
                    continue
                _publish(fetched, endpoint, query, destination)
                shutil.rmtree(kept)
                log(f"wrote {destination}, {fetched.rows:,} rows")
                return
        except OSError as error:
            what = f"{error.filename or destination}: {error.strerror or error}"
            raise OutputError(f"cannot write {what}; make room or choose another place") from error
        finally:
            if not resumable(kept):
                shutil.rmtree(kept, ignore_errors=True)
    raise FetchError(_advice(failures, query, destination, kept))


def _publish(fetched: Fetched, endpoint: Endpoint, query: Query, destination: Path) -> None:
    """Put the table and its provenance in place; never a table without provenance."""
    provenance = {
        "url": str(endpoint.url),
        "final_url": plain(fetched.address),
        "kind": endpoint.kind,
        "query": query.soql if endpoint.kind == "socrata" else None,
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
    """What failed at each endpoint, and what the user can do now."""
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
