"""A stranger's walk, with the wheel and no clone: install it, plan the demo, run a config."""

from __future__ import annotations

import os
import subprocess
import venv
from pathlib import Path

import pytest

from pipeline import ROOT, SMALL, built_wheel, fail, run, succeed, write_config

STUDIES = "batching", "lazy", "convex", "labels", "audits", "claims", "comparison"


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of an environment with the locked packages of a plain install and the wheel."""
    folder = tmp_path_factory.mktemp("stranger")
    venv.create(folder, symlinks=True, with_pip=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    (folder / "packages.txt").write_bytes(
        subprocess.check_output([ROOT / "requirements/packages.sh", "runtime"])
    )
    locked = ["--require-hashes", "--requirement", str(folder / "packages.txt")]
    succeed(run(*pip, "install", "--no-deps", *locked))
    succeed(run(*pip, "install", "--no-deps", str(built_wheel(folder))))
    succeed(run(*pip, "check"))
    return folder / "bin"


def dpol(commands: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command as it is found after the environment is activated."""
    path = os.pathsep.join([str(commands), os.environ["PATH"]])
    return run(str(commands / "dpol"), *words, folder=folder, PATH=path, PYTHONPATH="")


def test_version_and_place(commands: Path, tmp_path: Path) -> None:
    assert succeed(dpol(commands, tmp_path, "--version")).startswith("dpol ")
    place = "import dpol; print(dpol.__file__)"
    found = succeed(run(str(commands / "python"), "-c", place, folder=tmp_path, PYTHONPATH=""))
    assert Path(found).is_relative_to(commands.parent)


def test_demo_is_planned(commands: Path, tmp_path: Path) -> None:
    said = succeed(dpol(commands, tmp_path, "demo", "--dry-run"))
    assert "render_report" in said
    assert "This was a dry-run" in said


def test_a_config_is_run_to_its_report(commands: Path, tmp_path: Path) -> None:
    config = {key: value for key, value in SMALL.items() if key not in STUDIES}
    write_config(tmp_path, config, run="tiny")
    said = succeed(dpol(commands, tmp_path, "run", "config.yaml", "--cores", "2"))
    assert "results/tiny/report/index.html" in said
    assert "Provided cores: 2" in said
    page = (tmp_path / "results/tiny/report/index.html").read_text()
    assert 'id="replay-widget"' in page, "templates and scripts of the page are in the wheel"
    again = succeed(dpol(commands, tmp_path, "run", "config.yaml"))
    assert "Nothing to be done" in again


def test_a_failure_of_snakemake_is_that_of_dpol(commands: Path, tmp_path: Path) -> None:
    write_config(tmp_path, SMALL, seed="seven")
    assert "seed" in fail(dpol(commands, tmp_path, "run", "config.yaml", "-n"))
