"""Fetching a whole table from the web, from the first endpoint that delivers it."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import http.client
import importlib.metadata
import io
import itertools
import json
import re
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from dpol.core.errors import DataError, FetchError
from dpol.core.files import atomic_path, locked, packed_file, sha256, write_json
from dpol.core.logs import error_in
from dpol.core.words import counted, printable
from dpol.data.query import Query, refuse_unasked
from dpol.data.settings import WebSource
from dpol.data.sources import Endpoint

_GZIP = b"\x1f\x8b"
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
SLOWEST = 1_000
"""Slowest accepted rate of a download, in bytes per second: 100 MB may take about a day."""
WINDOW = 60.0
"""Seconds over which the rate is measured, on top of one silence of `timeout_seconds`."""
_NONE = "no endpoint delivered"
LONGEST_PAUSE = 600
"""Longest pause before a retry in seconds, whatever the server asks for."""
_HEADERS = {
    "User-Agent": f"dpol/{importlib.metadata.version('dpol')}",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-cache",
}


def must_fetch(query: Query, destination: Path) -> bool:
    """Return whether a table is missing, or was fetched by dpol for another query.

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
    window: float = WINDOW,
) -> None:
    """Fetch a table into `destination` (`.csv.gz`) from the first endpoint that delivers it.

    `<destination>.provenance.json`, written before the table, records the endpoint, and why earlier
    ones failed. A `file` is fetched whole. A second call waits for the first. A try fails if an
    unfinished answer brings under `SLOWEST` * `window` bytes in `window` seconds and one silence.

    Raises:
        FetchError: no endpoint delivers the table.
        OutputError: the table cannot be written.
    """
    failures: list[str] = []
    with locked(destination), atomic_path(destination) as table:
        for endpoint in source.places:
            log(f"fetching {endpoint.url}")
            try:
                delivered = _fetch(endpoint, query, table, source, window)
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
            f"  needed rows: {query.where or 'all'}; or"
        )
        raise FetchError(
            f"cannot fetch {destination}; {_NONE}:{lines}\n"
            "This machine may be offline, or behind a proxy. Then either\n"
            "- run again when there is a connection; or\n"
            f"- get the table on another machine and place it at {destination}, {needed}\n"
            f"- use the hospitals that come with dpol, without a network: {offline_command()}"
        )


def offline_command() -> str:
    """Return a command, for this folder, that starts a run without a network."""
    demo = Path("config/demo.yaml")
    return f"snakemake --cores 2 --configfile {demo}" if demo.is_file() else "dpol demo"


def last_words(table: str, log: Path) -> str:
    """Return the last line for a run whose table was not fetched, according to a job's log.

    It is empty if the job failed for another reason.
    """
    if _NONE not in error_in(log):
        return ""
    return f"error: {_NONE} {table}. Without a network, run: {offline_command()}"


class _BrokenError(Exception):
    """A transient failure, to be retried; the text says why."""


