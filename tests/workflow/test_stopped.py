"""Runs that are stopped or killed, and runs that meet: one line says what to do, and it works."""

from __future__ import annotations

import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from pipeline import ROOT, fail, run, succeed

STOPPED = "stopped: run the same command again to continue"
LOCKS, RECORDS = ".snakemake/locks", ".snakemake/at-work"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a config."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / ".test/config/config.yaml", tmp_path)
    return tmp_path


def words(*flags: str) -> list[str]:
    return [sys.executable, "-m", "dpol", "run", "config.yaml", *(flags or ("--cores", "2"))]


def until(happened: Callable[[], object]) -> None:
    deadline = time.monotonic() + 100
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


class OnTerminal:
    """A run on a terminal of its own, on which Ctrl-C can be typed."""

    def __init__(self, *flags: str) -> None:
        self.process, self._terminal = pty.fork()
        if not self.process:
            os.execv(sys.executable, words(*flags))

    def type_ctrl_c(self) -> None:
        os.write(self._terminal, b"\x03")

    def end(self) -> tuple[int, str]:
        """Exit code and all that was printed."""
        said = b""
        while True:
            try:
                said += os.read(self._terminal, 4096)
            except OSError:  # nobody writes any more
                break
        os.close(self._terminal)
        code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])
        return code, said.decode().replace("\r", "")


def job_is_playing() -> bool:
    """A script has begun to work: its log is there."""
    return any(Path("results").glob("test/logs/*.log"))


def run_hears_signals() -> bool:
    """The run catches SIGTERM; next it imports Snakemake, which takes a second."""
    caught = [
        int(re.search(r"^SigCgt:\s+(\w+)", status, re.MULTILINE)[1], 16)
        for child in psutil.Process().children()
        for status in [Path(f"/proc/{child.pid}/status").read_text(encoding="utf-8")]
    ]
    return any(signals >> (signal.SIGTERM - 1) & 1 for signals in caught)


MOMENTS: dict[str, Callable[[], object]] = {
    "imports": run_hears_signals,
    "planning": lambda: Path(RECORDS).exists(),
    "jobs begin": lambda: any(Path(LOCKS).glob("*.lock")),
    "jobs": job_is_playing,
}


@pytest.mark.workflow
@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c_ends_a_run_in_one_line_at_any_moment(moment: str) -> None:
    started = OnTerminal()
    until(MOMENTS[moment])
    started.type_ctrl_c()
    code, said = started.end()
    assert (code, "Traceback" in said, "rror" in said) == (130, False, False)
    assert said.endswith(f"\n{STOPPED}\n")
    assert [*Path().glob(f"{LOCKS}/*"), *Path().glob(f"{RECORDS}/*")] == []
    assert [file for file in Path().glob("results/**/.*") if file.is_file()] == []


@pytest.mark.workflow
def test_a_second_ctrl_c_ends_a_run_at_once() -> None:
    started = OnTerminal()
    until(job_is_playing)
    started.type_ctrl_c()
    time.sleep(0.1)
    started.type_ctrl_c()
    code, said = started.end()
    assert code in (130, -signal.SIGINT)  # a shell shows both as 130
    assert "Traceback" not in said
    assert STOPPED in said


@pytest.mark.workflow
@pytest.mark.parametrize("moment", ["imports", "planning", "jobs"])
def test_sigterm_ends_a_run_in_one_line_and_it_goes_on(moment: str) -> None:
    started = subprocess.Popen(words(), stderr=subprocess.PIPE, text=True)
    until(MOMENTS[moment])
    started.terminate()
    said = started.communicate()[1]
    assert (started.returncode, "Traceback" in said) == (128 + signal.SIGTERM, False)
    assert said.endswith(f"\n{STOPPED}\n")
    assert not any(Path(LOCKS).glob("*"))


@pytest.mark.workflow
def test_locks_of_a_live_run_hold_and_those_of_a_killed_one_are_taken_over() -> None:
    started = subprocess.Popen(words(), stderr=subprocess.DEVNULL)
    until(job_is_playing)
    said = fail(run(*words("--cores", "1")))
    assert said.splitlines() == [
        f"error: {Path.cwd()}: another run uses the same files (process {started.pid}: dpol run"
        " config.yaml --cores 2); wait until it ends, or run in another folder"
    ]
    started.kill()  # not waited for: a zombie is dead, too
    until(lambda: psutil.Process(started.pid).status() == psutil.STATUS_ZOMBIE)
    assert any(Path(LOCKS).glob("*.lock"))
    said = succeed(run(*words("data", "--cores", "1")))
    assert f"The last run here was killed (process {started.pid}). " in said
    assert [*Path().glob(f"{LOCKS}/*"), *Path().glob(f"{RECORDS}/*")] == []
    started.wait()


@pytest.mark.workflow
def test_two_runs_in_a_folder_that_share_no_file_work_at_the_same_time() -> None:
    other = Path("config.yaml").read_text().replace("run: test", "run: other")
    Path("other.yaml").write_text(other)
    started = subprocess.Popen(words(), stderr=subprocess.PIPE, text=True)
    until(job_is_playing)
    command = [sys.executable, "-m", "dpol", "run", "other.yaml", "data", "--cores", "1"]
    succeed(run(*command))
    assert started.poll() is None
    started.send_signal(signal.SIGINT)
    assert STOPPED in started.communicate()[1]


@pytest.mark.workflow
def test_a_lock_of_an_unknown_program_is_removed_by_the_command_that_the_message_names() -> None:
    lock = Path(LOCKS, "0.output.lock")
    lock.parent.mkdir(parents=True)
    lock.write_text("results/test/data/panel.parquet\n")
    (said,) = fail(run(*words("--cores", "1"))).splitlines()
    remedy = "if it is no longer running, type: dpol run config.yaml --cores 1 --unlock"
    assert said.endswith(f"are locked by a Snakemake that dpol did not start; {remedy}")
    succeed(run(*words("--cores", "1", "--unlock")))
    assert not lock.exists()
