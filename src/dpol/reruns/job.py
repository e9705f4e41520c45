"""A job proves what it did: it checks what it is asked and reads, and leaves a note."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import remove_temporary, sums_of_written
from dpol.core.logs import log_of_job
from dpol.core.words import listed
from dpol.reruns.code_hashes import code_of_job, files_of_job
from dpol.reruns.notes import (
    Note,
    checksums,
    digest,
    loaded_versions,
    note_of,
    peak_mb,
    sums_of,
    unanswered,
    write_note,
)

_AGAIN = "run the same command again to continue"


@contextmanager
def job_log(
    path: Path | str,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    *,
    params: Mapping[str, Any],
) -> Iterator[None]:
    """Log a job as `dpol.core.logs.log_of_job` does, prove what it did, and write its note.

    It fails before it writes if its code, its tables or its inputs are not those of its params, and
    at its end if one of them, or an output, has other content than before. Last, it notes what it
    was asked and the checksums of its files (`dpol.reruns.notes.Note`), but not of files outside
    the folder of the run or with a storage provider. Scripts import what they call in the block: a
    package that is missing is told like any other error.

    Args:
        path: the log file, which is overwritten.
        inputs: files that the job reads.
        outputs: files that the job writes by `dpol.core.files.atomic_path`.
        params: what the job is asked; `job` is the folder of its run, results/<run>, and its name,
            `code` is from `dpol.reruns.code_hashes.code_of_job`, `contents` has the checksums of
            the first inputs, tables, or None for those that a job makes, and `sources` a digest of
            what each job is asked that makes an input.
    """
    # A job ends soon. Searches for cycles among what its imports make take a sixth of its start.
    gc.set_threshold(100_000)
    log = Path(path)
    with log_of_job(log), sums_of_written() as written:
        began, asks = time.time_ns(), dict(params.items())
        run, job = asks["job"]
        folder = Path(run)
        read_files = [*map(Path, inputs)]
        inside = [file for file in read_files if folder in file.parents]
        made = [file for file in map(Path, outputs) if folder in file.parents]
        note_of(folder, job).unlink(missing_ok=True)
        # Other numbers may come: the page stands only beside those that it shows.
        (folder / "report/index.html").unlink(missing_ok=True)
        for file in made:
            remove_temporary(file)
        code, contents = asks.get("code", {}), asks.get("contents", [])
        tables = {file: it for file, it in zip(read_files, contents, strict=False) if it}
        files = *(files_of_job(*code["of"]) if code else ()), *tables, *inside
        states = {file: _state_of(file) for file in files}
        before = sums_of(files)
        now = code_of_job(*code["of"]) if code else {}
        changed = [f"code in {room}" for room in now if now[room] != code.get(room)]
        changed += [str(file) for file, value in tables.items() if before.get(file) != value]
        if changed:
            raise DataError(f"changed after it was planned: {', '.join(changed)}; {_AGAIN}")
        if wrong := unanswered(folder, asks.get("sources", {}), inside):
            raise DataError(f"{folder}: not as this run asks: {listed(wrong, 9)}; {_AGAIN}")
        yield
        wrote = {it.relative_to(folder).as_posix(): written[it] for it in made if it in written}
        there = checksums(folder, made)
        # A file that another call, or chmod, only touched has the content from before.
        touched = [file for file in files if _state_of(file) != states[file]]
        after = sums_of(touched)
        changed = [str(file) for file in touched if after.get(file) != before.get(file)]
        changed += [f"{folder}/{it}" for it in wrote | there if wrote.get(it) != there.get(it)]
        if changed:
            raise DataError(f"changed while this job ran: {', '.join(changed[:9])}; {_AGAIN}")
        note = Note(
            asked=digest(asks),
            read={it.relative_to(folder).as_posix(): before[it] for it in inside if it in before},
            wrote=wrote,
            began=began,
            ended=time.time_ns(),
            versions=loaded_versions(),
            peak_mb=peak_mb(),
        )
        write_note(folder, job, note)
    gc.freeze()  # Python would search all objects for cycles again before it ends.


def _state_of(file: Path) -> tuple[int, int, int] | None:
    """Return what any change of a file changes: size, and times of its content and its entry."""
    found = file.stat() if file.exists() else None
    return found and (found.st_size, found.st_mtime_ns, found.st_ctime_ns)
