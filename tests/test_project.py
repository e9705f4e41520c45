"""The project's own files hold together."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import tomllib
import venv
from pathlib import Path

import pytest
import yaml

import dpol
from dpol.cli import generated
from dpol.data.panel import PANEL_COLUMNS
from dpol.data.stream import STREAM_COLUMNS
from dpol.studies.hospitals.runs import RUN_COLUMNS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def lock(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / name).read_text()
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", text, re.MULTILINE))


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[><=]", requirement)[0].lower() for requirement in requirements}


def conda_packages() -> dict[str, str]:
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pinned = [item for item in listed if isinstance(item, str) and re.search(r"[^>]=", item)]
    return dict(item.split("=") for item in pinned)


def test_environment_has_the_packages_and_versions_of_the_lock() -> None:
    wanted = names(PROJECT["dependencies"]) | names(PROJECT["optional-dependencies"]["dev"])
    assert conda_packages() == {name: lock("dev.txt")[name] for name in wanted}


def test_locks_agree_and_hold_every_dependency() -> None:
    runtime, secure, dev = lock("runtime.txt"), lock("secure.txt"), lock("dev.txt")
    assert {name: secure[name] for name in runtime} == runtime
    assert {name: dev[name] for name in secure} == secure
    assert names(PROJECT["dependencies"]) <= set(runtime)
    assert names(PROJECT["optional-dependencies"]["secure"]) <= set(secure)


def test_lock_for_clusters_goes_with_the_others() -> None:
    runtime, dev, cluster = lock("runtime.txt"), lock("dev.txt"), lock("cluster.txt")
    assert {name: cluster[name] for name in runtime} == runtime
    # Both are installed into one environment for the tests on Slurm.
    assert {name: dev.get(name, version) for name, version in cluster.items()} == cluster
    assert names(PROJECT["optional-dependencies"]["cluster"]) <= set(cluster)


def test_documentation_of_clusters_names_the_locked_plugin() -> None:
    (plugin,) = names(PROJECT["optional-dependencies"]["cluster"])
    assert f"{plugin}=={lock('cluster.txt')[plugin]}" in (ROOT / "docs/how-to/slurm.md").read_text()


@pytest.mark.parametrize("name", ["runtime.txt", "secure.txt", "dev.txt", "cluster.txt"])
def test_locks_are_hashed_and_name_no_host(name: str) -> None:
    text = (ROOT / "requirements" / name).read_text()
    assert "://" not in text
    assert "index" not in text
    requirements = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in requirement for requirement in requirements)


def test_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert dpol.__version__ == PROJECT["version"] == citation["version"]
    assert f"## {dpol.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_generated_config_files_are_up_to_date() -> None:
    folder = ROOT / "config"
    stale = [n for n, text in generated(folder).items() if (folder / n).read_text() != text]
    assert stale == [], "run: dpol config write"


def documented_columns(heading: str) -> list[str]:
    page = (ROOT / "docs/reference/tables.md").read_text()
    section = page.split(f"## {heading}")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "columns"),
    [("data/panel", PANEL_COLUMNS), ("streams/", STREAM_COLUMNS), ("runs/", RUN_COLUMNS)],
)
def test_columns_are_documented(heading: str, columns: tuple[str, ...]) -> None:
    assert documented_columns(heading) == list(columns)


@pytest.mark.parametrize("folder", ["my papers", "it's", 'say "dpol"', "a$b", "a\tb"])
def test_a_checkout_that_scripts_cannot_be_started_from_is_refused_first(
    tmp_path: Path, folder: str
) -> None:
    """In one line, before anything is installed."""
    setup = tmp_path / folder / "requirements" / "setup.sh"
    setup.parent.mkdir(parents=True)
    shutil.copy(ROOT / "requirements" / "setup.sh", setup)
    done = subprocess.run([setup, ".venv", "runtime"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the path {setup.parents[1]} holds a space or a sign")
    assert not (setup.parents[1] / ".venv").exists()


def test_a_python_that_scripts_cannot_be_started_with_is_refused(tmp_path: Path) -> None:
    """An environment elsewhere, below a folder with a space."""
    venv.create(tmp_path / "my tools", symlinks=True)
    python = tmp_path / "my tools" / "bin" / "python"
    found = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *site.getsitepackages()]),
    }
    command = [python, "-m", "snakemake", "-n", "--configfile", "config/shelters.yaml"]
    done = subprocess.run(command, cwd=ROOT, env=found, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"error: the path of Python holds ' ': {python}; move" in done.stderr
