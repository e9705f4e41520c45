"""The files of the project agree with each other."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import tomllib
import venv
from pathlib import Path

import conda_env
import pytest
import yaml
from packaging.requirements import Requirement

import dpol
from dpol import cli
from dpol.config.docs import generated
from dpol.data.panel import DATA_SCHEMAS
from dpol.data.stream import STREAM_COLUMNS
from dpol.studies.games.runs import RUN_COLUMNS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Environments of requirements/, with the extras of dpol in them.
KINDS = {
    "base": [],
    "run": ["pipeline"],
    "dev": ["dev"],
    "cluster": ["cluster"],
}


def packages(kind):
    """Return the lock file of an environment of this kind."""
    return (ROOT / "requirements" / f"{kind}.txt").read_text()


def versions(kind):
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", packages(kind), re.MULTILINE))


def names(*extras):
    """Return the packages that dpol and some of its extras need directly."""
    optional = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *(name for extra in extras for name in optional[extra])]
    if "dpol[pipeline]" in needed:
        needed = [name for name in needed if name != "dpol[pipeline]"] + optional["pipeline"]
    return {re.split(r"[\[><=]", requirement)[0].lower() for requirement in needed}


@pytest.mark.parametrize(("file", "kind"), [("environment", "run"), ("environment-dev", "dev")])
def test_conda_environment_takes_its_packages_from_a_lock(file, kind):
    needed = yaml.safe_load((ROOT / f"{file}.yml").read_text())["dependencies"]
    assert needed[:-1] == [f"python{PROJECT['requires-python']}", "pip"]
    assert needed[-1] == {"pip": [f"--requirement requirements/{kind}.txt"]}


def test_the_conda_environment_of_the_rules_holds_the_lock():
    """Snakemake copies the file elsewhere, so it cannot name the lock."""
    text = conda_env.FILE.read_text()
    assert text == conda_env.environment(), "run: python tools/conda_env.py"
    python, *_, last = yaml.safe_load(text)["dependencies"]
    dpol_itself, *pins = [Requirement(line) for line in last["pip"]]
    assert str(dpol_itself) == f"dpol[pipeline]=={PROJECT['version']}"
    assert {pin.name: str(pin.specifier) for pin in pins} == {
        name: f"=={version}" for name, version in versions("run").items()
    }
    # Snakemake's conda_inject refuses a plain `python`.
    assert python.startswith("conda-forge::python>=")


@pytest.mark.parametrize(
    "file", [*(ROOT / "workflow/rules").glob("*.smk")], ids=lambda file: file.stem
)
def test_every_rule_with_a_script_names_its_environment(file):
    """Lint sees only the rules of one config."""
    rules = re.split(r"^ *rule\b", file.read_text(), flags=re.MULTILINE)
    assert [rule for rule in rules if "script:" in rule and '"../envs/dpol.yaml"' not in rule] == []


def test_the_command_knows_the_modules_of_the_pipeline():
    only = names("pipeline") - names()
    assert {name.replace("-", "_") for name in only} == cli._PIPELINE


@pytest.mark.parametrize("kind", KINDS)
def test_a_lock_has_all_packages_that_its_environment_needs_with_hashes(kind):
    assert names(*KINDS[kind]) <= set(versions(kind))
    smaller = versions("base" if kind == "base" else "run")
    assert smaller.items() <= versions(kind).items()
    requirements = re.split(r"^(?=[a-z0-9])", packages(kind), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in requirement for requirement in requirements)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("cryptography", {"dev"}),
        ("openpyxl", {"run", "dev", "cluster"}),
        ("pandas", {"run", "dev", "cluster"}),
        ("pytest", {"dev"}),
        ("snakemake-executor-plugin-slurm", {"cluster"}),
    ],
)
def test_an_environment_gets_no_package_that_only_others_need(name, kinds):
    assert {kind for kind in KINDS if name in versions(kind)} == kinds


@pytest.mark.parametrize("kind", KINDS)
def test_lock_names_no_host(kind):
    assert "://" not in packages(kind)
    assert "index" not in packages(kind)


def test_documentation_of_clusters_names_the_locked_plugin():
    plugin = "snakemake-executor-plugin-slurm"
    page = (ROOT / "docs/how-to/elsewhere.md").read_text()
    assert f"plugin {versions('cluster')[plugin]})" in page


def test_version_is_the_same_everywhere():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"]
    (label,) = re.findall(r'image\.version="(.*?)"', (ROOT / "Containerfile").read_text())
    (rules,) = re.findall(r'^RELEASE = "(.*)"', (ROOT / "workflow/Snakefile").read_text(), re.M)
    assert {cited, label, rules, PROJECT["version"]} == {dpol.__version__}


def test_generated_config_files_are_up_to_date():
    folder = ROOT / "config"
    stale = [n for n, text in generated(folder).items() if (folder / n).read_text() != text]
    assert stale == [], "run: dpol config write"


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("streams/STREAM", STREAM_COLUMNS),
        ("points/games/STREAM/SUITE/NOISE/LEVEL/block-K/rounds", RUN_COLUMNS),
    ],
)
def test_columns_are_documented(name, columns):
    assert list(DATA_SCHEMAS[name].columns) == list(columns)


@pytest.mark.parametrize("folder", ["my papers", "it's", 'say "dpol"', "a$b", "a\tb"])
def test_a_checkout_whose_path_breaks_scripts_is_refused(tmp_path, folder):
    """The refusal is one line, before anything is installed."""
    setup = tmp_path / folder / "requirements" / "setup.sh"
    setup.parent.mkdir(parents=True)
    shutil.copy(ROOT / "requirements" / "setup.sh", setup)
    done = subprocess.run([setup, ".venv", "run"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the path {setup.parents[1]} holds a space or a sign")
    assert not (setup.parents[1] / ".venv").exists()


def test_a_python_whose_path_breaks_scripts_is_refused(tmp_path):
    """The environment is below a folder with a space."""
    venv.create(tmp_path / "my tools", symlinks=True)
    python = tmp_path / "my tools" / "bin" / "python"
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *site.getsitepackages()]),
    }
    command = [python, "-m", "snakemake", "-n", "--configfile", "config/shelters.yaml"]
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"error: the path of Python holds ' ': {python}; move" in done.stderr
