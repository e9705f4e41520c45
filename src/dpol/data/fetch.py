"""Fetching a table from the web: endpoint after endpoint, with a record of where it came from."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import FetchError, OutputError
from dpol.core.files import locked, sha256, write_json
from dpol.data.download import Client, plain, time_limit, with_retries
from dpol.data.endpoints import Fetched, fetch_file, fetch_rows, resumable
from dpol.data.settings import Dataset, Endpoint, WebSource

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

    @property
    def soql(self) -> dict[str, str]:
        """The query in the language of Socrata servers; with `:id` last, no two rows are equal."""
        select = ",".join(dict.fromkeys(self.columns))
        where = {"$where": text} if (text := " and ".join(self._conditions())) else {}
        return {"$select": select, **where, "$order": f"{self.period},{self.entity},:id"}

    def _conditions(self) -> list[str]:
        quoted = ",".join("'" + group.replace("'", "''") + "'" for group in self.groups)
        groups = [f"{self.group} in ({quoted})"] if self.group and quoted else []
        if self.first and self.last:
            between = f"'{self.first}T00:00:00' and '{self.last}T00:00:00'"
            return [*groups, f"{self.period} between {between}"]
        bounds = ((">=", self.first), ("<=", self.last))
        return groups + [f"{self.period} {sign} '{day}T00:00:00'" for sign, day in bounds if day]


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
    failures, partial = [], Path(f"{destination}.partial")
    if destination.is_dir():
        raise OutputError(f"cannot write {destination}: it is a folder; rename or remove it")
    with locked(destination):
        try:
            partial.mkdir(exist_ok=True)
            for endpoint in source.endpoints:
                log(f"fetching {endpoint.url}")
                try:
                    fetched = _fetch(endpoint, query, Client(source, sleep, log), partial)
                except FetchError as error:
                    log(failure := f"{endpoint.kind} {endpoint.url}: {plain(str(error))}")
                    failures.append(failure)
                    continue
                _publish(fetched, endpoint, query, destination)
                shutil.rmtree(partial)
                log(f"wrote {destination}, {fetched.rows:,} rows")
                return
        except OSError as error:
            what = f"{error.filename or destination}: {error.strerror or error}"
            remedy = f"make room or choose another place for {destination}, and run again"
            raise OutputError(f"cannot write {what}; {remedy}") from error
        finally:
            if not resumable(partial):
                shutil.rmtree(partial, ignore_errors=True)
    raise FetchError(_advice(failures, query, destination, partial))


def _fetch(endpoint: Endpoint, query: Query, client: Client, partial: Path) -> Fetched:
    """The table from one endpoint."""
    url = str(endpoint.url)

    def one_try() -> Fetched:
        if endpoint.kind == "socrata":
            return fetch_rows(client, url, query.soql, partial)
        return fetch_file(client, url, query.columns, partial)

    with time_limit(client.source.time_limit_minutes):
        return with_retries(client, one_try)


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


def _advice(failures: list[str], query: Query, destination: Path, partial: Path) -> str:
    """What failed at each endpoint, and what the user can do now."""
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
            f"  the rows that matter: {query.soql.get('$where', 'all')}; or",
            f"- work with simulated hospitals, without network: {_DEMO} (or: make demo)",
        ]
    )
