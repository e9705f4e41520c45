"""A new study is one folder and one line: everything else follows."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

import pipeline
from code_blocks import blocks
from pipeline import ROOT, Done, succeed

PAGE = ROOT / "docs/how-to/add-study.md"

pytestmark = pytest.mark.workflow


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with the study of coins that the how-to guide adds."""
    folder = tmp_path_factory.mktemp("project")
    for name in ("src", "workflow", "config", "docs", "profiles"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    for block in blocks(PAGE):
        if block.file:
            (folder / block.file).parent.mkdir(exist_ok=True)
            (folder / block.file).write_text(block.code)
    registry = folder / "src/dpol/studies/registry.py"
    text = registry.read_text()
    registry.write_text(text.replace('    "batching",\n', '    "batching",\n    "coins",\n'))
    assert registry.read_text() != text
    return folder


def run(project: Path, *words: str) -> Done:
    """Run a module in the project, with its own package."""
    source = str(project / "src")
    return pipeline.run(sys.executable, "-m", *words, folder=project, PYTHONPATH=source)


def test_a_new_study_runs_and_is_shown(project: Path) -> None:
    words = ("snakemake", "--cores", "2", "--configfile", "config/coins.yaml")
    log = succeed(run(project, *words))
    assert "Coins: coin-0" in log
    results = project / "results/coins"
    coins = pd.read_parquet(results / "coins.parquet")
    assert coins["bias"].tolist() == [0.5, 0.9]
    assert set(coins["ci_comparisons"]) == {2}
    made = [f"figures/coins.{suffix}" for suffix in ("svg", "narrow.svg", "png", "pdf")]
    made += [f"tables/coins.{suffix}" for suffix in ("html", "md", "csv", "tex")]
    assert all((results / name).stat().st_size for name in made)
    page = (results / "report/index.html").read_text()
    for text in (
        "Coins are thrown, and heads are counted.",
        "Share of heads",
        "Heads of each coin",
    ):
        assert text in page


def test_a_new_study_has_its_place_in_the_manual(project: Path) -> None:
    succeed(run(project, "dpol", "config", "write", "config"))
    manual = (project / "config/README.md").read_text()
    assert "### coins" in manual
    assert "| `biases` | list of number | required | Probability of heads of each coin. |" in manual
    tables = (project / "docs/reference/tables.md").read_text()
    assert "## coins.parquet" in tables
    assert "- `half_width`: half-width of its interval\n" in tables
