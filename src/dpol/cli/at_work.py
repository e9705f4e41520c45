"""Records of the active runs in a folder, next to Snakemake's locks.

Snakemake's locks name files but no process, so a killed run would lock its files for ever.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

from dpol.core.files import write_json

_LOCKS = Path(".snakemake/locks")
_RECORDS = Path(".snakemake/at-work")


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run of `dpol`.

    Args:
        host: name of the machine.
        process: number of the process.
        began: start of the process, which distinguishes it from a later one of the same number.
        words: the command that the user typed.
    """

    host: str
    process: int
    began: str
    words: str

    @property
    def is_here(self) -> bool:
        """Whether the run is on this machine."""
        return self.host == socket.gethostname()

    @property
    def is_alive(self) -> bool:
        """Whether the process is alive; assumed for a process on another machine."""
        start = began(self.process)
        return not self.is_here or (start != "" and start == self.began)


def began(process: int) -> str:
    """Return the start of a process; empty if it is dead."""
    try:
        known = psutil.Process(process)
        if known.status() == psutil.STATUS_ZOMBIE:
            return ""
        if not sys.platform.startswith("linux"):
            return str(known.create_time())
        # Ticks since the machine started, which do not change when the clock is set.
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {ticks}"
    except (psutil.Error, OSError):
        return ""


@contextmanager
def recorded(folder: Path, words: Sequence[str]) -> Iterator[None]:
    """Record this process while the block runs, after removing the locks of killed runs.

    Args:
        folder: working folder of the run.
        words: the command that the user typed.

    Raises:
        OutputError: the folder cannot be written.
    """
    this = Run(
        host=socket.gethostname(),
        process=os.getpid(),
        began=began(os.getpid()),
        words=shlex.join(words),
    )
    file = folder / _RECORDS / f"{this.host}-{this.process}.json"
    # Written before looking at other records, so that two runs that start at once see each other.
    write_json(file, asdict(this))
    try:
        _take_over(folder, file)
        yield
    finally:
        file.unlink(missing_ok=True)


def _take_over(folder: Path, record: Path) -> None:
    """Remove the locks of dead runs, unless another run may be active here."""
    others = {file: run for file, run in _runs(folder).items() if file != record}
    if not others or any(run.is_alive for run in others.values()):
        return
    if any((folder / _LOCKS).glob("*.lock")):
        shutil.rmtree(folder / _LOCKS)
        dead = ", ".join(str(run.process) for run in others.values())
        print(
            f"The last run here was killed (process {dead}). Its locks are removed, and its"
            " finished jobs are kept.",
            file=sys.stderr,
        )
    for file in others:
        file.unlink(missing_ok=True)


def forget(folder: Path) -> None:
    """Remove the records of runs not known to be alive, after the user has unlocked the folder."""
    for file, run in _runs(folder).items():
        if not (run.is_here and run.is_alive):
            file.unlink(missing_ok=True)


def why_locked(folder: Path, words: Sequence[str]) -> str:
    """Return why this run may not start, and what to do.

    Args:
        folder: working folder of the run.
        words: the command that the user typed.
    """
    others = [
        run for run in _runs(folder).values() if run.process != os.getpid() or not run.is_here
    ]
    unlock = f"if it is no longer running, type: {shlex.join([*words, '--unlock'])}"
    for run in others:
        if run.is_here and run.is_alive:
            return (
                f"{folder.absolute()}: another run uses the same files (process {run.process}:"
                f" {run.words}); wait until it ends, or run in another folder"
            )
    for run in others:
        if not run.is_here:
            return (
                f"{folder.absolute()}: a run on {run.host} uses the same files (process"
                f" {run.process}: {run.words}); {unlock}"
            )
    return (
        f"{folder.absolute()}: files of this run are locked by a Snakemake that dpol did not start;"
        f" {unlock}"
    )


def _runs(folder: Path) -> dict[Path, Run]:
    """Return the recorded runs, by the files of their records."""
    runs = {}
    for file in sorted((folder / _RECORDS).glob("[!.]*.json")):
        try:
            runs[file] = Run(**json.loads(file.read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):  # it has just ended, or is no record
            continue
    return runs
