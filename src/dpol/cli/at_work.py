"""The runs at work in a folder: each notes its process beside the locks of Snakemake.

Snakemake's locks hold names of files and no process, so that a killed run locks its files for ever.
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
        host: the machine.
        process: its number there.
        began: when the process began, which tells it from a later one of the same number.
        words: what the user typed.
    """

    host: str
    process: int
    began: str
    words: str

    @property
    def is_here(self) -> bool:
        """True on the machine of the run."""
        return self.host == socket.gethostname()

    @property
    def is_alive(self) -> bool:
        """True if the process works; on another machine nobody can tell, and it counts as alive."""
        found = began(self.process)
        return not self.is_here or (found != "" and found == self.began)


def began(process: int) -> str:
    """When a process began; empty if it is dead."""
    try:
        known = psutil.Process(process)
        if known.status() == psutil.STATUS_ZOMBIE:
            return ""
        if not sys.platform.startswith("linux"):
            return str(known.create_time())
        # Since the machine was started: no clock that is set meanwhile changes it.
        ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
        return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {ticks}"
    except (psutil.Error, OSError):
        return ""


@contextmanager
def recorded(folder: Path, words: Sequence[str]) -> Iterator[None]:
    """Record this process while the block works; the locks of a killed run are removed before.

    Args:
        folder: where the run works.
        words: what the user typed.

    Raises:
        OutputError: the folder cannot be written.
    """
    own = Run(
        host=socket.gethostname(),
        process=os.getpid(),
        began=began(os.getpid()),
        words=shlex.join(words),
    )
    file = folder / _RECORDS / f"{own.host}-{own.process}.json"
    # Before it looks at others: of two runs that begin at once, each sees the other.
    write_json(file, asdict(own))
    try:
        _take_over(folder, file)
        yield
    finally:
        file.unlink(missing_ok=True)


def _take_over(folder: Path, own: Path) -> None:
    """Remove the locks of dead runs, unless another may work here."""
    others = {file: it for file, it in _runs(folder).items() if file != own}
    if not others or any(it.is_alive for it in others.values()):
        return
    if any((folder / _LOCKS).glob("*.lock")):
        shutil.rmtree(folder / _LOCKS)
        dead = ", ".join(str(it.process) for it in others.values())
        print(
            f"The last run here was killed (process {dead}). Its locks are removed, and its"
            " finished jobs are kept.",
            file=sys.stderr,
        )
    for file in others:
        file.unlink(missing_ok=True)


def forget(folder: Path) -> None:
    """Forget the runs that nobody knows to work: the user has unlocked the folder."""
    for file, it in _runs(folder).items():
        if not (it.is_here and it.is_alive):
            file.unlink(missing_ok=True)


def why_locked(folder: Path, words: Sequence[str]) -> str:
    """Why this run may not begin, and what to do.

    Args:
        folder: where it would work.
        words: what the user typed.
    """
    others = [it for it in _runs(folder).values() if it.process != os.getpid() or not it.is_here]
    unlock = f"if it works no more, type: {shlex.join([*words, '--unlock'])}"
    for it in others:
        if it.is_here and it.is_alive:
            return (
                f"{folder.absolute()}: another run works on the same files (process {it.process}:"
                f" {it.words}); wait for its end, or run in another folder"
            )
    for it in others:
        if not it.is_here:
            return (
                f"{folder.absolute()}: a run on {it.host} works on the same files (process"
                f" {it.process}: {it.words}); {unlock}"
            )
    return (
        f"{folder.absolute()}: files of this run are locked by a Snakemake that dpol did not start;"
        f" {unlock}"
    )


def _runs(folder: Path) -> dict[Path, Run]:
    """The runs that are recorded, by the files of their records."""
    found = {}
    for file in sorted((folder / _RECORDS).glob("[!.]*.json")):
        try:
            found[file] = Run(**json.loads(file.read_text(encoding="utf-8")))
        except (FileNotFoundError, ValueError, TypeError):  # it ended just now; or no record
            continue
    return found
