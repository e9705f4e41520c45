"""Fetching a table from the web: whole, from the first endpoint that delivers it, or not at all."""

from __future__ import annotations

import csv
import datetime
import hashlib
import importlib.metadata
import io
import itertools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import requests
import urllib3
from requests.adapters import HTTPAdapter

from dpol.core.errors import DataError, FetchError
from dpol.core.files import atomic_path, locked, packed_file, sha256, write_json
from dpol.core.words import printable
from dpol.data.settings import Dataset, WebSource
from dpol.data.sources import Endpoint

PAGE = 50_000
"""Rows asked for at once: what a server of SODA 2.0 sends at most."""
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
        columns: names of the columns, each once.
        where: the rows, as a condition in the language of Socrata servers; empty for all.
        order: the order of the rows, in which no two are equal.
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
    """The query for a dataset's part of its table, with these values of the group column."""
    columns, first, last = dataset.needed_columns, dataset.periods.first, dataset.periods.last
    where = []
    if columns.group and groups:
        quoted = ",".join("'" + group.replace("'", "''") + "'" for group in sorted(groups))
        where.append(f"{columns.group} in ({quoted})")
    if first and last:
        where.append(f"{columns.period} between '{first}T00:00:00' and '{last}T00:00:00'")
    elif first:
        where.append(f"{columns.period} >= '{first}T00:00:00'")
    elif last:
        where.append(f"{columns.period} <= '{last}T00:00:00'")
    order = f"{columns.period},{columns.entity},:id"
    return Query(tuple(columns.needed()), " and ".join(where), order)


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
                **asdict(delivered),
            }
            write_json(f"{destination}.provenance.json", provenance)
            log(f"{delivered.rows:,} rows from {endpoint.url}")
            return
        raise FetchError(_advice(failures, query, destination))


@dataclass(frozen=True, kw_only=True)
class _Delivered:
    """Facts about a whole table: its rows, and the final address and version that headers state."""

    rows: int
    final_url: str
    etag: str
    last_modified: str


@dataclass(frozen=True)
class _Client:
    """A session, the address that it asks, and the longest silence in seconds."""

    session: requests.Session
    url: str
    silence: float


class _BrokenError(Exception):
    """An answer that another try may mend; the text says what is wrong."""


def _fetch(endpoint: Endpoint, query: Query, table: Path, source: WebSource) -> _Delivered:
    """The table of one endpoint; what may pass is tried again, with growing pauses."""
    retries = urllib3.Retry(
        total=source.attempts - 1,
        status_forcelist=(202, 408, 429, *range(500, 600)),
        backoff_factor=0.5,
        backoff_jitter=1,
        backoff_max=60,
        retry_after_max=LONGEST_PAUSE,
        raise_on_status=False,
    )
    with requests.Session() as session:
        session.headers.update(_HEADERS)
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retries))
        client, broken = _Client(session, str(endpoint.url), source.timeout_seconds), ""
        for _ in range(source.attempts):
            try:
                if endpoint.kind == "socrata":
                    return _fetch_rows(client, query, table)
                return _fetch_file(client, endpoint.sha256, query, table)
            except _BrokenError as error:
                broken = str(error)
    raise FetchError(f"{broken} (tried {source.attempts}x)")