class _Retry(urllib3.Retry):
    """Retries with growing pauses; a server may ask for longer ones, up to `LONGEST_PAUSE`.

    A host name that cannot be resolved is tried once, since the machine is probably offline.
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


class _Paced(io.RawIOBase):
    """The bytes of an answer; reading raises TimeoutError if they arrive too slowly.

    A timeout of the socket limits only a single silence.
    """

    def __init__(self, answer: io.BufferedReader, least: float, seconds: float) -> None:
        self._answer, self._least, self._seconds = answer, least, seconds
        self._began: float | None = None  # the first byte may take as long as a silence
        self._received = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        number = self._answer.readinto1(buffer)
        now = time.monotonic()
        if self._began is None:
            self._began = now
        self._received += number
        seconds = now - self._began
        if number and seconds > self._seconds:
            if self._received < self._least:
                raise TimeoutError(
                    f"only {counted(self._received, 'byte')} arrived in {seconds:.0f} s, fewer than"
                    f" {self._least:,.0f}; try again on a faster line"
                )
            self._began, self._received = now, 0
        return number

    def close(self) -> None:
        self._answer.close()
        super().close()


class _PacedAdapter(HTTPAdapter):
    """An adapter whose answers are `_Paced`."""

    def __init__(self, retries: _Retry, least: float, seconds: float) -> None:
        self._least, self._seconds = least, seconds
        super().__init__(max_retries=retries)

    def get_connection_with_tls_context(self, *args: Any, **keys: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **keys)
        least, seconds = self._least, self._seconds

        class Answer(http.client.HTTPResponse):
            def __init__(self, *parts: Any, **keys: Any) -> None:
                super().__init__(*parts, **keys)
                self.fp = io.BufferedReader(_Paced(self.fp, least, seconds))

        pool.ConnectionCls = type("Connection", (pool.ConnectionCls,), {"response_class": Answer})
        return pool


def _fetch(
    endpoint: Endpoint, query: Query, table: Path, source: WebSource, window: float
) -> dict[str, Any]:
    """Fetch the table from one endpoint, and retry transient failures with growing pauses."""
    retries = _Retry(
        total=source.attempts - 1,
        status_forcelist=(202, 408, 429, *range(500, 600)),
        backoff_factor=0.5,
        raise_on_status=False,
    )
    with requests.Session() as session:
        session.headers.update(_HEADERS)
        for scheme in ("http://", "https://"):
            paced = _PacedAdapter(retries, SLOWEST * window, window + source.timeout_seconds)
            session.mount(scheme, paced)
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
    """Try once to download a whole CSV file, plain or gzip, or an archive.

    Returns:
        Facts for the provenance: number of rows, final address, and version from the headers.

    Raises:
        _BrokenError: a transient failure, such as a body cut short.
        FetchError: the download fails, or is not a table with the columns.
    """
    from dpol.data.archives import extract_table
    from dpol.data.table import read_table

    url, parameters, total = str(endpoint.url), dict[str, str](), None
    if endpoint.kind == "socrata":
        with _get(session, url, _count_of(query), silence) as answer:
            count = re.fullmatch(r'"?count"?\s+"?([0-9]{1,12})"?\s*', answer.text)
        if not count:
            raise _BrokenError(f"no row count: {answer.text[:80]!r}")
        total = int(count[1])
        if not total:
            raise FetchError(f"no row matches {query.where or 'the query'}")
        # A limit of one more row than counted reveals a row that was just added.
        parameters = {**query.soql, "$limit": str(total + 1)}

    digest, received, pinned = hashlib.sha256(), 0, endpoint.sha256
    with _get(session, url, parameters, silence) as answer:
        stated = re.fullmatch("[0-9]{1,18}", answer.headers.get("Content-Length", ""))
        coding = answer.headers.get("Transfer-Encoding", "").lower()
        if not (pinned or coding == "chunked" or (stated and not coding)):
            raise FetchError(
                "states no length, so a file cut short would look whole; set sha256 of this"
                " endpoint"
            )
        chunks = answer.raw.stream(1 << 16, decode_content=False)
        first = next(chunks, b"")
        while len(first) < len(_GZIP) and (more := next(chunks, b"")):
            first += more
        packed = member is not None or first.startswith(_GZIP)
        # Compressed files are kept as they are, so that published checksums hold.
        with table.open("wb") if packed else packed_file(table) as stream:
            for chunk in itertools.chain([first], chunks):
                digest.update(chunk)
                stream.write(chunk)
                received += len(chunk)
    if pinned not in (None, digest.hexdigest()):
        raise FetchError(f"has SHA-256 {digest.hexdigest()} instead of {pinned}")
    if not pinned and stated and received != int(stated[0]):
        raise _BrokenError(f"{received:,} bytes instead of {int(stated[0]):,}")
    # The length of a compressed file does not show whether the table in it was whole.
    whole = pinned or member or (stated and not packed)
    if not whole and not _ends_with_a_line(table):
        raise _BrokenError("ends in the middle of a line")
    rows = None
    try:
        if member is None:
            if _WEB_PAGE.match(_first_bytes(table)):
                raise FetchError("is a web page, not a table; open it in a browser to see why")
            # In a wide table only the columns of the period are known by name.
            read = read_table(table, query.columns or query.period, query.form)
            rows = len(read.cells)
        else:
            with tempfile.TemporaryDirectory() as folder:
                extract_table(table, member, Path(folder, "table"))
    except DataError as error:
        raise FetchError(str(error).removeprefix(str(table)).lstrip(",: ")) from None
    if total is not None:
        if rows != total:
            raise _BrokenError(f"{rows:,} rows instead of {total:,}")
        refuse_unasked(read, query)
        again = int(read.cells.duplicated().sum()) if query.columns else 0
        if again and again > (there := _repeated(session, url, query, total, silence)):
            raise _BrokenError(f"repeats {counted(again, 'row')}, but the table only {there:,}")
    return {
        **({} if rows is None else {"rows": rows}),
        "final_url": _plain(answer.url.partition("?")[0]),
        "etag": _plain(answer.headers.get("ETag", "")),
        "last_modified": _plain(answer.headers.get("Last-Modified", "")),
    }


def _count_of(query: Query) -> dict[str, str]:
    """Return the parameters of a request for the number of rows."""
    return {"$select": "count(*)", **({"$where": query.where} if query.where else {})}


def _repeated(session: requests.Session, url: str, query: Query, total: int, silence: float) -> int:
    """Return the number of rows of a Socrata table that repeat another in the query's columns."""
    asked = {
        **_count_of(query),
        "$group": ",".join(query.columns),
        "$having": "count(*) > 1",
        "$limit": str(total),
    }
    with _get(session, url, asked, silence) as answer:
        _, *counts = answer.text.replace('"', "").split() or [""]
    if not all(re.fullmatch("[0-9]{1,12}", count) for count in counts):
        raise _BrokenError(f"no counts of repeated rows: {answer.text[:80]!r}")
    return sum(int(count) - 1 for count in counts)


def _first_bytes(table: Path) -> bytes:
    """Return the first bytes of a gzip table; none if it is damaged."""
    with suppress(EOFError, zlib.error, gzip.BadGzipFile), gzip.open(table) as unpacked:
        return unpacked.read(200)
    return b""


def _ends_with_a_line(table: Path) -> bool:
    """Return whether the last line of a gzip table is whole; true also if it is damaged."""
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
    """Yield an answer with status 200, its body not yet read.

    Raises:
        _BrokenError: the body, which the caller reads, is cut short.
        FetchError: no answer, another status, or a redirect to an address without encryption.
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
    """Return the text of the deepest cause; outer ones only repeat addresses and class names."""
    inside = [getattr(error, "reason", None), *error.args, error.__cause__]
    for deeper in inside:
        if isinstance(deeper, BaseException):
            return _innermost(deeper)
    return getattr(error, "strerror", None) or str(error)


def _plain(text: str) -> str:
    """Return a server's text as one line of at most 400 characters, without control characters."""
    return printable(" ".join(text.split()))[:400]
