"""The processes of a Slurm cluster of one node, which one-node.sh starts: found, killed, ended.

Everything that the cluster starts can be found again by its folder. By hand, until Ctrl-C:

    python tests/slurm/one_node.py /tmp/cluster    # prints how to use it
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

DAEMONS = ("munged", "slurmctld", "slurmscriptd", "slurmd", "slurmstepd")


def environment(folder: Path) -> dict[str, str]:
    """The variables with which Slurm's commands find this cluster."""
    path = f"{folder}/bin:{os.environ['PATH']}"
    return {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf", "PATH": path}


def run(folder: Path, *command: str | Path) -> str:
    """The output of a command: one of Slurm's, or a daemon (its log is <name>.log).

    Raises:
        RuntimeError: it failed; with what it said.
    """
    done = subprocess.run(
        command, env=environment(folder), capture_output=True, text=True, check=False, timeout=90
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def node_state(folder: Path) -> str:
    """State of the node by sinfo: idle, mix, alloc, down*, ...; empty without a scheduler."""
    with suppress(RuntimeError):
        return run(folder, "sinfo", "--noheader", "--format=%t").strip()
    return ""


def processes(folder: Path, *names: str) -> list[psutil.Process]:
    """Processes of this cluster, its jobs and its users; only those of some names if given.

    A process is one of these if it has `folder` in its environment, is in it or has a file
    of it open.
    """
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it ended meanwhile
            named = not names or process.name() in names
            if named and process.pid not in (os.getpid(), os.getppid()):
                places = [process.cwd(), *(file.path for file in process.open_files())]
                in_folder = any(Path(place).is_relative_to(folder) for place in places)
                if in_folder or process.environ().get("SLURM_CONF") == f"{folder}/slurm.conf":
                    found.append(process)
    return found


def job_processes(folder: Path, script: str = "") -> list[psutil.Process]:
    """The processes of jobs; only those that run `script`, a name in workflow/scripts, if given."""
    found = []
    for process in processes(folder):
        with suppress(psutil.Error):
            is_script = any(word.endswith(f".{script}.py") for word in process.cmdline()[1:2])
            if job_of(process) and (is_script or not script):
                found.append(process)
    return found


def job_of(process: psutil.Process) -> str:
    """The number of the Slurm job of which a process is; empty if of none, or if it ended."""
    with suppress(psutil.Error):
        return process.environ().get("SLURM_JOB_ID", "")
    return ""


def kill(targets: Iterable[psutil.Process], number: int = signal.SIGKILL) -> None:
    """Send a signal to processes, of which some may have ended."""
    for process in targets:
        with suppress(psutil.Error):
            process.send_signal(number)


def kill_node(folder: Path) -> None:
    """Let the node die: slurmd and everything that runs on it end, before this returns."""

    def gone() -> bool:
        alive = [*processes(folder, "slurmd", "slurmstepd"), *job_processes(folder)]
        kill(alive)
        return not alive

    wait_until(gone, "the node to die")


def stop(folder: Path) -> None:
    """End every process of the cluster: users and jobs, then the daemons. Twice does no harm."""
    if not (folder / "slurm.conf").exists():  # not a cluster, so nothing in it is ours to end
        return
    daemons = processes(folder, *DAEMONS)
    kill(process for process in processes(folder) if process not in daemons)
    # Not to slurmscriptd: slurmctld ends it, and waits for ever for one that has gone.
    kill(processes(folder, "munged", "slurmctld", "slurmd"), signal.SIGTERM)
    try:
        wait_until(lambda: not processes(folder), "the daemons to end", seconds=15)
    except RuntimeError:
        kill(processes(folder))
        wait_until(lambda: not processes(folder), "the killed daemons to end")


@contextmanager
def guarded(folder: Path) -> Iterator[None]:
    """A cluster that ends with the block, and as well if this process is interrupted or killed.

    A second process stops it when its standard input ends, whose other end is held here.
    """
    command = [sys.executable, __file__, "guard", str(folder)]
    guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
    try:
        run(folder, Path(__file__).with_name("one-node.sh"), folder)
        yield
    finally:
        guard.communicate(timeout=60)


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 300) -> Any:
    """Wait for something that is true; returns it.

    Raises:
        RuntimeError: it did not come in time.
    """
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise RuntimeError(f"waited {seconds} s in vain for {what}")
        time.sleep(0.1)
    return found


def main(*arguments: str) -> None:
    """Hold a cluster by hand; as its guard, stop it when standard input ends."""
    folder = Path(arguments[-1]).absolute()
    if arguments[0] == "guard":
        sys.stdin.read()
        stop(folder)
        return
    with guarded(folder):
        print(f"export SLURM_CONF={folder}/slurm.conf PATH={folder}/bin:$PATH", flush=True)
        signal.pause()


if __name__ == "__main__":
    main(*sys.argv[1:])
