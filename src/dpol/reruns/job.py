"""A job: its log, its end after an error, and the note that it leaves."""

from __future__ import annotations

import logging
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError, DpolError
from dpol.core.extras import missing
from dpol.core.files import output_error, remove_temporary, sha256
from dpol.core.logs import LOGGER
from dpol.core.versions import as_line, loaded_versions
from dpol.reruns.code_hashes import code_of_job, files_of_job
from dpol.reruns.record import Note, Sums, asked, checksums, differences, note_of, write_note

_AGAIN = "the same command goes on from here"


@contextmanager
def job_log(
    path: Path | str,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    params: Mapping[str, Any] | None = None,
) -> Iterator[Sums]:
    """Log a job to `path`; on an error, log it last and end the process.

    Nothing is written to the terminal, since the starter of the job shows the log once, unless the
    log cannot be written. Scripts import what they call in the block: a package that is missing is
    told like any other error. The last line of a successful job names the versions of packages that
    it used.

    A job proves what it did: where its code or its tables are not those of its params, or change
    while it runs, it fails. Last, it notes what it was asked and the checksums of its files
    (`dpol.reruns.record.Note`), but not of files outside the folder of the run or with a storage
    provider.

    Args:
        path: the log file, results/<run>/logs/<job>.log, which is overwritten.
        inputs: files that the job reads.
        outputs: files that the job writes.
        params: what the job is asked; `code` is from `dpol.reruns.code_hashes.code_of_job`, and
            `contents` has the checksums of tables, or None where they are free.

    Yields:
        The checksums that it will note of its inputs.
    """
    # A job that is terminated then removes its temporary files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handler = _LogFile(path, mode="w", encoding="utf-8")
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        LOGGER.addHandler(handler)
        LOGGER.setLevel(logging.INFO)
        try:
            asks = dict(params.items() if params else ())
            with _proved(Path(path), inputs, outputs, asks) as read:
                yield read
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
            handler.close()
    except OSError as error:  # of the log itself
        sys.exit(f"error: {output_error(path, error)}")


@contextmanager
def _proved(
    log: Path, inputs: Iterable[str], outputs: Iterable[str], asks: Mapping[str, Any]
) -> Iterator[Sums]:
    """Check what a job is asked and reads, before and after it, and write its note.

    Raises:
        DataError: code or tables are not what it is asked, or change, or an input does.
    """
    began, folder = time.time_ns(), _folder_of(log)
    note_of(log).unlink(missing_ok=True)
    for file in map(Path, outputs):
        if folder in file.parents:
            remove_temporary(file)
    code, tables = asks.get("code", {}), asks.get("contents", {})
    own = [it for it in map(Path, inputs) if folder in it.parents]
    files = *(files_of_job(*code["of"]) if code else ()), *map(Path, tables), *own
    watched = {file: _state_of(file) for file in files}
    now = {**code_of_job(*code["of"])} if code else {}
    now |= {name: value and sha256(name) for name, value in tables.items()}
    if changed := [*differences(asked({**code, **tables}), asked(now))]:
        raise DataError(f"changed after it was planned: {', '.join(changed)}; {_AGAIN}")
    read = checksums(folder, own)
    yield read
    if changed := [str(it) for it, state in watched.items() if _state_of(it) != state]:
        raise DataError(f"changed while this job ran: {', '.join(changed[:9])}; {_AGAIN}")
    wrote, ended = checksums(folder, outputs), time.time_ns()
    write_note(log, Note(asked=asked(asks), read=read, wrote=wrote, began=began, ended=ended))


def _state_of(file: Path) -> tuple[int, int, int] | None:
    """Return what any change of a file changes: size, and times of its content and its entry."""
    found = file.stat() if file.exists() else None
    return found and (found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class _LogFile(logging.FileHandler):
    """A log whose trouble, such as a full disk, is told once: when it is closed."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Say nothing for each line."""


def _folder_of(log: Path) -> Path:
    """Return results/<run>; a run or a stream may be called `logs`, too."""
    return next(it.parent for it in reversed(log.parents) if it.match("results/*/logs"))
