"""Flags that leave jobs out: no call tells or shows an answer that is not of its config."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
import yaml

from pipeline import ROOT, Done, run, succeed, write_config

CONFIG = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
ANSWER = "An attacker is right about a person at most"
SHOWN = "report/index.html", "ro-crate-metadata.json", "provenance/config.yaml"
BREAKING = """
import dpol.report.page

def last_lines(*arguments):
    raise KeyError("standings")

dpol.report.page.last_lines = last_lines
"""

pytestmark = pytest.mark.workflow


def call(folder: Path, *flags: str, **variables: str) -> Done:
    words = [sys.executable, "-m", "dpol", "run", "config.yaml", "--cores", "2", *flags]
    return run(*words, folder=folder, **variables)


def answer(said: str) -> str:
    (line,) = (it for it in said.splitlines() if ANSWER in it)
    return line


@pytest.fixture
def copy(small_run: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of a finished run."""
    return shutil.copytree(small_run[0], tmp_path / "copy")


@pytest.mark.parametrize("flags", [[], ["--touch"]])
def test_a_call_that_has_nothing_to_do_ends_as_the_call_that_made_the_run(
    small_run: tuple[Path, str], copy: Path, flags: list[str]
) -> None:
    again = succeed(call(copy, *flags))
    assert "Nothing to be done" in again
    assert answer(again) == answer(small_run[1])


def test_simulated_hospitals_have_no_next_week(small_run: tuple[Path, str]) -> None:
    assert "Next week" not in small_run[1]


def shown(folder: Path) -> list[bytes]:
    return [(folder / "results/test" / name).read_bytes() for name in SHOWN]


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        ("--until simulate_dataset", 0, "not finished: the answer follows when all jobs ran\n"),
        ("--omit-from read_rows", 0, "not finished: the answer follows when all jobs ran\n"),
        ("--touch", 1, "leaves out jobs that must run: simulate_dataset, "),
        ("--touch streams", 1, "leaves out jobs that must run: simulate_dataset; the same"),
        ("--executor touch", 1, "leaves out jobs that must run: simulate_dataset, "),
        ("--allowed-rules render_report", 1, "leaves out jobs that must run: simulate_dataset, "),
    ],
)
def test_a_call_that_leaves_jobs_out_tells_no_answer_and_keeps_the_page(
    copy: Path, flags: str, code: int, said: str
) -> None:
    write_config(copy, CONFIG, seed=2)
    before = shown(copy)
    done = call(copy, *flags.split())
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert ANSWER not in done.stderr
    assert "Done" not in done.stdout
    assert shown(copy) == before


def test_last_lines_that_fail_are_not_the_end_of_good_work(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(BREAKING)
    for flags in ([], ["--forcerun", "render_report"]):
        done = call(copy, *flags, PYTHONPATH=f"{ROOT / 'src'}:{tmp_path}")
        assert "not finished: KeyError: 'standings'\n" in done.stderr
        assert done.returncode == 0