def _fetch_rows(client: _Client, query: Query, table: Path) -> _Delivered:
    """One try to read rows of a Socrata table, page by page, between two counts that must agree.

    Raises:
        _BrokenError: something that may pass, such as a table that changed meanwhile.
        FetchError: the server does not deliver, or no row matches.
    """
    header, identifiers = [*query.columns, ":id"], set[str]()
    total, first = _count(client, query)
    if not total:
        raise FetchError(f"no row matches {query.where or 'the query'}")
    versions = [first.headers.get("Last-Modified")]
    with packed_file(table) as packed, io.TextIOWrapper(packed, "utf-8", newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(query.columns)
        while (done := len(identifiers)) < total:
            page = {"$select": ",".join(header), "$limit": str(PAGE), "$offset": str(done)}
            (names, *rows), answer = _ask(client, {**query.soql, **page})
            if names != header or any(len(row) != len(header) for row in rows):
                raise _BrokenError(f"another table than asked for: {', '.join(names)[:200]}")
            identifiers |= {row[-1] for row in rows}
            if not rows or len(identifiers) < done + len(rows):
                raise _BrokenError(f"{len(identifiers):,} different rows instead of {total:,}")
            versions.append(answer.headers.get("Last-Modified"))
            writer.writerows(row[:-1] for row in rows)
    again, last = _count(client, query)
    versions.append(last.headers.get("Last-Modified"))
    if None in versions:
        raise FetchError("sends no Last-Modified, so that a change of the table would not show")
    if len({*versions}) > 1 or not total == again == len(identifiers):
        raise _BrokenError("the table changed while it was read")
    return _delivered(total, first)


def _count(client: _Client, query: Query) -> tuple[int, requests.Response]:
    """The number of matching rows."""
    parameters = {"$select": "count(*)", **({"$where": query.where} if query.where else {})}
    rows, answer = _ask(client, parameters)
    if len(rows) != 2 or not re.fullmatch("[0-9]{1,12}", "".join(rows[1])):
        raise _BrokenError(f"no row count: {str(rows)[:80]}")
    return int(rows[1][0]), answer


def _ask(
    client: _Client, parameters: Mapping[str, str]
) -> tuple[list[list[str]], requests.Response]:
    """The header and the rows of a whole answer of a Socrata server, and the answer."""
    with _get(client, parameters) as answer:
        body = answer.content
    try:
        text = io.StringIO(body.decode("utf-8-sig"), newline="")
        rows = [row for row in csv.reader(text, strict=True) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _BrokenError(f"an answer that is not CSV in UTF-8: {error}") from error
    if not rows or not body.endswith(b"\n"):
        raise _BrokenError("an answer that ends in the middle of a line")
    return rows, answer


def _fetch_file(client: _Client, checksum: str | None, query: Query, table: Path) -> _Delivered:
    """One try to download a CSV file, plain or gzip, and to find it whole.

    Raises:
        _BrokenError: something that may pass, such as a body cut short.
        FetchError: the file does not come, or is not a CSV file with the columns in its header.
    """
    from dpol.data.table import read_table

    digest, end = hashlib.sha256(), b""
    with _get(client, {}) as answer:
        chunks = answer.raw.stream(1 << 16, decode_content=False)
        first = next(chunks, b"")
        is_gzip = first.startswith(b"\x1f\x8b")
        if not is_gzip and not {"Content-Length", "Transfer-Encoding"} & {*answer.headers}:
            raise FetchError("states no length, so that a file cut short would look whole")
        # A gzip file stays as it is, so that published checksums hold.
        with table.open("wb") if is_gzip else packed_file(table) as stream:
            for chunk in itertools.chain([first], chunks):
                digest.update(chunk)
                stream.write(chunk)
                end = chunk[-1:]
    if checksum and (found := digest.hexdigest()) != checksum:
        raise FetchError(f"has SHA-256 {found} instead of {checksum}: not the file it was")
    if not is_gzip and end != b"\n":
        raise _BrokenError("ends in the middle of a line")
    try:
        rows = len(read_table(table, query.columns).cells)
    except DataError as error:
        raise FetchError(str(error).removeprefix(str(table)).lstrip(",: ")) from None
    return _delivered(rows, answer)


def _delivered(rows: int, answer: requests.Response) -> _Delivered:
    return _Delivered(
        rows=rows,
        final_url=_plain(answer.url.partition("?")[0]),
        etag=_plain(answer.headers.get("ETag", "")),
        last_modified=_plain(answer.headers.get("Last-Modified", "")),
    )


@contextmanager
def _get(client: _Client, parameters: Mapping[str, str]) -> Iterator[requests.Response]:
    """An answer with status 200, its body not yet read.

    Raises:
        _BrokenError: the body, which the caller reads, is cut short.
        FetchError: no answer, another status, or a redirect that gives up encryption.
    """
    try:
        answer = client.session.get(
            client.url, params=parameters, timeout=client.silence, stream=True
        )
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise FetchError(f"no answer: {_innermost(error)}") from error
    with answer:
        if client.url.startswith("https:") and not answer.url.startswith("https:"):
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


def _advice(failures: Sequence[str], query: Query, destination: Path) -> str:
    """The failure of each endpoint, and the user's ways out."""
    return "\n".join(
        [
            f"cannot fetch {destination}; no endpoint delivered:",
            *(f"  {failure}" for failure in failures),
            "This machine may be offline, or behind a proxy. Then either",
            "- run again when there is a connection; or",
            f"- get the table on another machine and place it by hand as {destination}, "
            "a gzip-compressed CSV file",
            f"  with the columns {', '.join(query.columns)};",
            f"  the rows that matter: {query.where or 'all'}; or",
            "- work with simulated hospitals, without network: dpol demo (or: make demo)",
        ]
    )
