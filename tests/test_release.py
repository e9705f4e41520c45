"""A release is of one version, with the locked packages, and its locks name no private host."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import conda_env
import pytest
import yaml

import dpol

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_version_is_the_same_everywhere() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    (label,) = re.findall(r'image\.version="(.*?)"', (ROOT / "Containerfile").read_text())
    (rules,) = re.findall(r'^RELEASE = "(.*)"', (ROOT / "workflow/Snakefile").read_text(), re.M)
    named = {cited, label, rules, PROJECT["version"]}
    assert named == {dpol.__version__}


def test_conda_has_the_python_of_the_package() -> None:
    """Not above what has wheels of all locked packages (workflow/envs/dpol.yaml)."""
    files = ROOT / "environment.yml", ROOT / "environment-dev.yml", conda_env.FILE
    (named,) = {re.search(r"\bpython(>=\S+)", file.read_text())[1] for file in files}
    assert PROJECT["requires-python"] == named.split(",")[0]


def test_all_licence_texts_of_the_code_are_one() -> None:
    """Hosts and REUSE each look for it in a place of their own."""
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "LICENSES/MIT.txt").read_bytes()


def test_the_conda_environment_of_the_rules_is_that_of_the_lock() -> None:
    assert conda_env.FILE.read_text() == conda_env.environment(), "run: python tools/conda_env.py"


def test_locks_name_no_host() -> None:
    locks = [*(ROOT / "requirements").glob("*.txt")]
    assert len(locks) >= 4
    named = [lock.name for lock in locks if re.search("://|-index|find-links", lock.read_text())]
    assert named == []


@pytest.mark.parametrize(
    ("tag", "heading", "message"),
    [
        ("v9.9.9", "[{}] - 2026-01-31", "the tag is v9.9.9"),
        ("v{}", "[Unreleased]", "CHANGELOG.md gives no date"),
        ("v{}", "[{}] - 2026-01-31", "requirements/setup.sh"),
    ],
)
def test_only_a_tag_of_the_version_is_released(
    tmp_path: Path, tag: str, heading: str, message: str
) -> None:
    """The last case is right, and goes on to the build."""
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci/release", tmp_path / ".ci/release")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(f"## {heading.format(dpol.__version__)}\n")
    words = [script, tag.format(dpol.__version__)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize("folder", ["my papers", "a$b"])
def test_a_checkout_whose_path_breaks_scripts_is_refused(tmp_path: Path, folder: str) -> None:
    """The refusal is one line, before anything is installed."""
    setup = tmp_path / folder / "requirements" / "setup.sh"
    setup.parent.mkdir(parents=True)
    shutil.copy(ROOT / "requirements" / "setup.sh", setup)
    done = subprocess.run([setup, ".venv", "run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the path {setup.parents[1]} holds a space or a sign")
    assert not (setup.parents[1] / ".venv").exists()
