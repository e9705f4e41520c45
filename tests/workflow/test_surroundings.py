"""Whole small runs in other surroundings: bare locale, strict umask, clock set back, a killed job.

Each makes the results of the run that nothing disturbs.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from pipeline import run, succeed

DAY = 86_400
RUN = "results/test"
COMMAND = sys.executable, "-m", "dpol", "run", "config.yaml", "--cores", "2"

pytestmark = pytest.mark.workflow


def results(folder: Path) -> dict[str, bytes]:
    """Return the tables of a run, which must not depend on how it was made."""
    files = [*folder.glob(f"{RUN}/*.parquet"), *folder.glob(f"{RUN}/tables/*.csv")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def with_config(folder: Path, small_run: tuple[Path, str]) -> Path:
    """Return a new folder with the config of the finished run."""
    folder.mkdir()
    shutil.copy(small_run[0] / "config.yaml", folder)
    return folder


@pytest.fixture
def restored_umask():
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("restored_umask")
def test_a_bare_locale_and_a_strict_umask(tmp_path: Path, small_run: tuple[Path, str]) -> None:
    """ASCII is the encoding of everything that names none, and only the owner may read files."""
    folder = with_config(tmp_path / "bare", small_run)
    bare = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    succeed(run(*COMMAND, folder=folder, TZ="Pacific/Kiritimati", **bare))
    assert results(folder) == results(small_run[0])
    page = folder / RUN / "report/index.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_a_clock_set_back_by_a_day(tmp_path: Path, small_run: tuple[Path, str]) -> None:
    """All files of a run are of tomorrow: none is made again, and a change is still seen."""
    folder = tmp_path / "tomorrow"
    shutil.copytree(small_run[0], folder, symlinks=True)
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
    other = with_config(tmp_path / "fresh", small_run)
    (other / "config.yaml").write_text(changed, encoding="utf-8")
    succeed(run(*COMMAND, folder=other))
    assert results(folder) == results(other) != results(small_run[0])


def test_a_job_that_the_system_kills_for_its_memory(
    tmp_path: Path, small_run: tuple[Path, str]
) -> None:
    """The run names the job and the remedy; the same command goes on and ends."""
    folder = with_config(tmp_path / "killed", small_run)
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
    assert results(folder) == results(small_run[0])
