"""HTTP requests with retries, and tables that are one CSV file on the web."""

from __future__ import annotations

import csv
import datetime
import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TypeVar

import requests
import tenacity
import urllib3

from dpol.errors import FetchError
from dpol.files import write_json

LONGEST_PAUSE = 600.0
"""Seconds; a server that asks for a longer pause counts as failed."""
CHUNK = 1 << 16
"""Bytes read at once; also the part of a file in which its header must lie."""
_LOG_EVERY = 1 << 24
_PASSING = (
    requests.ConnectionError,
    requests.Timeout,
    requests.exceptions.ChunkedEncodingError,
    urllib3.exceptions.HTTPError,
)

_Result = TypeVar("_Result")
_backoff = tenacity.wait_exponential_jitter(initial=1.0, max=60.0, jitter=1.0)


@dataclass(frozen=True)
class Http:
    """How requests are made and what is heard of them."""

    session: requests.Session
    attempts: int
    """Tries of one request."""
    timeout: float
    """Longest silence of the server, in seconds."""
    sleep: Callable[[float], None]
    log: Callable[[str], None]


class PassingError(Exception):
    """A try failed in a way that may pass; the text says how, in one line."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause
        """Seconds the server wants to be left alone."""


def with_retries(http: Http, action: Callable[[], _Result]) -> _Result:
    """The result of `action`, repeated while it raises `PassingError`.

    Pauses grow exponentially, with jitter, and are never shorter than the server asked for.

    Raises:
        FetchError: the last try failed as well.
    """

    def report(state: tenacity.RetryCallState) -> None:
        number = f"try {state.attempt_number + 1} of {http.attempts}"
        http.log(f"{_failure(state)}; {number} in {state.upcoming_sleep:.0f} s")

    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(http.attempts),
        wait=lambda state: max(_backoff(state), _failure(state).pause),
        retry=tenacity.retry_if_exception_type(PassingError),
        sleep=http.sleep,
        before_sleep=report,
        reraise=True,
    )
    try:
        return retrying(action)
    except PassingError as error:
        raise FetchError(f"{error} (tried {http.attempts}x)") from error


@contextmanager
def get(
    http: Http,
    url: str,
    parameters: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[requests.Response]:
    """One try of a GET request: the response, its body not yet read.

    Statuses 200, 206 and 416 are let through; the last two come only if `headers` ask for a range.
    What goes wrong while the caller reads the body is raised in the same way.

    Raises:
        PassingError: no connection, silence, a body cut short, or a status that may pass.
        FetchError: another status, or the address is unusable.
    """
    try:
        with http.session.get(
            url, params=parameters, headers=headers, timeout=http.timeout, stream=True
        ) as response:
            _check_status(response)
            yield response
    except _PASSING as error:
        text = _innermost(error)
        silent = isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError)
        if silent or "timed out" in text:
            raise PassingError(f"no answer within {http.timeout:g} s") from error
        raise PassingError(f"no connection, or it was cut: {text}") from error
    except requests.RequestException as error:
        raise FetchError(f"cannot be asked: {_innermost(error)}") from error


def says_its_length(response: requests.Response) -> bool:
    """Whether a cut body is noticed; without a stated length it looks like a short one."""
    chunked = "chunked" in response.headers.get("Transfer-Encoding", "").lower()
    return chunked or "Content-Length" in response.headers


def fetch_file(http: Http, url: str, columns: tuple[str, ...], folder: Path) -> Path:
    """Download the CSV file at `url`, plain or gzip-compressed, into `folder`.

    What an earlier call left in `folder` is continued if the server still has the same file.

    Raises:
        FetchError: the file does not come, or is not a CSV file with `columns` in its header.
    """
    part = folder / "file.part"
    with_retries(http, lambda: _try_file(http, url, columns, part))
    return part


def is_gzip(path: Path) -> bool:
    """Whether the file starts like a gzip file."""
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _try_file(http: Http, url: str, columns: tuple[str, ...], part: Path) -> None:
    """One try to get (the rest of) the file; what arrives stays in `part` if it is sound."""
    note = part.with_suffix(".json")
    state = _read_state(note, url)
    have = part.stat().st_size if state and part.exists() else 0
    if not have or state.get("length") != have:
        headers = {"Accept-Encoding": "identity"}
        if have and state.get("validator"):
            headers |= {"Range": f"bytes={have}-", "If-Range": str(state["validator"])}
        with get(http, url, headers=headers) as response:
            if response.status_code == 200:
                # The old bytes go before the new note comes: the two must never disagree.
                part.unlink(missing_ok=True)
                state = _state(url, response)
                write_json(note, state)
            elif not _continues(response, have, state):
                part.unlink(missing_ok=True)
                raise PassingError("the file changed on the server")
            _save(http, response, part, state.get("length"))
    try:
        _check_end(part, state)
        _check_start(part, columns)
    except (PassingError, FetchError):
        part.unlink(missing_ok=True)  # nothing can be built on wrong bytes
        raise


def _save(http: Http, response: requests.Response, part: Path, length: object) -> None:
    """Append the body to `part`, as it travels: Range and length count these bytes."""
    if "html" in response.headers.get("Content-Type", "").lower():
        raise PassingError("a web page instead of a CSV file")
    of = f" of {length / 1e6:,.0f}" if isinstance(length, int) else ""
    have = part.stat().st_size if part.exists() else 0
    with part.open("ab") as stream:
        for chunk in response.raw.stream(CHUNK, decode_content=False):
            stream.write(chunk)
            before, have = have, have + len(chunk)
            if before // _LOG_EVERY < have // _LOG_EVERY:
                http.log(f"{have / 1e6:,.0f}{of} MB")


def _state(url: str, response: requests.Response) -> dict[str, object]:
    """What must be known to continue this download, and to tell when it is complete."""
    etag = response.headers.get("ETag", "")
    length = response.headers.get("Content-Length", "")
    return {
        "url": url,
        "validator": etag if etag.startswith('"') else response.headers.get("Last-Modified"),
        "length": int(length) if length.isdigit() else None,
        "cut_is_noticed": says_its_length(response),
    }


def _read_state(note: Path, url: str) -> dict[str, object]:
    """The note of an earlier download of `url`; empty if there is none."""
    try:
        state = json.loads(note.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return state if isinstance(state, dict) and state.get("url") == url else {}


def _continues(response: requests.Response, have: int, state: Mapping[str, object]) -> bool:
    """Whether a partial answer is the rest of the file that `state` describes."""
    unit, _, place = response.headers.get("Content-Range", "").partition(" ")
    etag = response.headers.get("ETag", "")
    return (
        unit == "bytes"
        and place.startswith(f"{have}-")
        and (not etag.startswith('"') or etag == state.get("validator"))
        and (state.get("length") is None or place.endswith((f"/{state['length']}", "/*")))
    )


def _check_start(part: Path, columns: tuple[str, ...]) -> None:
    """Raise unless the file starts with a CSV header that has `columns`."""
    with part.open("rb") as stream:
        start = stream.read(CHUNK)
    if is_gzip(part):
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, CHUNK)
        except zlib.error as error:
            raise PassingError(f"a damaged gzip file: {error}") from error
    line = start.decode("utf-8-sig", errors="replace").lstrip().partition("\n")[0]
    if line.startswith("<"):
        raise PassingError("a web page instead of a CSV file")
    header = next(csv.reader([line.rstrip("\r")]), [])
    if missing := [column for column in columns if column not in header]:
        raise FetchError(f"the file has no column {', '.join(missing)}; it starts: {line[:80]!r}")


def _check_end(part: Path, state: Mapping[str, object]) -> None:
    """Raise `PassingError` unless the file is complete, as far as that can be known."""
    size, length, packed, last = part.stat().st_size, state.get("length"), is_gzip(part), b""
    if length is not None and size != length:
        raise PassingError(f"{size:,} bytes instead of {length:,}")
    try:
        with gzip.open(part) if packed else part.open("rb") as stream:
            while chunk := stream.read(CHUNK):
                last = chunk
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise PassingError(f"the gzip file is cut short or damaged: {error}") from error
    if not (packed or state.get("cut_is_noticed") or last.endswith(b"\n")):
        raise PassingError("the file ends in the middle of a line")


def _failure(state: tenacity.RetryCallState) -> PassingError:
    """Why the last try failed; only `PassingError` is tried again."""
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, PassingError)
    return error


def _check_status(response: requests.Response) -> None:
    """Raise unless the status promises a body worth reading."""
    status = response.status_code
    if status in (200, 206, 416):
        return
    text = f"status {status} {response.reason or ''}".rstrip()
    if status in (202, 408, 429) or status >= 500:
        pause = _retry_after(response.headers.get("Retry-After", ""))
        if pause > LONGEST_PAUSE:
            raise FetchError(f"{text}, come back in {pause:.0f} s")
        raise PassingError(text, pause)
    words = next(response.iter_content(1000), b"").decode("utf-8", errors="replace")
    is_page = "html" in response.headers.get("Content-Type", "").lower()
    raise FetchError(text if is_page or not words else f"{text}: {' '.join(words.split())[:300]}")


def _retry_after(value: str) -> float:
    """Seconds from a Retry-After header, which gives seconds or a date."""
    if value.strip().isdecimal():
        return float(value)
    try:
        when = parsedate_to_datetime(value).astimezone(datetime.UTC)
    except ValueError:
        return 0.0
    return max(0.0, (when - datetime.datetime.now(datetime.UTC)).total_seconds())


def _innermost(error: BaseException) -> str:
    """The words of the deepest cause; the outer ones only repeat addresses and class names."""
    while True:
        inside = [getattr(error, "reason", None), *error.args, error.__cause__]
        deeper = next((one for one in inside if isinstance(one, BaseException)), None)
        if deeper is None:
            return " ".join((getattr(error, "strerror", None) or str(error)).split())
        error = deeper
