"""Runs that are recorded beside their locks: who is dead, who is alive, who is elsewhere."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from dpol.cli import at_work

HERE = socket.gethostname()
PARENT = os.getppid()


@pytest.fixture(autouse=True)
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lock of somebody in the working folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / ".snakemake/locks/0.output.lock"
    file.parent.mkdir(parents=True)
    file.write_text("results/demo/summary.parquet\n")
    return file


def record(host: str = HERE, process: int = PARENT, began: str = "") -> Path:
    file = Path(f".snakemake/at-work/{host}-{process}.json")
    file.parent.mkdir(exist_ok=True)
    run = at_work.Run(host=host, process=process, began=began, words="dpol demo")
    file.write_text(json.dumps(asdict(run)))
    return file


def test_the_locks_of_a_dead_run_are_removed_though_another_process_has_its_number(
    lock: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dead = record(began=at_work.began(PARENT) + "0")
    with at_work.recorded(Path(), ["dpol", "demo"]):
        assert not lock.exists()
        assert not dead.exists()
        (own,) = dead.parent.iterdir()
    assert not own.exists()
    said = capsys.readouterr().err
    assert said.startswith(
        f"The last run here was killed (process {PARENT}). Its locks are removed"
    )


@pytest.mark.parametrize("host", [HERE, "another-node"])
def test_the_locks_of_a_run_that_may_live_are_left(
    lock: Path, host: str, capsys: pytest.CaptureFixture[str]
) -> None:
    record(process=1_999_999_999)  # dead
    record(host=host, began=at_work.began(PARENT))
    with at_work.recorded(Path(), ["dpol", "demo"]):
        assert lock.exists()
        said = at_work.why_locked(Path(), ["dpol", "run", "my file.yaml"])
    assert f"(process {PARENT}: dpol demo)" in said
    if host == HERE:
        assert said.endswith("; wait until it ends, or run in another folder")
    else:
        remedy = "if it is no longer running, type: dpol run 'my file.yaml' --unlock"
        assert said.endswith(
            f": a run on another-node uses the same files (process {PARENT}: dpol demo); {remedy}"
        )
    assert capsys.readouterr().err == ""


def test_who_unlocks_forgets_all_but_the_living() -> None:
    dead, living = record(process=1_999_999_999), record(began=at_work.began(PARENT))
    elsewhere = record(host="another-node")
    at_work.forget(Path())
    assert (dead.exists(), elsewhere.exists(), living.exists()) == (False, False, True)


def test_a_damaged_record_is_no_run(lock: Path) -> None:
    record().write_text("{")
    with at_work.recorded(Path(), ["dpol", "demo"]):
        assert lock.exists()
        assert "that dpol did not start" in at_work.why_locked(Path(), ["dpol", "demo"])


@pytest.mark.parametrize("system", ["linux", "darwin"])
def test_a_process_keeps_its_beginning_and_none_is_alive_without(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)
    assert at_work.began(PARENT) == at_work.began(PARENT) != ""
    assert at_work.began(1_999_999_999) == ""
    monkeypatch.setattr(psutil.Process, "status", lambda _: psutil.STATUS_ZOMBIE)
    assert at_work.began(PARENT) == ""
