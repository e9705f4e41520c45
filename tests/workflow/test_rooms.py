"""What a change of dpol's code reruns, by real dry runs."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline import ROOT, Done, run, succeed, write_config

TEST: dict[str, Any] = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
CONFIG = TEST | {
    "suites": {"simple": {"algorithms": ["persistence"]}, "walk": {"algorithms": ["rw-ftpl"]}},
    "replicates": 2,
    "points_per_job": 1,
    "labels": {"n_rounds": 50, "sweeps": {"rounds": [20]}, "replicates": 2},
    "report": {"algorithms": ["rw-ftpl"]},
}
GAMES = {
    *("games_results", "comparison_point", "comparison_results"),
    *("answer_shown", "privacy_shown", "beyond_shown"),
}

pytestmark = pytest.mark.workflow


def run_copy(folder: Path, *options: str) -> Done:
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(folder / "Snakefile")]
    config = ["--configfile", str(folder / "config.yaml"), "--directory", str(folder)]
    return run(*start, *config, "--cores", "2", *options, PYTHONPATH=str(folder / "src"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a finished run."""
    folder = tmp_path_factory.mktemp("rooms")
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    write_config(folder, CONFIG)
    succeed(run_copy(folder))
    return folder


def planned(folder: Path, *changes: tuple[str, Callable[[str], str]]) -> tuple[set[str], set[str]]:
    """Return the rules that a dry run would run after some changes of files, and why."""
    package = ROOT / "src/dpol"
    for file, change in changes:
        text = (package / file).read_text(encoding="utf-8")
        assert change(text) != text
        (folder / "src/dpol" / file).write_text(change(text), encoding="utf-8")
    printed = succeed(run_copy(folder, "--dry-run"))
    for file, _ in changes:
        shutil.copy(package / file, folder / "src/dpol" / file)
    rules = set(re.findall(r"^(\w+ +\d+)$", printed, re.MULTILINE))
    rules = {re.sub(r" +", " ", rule) for rule in rules}
    causes = re.findall(r"^(.+): \d+ jobs? runs? again(?:, and all that follow)?$", printed, re.M)
    jobs = {rule.removesuffix(" 1") for rule in rules if not rule.startswith(("all ", "total "))}
    return jobs, {*causes}


def by(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


def test_words_rerun_nothing(finished: Path) -> None:
    changes = [
        ("labels/game.py", by('"""The game', '"""Other words. The game')),
        ("experts/cautious_mean.py", lambda text: f"# A comment.\n\n{text}"),
        ("noise/noises.py", by("return None", "return None  # no memory")),
        ("studies/paper3/figures.py", lambda text: text.replace('"""', '"""Other words. ', 1)),
        ("studies/jobs.py", by("def join_tables(", "\n\ndef join_tables(")),
    ]
    assert planned(finished, *changes) == (set(), set())


@pytest.mark.parametrize(
    ("file", "change", "jobs"),
    [
        (
            "labels/game.py",
            by(" * ", " / "),
            {"labels_point", "labels_results", "third_shown"},
        ),
        (
            "experts/cautious_mean.py",
            by("np.zeros(", "np.ones("),
            # Figures are drawn again because their tables are made again.
            {"games_point 2", *GAMES},
        ),
        (
            "noise/noises.py",
            by("math.sqrt(2.0) * stream", "math.sqrt(3.0) * stream"),
            {"games_point 2", *GAMES},
        ),
        (
            "studies/paper3/figures.py",
            by('"alpha": 0.8', '"alpha": 0.7'),
            {"third_shown"},
        ),
        (
            "studies/games/summary.py",
            by("replace(0.0, math.nan)", "replace(0.0, math.inf)"),
            GAMES,
        ),
        (
            "studies/paper3/show.py",
            by("Selecting the true hypothesis", "Selection of the true hypothesis"),
            {"third_shown"},
        ),
        (
            "studies/games/results.yaml",
            by("columns:", "columns: # words"),
            {*GAMES, "third_shown"},
        ),
        ("report/templates/report.css", by("{", "{ "), set()),
    ],
    ids=["labels", "algorithm", "noise", "figure", "summary", "words", "columns", "page"],
)
def test_a_change_reruns_what_can_run_it(
    finished: Path, file: str, change: Callable[[str], str], jobs: set[str]
) -> None:
    assert planned(finished, (file, change)) == ({*jobs, "render_report"}, {"other code"})
