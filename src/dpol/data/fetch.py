"""Fetching a whole table from the web, from the first endpoint that delivers it."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import importlib.metadata
import itertools
import re
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter

from dpol.core.errors import DataError, FetchError
from dpol.core.files import atomic_path, locked, packed_file, sha256, write_json
from dpol.core.logs import error_in
from dpol.core.shipped import pipeline
from dpol.core.words import counted, printable
from dpol.data.query import Query, refuse_unasked
from dpol.data.settings import WebSource
from dpol.data.sources import Endpoint

SILENCE = 60  # seconds: longest silence of a server
LONGEST = 3_600  # seconds: longest time for the body of an answer; 700 MB at 200 kB/s
PAUSES = 0, 1, 2, 4  # seconds: before each try at an endpoint
LARGEST_COUNT = 1 << 20  # bytes: largest answer to a question for row counts
_PASSING = {202, 408, 429, *range(500, 600)}
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_NONE = "no endpoint delivered"


def fetch_table(
    source: WebSource, query: Query, destination: Path, log: Callable[[str], None]
) -> None:
    """Fetch a table into `destination` (`.csv.gz`) from the first endpoint that delivers it.

    `<destination>.provenance.json`, written before the table, records the endpoint, and why earlier
    ones failed. A `file` is fetched whole. A second call waits for the first. A try fails after a
    silence of `SILENCE` seconds, or if the body of an answer takes longer than `LONGEST`.

    Raises:
        FetchError: no endpoint delivers the table.
        OutputError: the table cannot be written.
    """
    failures: list[str] = []
    with locked(destination), atomic_path(destination) as table, _Session() as session:
        for endpoint in source.places:
            log(f"fetching {endpoint.url}")
            try:
                delivered = _fetch(session, endpoint, query, table, source.max_mb)
            except FetchError as error:
                failures.append(f"{endpoint.kind} {endpoint.url}: {_plain(str(error))}")
                log(failures[-1])
                continue
            facts = {
                **endpoint.model_dump(mode="json", exclude={"sha256"}),
                "failed_before": failures,
                "query": query.soql if endpoint.kind == "socrata" else None,
                **delivered,
                "retrieved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "sha256": sha256(table),
                "dpol": importlib.metadata.version("dpol"),
            }
            write_json(f"{destination}.provenance.json", facts)
            log(f"{delivered['rows']:,} rows from {endpoint.url}")
            return
        raise FetchError(
            "\n  ".join([f"cannot fetch {destination}; {_NONE}:", *failures]) + "\n"
            "This machine may be offline, or behind a proxy. Then either\n"
            "- run again when there is a connection; or\n"
            f"- get the table on another machine and place it at {destination}, a gzip-compressed"
            f" CSV file\n  with the columns {', '.join(query.columns)};\n"
            f"  needed rows: {query.where or 'all'}; or\n"
            f"- use the hospitals that come with dpol, without a network: {offline_command()}"
        )


def offline_command() -> str:
    """Return a command, for this folder, that starts a run without a network."""
    default, shipped = Path("config/config.yaml"), pipeline() / "config/config.yaml"
    here = default.is_file() and default.read_bytes() == shipped.read_bytes()
    return "snakemake --cores 2" if here else "dpol demo"


def last_words(table: str, log: Path) -> str:
    """Return the last line for a run whose table was not fetched, according to a job's log.

    It is empty if the job failed for another reason.
    """
    if _NONE not in error_in(log):
        return ""
    return f"error: {_NONE} {table}. Without a network, run: {offline_command()}"


class _BrokenError(Exception):
    """A failure that may pass, to be tried again; the text says why."""


class _Session(requests.Session):
    """A session that asks again if no answer begins, and never reads the body of a redirect.

    Refusals are tried again by `_fetch`, since urllib3 reads the whole body of a refusal first. A
    machine without a network is told so at once.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stream = True
        self.headers["User-Agent"] = f"dpol/{importlib.metadata.version('dpol')}"
        self.headers["Accept-Encoding"] = "identity"
        self.headers["Cache-Control"] = "no-cache"
        retries = urllib3.Retry(2, connect=1, backoff_factor=1, respect_retry_after_header=False)
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(max_retries=retries))

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        if (target := super().get_redirect_target(resp)) is not None:
            resp.close()  # requests would read it into memory
            if resp.url.startswith("https:") and target.lower().startswith("http:"):
                raise FetchError(f"redirects to {target}, which is not encrypted")
        return target


