"""What the wheel and the sdist hold, and the library without the pipeline."""

from __future__ import annotations

import os
import re
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from pages import tracked

from pipeline import ROOT, Done, build, fail, run, succeed


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of what `pip install dpol` brings: the library without the pipeline."""
    folder = tmp_path_factory.mktemp("light")
    venv.create(folder, symlinks=True, with_pip=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    locked = ["--require-hashes", "--requirement", str(ROOT / "requirements/base.txt")]
    succeed(run(*pip, "install", "--no-deps", *locked))
    build("wheel", folder)
    succeed(run(*pip, "install", "--no-deps", *map(str, folder.glob("*.whl"))))
    succeed(run(*pip, "check"))
    return folder / "bin"


def dpol(commands: Path, folder: Path, *words: str) -> Done:
    """The command as it is found after the environment is activated."""
    path = os.pathsep.join([str(commands), os.environ["PATH"]])
    return run(str(commands / "dpol"), *words, folder=folder, PATH=path, PYTHONPATH="")


TABLES = "data/elsewhere", "data/examples", "data/hospitals"
SHIPPED = "config", *TABLES, "profiles", "verify", "workflow"
IN_WHEEL = {
    **{f"src/{package}": package for package in ("dpol", "snakemake_logger_plugin_dpol")},
    **{folder: f"dpol/pipeline/{folder}" for folder in SHIPPED},
}


def test_the_wheel_holds_every_tracked_file_and_links_that_lead_somewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Links are those of the page on a package index."""
    home = "https://host.example/dpol"
    monkeypatch.setenv("DPOL_REPOSITORY", f"{home}/")
    files = tracked(*IN_WHEEL, ":!verify/runs")
    assert {"workflow/Snakefile", "config/config.yaml", "src/dpol/py.typed"} <= {*files}
    build("wheel", tmp_path)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        for file in files:
            start = next(folder for folder in IN_WHEEL if file.startswith(f"{folder}/"))
            held = wheel.read(IN_WHEEL[start] + file.removeprefix(start))
            assert held == (ROOT / file).read_bytes(), file
        (name,) = (file for file in wheel.namelist() if file.endswith("dist-info/METADATA"))
        text = wheel.read(name).decode()
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    assert any(kind and link.startswith(f"{home}/raw/v") for kind, link in links)
    assert [link for _, link in links if not link.startswith("https://")] == []
    assert f"Project-URL: Repository, {home}\n" in text


def test_the_sdist_holds_what_the_documentation_is_built_from(tmp_path: Path) -> None:
    build("sdist", tmp_path)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as packed:
        held = {name.partition("/")[2] for name in packed.getnames()}
    assert {*tracked()} <= held


PIPELINE = "matplotlib", "openpyxl", "pandas", "pyarrow", "requests", "snakemake"
MOST_MB = 350


def test_a_light_install_is_small_and_holds_the_library_alone(light: Path) -> None:
    (packages,) = light.parent.glob("lib/python*/site-packages")
    assert not [name for name in PIPELINE if (packages / name).exists()]
    size = sum(file.stat().st_blocks for file in packages.rglob("*") if not file.is_symlink()) * 512
    assert size < MOST_MB * 1e6, f"{size / 1e6:.0f} MB"


def test_commands_of_the_library_run_without_the_pipeline(light: Path, tmp_path: Path) -> None:
    assert "commands:" in succeed(dpol(light, tmp_path, "--help"))
    assert "59.9%" in succeed(dpol(light, tmp_path, "account", "--mu", "0.5"))


def test_the_library_plays_without_the_pipeline(light: Path, tmp_path: Path) -> None:
    code = """
import numpy as np, dpol
weeks = np.datetime64("2021-01-01") + 7 * np.arange(20)
gains, beds = np.full((20, 3), 0.2), np.full((20, 3), 50.0)
stream = dpol.GainStream(
    label="s", gains=gains, capacity=beds, entities=("a", "b", "c"), periods=weeks
)
noisy = dpol.privatize(stream, "capacity", mu=1.0, seed=1, replicates=4)
print(dpol.play(dpol.RWMeta(), noisy).actions.shape)
"""
    found = run(str(light / "python"), "-c", code, folder=tmp_path, PYTHONPATH="")
    assert succeed(found) == "(4, 20)\n"


@pytest.mark.parametrize(
    "words", ["run central-texas --dry-run", "league persistence --on shelters"]
)
def test_an_experiment_without_the_pipeline_says_what_to_install(
    light: Path, tmp_path: Path, words: str
) -> None:
    said = fail(dpol(light, tmp_path, *words.split()))
    assert said.endswith(
        'is missing; run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"\n'
    )
