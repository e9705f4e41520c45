"""The logger of dpol, and what a job's log says."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

LOGGER = logging.getLogger("dpol")
T = TypeVar("T")


def error_in(log: Path) -> str:
    """Return the error in a job's log: a message, or a traceback; empty if there is none."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    match = re.search(r"^\S+ ((?:error: |Traceback ).+)", text, re.MULTILINE | re.DOTALL)
    return match[1].strip() if match else ""


def end_of(log: Path, lines: int = 5) -> str:
    """Return the last lines of a job's log; empty if there is none."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return "\n".join(text.splitlines()[-lines:])


def progress(
    items: Iterable[T], what: str, total: int | None = None, *, every: float = 10.0
) -> Iterator[T]:
    """Yield items one by one, and log how many are done and, at the end, the time it took.

    Args:
        items: the items.
        what: their name in the log.
        total: number of items; `len(items)` by default.
        every: least time between two lines of the log, in seconds.
    """
    count = total if total is not None else len(items) if isinstance(items, Collection) else 0
    start = logged = time.monotonic()
    done = 0
    for done, item in enumerate(items, 1):
        yield item
        now = time.monotonic()
        if now - logged >= every and done < count:
            logged = now
            LOGGER.info("%s: %d of %d", what, done, count)
    LOGGER.info("%s: %d done in %.1f s", what, done, time.monotonic() - start)