def _fetch(
    session: requests.Session, endpoint: Endpoint, query: Query, table: Path, max_mb: int
) -> dict[str, Any]:
    """Fetch the table from one endpoint, in several tries; see `_fetch_once`."""
    for pause in PAUSES:
        time.sleep(pause)
        try:
            return _fetch_once(session, endpoint, query, table, max_mb)
        except _BrokenError as error:
            broken = f"{error} (tried {len(PAUSES)}x)"
    raise FetchError(broken)


def _fetch_once(
    session: requests.Session, endpoint: Endpoint, query: Query, table: Path, max_mb: int
) -> dict[str, Any]:
    """Try once to download a whole CSV file, plain or gzip.

    Returns:
        Facts for the provenance: number of rows, final address, and version from the headers.

    Raises:
        _BrokenError: a failure that may pass, such as a body cut short.
        FetchError: the download fails, or is not a table with the columns.
    """
    from dpol.data.raw_table import read_table

    url, parameters, total = str(endpoint.url), dict[str, str](), None
    count = {"$select": "count(*)"} | ({"$where": query.where} if query.where else {})
    if endpoint.kind == "socrata":
        total = sum(_counts(session, url, count))
        if not total:
            raise FetchError(f"no row matches {query.where or 'the query'}")
        # A limit of one more row than counted reveals a row that was just added.
        parameters = {**query.soql, "$limit": str(total + 1)}
    with _get(session, url, parameters) as answer:
        _download(answer, endpoint.sha256, table, max_mb)
    try:
        # In a wide table only the columns of the period are known by name.
        read = read_table(table, query.columns or query.period, query.form, max_mb=max_mb)
    except DataError as error:
        raise FetchError(str(error).removeprefix(str(table)).lstrip(",: ")) from None
    if total is not None:
        if len(read.cells) != total:
            raise _BrokenError(f"{len(read.cells):,} rows instead of {total:,}")
        refuse_unasked(read, query)
        if query.columns and (again := int(read.cells.duplicated().sum())):
            groups = {"$group": ",".join(query.columns), "$having": "count(*) > 1"}
            there = _counts(session, url, {**count, **groups, "$limit": str(total)})
            if again > (known := sum(there) - len(there)):
                raise _BrokenError(f"repeats {counted(again, 'row')}, but the table only {known:,}")
    return {
        "rows": len(read.cells),
        "final_url": _plain(answer.url.partition("?")[0]),
        "etag": _plain(answer.headers.get("ETag", "")),
        "last_modified": _plain(answer.headers.get("Last-Modified", "")),
    }


def _get(session: requests.Session, url: str, asked: Mapping[str, str]) -> requests.Response:
    """Return an answer with status 200, its body not yet read.

    Raises:
        _BrokenError: a status that may pass.
        FetchError: no answer, another status, or a redirect to an address without encryption.
    """
    try:
        answer = session.get(url, params=asked, timeout=SILENCE)
    except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
        raise FetchError(f"no answer: {_innermost(error)}") from error
    if answer.status_code == 200:
        return answer
    answer.close()
    passing = answer.status_code in _PASSING
    raise (_BrokenError if passing else FetchError)(f"status {answer.status_code} {answer.reason}")


