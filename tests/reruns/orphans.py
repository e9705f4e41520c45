"""Two processes of one job, stopped and continued in every order: what each left at the end.

Run as a program in an empty folder, since a process that forks should have no other threads.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol.reruns import job as jobs_room
from dpol.reruns.job import job_log
from dpol.reruns.notes import asked, check_notes, checksums, digest, read_notes

RUN = Path("results/r")
LOG, FILES = RUN / "logs/point.log", [str(RUN / "scores"), str(RUN / "curves")]
STEPS = 2 + len(FILES)
"""It begins, writes each of its files, and ends."""


def work(config: str) -> None:
    """Do the job under a config; stop before each next step."""
    with job_log(LOG, [], FILES, {"config": config}):
        for file in FILES:
            os.kill(os.getpid(), signal.SIGSTOP)
            write_text(file, f"{config} in {file}")
        os.kill(os.getpid(), signal.SIGSTOP)


def start(config: str) -> int:
    """Start a process of the job, which stops before its first step."""
    if process := os.fork():
        os.waitpid(process, os.WUNTRACED)
        return process
    os.kill(os.getpid(), signal.SIGSTOP)
    code = 1
    with contextlib.suppress(SystemExit):
        work(config)
        code = 0
    os._exit(code)


def played(order: list[str]) -> set[str]:
    """Let `old` and `new` take their steps in an order, and return which of them succeeded."""
    processes, succeeded = {config: start(config) for config in {*order}}, set[str]()
    for config in order:
        if process := processes.get(config):
            os.kill(process, signal.SIGCONT)
            _, status = os.waitpid(process, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                del processes[config]
                succeeded |= {config} if status == 0 else set()
    assert not processes, "a process takes more steps than it is given"
    return succeeded


def proven() -> str:
    """Return whose results a page would show: `old`, `new` or none."""
    shown = ""
    for config in ("old", "new"):
        with contextlib.suppress(DataError):
            asks = {str(LOG): digest(asked({"config": config}))}
            check_notes(RUN, read_notes(RUN), checksums(RUN, FILES), asks)
            assert [Path(it).read_text() for it in FILES] == [f"{config} in {it}" for it in FILES]
            shown += config
    return shown


def main() -> None:
    """Print how often which processes succeeded and whose results a page would show."""
    os.fsync = lambda handle: None
    found = Counter[str]()
    for first in combinations(range(2 * STEPS), STEPS):
        order = ["old" if step in first else "new" for step in range(2 * STEPS)]
        folder = Path("".join(it[0] for it in order))
        folder.mkdir()
        with contextlib.chdir(folder):
            succeeded = "+".join(sorted(played(order)))
            found[f"{succeeded or 'none'} succeeded: shown {proven() or 'none'}"] += 1
            assert (played(["new"] * STEPS), proven()) == ({"new"}, "new"), "the next call"
    print(json.dumps(found))


if __name__ == "__main__":
    if sys.argv[1] == "without-locks":  # as on some network disks
        jobs_room.hold_job = lambda log: contextlib.nullcontext()
    main()
