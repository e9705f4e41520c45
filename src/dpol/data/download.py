"""Downloads over HTTP that end with the whole body of an answer, or with one plain line."""

from __future__ import annotations

import importlib.metadata
import itertools
import random
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import requests
import urllib3

from dpol.core.errors import FetchError
from dpol.core.words import printable
from dpol.data.settings import WebSource

LONGEST_PAUSE = 600.0
"""Longest pause in seconds; a server that asks for a longer one counts as failed."""
CHUNK = 1 << 16
_LOG_EVERY = 1 << 24
_HEADERS = {
    "User-Agent": f"dpol/{importlib.metadata.version('dpol')}",
    "Accept-Encoding": "identity",
    "Cache-Control": "no-cache",
    "Connection": "close",
}

_Result = TypeVar("_Result")


class PassingError(Exception):
    """A try failed in a way that may pass; the text says how."""

    def __init__(self, reason: str, pause: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = pause
        """Seconds that the server asks to wait."""


@dataclass
class Client:
    """Settings, log and traffic of one endpoint; all that it sends counts towards one limit.

    `folder` is for files that are not complete.
    """

    source: WebSource
    url: str
    folder: Path
    sleep: Callable[[float], None]
    log: Callable[[str], None]
    received: int = 0

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

    Raises ValueError outside the main thread.
    """

    def stop(*_: object) -> None:
        raise FetchError(
            f"not done within {minutes:g} min; raise"
            " dataset.source.time_limit_minutes if the server is only slow"
        )

    handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 60 * minutes)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)


def plain(text: str) -> str:
    """Text from a server as one line without control characters, of at most 400 characters."""
    return printable(" ".join(text.split()))[:400]


def with_retries(client: Client, one_try: Callable[[], _Result]) -> _Result:
    """The result of `one_try`, repeated while it raises `PassingError` and there is time.

    Pauses grow exponentially, with jitter, and are never shorter than the server asked for.
    Raises FetchError if the last try fails as well, or the time is up.
    """
    attempts = client.source.attempts
    with time_limit(client.source.time_limit_minutes):
        for number in itertools.count(1):
            try:
                return one_try()
            except PassingError as error:
                if number == attempts:
                    raise FetchError(f"{error} (tried {attempts}x)") from error
                pause = max(error.pause, min(2.0 ** (number - 1), 60.0) + random.random())
                again = f"try {number + 1} of {attempts} in {pause:.0f} s"
                client.log(f"{plain(str(error))}; {again}")
                client.sleep(pause)
    raise AssertionError


@contextmanager
def get(
    client: Client,
    parameters: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Iterator[requests.Response]:
    """One try of a GET request: a response with status 200, its body not yet read.

    If `headers` ask for a range, statuses 206 and 416 are let through as well. What goes wrong
    while the caller reads the body is raised in the same way.

    Raises:
        PassingError: no connection, silence, a body cut short, or a status that may pass.
        FetchError: another status, an unusable address, or a redirect that gives up encryption.
    """
    silence, headers = client.source.timeout_seconds, headers or {}
    sent = {**_HEADERS, **headers}
    try:
        with requests.get(
            client.url, params=parameters, headers=sent, timeout=silence, stream=True
        ) as response:
            check_encryption([step.url for step in (*response.history, response)])
            _check_status(response, ranged="Range" in headers)
            yield response
    except (requests.Timeout, urllib3.exceptions.TimeoutError) as error:
        raise PassingError(f"no answer within {silence:g} s") from error
    except (requests.ConnectionError, urllib3.exceptions.HTTPError) as error:
        raise PassingError(f"no connection, or it was cut: {_innermost(error)}") from error
    except (requests.RequestException, ValueError) as error:
        raise FetchError(f"cannot be asked: {_innermost(error)}") from error


def check_encryption(addresses: Sequence[str]) -> None:
    """Raise FetchError if one of the addresses, each a redirect of the last, drops encryption."""
    for before, after in itertools.pairwise(addresses):
        if urlsplit(before).scheme == "https" and urlsplit(after).scheme != "https":
            raise FetchError(f"redirects to {after}, which is not encrypted")


def save(client: Client, response: requests.Response, part: Path) -> None:
    """Write the body to a file, as it travels; append the rest of one (status 206).

    Raises FetchError for too many bytes.
    """
    with part.open("ab" if response.status_code == 206 else "wb") as stream:
        for chunk in response.raw.stream(CHUNK, decode_content=False):
            client.receive(len(chunk))
            stream.write(chunk)


def _check_status(response: requests.Response, *, ranged: bool) -> None:
    """Raise unless the status promises a body worth reading."""
    status = response.status_code
    if status == 200 or (ranged and status in (206, 416)):
        return
    text = f"status {status} {response.reason or ''}".rstrip()
    if status in (202, 408, 429) or status >= 500:
        pause = _retry_after(response)
        if pause > LONGEST_PAUSE:
            raise FetchError(f"{text}, asks for a pause of more than {LONGEST_PAUSE:.0f} s")
        raise PassingError(text, pause)
    words = response.raw.read(300, False).decode("utf-8", errors="replace")
    if words and "html" not in response.headers.get("Content-Type", "").lower():
        text = f"{text}: {words}"
    raise FetchError(text)


def _retry_after(response: requests.Response) -> float:
    """Seconds of the header Retry-After, a number or a date; 0 if it is neither."""
    try:
        return urllib3.Retry().get_retry_after(response.raw) or 0.0
    except (urllib3.exceptions.InvalidHeader, ValueError, OverflowError):
        return 0.0


def _innermost(error: BaseException) -> str:
    """The words of the deepest cause; the outer ones only repeat addresses and class names."""
    while True:
        inside = [getattr(error, "reason", None), *error.args, error.__cause__]
        deeper = next((one for one in inside if isinstance(one, BaseException)), None)
        if deeper is None:
            return getattr(error, "strerror", None) or str(error)
        error = deeper
