"""A stranger's walk, with the wheel and no clone: install it, plan the demo, run a config."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from pipeline import ROOT, SMALL, built_wheel, fail, run, succeed, write_config

STUDIES = "batching", "lazy", "convex", "labels", "audits", "claims", "comparison"


def installed(folder: Path, kind: str) -> Path:
    """`bin` of an environment with the locked packages of a kind and the wheel."""
    venv.create(folder, symlinks=True, with_pip=True)
    pip = [str(folder / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    locked = ["--require-hashes", "--requirement", str(ROOT / f"requirements/{kind}.txt")]
    succeed(run(*pip, "install", "--no-deps", *locked))
    succeed(run(*pip, "install", "--no-deps", str(built_wheel(folder))))
    succeed(run(*pip, "check"))
    return folder / "bin"


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A stranger's, with the extra that experiments need."""
    return installed(tmp_path_factory.mktemp("stranger"), "run")


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `pip install dpol` brings: the library without the pipeline."""
    return installed(tmp_path_factory.mktemp("light"), "base")


def dpol(commands: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
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
    listing = ["git", "ls-files", "-z", *IN_WHEEL, ":!verify/runs"]
    tracked = subprocess.check_output(listing, cwd=ROOT, text=True).rstrip("\0").split("\0")
    assert {"workflow/Snakefile", "config/config.yaml", "src/dpol/py.typed"} <= {*tracked}
    with zipfile.ZipFile(built_wheel(tmp_path)) as wheel:
        for file in tracked:
            start = next(folder for folder in IN_WHEEL if file.startswith(f"{folder}/"))
            held = wheel.read(IN_WHEEL[start] + file.removeprefix(start))
            assert held == (ROOT / file).read_bytes(), file
        (name,) = (file for file in wheel.namelist() if file.endswith("dist-info/METADATA"))
        text = wheel.read(name).decode()
    links = re.findall(r"(!?)\[[^]]*\]\(([^)]+)\)", text)
    assert any(kind and link.startswith(f"{home}/raw/v") for kind, link in links)
    assert [link for _, link in links if not link.startswith("https://")] == []
    assert f"Project-URL: Repository, {home}\n" in text


def test_the_installed_library_is_the_one_that_is_tested(commands: Path, tmp_path: Path) -> None:
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
    assert "100% of all jobs" in said  # the view of a run is in the wheel
    page = (tmp_path / "results/tiny/report/index.html").read_text()
    assert 'id="replay-widget"' in page, "templates and scripts of the page are in the wheel"
    again = succeed(dpol(commands, tmp_path, "run", "config.yaml"))
    assert "Nothing to be done" in again


def test_a_failure_of_snakemake_is_that_of_dpol(commands: Path, tmp_path: Path) -> None:
    write_config(tmp_path, SMALL, seed="seven")
    assert "seed" in fail(dpol(commands, tmp_path, "run", "config.yaml", "-n"))


PIPELINE = "dp_accounting", "matplotlib", "openpyxl", "pandas", "pyarrow", "requests", "snakemake"
WEEKLY = "cryptography", "dpol_weekly"
MOST_MB = 350


def test_a_light_install_is_small_and_holds_the_library_alone(light: Path) -> None:
    (packages,) = light.parent.glob("lib/python*/site-packages")
    assert not [name for name in (*PIPELINE, *WEEKLY) if (packages / name).exists()]
    size = sum(file.stat().st_blocks for file in packages.rglob("*") if not file.is_symlink()) * 512
    assert size < MOST_MB * 1e6, f"{size / 1e6:.0f} MB"


def test_commands_of_the_library_run_without_the_pipeline(light: Path, tmp_path: Path) -> None:
    assert "Experiments:" in succeed(dpol(light, tmp_path, "--help"))
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


@pytest.mark.parametrize("words", ["demo --dry-run", "compare one two"])
def test_an_experiment_without_the_pipeline_says_what_to_install(
    light: Path, tmp_path: Path, words: str
) -> None:
    said = fail(dpol(light, tmp_path, *words.split()))
    assert said.endswith(
        'is missing; run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"\n'
    )


# --- A package outside the repository ---

CONFIG = """
run: outside
seed: 1
dataset:
  source: {kind: simulated, hospitals: {PA: 8}, weeks: 12}
  cleaning: {min_total_cases: 10}
  columns:
    entity: hospital_pk
    period: collection_week
    group: state
    count: inpatient_beds_used_covid_7_day_avg
    capacity: inpatient_beds_7_day_avg
