"""Fetching a whole table from the web, from the first endpoint that delivers it."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import itertools
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import requests
import urllib3

from dpol.core.errors import DataError, FetchError
from dpol.core.files import atomic_path, locked, packed_file, remove_temporary, sha256, write_json
from dpol.core.words import printable
from dpol.data.query import Query
from dpol.data.settings import Endpoint, WebSource
from dpol.data.table import read_file, write_raw_table

SILENCE = 60  # seconds: longest silence of a server
_EVERY_ROW = "1000000000"  # a Socrata server gives 1,000 rows unless asked for more
_TRIES = urllib3.Retry(
    total=3,
    connect=0,  # a machine that is offline need not wait
    backoff_factor=1,
    status_forcelist={202, 408, 429, *range(500, 600)},
    raise_on_status=False,
    retry_after_max=300,  # seconds
)
_WEB_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_HEADERS = {"Accept-Encoding": "identity", "Cache-Control": "no-cache"}


def fetch_table(
    source: WebSource, query: Query, destination: Path, log: Callable[[str], None]
) -> None:
    """Fetch a table into `destination` (`.csv.gz`) from the first endpoint that delivers it.

    `<destination>.provenance.json`, written before the table, records the endpoint, and why earlier
    ones failed. A `file` is fetched whole. A second call waits for the first, and removes what a
    killed one left. A server that does not answer, cuts its answer, or says that it is busy, is
    asked again.

    Raises:
        FetchError: no endpoint delivers the table.
        OutputError: the table cannot be written.
    """
    failures, version = list[str](), importlib.metadata.version("dpol")
    with locked(destination), atomic_path(destination) as table, requests.Session() as session:
        remove_temporary(record := f"{destination}.provenance.json")
        session.headers.update({**_HEADERS, "User-Agent": f"dpol/{version}"})
        for scheme in ("http://", "https://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=_TRIES))
        for endpoint in source.endpoints:
            log(f"fetching {endpoint.url}")
            try:
                delivered = _fetch(session, endpoint, query, table)
            except (DataError, FetchError) as error:
                why = str(error).removeprefix(str(table)).lstrip(",: ")
                failures.append(f"{endpoint.kind} {endpoint.url}: {_plain(why)}")
                log(failures[-1])
                continue
            facts = {
                **endpoint.model_dump(mode="json", exclude={"sha256"}),
                "failed_before": failures,
                "query": query.soql if endpoint.kind == "socrata" else None,
                **delivered,
                "retrieved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
                "sha256": sha256(table),
                "dpol": version,
            }
            write_json(record, facts)
            log(f"{delivered['rows']:,} rows from {endpoint.url}")
            return
        raise FetchError(
            "\n  ".join([f"cannot fetch {destination}; no endpoint delivered:", *failures]) + "\n"
            "This machine may be offline, or behind a proxy. Then either\n"
            "- run again when there is a connection; or\n"
            f"- get the table on another machine and place it at {destination}, a gzip-compressed"
            f" CSV file\n  with the columns {', '.join(query.dataset.must_have)};\n"
            f"  needed rows: {query.where or 'all'}; or\n"
            "- use the hospitals that come with dpol, without a network: dpol run central-texas"
        )


def _fetch(
    session: requests.Session, endpoint: Endpoint, query: Query, table: Path
) -> dict[str, Any]:
    """Download a whole CSV file, plain or gzip, from one endpoint.

    A Socrata server may give fewer rows than it is asked for. So it is asked for the rows from the
    last one on, until it gives that row alone. A table with a SHA-256 is whole as it comes.

    Returns:
        Facts for the provenance: number of rows, final address, and version from the headers.

    Raises:
        FetchError: the download fails, or the table changes meanwhile.
        DataError: it is not a table with the columns.
    """
    asked = {**query.soql, "$limit": _EVERY_ROW} if endpoint.kind == "socrata" else {}
    read = partial(read_file, table, query.dataset.read, query.dataset.must_have)
    answer = _download(session, endpoint, asked, table)
    rows = more = read().cells
    while asked and not endpoint.sha256 and len(more) > 1:
        asked["$offset"] = str(len(rows) - 1)
        _download(session, endpoint, asked, table)
        more = read().cells
        if not more.iloc[0].equals(rows.iloc[-1]):
            raise FetchError(f"gives another row {len(rows):,} when asked for that row again")
        rows = pd.concat([rows, more[1:]])
    if "$offset" in asked:  # the file holds the last answer only
        write_raw_table(rows, table)
    return {
        "rows": len(rows),
        "final_url": _plain(answer.url.partition("?")[0]),
        "etag": _plain(answer.headers.get("ETag", "")),
        "last_modified": _plain(answer.headers.get("Last-Modified", "")),
    }


def _download(
    session: requests.Session, endpoint: Endpoint, asked: Mapping[str, str], table: Path
) -> requests.Response:
    """Write the body of an answer to a gzip table; ask again if the body is cut.

    Raises:
        FetchError: no answer, a body that is no table, or one that is cut whenever it is asked for.
    """
    tries = _TRIES
    while True:
        try:
            with _get(session, str(endpoint.url), asked) as answer:
                _write(answer, endpoint.sha256, table)
            return answer
        except urllib3.exceptions.HTTPError as error:
            if not tries.total:
                raise FetchError(f"the answer was cut: {_innermost(error)}") from error
            tries = tries.increment("GET", error=error)
            tries.sleep()


def _get(session: requests.Session, url: str, asked: Mapping[str, str]) -> requests.Response:
    """Return an answer with status 200, its body not yet read.

    Raises:
        FetchError: no answer, another status, or a redirect to an address without encryption.
    """
    try:
        answer = session.get(url, params=asked, timeout=SILENCE, stream=True)
    except (requests.RequestException, ValueError) as error:  # a redirect may be no address
        raise FetchError(f"no answer: {_innermost(error)}") from error
    if url.startswith("https:") and not answer.url.startswith("https:"):
        raise FetchError(f"redirects to {answer.url}, which is not encrypted")
    if answer.status_code != 200:
        raise FetchError(f"status {answer.status_code} {answer.reason}")
    return answer


def _write(answer: requests.Response, pinned: str | None, table: Path) -> None:
    """Write the body of an answer to a gzip table, if it is whole.

    It is whole if it has the SHA-256 `pinned`. Otherwise it has the length that the server states,
    or ends with a last chunk; in plain chunks its last line must be whole too.
    """
    chunked = answer.headers.get("Transfer-Encoding", "").lower() == "chunked"
    stated = re.fullmatch("[0-9]+", answer.headers.get("Content-Length", ""))
    if not (pinned or chunked or stated):
        raise FetchError("states no length: a cut file would look whole; set its sha256")
    digest, body = hashlib.sha256(), iter(partial(answer.raw.read, 1 << 16), b"")
    start = next(body, b"")
    if _WEB_PAGE.match(start):
        raise FetchError("is a web page, not a table; open it in a browser to see why")
    packed, chunk = start.startswith(b"\x1f\x8b"), b""
    # Compressed files are kept as they are, so that published checksums hold.
    with table.open("wb") if packed else packed_file(table) as stream:
        for chunk in itertools.chain([start], body):
            digest.update(chunk)
            stream.write(chunk)
    if pinned not in (None, digest.hexdigest()):
        raise FetchError(f"has SHA-256 {digest.hexdigest()} instead of {pinned}")
    if chunked and not (pinned or packed or chunk.endswith(b"\n")):
        raise urllib3.exceptions.ProtocolError("it ends in the middle of a line")


def _innermost(error: BaseException) -> str:
    """Return the text of the deepest cause; outer ones only repeat addresses and class names."""
    for deeper in (getattr(error, "reason", None), *error.args, error.__cause__):
        if isinstance(deeper, BaseException):
            return _innermost(deeper)
    return getattr(error, "strerror", None) or str(error)


def _plain(text: str) -> str:
    """Return a server's text as one line of at most 400 characters, without control characters."""
    return printable(" ".join(text.split()))[:400]
