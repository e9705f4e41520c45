"""Snakemake in this process: its flags checked, its locks explained, its end told in one line."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

from dpol.cli import at_work
from dpol.core.errors import OutputError, UsageError
from dpol.core.files import check_writable
from dpol.core.shipped import pipeline

_STOPPED = "\nstopped: run the same command again to go on\n"
_ENDS_AFTER_JOBS = "Will exit after finishing currently running jobs"
_ENDS_NOW = "Terminating processes on user request"


class _Stopped(SystemExit):
    """A signal ends this run. (Python would kill itself at its end after a KeyboardInterrupt.)"""


class _Heard(logging.Filter):
    """What Snakemake says of its end: a lock, which is explained in other words, or a signal."""

    def __init__(self) -> None:
        super().__init__()
        self.locked = False
        self.signals: list[int] = []
        self._is_passed_over = False

    def filter(self, record: logging.LogRecord) -> bool:
        said = str(record.msg)
        if getattr(record, "exception", None) == "LockException":
            self.locked = True
            return False
        if said.startswith(_ENDS_AFTER_JOBS):
            self.signals.append(signal.SIGTERM)
        if said.startswith(_ENDS_NOW):
            self._is_passed_over = False
        elif self._is_passed_over and threading.current_thread() is threading.main_thread():
            raise _Stopped
        return True

    def stop(self, number: int, frame: Any) -> None:
        """End the jobs and this process, after a signal; after a second one at once."""
        self.signals.append(number)
        for job in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                job.terminate()
        if len(self.signals) > 1:  # Snakemake's own end cannot be interrupted
            os.write(2, _STOPPED.encode())
            os._exit(128 + number)
        # Some imports, and callbacks when memory is freed, pass over it: the next word of
        # Snakemake raises it again.
        self._is_passed_over = True
        raise _Stopped


def start(words: Sequence[str], typed: Sequence[str]) -> int:
    """Run Snakemake; the exit code is its own, or 128 and the number of the signal that ended it.

    Args:
        words: for Snakemake.
        typed: what the user typed, for messages.

    Raises:
        UsageError: Snakemake does not know a flag, or may use no core.
        OutputError: other runs work on the same files, or a folder cannot be written.
    """
    heard = _Heard()
    before = {it: signal.signal(it, heard.stop) for it in (signal.SIGINT, signal.SIGTERM)}
    sys.unraisablehook = _show_unless_stopped
    try:
        done = _run(list(words), typed, heard)
    except _Stopped:
        done = False
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        for number, handler in before.items():
            # Python waits for threads of jobs at its end; who cannot wait ends it there.
            signal.signal(number, signal.SIG_DFL if heard.signals else handler)
    if heard.signals and not done:
        print(_STOPPED, end="", file=sys.stderr)
        return 128 + heard.signals[0]
    return 0 if done else 1


def _show_unless_stopped(ignored: Any) -> None:
    if not isinstance(ignored.exc_value, _Stopped):
        sys.__unraisablehook__(ignored)


def _run(words: list[str], typed: Sequence[str], heard: _Heard) -> bool:
    # Not before: a signal in the second that these take is heard, too.
    from snakemake.cli import args_to_api
    from snakemake.exceptions import CliException
    from snakemake.shell import shell

    logger = logging.getLogger("snakemake.logging")
    logger.addFilter(heard)
    try:
        parser, options = _read(words)
        _check_cache()
        if heard.signals:  # an import has passed over it
            raise _Stopped
        sys.argv = ["snakemake", *words]  # which Snakefiles may read
        if os.name == "posix":
            # Ctrl-C reaches this process alone, which ends the jobs.
            shell.prefix("trap '' INT; set -eu; ")
        folder = Path(options.directory or ".")
        if options.unlock or options.dryrun:
            done = args_to_api(options, parser)
            if done and options.unlock:
                at_work.forget(folder)
            return bool(done)
        with at_work.recorded(folder, typed):
            done = args_to_api(options, parser)
            if heard.locked:
                raise OutputError(at_work.why_locked(folder, typed))
            return bool(done)
    except CliException as error:
        raise UsageError(str(error)) from None
    finally:
        logger.removeFilter(heard)


def _read(words: list[str]) -> tuple[Any, Namespace]:
    """The flags as Snakemake reads them, with those of profiles."""
    from snakemake.cli import parse_args

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            parser, options = parse_args(words)
    except SystemExit as end:
        if not end.code:  # --help
            raise
        raise UsageError(_in_one_line(said.getvalue())) from None
    sys.stderr.write(said.getvalue())
    for flag in ("cores", "jobs"):
        count = getattr(options, flag)
        if count is not None and count < 1:
            raise UsageError(
                f"--{flag} {count}: nothing can run on {count} cores; write --cores 2, or leave it"
                " out to use all cores"
            )
    return parser, options


def _in_one_line(page: str) -> str:
    """What is wrong with the flags, of a page that shows their usage too."""
    last = page.strip().rpartition("\n")[2]
    wrong = last.partition(": error: ")[2] or last
    if "--executor" in wrong and "'slurm'" in wrong:
        clone = (pipeline() / "Makefile").is_file()
        remedy = "make cluster" if clone else 'pip install "dpol[cluster]"'
        return f"Snakemake has no plugin for Slurm; run {remedy}"
    return f"{wrong.removeprefix('Error: ').rstrip('.')}; dpol run CONFIG --help lists the flags"


def _check_cache() -> None:
    """Refuse a home that cannot be written, of which Snakemake says nothing under --quiet.

    Raises:
        OutputError: Snakemake cannot make its cache.
    """
    from snakemake.common import get_appdirs

    cache = Path(get_appdirs().user_cache_dir)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        check_writable(cache)
    except (OSError, OutputError) as error:
        raise OutputError(
            f"Snakemake cannot keep its sources in {cache}; set XDG_CACHE_HOME to a folder that can"
            " be written"
        ) from error
