"""What runs again after a change: dry runs after a real run make the table of a page.

    PYTHONPATH=tests/helpers python tests/workflow/test_what_runs_again.py

writes the table into docs/explanation/workflow.md.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pipeline import (
    ROOT,
    SMALL,
    call_copy,
    copy_code,
    copy_results,
    succeed,
    write_config,
    write_table,
)

PAGE = ROOT / "docs/explanation/workflow.md"
BEGIN = "<!-- dry runs: made by tests/workflow/test_what_runs_again.py -->\n"
MARKED = re.compile(f"({BEGIN}).*?(<!-- /dry runs -->)", re.DOTALL)
Config = dict[str, Any]
HOSPITALS = {"A": 4, "B": 5, "C": 4}
TABLE = {"kind": "local", "file": "table.csv.gz", "simulated": True}
CONFIG: Config = {
    "run": "again",
    "seed": 1,
    "dataset": SMALL["dataset"] | {"source": TABLE},
    "streams": {"A": {"groups": ["A"]}, "B": {"groups": ["B"]}},
    "privacy": {"levels": [1, 0.5]},
    "suites": {
        "local": {"algorithms": ["rw-ftpl", "rw-meta"]},
        "central": {"algorithms": ["tree-ftpl-min-noise", "l2p"]},
    },
    "replicates": 100,
    "lazy": SMALL["lazy"],
    "report": {"algorithms": ["rw-meta", "tree-ftpl-min-noise"]},
}


@dataclass(frozen=True, kw_only=True)
class Change:
    """A change after a finished run of `CONFIG`.

    Args:
        words: what changes, as the page says it.
        games: number of jobs of games that must run.
        config: blocks of the config instead of those of `CONFIG`; None for a block that is gone.
        code: file of dpol, and the line that is added to it.
        files: takes the folder of the run, and may change it.
    """

    words: str
    games: int = 0
    config: Config = field(default_factory=dict)
    code: tuple[str, str] = "", ""
    files: Callable[[Path], object] = lambda folder: None

    @property
    def changed(self) -> Config:
        """The config after the change."""
        return {key: it for key, it in (CONFIG | self.config).items() if it is not None}


STREAMS, SUITES = CONFIG["streams"], CONFIG["suites"]
MINE = {"algorithms": [{"algorithm": "persistence", "label": "mine"}]}


def local(*algorithms: str) -> Config:
    """Return the suites with other algorithms in the local one."""
    return {"suites": SUITES | {"local": {"algorithms": [*algorithms]}}}


CONFIGS: dict[str, tuple[int, Config]] = {
    "nothing": (0, {}),
    "a stream more": (4, {"streams": STREAMS | {"C": {"groups": ["C"]}}}),
    "a stream less": (0, {"streams": {"A": STREAMS["A"]}}),
    "a level more": (4, {"privacy": {"levels": [1, 0.5, 0.25]}}),
    "a level less": (0, {"privacy": {"levels": [1]}}),
    "the levels in another order": (0, {"privacy": {"levels": [0.5, 1]}}),
    "a suite more": (4, {"suites": SUITES | {"mine": MINE}}),
    "a suite less": (
        0,
        {"suites": {"local": SUITES["local"]}, "report": {"algorithms": ["rw-meta"]}},
    ),
    "an algorithm more in a suite": (4, local("rw-ftpl", "rw-meta", "ridge")),
    "an algorithm less in a suite": (4, local("rw-meta")),
    "200 replicates for 100": (8, {"replicates": 200}),
    "50 replicates for 100": (8, {"replicates": 50}),
    "a study more": (0, {"labels": SMALL["labels"]}),
    "a study less": (0, {"lazy": None}),
    "a place of a study more": (0, {"lazy": SMALL["lazy"] | {"n_rounds": [50, 100, 200]}}),
    "another seed": (8, {"seed": 2}),
    "another `privacy.delta`": (0, {"privacy": CONFIG["privacy"] | {"delta": 1e-5}}),
    "another title of a stream": (
        0,
        {"streams": STREAMS | {"A": STREAMS["A"] | {"title": "Other"}}},
    ),
    "another `report.algorithms`": (0, {"report": {"algorithms": ["l2p"]}}),
}
"""Changes of the config, each with the number of jobs of games that must run."""
CODE = {
    "experts/tree_ftpl.py": ("an algorithm", 4),
    "lazy/accounting.py": ("paper 2", 4),
    "noise/noises.py": ("a noise", 8),
    "experts/play.py": ("all games", 8),
    "data/cleaning.py": ("the cleaning", 8),
    "studies/games/collect.py": ("a study's tables", 0),
    "show/panels.py": ("figures", 0),
    "report/page.py": ("the page", 0),
    "cli/check.py": ("the command line", 0),
}
"""Files of dpol to which a line is added."""
FILES: dict[str, tuple[int, Callable[[Path], object]]] = {
    "a number in the table": (8, lambda it: write_table(it, HOSPITALS, 2)),
    "the time of the table": (0, lambda it: os.utime(it / "table.csv.gz")),
    "the time of a result": (0, lambda it: os.utime(it / "results/again/streams/A.parquet")),
    "results copied, without times and `.snakemake`": (0, copy_results),
    "`.snakemake` gone": (0, lambda it: shutil.rmtree(it / ".snakemake")),
}
CHANGES = (
    *(Change(words=it, games=own[0], config=own[1]) for it, own in CONFIGS.items()),
    Change(words="words of code, or its layout", code=("experts/play.py", "\n# A comment.\n")),
    *(
        Change(words=f"code of {kind}, `{file}`", games=games, code=(file, "\nADDED = 1\n"))
        for file, (kind, games) in CODE.items()
    ),
    *(Change(words=it, games=own[0], files=own[1]) for it, own in FILES.items()),
)


def finished(folder: Path) -> Path:
    """Copy dpol into a folder, and run `CONFIG` there."""
    copy_code(folder)
    write_table(folder, HOSPITALS, 1)
    write_config(folder, CONFIG)
    succeed(call_copy(folder))
    return folder


def jobs_after(change: Change, whole: Path, folder: Path) -> dict[str, int]:
    """Return the number of jobs of each rule that a call would run after a change of a run."""
    shutil.copytree(whole, folder)
    write_config(folder, change.changed)
    name, line = change.code
    if name:
        with (folder / "src/dpol" / name).open("a", encoding="utf-8") as file:
            file.write(line)
    change.files(folder)
    said = succeed(call_copy(folder, "--dry-run"))
    found = {rule: int(number) for rule, number in re.findall(r"^(\w+) +(\d+)$", said, re.M)}
    assert found or "Nothing to be done" in said
    shutil.rmtree(folder)
    return {rule: number for rule, number in found.items() if rule not in ("all", "total")}


def games_of(change: Change) -> int:
    """Return the number of jobs of games of a whole run after a change."""
    config = change.changed
    blocks = 2 if config["replicates"] > 100 else 1
    return (
        len(config["streams"]) * len(config["privacy"]["levels"]) * len(config["suites"]) * blocks
    )


def row(change: Change, jobs: dict[str, int]) -> str:
    """Return the line of a change on the page."""
    others = [
        f"`{it}`" + f" {jobs[it]}" * (jobs[it] > 1) for it in sorted(jobs) if it != "games_point"
    ]
    played = f"{jobs.get('games_point', 0)} of {games_of(change)}"
    return f"| {change.words} | {played} | {', '.join(others) or 'none'} |"


def table(rows: list[str]) -> str:
    header = "| What changes | Jobs of games that run | Other jobs that run |\n|---|---:|---|"
    return "\n".join([header, *rows]) + "\n"


def on_the_page(words: str) -> str:
    """Return the line of a change on the page as it is."""
    lines = MARKED.search(PAGE.read_text())[0].splitlines()
    return next((it for it in lines if it.startswith(f"| {words} |")), "")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run, to be copied."""
    return finished(tmp_path_factory.mktemp("whole"))


@pytest.mark.workflow
@pytest.mark.parametrize("change", CHANGES, ids=[it.words for it in CHANGES])
def test_a_change_costs_what_it_changes(change: Change, whole: Path, tmp_path: Path) -> None:
    jobs = jobs_after(change, whole, tmp_path / "copy")
    assert on_the_page(change.words) == row(change, jobs), "if it is meant, write the page"
    assert jobs.get("games_point", 0) == change.games


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        whole = finished(Path(folder, "whole"))
        rows = [row(it, jobs_after(it, whole, Path(folder, "copy"))) for it in CHANGES]
    text = MARKED.sub(lambda mark: f"{mark[1]}{table(rows)}{mark[2]}", PAGE.read_text())
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
