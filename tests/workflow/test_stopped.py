"""Runs that are stopped, killed or doubled: the next run continues, to the same bytes."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline import ROOT, run, succeed

COMMAND = sys.executable, "-m", "dpol", "run", "config.yaml"
PLAY = *COMMAND, "games", "--cores", "2"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a config whose only job of games takes a second."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / ".test/config/config.yaml").read_text()
    slower = text.replace("replicates: 3", "replicates: 100").replace("weeks: 20", "weeks: 2000")
    Path("config.yaml").write_text(slower)
    return tmp_path


def hear() -> None:
    """Heed Ctrl-C, which a shell lets its background commands, and so perhaps CI, ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def playing() -> tuple[subprocess.Popen[str], int]:
    """A run whose game is played, since its log is there, and the process of the game, held."""
    process = subprocess.Popen(
        PLAY, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=hear
    )
    deadline = time.monotonic() + 100
    while not any(Path("results").glob("test/logs/games/**/*.log")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    (job,) = (int(it.read_text().split()[1]) for it in Path("results").glob("**/*.lock"))
    os.kill(job, signal.SIGSTOP)
    return process, job


def results() -> dict[str, bytes]:
    """Bytes of the results, without what says when they were made."""
    base = Path("results/test")
    kept = (file for place in ("streams", "games") for file in base.glob(f"{place}/**/*"))
    files = [*kept, *base.glob("*.parquet")]
    return {str(file): file.read_bytes() for file in files if file.is_file()}


@pytest.mark.workflow
def test_a_stopped_and_a_killed_run_continue_to_the_same_bytes() -> None:
    stopped, job = playing()
    os.killpg(stopped.pid, signal.SIGINT)  # as Ctrl-C on a terminal
    os.kill(job, signal.SIGCONT)
    said = stopped.communicate()[1]
    assert stopped.returncode != 0
    assert said.endswith("\nerror: stopped by Ctrl-C; the same command continues the run\n")
    assert not [file for file in Path("results").glob("**/.*") if file.is_file()]

    shutil.rmtree("results/test/logs/games")
    killed, job = playing()
    second = run(*PLAY)
    assert second.returncode != 0, "a second run at once is refused"
    wanted = f"error: results/test: another run is at work there: process {killed.pid} on this"
    assert wanted in second.stderr
    killed.kill()
    config = Path("config.yaml")
    config.write_text(config.read_text().replace("seed: 1", "seed: 2"))
    refused = run(*PLAY)
    assert refused.returncode != 0, "its job, of the other config, is still at work"
    wanted = f"is still at work on this job: process {job} on this machine, since "
    assert wanted in refused.stderr
    os.kill(job, signal.SIGCONT)
    killed.communicate()  # its job ends, too
    left = run(*PLAY).stderr
    assert left.endswith("type once: dpol run config.yaml games --cores 2 --unlock\n"), left
    succeed(run(*COMMAND, "--unlock"))
    succeed(run(*PLAY))
    continued = results()
    assert any("/games/" in name for name in continued)

    shutil.rmtree("results")
    shutil.rmtree(".snakemake")
    succeed(run(*PLAY))
    assert results() == continued
