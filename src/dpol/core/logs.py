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
def job_log(path: Path | str, *, echo: bool = False) -> Iterator[logging.Logger]:
    """Log to `path`; end the process with the message alone if a `DpolError` is raised.

    The last line of the log of a job that was done names the versions with which it was done.

    Args:
        path: the log file, which is overwritten.
        echo: also write progress to the terminal.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handlers: list[logging.Handler] = [logging.FileHandler(path, mode="w", encoding="utf-8")]
    if echo:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        yield LOGGER
        handlers[0].handle(logging.makeLogRecord({"msg": as_line(loaded_versions())}))
    except DpolError as error:
        LOGGER.info("error: %s", error)
        print(f"\nerror: {error}\n", file=sys.stderr)
        sys.exit(1)
    except Exception:
        LOGGER.info("%s", traceback.format_exc())
        raise
    finally:
        for handler in handlers:
            LOGGER.removeHandler(handler)
            handler.close()


def errors_since(folder: Path, start: float) -> list[str]:
    """The messages of jobs that a user's mistake ended, from their logs in `folder`.

    Args:
        folder: where the logs are.
        start: a Unix time; older logs are left out.
    """
    logs = [path for path in sorted(folder.rglob("*.log")) if path.stat().st_mtime >= start]
    texts = (path.read_text(encoding="utf-8") for path in logs)
    found = (re.search(r"^\S+ (error: .+)", text, re.MULTILINE | re.DOTALL) for text in texts)
    return [match[1].strip() for match in found if match]


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
