"""Downloads over HTTP that end with the whole body of an answer, or with one plain line."""

from __future__ import annotations

import importlib.metadata
import re
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import urljoin, urlsplit

import requests
import tenacity
import urllib3

from dpol.core.errors import FetchError
from dpol.data.settings import WebSource
from dpol.show.words import printable

LONGEST_PAUSE = 600.0
"""Seconds; a server that asks for a longer pause counts as failed."""
CHUNK = 1 << 16
_REDIRECTS = 5
_LOG_EVERY = 1 << 24
_HEADERS = {
    "User-Agent": f"dpol/{importlib.metadata.version('dpol')}",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-cache",
    "Connection": "close",
}

_Result = TypeVar("_Result")
_backoff = tenacity.wait_exponential_jitter(initial=1.0, max=60.0, jitter=1.0)


class PassingError(Exception):
    """A try failed in a way that may pass; the text says how."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause
        """Seconds the server wants to be left alone."""


class RefusedError(FetchError):
    """An answer with status 400: the server does not take the request as it is."""


class Client(requests.Session):
    """What an endpoint is asked with; all that it sends counts towards one size limit."""

    def __init__(
        self, source: WebSource, sleep: Callable[[float], None], log: Callable[[str], None]
    ) -> None:
        super().__init__()
        self.headers.update(_HEADERS)
        self.source, self.sleep, self.log = source, sleep, log
        self.received = 0

    def get_redirect_target(self, _: requests.Response) -> None:
        """Nothing, so that the session follows no redirect by itself; `get` does."""

    def receive(self, count: int) -> None:
        """Count bytes that have arrived. Raises FetchError if they are too many."""
        self.received += count
        self.check_size(self.received, "sends")
        if self.received % _LOG_EVERY < count:
            self.log(f"{self.received / 1e6:,.0f} MB")

    def check_size(self, size: int, verb: str) -> None:
        """Raise FetchError if so many bytes are too many."""
        if size > self.source.size_limit_mb * 1e6:
            raise FetchError(
                f"{verb} more than {self.source.size_limit_mb:g} MB; raise"
                " dataset.source.size_limit_mb if the table is that large"
            )


@contextmanager
def time_limit(minutes: float) -> Iterator[None]:
    """Stop the block with FetchError after so many minutes, whatever it waits for.

    A timer that runs already is paused meanwhile. Raises ValueError outside the main thread.
    """

    def stop(*_: object) -> None:
        raise FetchError(
            f"not done within {minutes:g} min; raise"
            " dataset.source.time_limit_minutes if the server is only slow"
        )

    handler = signal.signal(signal.SIGALRM, stop)
    timer = signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, *timer)


def plain(text: str) -> str:
    """Text from a server as one line without control characters, of at most 400 characters."""
    return printable(" ".join(text.split()))[:400]


def with_retries(client: Client, action: Callable[[], _Result]) -> _Result:
    """The result of `action`, repeated while it raises `PassingError`.

    Pauses grow exponentially, with jitter, and are never shorter than the server asked for.
    Raises FetchError if the last try fails as well.
    """
    attempts = client.source.attempts

    def reason(state: tenacity.RetryCallState) -> Any:
        return state.outcome and state.outcome.exception()

    def report(state: tenacity.RetryCallState) -> None:
        number = f"try {state.attempt_number + 1} of {attempts}"
        client.log(f"{plain(str(reason(state)))}; {number} in {state.upcoming_sleep:.0f} s")

    retrying = tenacity.Retrying(
        stop=tenacity.stop_after_attempt(attempts),
        wait=lambda state: max(_backoff(state), reason(state).pause),
        retry=tenacity.retry_if_exception_type(PassingError),
        sleep=client.sleep,
        before_sleep=report,
        reraise=True,
    )
    try:
        return retrying(action)
    except PassingError as error:
        raise FetchError(f"{error} (tried {attempts}x)") from error


@contextmanager
def get(
    client: Client,
    url: str,
    parameters: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[requests.Response]:
    """One try of a GET request: a response with status 200, its body not yet read.

    If `headers` ask for a range, statuses 206 and 416 are let through as well. What goes wrong
    while the caller reads the body is raised in the same way.

    Raises:
        PassingError: no connection, silence, a body cut short, or a status that may pass.
        FetchError: another status, or the address is unusable.
    """
    silence = client.source.timeout_seconds
    try:
        for _ in range(_REDIRECTS + 1):
            with (
                client,  # no connection is used again: servers are asked to close it
                client.get(
                    url, params=parameters, headers=headers, timeout=silence, stream=True
                ) as response,
            ):
                if not response.is_redirect:
                    _check_status(response, ranged="Range" in (headers or {}))
                    yield response
                    return
            url, parameters = next_address(response.url, response.headers["Location"]), None
        raise FetchError(f"more than {_REDIRECTS} redirects")
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise PassingError(f"no answer within {silence:g} s") from error
    except (requests.ConnectionError, urllib3.exceptions.HTTPError) as error:
        raise PassingError(f"no connection, or it was cut: {_innermost(error)}") from error
    except (requests.RequestException, ValueError) as error:
        raise FetchError(f"cannot be asked: {_innermost(error)}") from error


def next_address(url: str, target: str) -> str:
    """Where a redirect leads. Raises FetchError if it gives up encryption, ValueError if unfit."""
    address = urljoin(url, target)
    if urlsplit(url).scheme == "https" and urlsplit(address).scheme != "https":
        raise FetchError(f"redirects to {address}, which is not encrypted")
    return address


def save(client: Client, response: requests.Response, part: Path, mode: str = "wb") -> bool:
    """Write the body to a file, as it travels; return whether its end was certain.

    Raises:
        PassingError: the body is shorter or longer than its stated length.
        FetchError: a content encoding other than gzip, or too many bytes.
    """
    headers, raw = response.headers, cast(Any, response.raw)
    encoding = headers.get("Content-Encoding", "identity").lower()
    if encoding not in ("identity", "gzip"):
        raise FetchError(f"sends the content encoding {encoding}, which was not asked for")
    chunked = headers.get("Transfer-Encoding", "").lower() == "chunked"
    stated = None if chunked else headers.get("Content-Length")
    if stated is not None and not re.fullmatch("[0-9]{1,15}", stated):
        raise PassingError(f"Content-Length is {stated!r}, not a number of bytes")
    # The length is compared here. With it, http.client would not read what lies beyond.
    raw.enforce_content_length, raw._original_response.length = False, None
    size, end = 0, None if stated is None else int(stated)
    with part.open(mode) as stream:
        while chunk := raw.read(CHUNK if end is None else min(CHUNK, end - size), False):
            client.receive(len(chunk))
            stream.write(chunk)
            size += len(chunk)
    if end is not None:
        with suppress(urllib3.exceptions.ReadTimeoutError):  # some servers keep the line open
            size += len(raw.read(1, False))
        if size != end:
            amount = f"{size:,} of the" if size < end else "more than the"
            raise PassingError(f"{amount} {end:,} bytes that it states")
    return chunked or end is not None


def _check_status(response: requests.Response, *, ranged: bool) -> None:
    """Raise unless the status promises a body worth reading."""
    status = response.status_code
    if status == 200 or (ranged and status in (206, 416)):
        return
    text = f"status {status} {response.reason or ''}".rstrip()
    if status in (202, 408, 429) or status >= 500:
        pause = _retry_after(response.headers.get("Retry-After", ""))
        if pause > LONGEST_PAUSE:
            raise FetchError(f"{text}, come back in {pause:.0f} s")
        raise PassingError(text, pause)
    words = response.raw.read(300, False).decode("utf-8", errors="replace")
    if words and "html" not in response.headers.get("Content-Type", "").lower():
        text = f"{text}: {words}"
    raise RefusedError(text) if status == 400 else FetchError(text)


def _retry_after(value: str) -> float:
    """Seconds from a Retry-After header, which gives seconds or a date; 0 from any other text."""
    if re.fullmatch("[0-9]{1,9}", value.strip()):
        return float(value)
    try:
        when = parsedate_to_datetime(value).astimezone(UTC)
    except (ValueError, OverflowError):
        return 0.0
    return max(0.0, (when - datetime.now(UTC)).total_seconds())


def _innermost(error: BaseException) -> str:
    """The words of the deepest cause; the outer ones only repeat addresses and class names."""
    while True:
        inside = [getattr(error, "reason", None), *error.args, error.__cause__]
        deeper = next((one for one in inside if isinstance(one, BaseException)), None)
        if deeper is None:
            return getattr(error, "strerror", None) or str(error)
        error = deeper
