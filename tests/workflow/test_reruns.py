"""Jobs watch all that they load, and run again for what changes their results and nothing else.

The run is made of a copy of the project, which tests may change and put back.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline import ROOT, SMALL, run, succeed, write_config

pytestmark = pytest.mark.workflow

SUITES = {
    **SMALL["suites"],
    "shared": {"algorithms": ["fixed-share"]},
    "alone": {"algorithms": ["empirical-bayes"]},
}
"""The suites of small.yaml, one with a default of the registry, and one of learners only."""
NOT_HASHED = {
    "__init__.pyi": "names the public functions, which jobs do not use",
    "experts/registry.py": "the algorithms that it makes are hashed with all their parameters",
    "show/__init__.py": "is empty",
    "show/looks.py": "is watched by what draws; the registry holds looks, which nothing plays by",
}


def command(folder: Path, *options: str) -> list[str]:
    import sys

    start = [sys.executable, "-m", "snakemake", "--snakefile", str(folder / "Snakefile")]
    config = ["--configfile", str(folder / "config.yaml"), "--directory", str(folder)]
    return [*start, *config, *options]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a finished run, and the notes of its jobs in notes.jsonl."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    write_config(folder, suites=SUITES)
    path = f"{ROOT / 'tests/workflow/recorder'}:{folder / 'src'}"
    noted = {"DPOL_LOADED": str(folder / "notes.jsonl"), "DPOL_PACKAGE": str(folder / "src/dpol")}
    succeed(run(*command(folder, "--cores", "2"), PYTHONPATH=path, **noted))
    assert planned(folder) == (set(), set())
    return folder


def planned(folder: Path) -> tuple[set[str], set[str]]:
    """The rules of which a job would run, and the suites that would be played."""
    said = succeed(run(*command(folder, "--dry-run"), PYTHONPATH=str(folder / "src")))
    rules = set(re.findall(r"^(\w+) +\d+$", said, re.MULTILINE)) - {"all", "total"}
    return rules, set(re.findall(r"Playing (\S+) on ", said))


def test_every_job_watches_all_that_it_loads(project: Path) -> None:
    lines = [json.loads(line) for line in (project / "notes.jsonl").read_text().splitlines()]
    made_of = {line["code"]: set(line["files"]) for line in lines if "code" in line}
    package = project / "src/dpol"
    exempt = {str(package / name) for name in NOT_HASHED}
    jobs = [line for line in lines if "job" in line]
    assert {line["job"] for line in jobs} > {"clean_panel", "run_suite", "memory_point"}
    for line in jobs:
        watched = set().union(*(made_of[code] for code in line["codes"]))
        assert set(line["files"]) > {str(package / "__init__.py")}
        assert set(line["files"]) - watched - exempt == set(), line["job"]


MAIN_SHOWN = {
    *("privacy_utility_shown", "replay_shown", "average_gain_shown", "cumulative_gain_shown"),
    "beyond_shown",
}
# Of the claims some read results of the run.
OF_RUNS = {"aggregate_runs", *MAIN_SHOWN, "claims_point", "claims_results", "claims_shown"}
OF_RUNS |= {"run_suite", "render_report"}
OF_MEMORY = {"memory_point", "memory_results", "memory_shown"}


@pytest.mark.parametrize(
    ("file", "old", "new", "rules", "suites"),
    [
        ("experts/registry.py", '{"share": 0.02}', '{"share": 0.03}', OF_RUNS, {"shared"}),
        (
            "experts/registry.py",
            'fixed={"objective": "min-noise"}',
            'fixed={"objective": "min-regret"}',
            OF_RUNS,
            {"central"},
        ),
        ("experts/registry.py", '{"window": 8}', '{"window": 9}', {"render_report"}, set()),
        (
            "experts/learners/joined.py",
            "return state, actions[:, self.place]",
            "return state, actions[:, self.place].copy()",
            OF_RUNS | OF_MEMORY,
            {"local", "alone", "shared"},  # the last joins learners with the same module
        ),
        ("experts/play.py", '"""', '"""In other words: ', set(), set()),
        ("core/randomness.py", "\n\n\n", "\n\n\n# A comment.\n", set(), set()),
        ("data/sources.yaml", "not updated since 2024-W08", "of 2025", set(), set()),
    ],
    ids=["default", "fixed", "unused", "alone", "docstring", "comment", "mirror"],
)
def test_a_change_runs_again_what_it_changes(
    project: Path, file: str, old: str, new: str, rules: set[str], suites: set[str]
) -> None:
    path = project / "src/dpol" / file
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new, 1))
    found = planned(project)
    path.write_text(before)
    assert found == (rules, suites)


def streams(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The streams of the config with one of them changed."""
    found = {label: dict(stream) for label, stream in SMALL["streams"].items()}
    change(found["both"])
    return {"streams": found}


DATASET = SMALL["dataset"]
SHOWN_BY_STREAM = {*MAIN_SHOWN, "labels_shown", "memory_shown", "render_report"}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        (streams(lambda own: own.update(title="Another title")), SHOWN_BY_STREAM),
        ({"dataset": {**DATASET, "public": True}}, {"render_report"}),
    ],
    ids=["title", "public"],
)
def test_words_run_nothing_again_but_what_shows_them(
    project: Path, changes: dict[str, Any], rules: set[str]
) -> None:
    write_config(project, suites=SUITES, **changes)
    found, suites = planned(project)
    write_config(project, suites=SUITES)
    assert (found, suites) == (rules, set())
