"""The log of a job, and how a job ends when the user made a mistake."""

from __future__ import annotations

import logging
import re
import sys
import time
import traceback
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from dpol.core.errors import DpolError
from dpol.core.versions import as_line, loaded_versions

LOGGER = logging.getLogger("dpol")
T = TypeVar("T")


@contextmanager
def job_log(path: Path | str) -> Iterator[logging.Logger]:
    """Log to `path`, and end the process with what went wrong as the last entry of the log.

    Nothing is written to the terminal: what started the job shows the log once.
    The last line of the log of a job that was done names the versions with which it was done.

    Args:
        path: the log file, which is overwritten.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield LOGGER
        handler.handle(logging.makeLogRecord({"msg": as_line(loaded_versions())}))
    except DpolError as error:
        LOGGER.info("error: %s", error)
        sys.exit(1)
    except Exception:
        LOGGER.info("%s", traceback.format_exc())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        LOGGER.removeHandler(handler)
        handler.close()


def error_in(log: Path) -> str:
    """The end of a failed job, from its log: a message for the user, or a traceback; else empty."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    found = re.search(r"^\S+ ((?:error: |Traceback ).+)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def progress(
    items: Iterable[T], what: str, total: int | None = None, *, every: float = 10.0
) -> Iterator[T]:
    """The items, one by one; the log says how many are done, and at the end the time it took.

    Args:
        items: what is worked on.
        what: names them in the log.
        total: how many there are; without it `len(items)`.
        every: seconds between two lines, at least.
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