streams: {PA: {groups: [PA]}}
privacy:
  levels: {mu-inf: .inf, mu-1: 1}
suites:
  ours:
    algorithms: [rw-ftpl, {algorithm: ridge, windows: [4]}]
  theirs:
    noises: [outside-noise]
    algorithms:
      - outside-leader
      - {algorithm: "outside.leader:Named", label: named, keep: 0.9}
      - {algorithm: rw-meta, label: rw-meta-medians, learners: [outside-medians]}
replicates: 4
report: {algorithms: [rw-ftpl, outside-leader, named, rw-meta-medians]}
"""
NAMED = '''

@dataclass(frozen=True)
class Named(OutsideLeader):
    """The same, named by its class."""
'''
POINTS = """
outside-leader = "outside.leader:OutsideLeader"

[project.entry-points."dpol.learners"]
outside-medians = "outside.medians:OutsideMedians"

[project.entry-points."dpol.noises"]
outside-noise = "outside.noise:NOISE"
"""


def add(commands: Path, package: Path) -> None:
    """Build the package here, and install its wheel next to dpol's."""
    build = sys.executable, "-m", "hatchling", "build", "--target", "wheel"
    succeed(run(*build, folder=package))
    (wheel,) = package.glob("dist/*.whl")
    pip = str(commands / "python"), "-m", "pip", "--quiet", "install", "--force-reinstall"
    succeed(run(*pip, "--no-deps", "--no-index", str(wheel), PYTHONPATH=""))


@pytest.fixture(scope="module")
def folder(commands: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run that plays the package; the package is put together of `dpol new`."""
    folder = tmp_path_factory.mktemp("outside")
    succeed(dpol(commands, folder, "new", "algorithm", "outside"))
    home = folder / "outside/src/outside"
    for kind, part in (("algorithm", "leader"), ("learner", "medians"), ("noise", "noise")):
        succeed(dpol(commands, folder, "new", kind, f"outside-{part}"))
        written = folder / f"outside-{part}/src/outside_{part}/__init__.py"
        (home / f"{part}.py").write_text(written.read_text() + (NAMED if part == "leader" else ""))
    with (folder / "outside/pyproject.toml").open("a") as project:
        project.write(POINTS)
    add(commands, folder / "outside")
    (folder / "config.yaml").write_text(CONFIG)
    assert "good" in succeed(dpol(commands, folder, "config", "check", "config.yaml"))
    succeed(dpol(commands, folder, "run", "config.yaml", "--cores", "2"))
    return folder


def test_all_that_it_brings_is_in_the_results(folder: Path) -> None:
    results = folder / "results/outside"
    summary = pd.read_parquet(results / "summary.parquet")
    theirs = summary[summary["noise"] == "outside-noise"]
    assert {"outside-leader", "named", "rw-meta-medians"} == set(theirs["algorithm"])
    alone = theirs[theirs["algorithm"] != "rw-meta-medians"]  # a meta-algorithm of dpol's
    assert not alone["ours"].any(), "a stranger's algorithm is not ours (†)"
    page = (results / "report/index.html").read_text()
    assert all(text in page for text in ("outside-leader", "outside-noise"))
    crate = json.loads((results / "ro-crate-metadata.json").read_text())
    assert "outside" in {node.get("name") for node in crate["@graph"]}
