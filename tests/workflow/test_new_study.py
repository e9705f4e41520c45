"""A new study is one folder and one line: everything else follows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from code_blocks import blocks

ROOT = Path(__file__).parents[2]
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


def run(project: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(project / "src")}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=project,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_new_study_runs_and_is_shown(project: Path) -> None:
    log = run(project, "snakemake", "--cores", "2", "--configfile", "config/coins.yaml")
    assert "Coins: coin-0" in log
    results = project / "results/coins"
    coins = pd.read_parquet(results / "coins.parquet")
    assert coins["bias"].tolist() == [0.5, 0.9]
    assert set(coins["ci_comparisons"]) == {2}
    made = [f"figures/coins.{suffix}" for suffix in ("svg", "png", "pdf")]
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
    run(project, "dpol", "config", "write", "config")
    manual = (project / "config/README.md").read_text()
    assert "### coins" in manual
    assert "| `biases` | list of number | required | Probability of heads of each coin. |" in manual
    tables = (project / "docs/reference/tables.md").read_text()
    assert "## coins.parquet" in tables
    assert "| `half_width` | number | half-width of its interval |" in tables


def test_a_mistake_in_its_block_is_told(project: Path) -> None:
    config = yaml.safe_load((project / "config/coins.yaml").read_text()) | {
        "coins": {"bias": [0.5]}
    }
    (project / "wrong.yaml").write_text(yaml.safe_dump(config))
    with pytest.raises(AssertionError, match=r"coins\.bias = \[0\.5\]: unknown key; .*biases"):
        run(project, "snakemake", "-n", "--configfile", "wrong.yaml")
