"""Whole small runs: of two config files, in other surroundings, and stopped.

In a bare locale, with a strict umask, a clock set back or a killed job, a run makes the results of
the run that nothing disturbs; tests/workflow/test_wrong_numbers.py kills and doubles others.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import yaml

import dpol
from pipeline import TEST, command, fail, run, succeed, write_config

DAY = 86_400
RUN = "results/test"
COMMAND = sys.executable, "-m", "dpol", "run", "config.yaml", "--cores", "2"

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="session")
def small_run(once: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of .test/config/config.yaml, to be copied."""

    def make() -> Path:
        folder = tmp_path_factory.mktemp("small")
        write_config(folder, TEST)
        succeed(run(*COMMAND, folder=folder))
        return folder

    return once("small-run", make)


def test_two_config_files_are_the_config_that_they_merge_to(
    small_run: Path, tmp_path: Path
) -> None:
    """Blocks merge and lists are replaced; the page, which names the files, is made again."""
    shutil.copytree(small_run, tmp_path, dirs_exist_ok=True)
    base = {**TEST, "seed": 5, "suites": {"local": {"algorithms": ["ridge", "rw-ftpl"]}}}
    source = base["dataset"]["source"]
    base["dataset"] = {**base["dataset"], "source": {**source, "weeks": 30}}
    over = {key: TEST[key] for key in ("seed", "suites")}
    over["dataset"] = {"source": {"weeks": source["weeks"]}}
    write_config(tmp_path, base)
    (tmp_path / "over.yaml").write_text(yaml.safe_dump(over))
    both = command(tmp_path, str(tmp_path / "over.yaml"), "--cores", "2")
    plan = succeed(run(*both, "--dry-run"))
    assert re.findall(r"^(\w+) +\d+$", plan, re.M) == ["render_report", "all", "total"]
    succeed(run(*both))
    made = dpol.open_run(tmp_path / "results/test")
    assert made.config == TEST
    assert "Config: config.yaml + over.yaml" in (made.folder / "report/index.html").read_text()
    last = command(tmp_path, "--configfile", str(tmp_path / "over.yaml"), "--dry-run")
    assert "over.yaml: " in fail(run(*last)), "of two options Snakemake takes the last"


def results(folder: Path) -> dict[str, bytes]:
    """Return the tables of a run, which must not depend on how it was made."""
    files = [*folder.glob(f"{RUN}/*.parquet"), *folder.glob(f"{RUN}/tables/*.csv")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_a_bare_locale_and_a_strict_umask(tmp_path: Path, small_run: Path) -> None:
    """ASCII is the encoding of everything that names none, and only the owner may read files."""
    folder = tmp_path / "bare"
    write_config(folder, TEST)
    bare = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    strict = "sh", "-c", 'umask 077 && exec "$@"', "sh"
    succeed(run(*strict, *COMMAND, folder=folder, TZ="Pacific/Kiritimati", **bare))
    assert results(folder) == results(small_run)
    page = folder / RUN / "report/index.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_a_clock_set_back_by_a_day(tmp_path: Path, small_run: Path) -> None:
    """All files of a run are of tomorrow: none is made again, and a change is still seen."""
    folder = tmp_path / "tomorrow"
    shutil.copytree(small_run, folder, symlinks=True)
    for file in folder.rglob("*"):
        there = file.lstat()
        os.utime(file, (there.st_atime + DAY, there.st_mtime + DAY), follow_symlinks=False)
    said = succeed(run(*COMMAND, folder=folder))
    assert "Nothing to be done" in said
    config = folder / "config.yaml"
    text = config.read_text(encoding="utf-8")
    assert "\nseed: " in text
    changed = text.replace("\nseed: ", "\nseed: 7", 1)
    config.write_text(changed, encoding="utf-8")
    succeed(run(*COMMAND, folder=folder))
    other = tmp_path / "fresh"
    other.mkdir()
    (other / "config.yaml").write_text(changed, encoding="utf-8")
    succeed(run(*COMMAND, folder=other))
    assert results(folder) == results(other) != results(small_run)


def test_a_job_that_the_system_kills_for_its_memory(tmp_path: Path, small_run: Path) -> None:
    """The run names the job and the remedy; the same command goes on and ends."""
    folder = tmp_path / "killed"
    write_config(folder, TEST)
    with psutil.Popen(COMMAND, cwd=folder, stdout=-1, stderr=-2, text=True) as process:
        killed = False
        while process.poll() is None and not killed:
            for child in process.children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    job = any("study_point" in word for word in child.cmdline())
                    if job and child.name().startswith("python"):
                        child.kill()
                        killed = True
        said = process.communicate()[0]
        assert killed
        assert process.returncode != 0, said
    assert "memory" in said
    succeed(run(*COMMAND, folder=folder))
    assert results(folder) == results(small_run)


def hear() -> None:
    """Heed Ctrl-C, which a shell lets its background commands, and so perhaps CI, ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_stopped_run_says_how_to_go_on_and_leaves_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its only job of games takes a second."""
    monkeypatch.chdir(tmp_path)
    source = TEST["dataset"]["source"] | {"weeks": 2000}
    write_config(tmp_path, TEST, replicates=100, dataset=TEST["dataset"] | {"source": source})
    process = subprocess.Popen(
        [*COMMAND, "games"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear,
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
    succeed(run(*COMMAND, "games"))
