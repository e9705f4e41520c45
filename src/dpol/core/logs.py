"""The log of a job, and how a job ends when the user made a mistake."""

from __future__ import annotations

import logging
import re
import signal
import sys
import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from dpol.core.errors import DataError, DpolError
from dpol.core.files import sha256, write_text
from dpol.core.versions import as_line, loaded_versions

LOGGER = logging.getLogger("dpol")
T = TypeVar("T")


@contextmanager
def job_log(
    path: Path | str, inputs: Iterable[str] = (), outputs: Iterable[str] = ()
) -> Iterator[logging.Logger]:
    """Log to `path`, and end the process with what went wrong as the last entry of the log.

    Nothing is written to the terminal: what started the job shows the log once.
    The last line of the log of a job that was done names the versions with which it was done.
    A job notes the checksums of its outputs below `logs/sums`, and a job whose input has another
    checksum by then ends before it begins. Files outside the folder of the run, also those that a
    storage provider holds, have none.

    Args:
        path: the log file, results/<run>/logs/<job>.log, which is overwritten.
        inputs: files that the job reads.
        outputs: files that the job writes.
    """
    # So that a job which is ended removes its temporary files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        _check(_sums(Path(path), inputs))
        made = _sums(Path(path), outputs)
        for noted in made.values():
            noted.unlink(missing_ok=True)
        yield LOGGER
        for file, noted in made.items():
            write_text(noted, sha256(file))
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


def _sums(log: Path, files: Iterable[str]) -> dict[Path, Path]:
    """The place of the checksum of each file that is in the folder of the run."""
    logs = next((it for it in reversed(log.parents) if it.name == "logs"), log)
    return {
        file: logs / "sums" / f"{file.relative_to(logs.parent)}.sha256"
        for file in map(Path, files)
        if logs.parent in file.parents
    }


def _check(sums: Mapping[Path, Path]) -> None:
    for file, noted in sums.items():
        if noted.is_file() and file.is_file() and noted.read_text() != sha256(file):
            raise DataError(
                f"{file} was changed after the job that made it; delete it to make it again"
            )


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