def _body(answer: requests.Response) -> Iterator[bytes]:
    """Yield the body of an answer as it arrives.

    Raises:
        _BrokenError: the body is cut short, or is not whole after `LONGEST` seconds.
    """
    end = time.monotonic() + LONGEST
    try:
        # As soon as something is there: to fill a buffer from a slow server may take for ever.
        while chunk := answer.raw.read1(1 << 16):
            if time.monotonic() > end:
                raise _BrokenError(f"the answer is not whole after {LONGEST:,.10g} s")
            yield chunk
    except urllib3.exceptions.HTTPError as error:
        raise _BrokenError(f"the answer was cut: {_innermost(error)}") from error


def _counts(session: requests.Session, url: str, parameters: Mapping[str, str]) -> list[int]:
    """Return the numbers that a Socrata server answers, a line each below a header."""
    text = b""
    with _get(session, url, parameters) as answer:
        for chunk in _body(answer):
            text += chunk
            if len(text) > LARGEST_COUNT:
                raise FetchError(f"a row count of over {LARGEST_COUNT:,} bytes")
    _, *lines = text.replace(b'"', b"").split() or [b""]
    if not all(re.fullmatch(rb"[0-9]{1,12}", line) for line in lines):
        raise _BrokenError(f"no row count: {text[:80].decode(errors='replace')!r}")
    return [int(line) for line in lines]


def _download(answer: requests.Response, pinned: str | None, table: Path, max_mb: int) -> None:
    """Write the body of an answer to a gzip table, if it is whole and, unpacked, not too large.

    It is whole if it has the SHA-256 `pinned`. Otherwise it has the length that the server states,
    or ends with a last chunk; and unless it is a plain file with a length, its last line is whole.
    """
    stated = re.fullmatch("[0-9]{1,18}", answer.headers.get("Content-Length", "").strip())
    coding = answer.headers.get("Transfer-Encoding", "").lower()
    if not (pinned or coding == "chunked" or (stated and not coding)):
        raise FetchError(
            "states no length: a cut file would look whole; set sha256 of the endpoint"
        )
    digest, received, body = hashlib.sha256(), 0, _body(answer)
    first = next(body, b"")
    while len(first) < 2 and (more := next(body, b"")):
        first += more
    packed = first.startswith(b"\x1f\x8b")
    # Compressed files are kept as they are, so that published checksums hold.
    with table.open("wb") if packed else packed_file(table) as stream:
        for chunk in itertools.chain([first], body):
            digest.update(chunk)
            stream.write(chunk)
            received += len(chunk)
            _refuse_larger(received, max_mb)
    if pinned not in (None, digest.hexdigest()):
        raise FetchError(f"has SHA-256 {digest.hexdigest()} instead of {pinned}")
    if not pinned and stated and received != int(stated[0]):
        raise _BrokenError(f"{received:,} bytes instead of {int(stated[0]):,}")
    try:
        with gzip.open(table) as unpacked:
            start = last = unpacked.read(200)
            while chunk := unpacked.read(1 << 20):
                last = chunk
                _refuse_larger(unpacked.tell(), max_mb)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise FetchError(f"is a damaged gzip file: {error}") from None
    if _WEB_PAGE.match(start):
        raise FetchError("is a web page, not a table; open it in a browser to see why")
    # The length of a compressed file does not show whether the table in it was whole.
    if not (pinned or (stated and not packed) or last.endswith(b"\n")):
        raise _BrokenError("ends in the middle of a line")


def _refuse_larger(size: int, max_mb: int) -> None:
    if size > max_mb * 10**6:
        raise FetchError(
            f"is larger than {max_mb:,} MB as CSV; if that is right, raise dataset.source.max_mb"
        )


def _innermost(error: BaseException) -> str:
    """Return the text of the deepest cause; outer ones only repeat addresses and class names."""
    for deeper in (getattr(error, "reason", None), *error.args, error.__cause__):
        if isinstance(deeper, BaseException):
            return _innermost(deeper)
    return getattr(error, "strerror", None) or str(error)


def _plain(text: str) -> str:
    """Return a server's text as one line of at most 400 characters, without control characters."""
    return printable(" ".join(text.split()))[:400]
