"""A Slurm cluster of one node on loopback: no systemd, no cgroups, no accounting database.

Everything it writes lies in one folder, and everything it starts can be found again by that
folder. Needs root and Debian's Slurm (install.sh). By hand:

    python tests/slurm/one_node.py start /tmp/cluster    # prints how to use it
    python tests/slurm/one_node.py stop /tmp/cluster
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")

SLURM_CONF = (Path(__file__).parent / "slurm.conf.template").read_text()

# The plugin's job step drops every SLURM_ variable, SLURM_CONF too, before it calls srun.
SRUN = """\
#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec /usr/bin/srun "$@"
"""

DAEMONS = ("munged", "slurmctld", "slurmscriptd", "slurmd", "slurmstepd")


def environment(folder: Path) -> dict[str, str]:
    """The variables with which Slurm's commands find this cluster."""
    path = f"{folder}/bin:{os.environ['PATH']}"
    return {**os.environ, "SLURM_CONF": f"{folder}/slurm.conf", "PATH": path}


def run(folder: Path, *command: str) -> str:
    """The output of one of Slurm's commands.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    done = subprocess.run(
        command, env=environment(folder), capture_output=True, text=True, check=False, timeout=60
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def start(folder: Path) -> None:
    """Start the cluster in an empty folder; returns when its node is idle.

    Raises:
        RuntimeError: the host name is not on loopback, or the node does not come up.
    """
    host = socket.gethostname().split(".")[0]
    if not address(host).startswith("127."):
        raise RuntimeError(
            f"{host} is not on loopback: add a line '127.0.1.1 {host}' to /etc/hosts"
        )
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir(parents=True)
    # As long as RealMemory stays below what the node finds, Slurm keeps the node.
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20 * 9 // 10
    (folder / "slurm.conf").write_text(
        SLURM_CONF.format(
            folder=folder, host=host, ports=free_ports(2), cpus=os.cpu_count(), memory=memory
        )
    )
    (folder / "bin/srun").write_text(SRUN.format(folder=folder))
    (folder / "bin/srun").chmod(0o755)
    (folder / "munge.key").touch(mode=0o400)
    (folder / "munge.key").write_bytes(secrets.token_bytes(128))
    start_munge(folder)
    start_daemon(folder, "slurmctld")
    start_daemon(folder, "slurmd")
    wait_until(lambda: node_state(folder) == "idle", "the node to be idle")


def start_munge(folder: Path) -> None:
    """Start munge, with which Slurm's daemons recognise each other, with a key of our own."""
    names = {
        "socket": "munge.socket",
        "key-file": "munge.key",
        "pid-file": "munged.pid",
        "log-file": "munged.log",
        "seed-file": "munge.seed",
    }
    options = [f"--{option}={folder / name}" for option, name in names.items()]
    # --force: the folder may lie below one that everybody may write to, as /tmp.
    run(folder, "/usr/sbin/munged", "--force", *options)


def start_daemon(folder: Path, name: str) -> None:
    """Start slurmctld (the scheduler) or slurmd (the node); <name>.log is theirs."""
    run(folder, f"/usr/sbin/{name}")


def node_state(folder: Path) -> str:
    """State of the node by sinfo: idle, mix, alloc, down*, ...; empty without a scheduler."""
    try:
        return run(folder, "sinfo", "--noheader", "--format=%t").strip()
    except RuntimeError:
        return ""


def processes(folder: Path, *names: str) -> list[int]:
    """Processes of this cluster, its jobs and its users; only those of some names if given.

    A process is one of these if it has `folder` in its environment, is in it or has a file
    of it open.
    """
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it ended meanwhile
            named = not names or process.name() in names
            if named and process.pid not in (os.getpid(), os.getppid()):
                found += [process.pid] if belongs(process, folder) else []
    return found


def belongs(process: psutil.Process, folder: Path) -> bool:
    """True if a process is of the cluster in `folder`."""
    places = [process.cwd(), *(file.path for file in process.open_files())]
    in_folder = any(Path(place).is_relative_to(folder) for place in places)
    return in_folder or process.environ().get("SLURM_CONF") == f"{folder}/slurm.conf"


def job_processes(folder: Path, script: str = "") -> list[int]:
    """The processes of jobs; only those that run `script`, a name in workflow/scripts, if given."""
    found = []
    for pid in processes(folder):
        with suppress(psutil.Error):
            words = psutil.Process(pid).cmdline()
            is_script = any(word.endswith(f".{script}.py") for word in words[1:2])
            if job_of(pid) and (is_script or not script):
                found.append(pid)
    return found


def job_of(pid: int) -> str:
    """The number of the Slurm job of which a process is; empty if of none, or if it ended."""
    with suppress(psutil.Error):
        return psutil.Process(pid).environ().get("SLURM_JOB_ID", "")
    return ""


def kill(pids: Sequence[int], number: int = signal.SIGKILL) -> None:
    """Send a signal to processes, of which some may have ended."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def kill_node(folder: Path) -> None:
    """Let the node die: slurmd and everything that runs on it end, before this returns."""

    def alive() -> list[int]:
        return [*processes(folder, "slurmd", "slurmstepd"), *job_processes(folder)]

    def gone() -> bool:
        kill(alive())
        return not alive()

    wait_until(gone, "the node to die")


def stop(folder: Path) -> None:
    """End every process of the cluster: users and jobs, then the daemons. Twice does no harm."""
    if not (folder / "slurm.conf").exists():  # not a cluster, so nothing in it is ours to end
        return
    daemons = processes(folder, *DAEMONS)
    kill([pid for pid in processes(folder) if pid not in daemons])
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
        start(folder)
        yield
    finally:
        guard.communicate(timeout=60)


def wait_until(condition: Callable[[], T], what: str, seconds: float = 60) -> T:
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


def address(host: str) -> str:
    """The address of a host name; empty if it has none."""
    with suppress(OSError):
        return socket.gethostbyname(host)
    return ""


def free_ports(count: int) -> list[int]:
    """Ports of loopback that nobody uses."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def main(action: str, name: str) -> None:
    """Start or stop a cluster by hand; guard stops it when standard input ends."""
    folder = Path(name).absolute()
    if action == "guard":
        sys.stdin.read()
    if action == "start":
        try:
            start(folder)
        except RuntimeError as error:
            stop(folder)
            sys.exit(f"error: {error}")
        print(f"export SLURM_CONF={folder}/slurm.conf PATH={folder}/bin:$PATH")
    else:
        stop(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
