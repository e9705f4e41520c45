"""The logger of dpol, and the log of a job: how it is written, and what it says."""

from __future__ import annotations

import logging
import re
import signal
import sys
import time
import traceback
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from dpol.core.errors import DpolError, missing
from dpol.core.files import output_error

LOGGER = logging.getLogger("dpol")
T = TypeVar("T")


@contextmanager
def log_of_job(path: Path | str) -> Iterator[None]:
    """Log a block to a file; on an error, log it last and end the process.

    Nothing is written to the terminal, since the starter of the job shows the log once, unless the
    log cannot be written.

    Args:
        path: the log file, which is overwritten.
    """
    # A job that is terminated then removes its temporary files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        # Trouble, such as a full disk, is told once: when the log is closed.
        logging.raiseExceptions = False
        handler = logging.FileHandler(path, mode="w", encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        LOGGER.addHandler(handler)
        LOGGER.setLevel(logging.INFO)
        try:
            yield
        except DpolError as error:
            LOGGER.info("error: %s", error)
            sys.exit(1)
        except Exception as error:
            remedy = missing(error) if isinstance(error, ModuleNotFoundError) else ""
            LOGGER.info("%s", f"error: {remedy}" if remedy else traceback.format_exc())
            sys.exit(1)
        except KeyboardInterrupt:
            LOGGER.info("error: stopped by Ctrl-C; the same command continues the run")
            sys.exit(130)
        finally:
            LOGGER.removeHandler(handler)
            handler.close()
    except OSError as error:  # of the log itself
        sys.exit(f"error: {output_error(path, error)}")


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
        every: shortest time between two lines of the log, in seconds.
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
