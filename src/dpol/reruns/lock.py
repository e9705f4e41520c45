"""The locks of a run: one call at a time makes its results, and one process at a time does a job.

A lock is of the operating system, and ends with its process. A job has its own, since it outlives
the call that started it where only Snakemake is killed.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from dpol.core.errors import OutputError
from dpol.core.files import output_error


def hold(folder: Path, config: str) -> Callable[[], None]:
    """Lock the folder of a run until this process ends, and remove what killed ones left there.

    Args:
        folder: results/<run>; the lock is among its logs.
        config: names of the config files, for the message in another call.

    Returns:
        A function that ends the lock before.

    Raises:
        OutputError: another call has the lock, a job of an earlier one is still at work, or a lock
            cannot be written.
    """
    said, remedy = f"{folder}: another run is at work there", "give this config another `run`"
    with ExitStack() as stack:
        stack.enter_context(_held(folder / "logs/lock", said, remedy, of=f", {config}"))
        for left in folder.glob("logs/**/*.lock"):
            with hold_job(left.with_suffix(".log")):
                pass  # a killed process left it
        for left in folder.rglob(".*~????????*"):  # as `atomic_path` names temporary files
            left.unlink(missing_ok=True)
        return atexit.register(stack.pop_all().close)


def hold_job(log: Path) -> AbstractContextManager[None]:
    """Return what lets only one process at a time work on the job with a log.

    To enter it raises OutputError if another process does, or its lock cannot be written.
    """
    said = f"{log}: a process that was started before is still at work on this job"
    return _held(log.with_suffix(".lock"), said, "end that process, and run again")


@contextmanager
def _held(lock: Path, said: str, remedy: str, of: str = "") -> Iterator[None]:
    """Hold a lock in the block, whose file names the holder to others, and is then removed."""
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        # Who may write into the folder may lock it.
        guard = FileLock(lock, timeout=0, mode=lock.parent.stat().st_mode & 0o666).acquire()
        text = f"{_machine()} {os.getpid()} since {time.strftime('%H:%M')}{of}"
        lock.write_text(text, encoding="utf-8")
    except Timeout:
        holder = "it just began"
        with suppress(OSError, ValueError):
            machine, process, since = lock.read_text(encoding="utf-8").split(" ", 2)
            where = "this machine" if machine == _machine() else "another machine"
            holder = f"process {process} on {where}, {since}"
        raise OutputError(f"{said}: {holder}; wait for its end, or {remedy}") from None
    except PermissionError as error:
        raise OutputError(
            f"cannot lock {lock}: permission denied; make its folder writable, or delete this file"
            " if no process works there"
        ) from error
    except OSError as error:
        raise output_error(lock, error) from error
    with guard:
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _machine() -> str:
    """Return a text that tells this machine from others and, since it may be left, names none."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]
