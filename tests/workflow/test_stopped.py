"""A run that is stopped; tests/workflow/test_wrong_numbers.py kills and doubles others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline import ROOT, run, succeed

COMMAND = sys.executable, "-m", "dpol", "run", "config.yaml"
PLAY = *COMMAND, "games", "--cores", "2"


def hear() -> None:
    """Heed Ctrl-C, which a shell lets its background commands, and so perhaps CI, ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.workflow
def test_a_stopped_run_says_how_to_go_on_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its only job of games takes a second."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / ".test/config/config.yaml").read_text()
    slower = text.replace("replicates: 3", "replicates: 100").replace("weeks: 20", "weeks: 2000")
    Path("config.yaml").write_text(slower)
    process = subprocess.Popen(
        PLAY, stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=hear
    )
    deadline = time.monotonic() + 100
    while not any(Path("results").glob("test/logs/games/**/*.log")):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)  # as Ctrl-C on a terminal
    said = process.communicate()[1]
    assert process.returncode != 0
    assert said.endswith("\nerror: stopped by Ctrl-C; the same command continues the run\n")
    assert not [file for file in Path("results").glob("**/.*") if file.is_file()]
    succeed(run(*PLAY))
