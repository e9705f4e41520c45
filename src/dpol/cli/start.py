"""Run Snakemake in this process: check its flags, explain locks, and report its end in one line."""

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

_STOPPED = "\nstopped: run the same command again to continue\n"
_ENDS_AFTER_JOBS = "Will exit after finishing currently running jobs"
_ENDS_NOW = "Terminating processes on user request"


class _Stopped(SystemExit):
    """The end of this run by a signal. (After a KeyboardInterrupt Python would kill itself.)"""


class _Heard(logging.Filter):
    """A filter that notes Snakemake's messages on its end: a lock, or a signal."""

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
        """End the jobs and this process after a signal; end at once after a second signal."""
        self.signals.append(number)
        for job in psutil.Process().children(recursive=True):
            with contextlib.suppress(psutil.Error):
                job.terminate()
        if len(self.signals) > 1:  # Snakemake's own end cannot be interrupted
            os.write(2, _STOPPED.encode())
            os._exit(128 + number)
        # Some imports, and callbacks when memory is freed, swallow the exception; the next message
        # of Snakemake raises it again.
        self._is_passed_over = True
        raise _Stopped


def start(words: Sequence[str], typed: Sequence[str]) -> int:
    """Run Snakemake, and return its exit code, or 128 plus the number of a signal that ended it.

    Args:
        words: arguments of Snakemake.
        typed: the command that the user typed, for messages.

    Raises:
        UsageError: a flag is unknown, or no core may be used.
        OutputError: other runs use the same files, or a folder cannot be written.
    """
    heard = _Heard()
    numbers = signal.SIGINT, signal.SIGTERM
    before = {number: signal.signal(number, heard.stop) for number in numbers}
    sys.unraisablehook = _show_unless_stopped
    try:
        done = _run(list(words), typed, heard)
    except _Stopped:
        done = False
    finally:
        sys.unraisablehook = sys.__unraisablehook__
        for number, handler in before.items():
            # Python waits for the threads of jobs at its end; a further signal ends it there.
            signal.signal(number, signal.SIG_DFL if heard.signals else handler)
    if heard.signals and not done:
        print(_STOPPED, end="", file=sys.stderr)
        return 128 + heard.signals[0]
    return 0 if done else 1


def _show_unless_stopped(ignored: Any) -> None:
    if not isinstance(ignored.exc_value, _Stopped):
        sys.__unraisablehook__(ignored)


def _run(words: list[str], typed: Sequence[str], heard: _Heard) -> bool:
    # These imports take a second; a signal during it must be heard too.
    from snakemake.cli import args_to_api
    from snakemake.exceptions import CliException
    from snakemake.shell import shell

    logger = logging.getLogger("snakemake.logging")
    logger.addFilter(heard)
    try:
        parser, options = _read(words)
        _check_cache()
        if heard.signals:  # an import swallowed the exception
            raise _Stopped
        sys.argv = ["snakemake", *words]  # Snakefiles may read it
        if os.name == "posix":
            # Only this process hears Ctrl-C, and it ends the jobs.
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
    """Return Snakemake's parser and the flags as it reads them, including flags of profiles."""
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
                f"--{flag} {count}: nothing can run on {count} cores; write --cores 2, or omit it"
                " to use all cores"
            )
    return parser, options


def _in_one_line(page: str) -> str:
    """Return the error from Snakemake's page on wrong flags, which also shows their usage."""
    last = page.strip().rpartition("\n")[2]
    wrong = last.partition(": error: ")[2] or last
    if "--executor" in wrong and "'slurm'" in wrong:
        clone = (pipeline() / "Makefile").is_file()
        remedy = "make cluster" if clone else 'pip install "dpol[cluster]"'
        return f"Snakemake has no plugin for Slurm; run {remedy}"
    return f"{wrong.removeprefix('Error: ').rstrip('.')}; dpol run CONFIG --help lists the flags"


def _check_cache() -> None:
    """Check that Snakemake can write its cache; under --quiet it does not say so itself.

    Raises:
        OutputError: the cache cannot be written.
    """
    from snakemake.common import get_appdirs

    cache = Path(get_appdirs().user_cache_dir)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        check_writable(cache)
    except (OSError, OutputError) as error:
        raise OutputError(
            f"Snakemake cannot write its cache {cache}; set XDG_CACHE_HOME to a folder that can be"
            " written"
        ) from error
