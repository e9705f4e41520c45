"""Logs of jobs, and how a job ends after an error."""

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
from typing import Any, TypeVar

from dpol.core.errors import DataError, DpolError
from dpol.core.extras import missing
from dpol.core.files import output_error, sha256, write_json, write_text
from dpol.core.record import answer_of, asked, noted_sum, read_sum
from dpol.core.versions import as_line, loaded_versions

LOGGER = logging.getLogger("dpol")
T = TypeVar("T")


@contextmanager
def job_log(
    path: Path | str,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    params: Mapping[str, Any] | None = None,
) -> Iterator[logging.Logger]:
    """Log a job to `path`; on an error, log it last and end the process.

    Nothing is written to the terminal, since the starter of the job shows the log once, unless the
    log cannot be written. Scripts import what they call in the block: a package that is missing is
    told like any other error. The last line of a successful job names the versions of packages that
    it used.

    A job records the checksums of its outputs below `logs/sums`, but for files outside the folder
    of the run or with a storage provider. A later job refuses to start if an input has another
    checksum. Next to its log, a job notes last what it was asked.

    Args:
        path: the log file, results/<run>/logs/<job>.log, which is overwritten.
        inputs: files that the job reads.
        outputs: files that the job writes.
        params: what the job is asked.
    """
    # A job that is terminated then removes its temporary files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handler = _LogFile(path, mode="w", encoding="utf-8")
    except OSError as error:
        sys.exit(f"error: {output_error(path, error)}")
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
    LOGGER.addHandler(handler)
    LOGGER.setLevel(logging.INFO)
    try:
        folder, answer = _folder_of(Path(path)), answer_of(Path(path))
        read, made = _sums(folder, inputs), _sums(folder, outputs)
        _check(read)
        for noted in (answer, *made.values()):
            noted.unlink(missing_ok=True)
        yield LOGGER
        for file, noted in made.items():
            write_text(noted, sha256(file))
        sums = {
            file.relative_to(folder).as_posix(): read_sum(noted)
            for file, noted in {**read, **made}.items()
            if noted.is_file()
        }
        write_json(answer, {"asked": asked(params or {}), "files": sums})
        handler.handle(logging.makeLogRecord({"msg": as_line(loaded_versions())}))
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
        try:
            handler.close()
        except OSError as error:
            sys.exit(f"error: {output_error(path, error)}")


class _LogFile(logging.FileHandler):
    """A log whose trouble, such as a full disk, is told once: when it is closed."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Say nothing for each line."""


def _folder_of(log: Path) -> Path:
    """Return results/<run>; a run or a stream may be called `logs`, too."""
    return next(it.parent for it in reversed(log.parents) if it.match("results/*/logs"))


def _sums(folder: Path, files: Iterable[str]) -> dict[Path, Path]:
    """Return where the checksum of each file in the folder of the run is noted."""
    return {
        file: noted_sum(folder, file.relative_to(folder).as_posix())
        for file in map(Path, files)
        if folder in file.parents
    }


def _check(sums: Mapping[Path, Path]) -> None:
    for file, note in sums.items():
        if file.is_file() and note.is_file() and read_sum(note) != sha256(file):
            raise DataError(
                f"{file} was changed after the job that made it; delete it and run snakemake again"
            )


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
