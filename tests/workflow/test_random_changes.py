"""Random changes between and during whole runs: each equals a fresh run, or does not succeed.

tests/reruns/test_changes.py plays 125 without Snakemake. DPOL_SEQUENCES=60 plays more here.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest
import yaml

from pipeline import ROOT, Done, run, succeed, write_config

CONFIG = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
MORE = os.environ.get("DPOL_SEQUENCES")
# Without more, a sequence with each kind of change and of call, whose killed call has jobs to run.
SEEDS = range(int(MORE)) if MORE else (264264,)
CALLS = 5
CODE = "src/dpol/noise/noises.py", "math.sqrt(2.0) * stream", "math.sqrt(3.0) * stream"
PARTS = (
    *("*.parquet", "games/**/*.parquet", "streams/*", "data/*"),
    *("tables/*", "figures/*.svg", "report/*"),
)
State = tuple[int, bool]
"""Seed of the config, and whether the code is edited."""
FIRST: State = 1, False

pytestmark = pytest.mark.workflow


def words(folder: Path, *flags: str) -> list[str]:
    start = [sys.executable, "-m", "dpol", "run", "config.yaml", "--cores", "2"]
    return [*start, "--directory", str(folder), *flags]


def start(folder: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(folder / "src")}


def call(folder: Path, *flags: str) -> Done:
    return run(*words(folder, *flags), folder=folder, **start(folder))


def bring(folder: Path, state: State) -> None:
    """Write the config and the code of a state."""
    seed, edited = state
    write_config(folder, CONFIG, seed=seed)
    name, old, new = CODE
    text = (ROOT / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new) if edited else text)


def project(folder: Path) -> Path:
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def results(folder: Path) -> dict[str, bytes]:
    base = folder / "results/test"
    files = {file for part in PARTS for file in base.glob(part) if file.is_file()}
    return {str(file.relative_to(base)): file.read_bytes() for file in files}


class Sequence:
    """Random changes of a finished run of a project."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.random, self.state = folder, random.Random(seed), FIRST
        self.done: list[str] = []

    def change(self) -> None:
        results, records = self.folder / "results", self.folder / ".snakemake"
        kind = self.random.choice(["seed", "code", "copy", "future", "records", "delete"])
        self.done.append(kind)
        if kind == "seed":
            self.state = 3 - self.state[0], self.state[1]
        elif kind == "code":
            self.state = self.state[0], not self.state[1]
        elif kind == "copy":
            shutil.copytree(results, self.folder / "copy", copy_function=shutil.copyfile)
            shutil.rmtree(results)
            (self.folder / "copy").rename(results)
        elif kind == "future":
            later = time.time() + 2e5
            [os.utime(file, (later, later)) for file in results.rglob("*") if file.is_file()]
        elif kind == "records":
            shutil.rmtree(records, ignore_errors=True)
        elif there := sorted(file for file in results.rglob("*") if file.is_file()):
            # As many draws as with any other number of files, so that a seed has its sequence.
            drawn = {there[int(self.random.random() * len(there))] for _ in range(3)}
            [file.unlink() for file in drawn]
        bring(self.folder, self.state)

    def call(self) -> bool:
        """Make a call, and return whether it claims success for the whole run."""
        kind = self.random.choice(["plain", "plain", "page", "back", "other", "kill"])
        self.done.append(f"call: {kind}")
        if kind in ("plain", "page"):
            flags = ["--allowed-rules", "render_report"] if kind == "page" else []
            return call(self.folder, *flags).returncode == 0
        process = subprocess.Popen(
            words(self.folder),
            cwd=self.folder,
            env={**os.environ, **start(self.folder)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=self.random.uniform(2, 10))
        if kind == "kill":
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            call(self.folder, "--unlock")
            return False
        if kind == "back":
            bring(self.folder, (self.state[0], not self.state[1]))
            time.sleep(self.random.uniform(1, 5))
            bring(self.folder, self.state)
        else:
            beside = self.folder / "beside"
            shutil.rmtree(beside, ignore_errors=True)
            beside.mkdir()
            write_config(beside, CONFIG, seed=3 - self.state[0])
            (beside / "results").symlink_to(self.folder / "results")
            other = words(beside, "--until", "games_point")
            if (
                process.poll() is None
                and not run(*other, folder=beside, **start(self.folder)).returncode
            ):
                assert process.poll() is not None, f"two calls at work: {self.done}"
                return False  # the other one began when the first had ended
        return process.wait() == 0


def test_each_run_equals_a_fresh_one_or_does_not_succeed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    @cache
    def fresh(state: State) -> Path:
        folder = project(tmp_path_factory.mktemp("fresh"))
        bring(folder, state)
        succeed(call(folder))
        return folder

    for seed in SEEDS:
        copy = shutil.copytree(fresh(FIRST), tmp_path_factory.mktemp("random") / "it")
        sequence = Sequence(copy, seed)
        for _ in range(CALLS):
            for _ in range(sequence.random.randint(1, 2)):
                sequence.change()
            if sequence.call():
                expected = results(fresh(sequence.state))
                assert results(copy) == expected, f"sequence {seed}: {sequence.done}"
        shutil.rmtree(copy)
