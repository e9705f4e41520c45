"""`dpol new` writes packages that pip installs, and that pass the conformance checks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dpol.cli import main
from pipeline import ROOT, run, succeed


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
