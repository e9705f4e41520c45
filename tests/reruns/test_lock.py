"""One call at a time works on a run and one process on a job; the others name it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from dpol.core.errors import OutputError
from dpol.reruns.job import job_log
from dpol.reruns.lock import hold
from pipeline import run, succeed

RUN = Path("results/r")
LOCK = RUN / "logs/lock"
LOG = RUN / "logs/games_point/A/mu-0.25.log"
WORKING = """
import sys
from dpol.core.files import write_text
from dpol.reruns.job import job_log
with job_log(sys.argv[1], outputs=[sys.argv[2]]):
    write_text(sys.argv[2], "1")
    print("at work", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working folder, which is empty."""
    monkeypatch.chdir(tmp_path)


def kept() -> list[Path]:
    """Files of the run besides logs and notes."""
    every = (it for it in RUN.rglob("*") if it.is_file())
    return sorted(it for it in every if it.suffix not in (".log", ".json"))


def test_one_call_at_a_time_holds_a_run_and_names_itself() -> None:
    release = hold(RUN, "a.yaml")
    said = (
        rf"^results/r: another run is at work there: process {os.getpid()} on this machine, since"
    )
    with pytest.raises(OutputError, match=rf"{said} \d\d:\d\d, a\.yaml; wait .*, or give this"):
        hold(RUN, "b.yaml")
    assert platform.node() not in LOCK.read_text(), "a kill leaves it"
    release()
    assert kept() == []
    code = "import os, sys; from pathlib import Path; from dpol.reruns.lock import hold; "
    code += f"hold(Path({str(RUN)!r}), 'c.yaml')"
    succeed(run(sys.executable, "-c", code))
    assert kept() == []
    assert run(sys.executable, "-c", f"{code}; os.kill(os.getpid(), 9)").returncode == -9
    others = RUN / "logs/.panel.json.un~", RUN / "data/panel~12345678"
    left = RUN / "logs/.panel.json~1234abc_.json", RUN / "data/.panel.parquet~1234abc_.parquet"
    for it in (*others, *left):
        it.parent.mkdir(exist_ok=True)
        it.touch()
    for folder in (RUN, Path("results/of/none")):
        hold(folder, "d.yaml")()
    assert kept() == sorted(others), "no other file is removed"


def test_the_file_of_a_lock_goes_before_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another call could have the lock by then, and a third one would find no file of it."""
    end, there = hold(RUN, "a.yaml"), list[bool]()
    monkeypatch.setattr(FileLock, "release", lambda lock: there.append(LOCK.exists()))
    end()
    assert there == [False]


def working() -> subprocess.Popen[str]:
    """A process of the job, at work."""
    words = [sys.executable, "-c", WORKING, str(LOG), str(RUN / "scores")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(words, text=True, **pipes)  # type: ignore[call-overload]
    assert process.stdout.readline() == "at work\n"
    return process


def test_a_job_that_outlived_its_call_stops_others_and_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    process = working()
    before = LOG.read_text()
    who = f"{LOG}: a process that was started before is still at work on this job: process"
    who += rf" {process.pid} on this machine, since \d\d:\d\d; wait for its end, or end that"
    for _ in range(2):  # the second finds no lock of the first on the run
        with pytest.raises(OutputError, match=f"^{who}"):
            hold(RUN, "a.yaml")
    with pytest.raises(SystemExit) as ended, job_log(LOG):
        pytest.fail("it begins")
    assert re.match(f"error: {who}", str(ended.value.code))
    assert LOG.read_text() == before, "the log is of the other process"
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(platform, "node", lambda: "elsewhere")
        with pytest.raises(OutputError, match=f"process {process.pid} on another machine, since"):
            hold(RUN, "a.yaml")
    with job_log(LOG.with_name("mu-1.log")):
        pass
    process.kill()
    process.communicate()
    assert LOG.with_suffix(".lock").exists()
    hold(RUN, "a.yaml")()
    assert kept() == [RUN / "scores"]
    done = working()
    done.communicate("")
    assert done.returncode == 0
    assert kept() == [RUN / "scores"]
