"""Fetching a table from the web: whole, from the first endpoint that delivers it, or not at all."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import importlib.metadata
import itertools
import json
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from dpol.core.errors import DataError, FetchError
from dpol.core.files import atomic_path, locked, packed_file, sha256, write_json
from dpol.core.words import printable
from dpol.data.settings import Dataset, PackageSource, WebSource
from dpol.data.sources import Endpoint
from dpol.data.values import columns_of

_GZIP = b"\x1f\x8b"
LONGEST_PAUSE = 600
"""Longest pause before another try in seconds, whatever a server asks for."""
_HEADERS = {
    "User-Agent": f"dpol/{importlib.metadata.version('dpol')}",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-cache",
}


@dataclass(frozen=True)
class Query:
    """The part of a table that a dataset needs.

    Args:
        columns: names of the columns, each once; empty for all.
        where: the rows, as a condition in the language of Socrata servers; empty for all.
        order: the order of the rows.
    """

    columns: tuple[str, ...]
    where: str
    order: str

    @property
    def soql(self) -> dict[str, str]:
        """The parameters of a request to a Socrata server."""
        parts = {"$select": ",".join(self.columns), "$where": self.where, "$order": self.order}
        return {name: part for name, part in parts.items() if part}


def query_for(dataset: Dataset, groups: Iterable[str]) -> Query:
    """The query for a dataset's part of its table, with these values of the group column.

    An archive is fetched whole, without a query.
    """
    if isinstance(dataset.source, PackageSource | WebSource) and dataset.source.member:
        return Query((), "", "")
    columns, first, last = dataset.needed_columns, dataset.periods.first, dataset.periods.last
    where = []
    if columns.group and groups:
        quoted = ",".join("'" + group.replace("'", "''") + "'" for group in sorted(groups))
        where.append(f"{columns.group} in ({quoted})")
    if not isinstance(columns.period, str):
        first = last = None  # cleaning chooses among years and months
    if first and last:
        where.append(f"{columns.period} between '{first}T00:00:00' and '{last}T00:00:00'")
    elif first:
        where.append(f"{columns.period} >= '{first}T00:00:00'")
    elif last:
        where.append(f"{columns.period} <= '{last}T00:00:00'")
    order = ",".join([*columns_of(columns.period), columns.entity, ":id"])
    return Query(tuple(dataset.read_columns or ()), " and ".join(where), order)


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
    source: WebSource, query: Query, destination: Path, log: Callable[[str], None]
) -> None:
    """Fetch a table into `destination` (`.csv.gz`) from the first endpoint that delivers.

    `<destination>.provenance.json`, written before it, says which one, and why others did not.
    A `file` is fetched whole. A second call waits for the first.

    Raises:
        FetchError: no endpoint delivers.
        OutputError: the table cannot be written.
    """
    failures: list[str] = []
    with locked(destination), atomic_path(destination) as table:
        for endpoint in source.places:
            log(f"fetching {endpoint.url}")
            try:
                delivered = _fetch(endpoint, query, table, source)
            except FetchError as error:
                failures.append(f"{endpoint.kind} {endpoint.url}: {_plain(str(error))}")
                log(failures[-1])
                continue
            provenance = {
                "url": str(endpoint.url),
                "kind": endpoint.kind,
                "version": endpoint.version,
                "licence": endpoint.licence,
                "failed_before": failures,
                "query": query.soql if endpoint.kind == "socrata" else None,
                "retrieved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "sha256": sha256(table),
                "dpol": importlib.metadata.version("dpol"),
                **delivered,
            }
            write_json(f"{destination}.provenance.json", provenance)
            rows = delivered.get("rows")
            log(f"{'an archive' if rows is None else f'{rows:,} rows'} from {endpoint.url}")
            return
        lines = "".join(f"\n  {failure}" for failure in failures)
        needed = (
            f"an archive with {source.member}; or"
            if source.member
            else "a gzip-compressed CSV file\n"
            f"  with the columns {', '.join(query.columns)};\n"
            f"  the rows that matter: {query.where or 'all'}; or"
        )
        raise FetchError(
            f"cannot fetch {destination}; no endpoint delivered:{lines}\n"
            "This machine may be offline, or behind a proxy. Then either\n"
            "- run again when there is a connection; or\n"
            f"- get the table on another machine and place it by hand as {destination}, {needed}\n"
            "- work with hospitals that come with dpol, without network: dpol demo (or: make demo)"
        )


class _BrokenError(Exception):
    """An answer that is not good, though the next one may be; the text says why."""


class _Retry(urllib3.Retry):
    """Tries with growing pauses; a server may ask for longer ones, up to `LONGEST_PAUSE`.

    A host without an address is tried once: a machine without network gets none.
    """

    def increment(self, *args: Any, **facts: Any) -> _Retry:
        error = facts.get("error")
        if isinstance(error, urllib3.exceptions.NameResolutionError):
            raise error
        return super().increment(*args, **facts)

    def get_retry_after(self, response: Any) -> float | None:
        try:
            asked = super().get_retry_after(response)
        except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
            return None
        return asked and min(asked, LONGEST_PAUSE)


def _fetch(endpoint: Endpoint, query: Query, table: Path, source: WebSource) -> dict[str, Any]:
    """The table of one endpoint; what may pass is tried again, with growing pauses."""
    retries = _Retry(
        total=source.attempts - 1,
        status_forcelist=(202, 408, 429, *range(500, 600)),
        backoff_factor=0.5,
        raise_on_status=False,
    )
    with requests.Session() as session:
        session.headers.update(_HEADERS)
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retries))
        for number in range(1, source.attempts + 1):
            try:
                return _fetch_once(
                    session, endpoint, query, table, source.timeout_seconds, source.member
                )
            except _BrokenError as error:
                broken = f"{error} (tried {number}x)"
    raise FetchError(broken)


def _fetch_once(
    session: requests.Session,
    endpoint: Endpoint,
    query: Query,
    table: Path,
    silence: float,
    member: str | None,
) -> dict[str, Any]:
    """One try to download a CSV file, plain or gzip, or an archive, and to find it whole.

    Returns what the provenance says of it: its number of rows, and the final address and version
    that the headers state.

    Raises:
        _BrokenError: something that may pass, such as a body cut short.
        FetchError: the file does not come, or is not a table with the columns.
    """
    from dpol.data.archives import extract_table
    from dpol.data.table import read_table

    url, parameters, total = str(endpoint.url), dict[str, str](), None
    if endpoint.kind == "socrata":
        to_count = {"$select": "count(*)", **({"$where": query.where} if query.where else {})}
        with _get(session, url, to_count, silence) as answer:
            count = re.fullmatch(r'"?count"?\s+"?([0-9]{1,12})"?\s*', answer.text)
        if not count:
            raise _BrokenError(f"no row count: {answer.text[:80]!r}")
        total = int(count[1])
        if not total:
            raise FetchError(f"no row matches {query.where or 'the query'}")
        # With room for one row more than counted, a new row shows.
        parameters = {**query.soql, "$limit": str(total + 1)}

    digest, received, pinned = hashlib.sha256(), 0, endpoint.sha256
    with _get(session, url, parameters, silence) as answer:
        stated = re.fullmatch("[0-9]{1,18}", answer.headers.get("Content-Length", ""))
        coding = answer.headers.get("Transfer-Encoding", "").lower()
        if not (pinned or coding == "chunked" or (stated and not coding)):
            raise FetchError(
                "states no length, so that a file cut short would look whole; give this endpoint"
                " the sha256 of the file"
            )
        chunks = answer.raw.stream(1 << 16, decode_content=False)
        first = next(chunks, b"")
        while len(first) < len(_GZIP) and (more := next(chunks, b"")):
            first += more
        packed = member is not None or first.startswith(_GZIP)
        # What is packed stays as it is, so that published checksums hold.
        with table.open("wb") if packed else packed_file(table) as stream:
            for chunk in itertools.chain([first], chunks):
                digest.update(chunk)
                stream.write(chunk)
                received += len(chunk)
    if pinned not in (None, digest.hexdigest()):
        raise FetchError(f"has SHA-256 {digest.hexdigest()} instead of {pinned}")
    if not pinned and stated and received != int(stated[0]):
        raise _BrokenError(f"{received:,} bytes instead of {int(stated[0]):,}")
    # The length of a packed file says nothing of the table that was packed.
    whole = pinned or member or (stated and not packed)
    if not whole and not _ends_with_a_line(table):
        raise _BrokenError("ends in the middle of a line")
    rows = None
    try:
        if member is None:
            rows = len(read_table(table, query.columns or None).cells)
        else:
            with tempfile.TemporaryDirectory() as folder:
                extract_table(table, member, Path(folder, "table"))
    except DataError as error:
        raise FetchError(str(error).removeprefix(str(table)).lstrip(",: ")) from None
    if total not in (None, rows):
        raise _BrokenError(f"{rows:,} rows instead of {total:,}")
    return {
        **({} if rows is None else {"rows": rows}),
        "final_url": _plain(answer.url.partition("?")[0]),
        "etag": _plain(answer.headers.get("ETag", "")),
        "last_modified": _plain(answer.headers.get("Last-Modified", "")),
    }


def _ends_with_a_line(table: Path) -> bool:
    """Whether the last line of a packed table has its end; also true for a damaged one."""
    last = b""
    with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(table) as unpacked:
        while chunk := unpacked.read(1 << 20):
            last = chunk
        return last.endswith(b"\n")
    return True  # reading it says what is wrong


@contextmanager
def _get(
    session: requests.Session, url: str, parameters: Mapping[str, str], silence: float
) -> Iterator[requests.Response]:
    """An answer with status 200, its body not yet read.

    Raises:
        _BrokenError: the body, which the caller reads, is cut short.
        FetchError: no answer, another status, or a redirect that gives up encryption.
    """
    try:
        answer = session.get(url, params=parameters, timeout=silence, stream=True)
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise FetchError(f"no answer: {_innermost(error)}") from error
    with answer:
        if url.startswith("https:") and not answer.url.startswith("https:"):
            raise FetchError(f"redirects to {answer.url}, which is not encrypted")
        if answer.status_code != 200:
            raise FetchError(f"status {answer.status_code} {answer.reason}")
        try:
            yield answer
        except (requests.RequestException, urllib3.exceptions.HTTPError) as error:
            raise _BrokenError(f"the answer was cut: {_innermost(error)}") from error


def _innermost(error: BaseException) -> str:
    """The words of the deepest cause; the outer ones only repeat addresses and class names."""
    inside = [getattr(error, "reason", None), *error.args, error.__cause__]
    for deeper in inside:
        if isinstance(deeper, BaseException):
            return _innermost(deeper)
    return getattr(error, "strerror", None) or str(error)


def _plain(text: str) -> str:
    """Text from a server as one line without control characters, of at most 400 characters."""
    return printable(" ".join(text.split()))[:400]
