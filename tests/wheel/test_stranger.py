"""A stranger's first hour, from the files of a release alone; and packages of one's own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from dpol.cli import main
from pipeline import ROOT, build, run, succeed


def pins() -> list[str]:
    """Return the lines of the lock, without hashes."""
    lock = (ROOT / "requirements/run.txt").read_text()
    return re.findall(r"^([a-z0-9][^\\\n]*?) *\\$", lock, re.M)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stranger's folder, with the locked versions, as PyPI has newer ones every day."""
    folder = tmp_path_factory.mktemp("stranger")
    build("wheel", folder / "dist")
    (folder / "pins.txt").write_text("\n".join(pins()))
    (folder / "home").mkdir()
    variables = {"PIP_CONSTRAINT": str(folder / "pins.txt"), "PYTHONPATH": ""}
    done = subprocess.run(
        [ROOT / "tests/wheel/stranger.sh", folder / "dist"],
        cwd=folder / "home",
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert succeed(done).count("\n== ") == 4
    return folder / "home"


def python(home: Path, *words: str) -> str:
    """Run the stranger's Python and return what it says."""
    return succeed(run(str(home / ".venv/bin/python"), *words, folder=home, PYTHONPATH=""))


def test_the_packages_are_those_of_the_wheels_and_of_the_locks(home: Path) -> None:
    place = python(home, "-c", "import dpol; print(dpol.__file__)")
    assert Path(place).is_relative_to(home / ".venv")
    listed = json.loads(python(home, "-m", "pip", "list", "--format", "json"))
    found = {re.sub("[-_.]+", "-", it["name"].lower()): it["version"] for it in listed}
    locked = dict(re.match(r"([^=]+)==(\S+)", pin).groups() for pin in pins())
    own = {name for name in found if name.startswith(("dpol", "my-"))} | {"pip", "setuptools"}
    assert {name: found[name] for name in found.keys() - own}.items() <= locked.items()


def test_all_that_packages_bring_is_in_the_results(home: Path) -> None:
    results = home / "results/mine"
    summary = pd.read_parquet(results / "summary.parquet")
    theirs = summary[summary["noise"] == "my-noise"]
    assert {"my-algorithm", "named", "medians"} <= set(theirs["algorithm"])
    alone = theirs[theirs["algorithm"].isin(["my-algorithm", "named"])]
    assert {*alone["origin"]} == {"other"}
    page = (results / "report/index.html").read_text()
    assert all(text in page for text in ("my-algorithm", "my-noise"))
    crate = json.loads((results / "ro-crate-metadata.json").read_text())
    names = {node.get("name") for node in crate["@graph"]}
    assert {"my-algorithm", "my-learner", "my-noise"} <= names


# ---- packages that `dpol new` writes -------------------------------------------------------------


def pip_install(*packages: Path, into: Path) -> None:
    """Install packages into a folder, without a network."""
    pip = sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"
    alone = "--no-deps", "--no-index", "--no-build-isolation", "--target", str(into)
    succeed(run(*pip, *alone, *map(str, packages)))


def test_packages_are_installed_and_pass_their_own_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = "algorithm", "learner", "noise"
    for kind in kinds:
        assert main(["new", kind, f"my-{kind}"]) == 0
    pip_install(*(tmp_path / f"my-{kind}" for kind in kinds), into=tmp_path / "site")
    tests = [f"my-{kind}/tests" for kind in kinds]
    options = "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests
    path = f"{ROOT / 'src'}:{tmp_path / 'site'}"
    assert "3 passed" in succeed(run(sys.executable, *options, folder=tmp_path, PYTHONPATH=path))
    configs = [f"my-{kind}/config.yaml" for kind in kinds]
    code = tmp_path / "site/my_noise/__init__.py"
    code.write_text(code.read_text().replace("math.sqrt(2.0)", "math.sqrt(0.5)"))
    both = (
        "from dpol.cli import main;"
        f"assert main(['config', 'check', *{configs}]) == 0;"
        "assert main(['check', 'my-noise']) == 1"
    )
    said = succeed(run(sys.executable, "-c", both, folder=tmp_path, PYTHONPATH=path))
    assert said.count(": good") == 3
    assert "its scale is too small for its level in" in said
