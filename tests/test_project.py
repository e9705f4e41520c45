"""The project's own files hold together."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import site
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
import yaml

import dpol
from dpol import cli
from dpol.config.docs import generated
from dpol.data.stream import STREAM_COLUMNS
from dpol.studies.hospitals.runs import RUN_COLUMNS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# The environments that `make` sets up, and the extras of dpol in them.
KINDS = {
    "weekly": ["secure"],
    "runtime": ["pipeline"],
    "secure": ["pipeline", "secure"],
    "dev": ["dev", "secure"],
    "cluster": ["cluster"],
}


def packages(kind):
    """The part of the lock that an environment of this kind is made of."""
    command = [ROOT / "requirements" / "packages.sh", kind]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def versions(kind):
    return dict(re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", packages(kind), re.MULTILINE))


def names(*extras):
    """Packages that dpol and some of its extras need directly."""
    optional = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *(it for extra in extras for it in optional[extra])]
    if "dpol[pipeline]" in needed:
        needed = [it for it in needed if it != "dpol[pipeline]"] + optional["pipeline"]
    return {re.split(r"[\[><=]", requirement)[0].lower() for requirement in needed}


def test_conda_environment_has_the_packages_and_versions_of_the_lock():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pinned = [item for item in listed if isinstance(item, str) and re.search(r"[^>]=", item)]
    locked = versions("dev")
    assert dict(item.split("=") for item in pinned) == {name: locked[name] for name in names("dev")}


def test_conda_recipe_is_up_to_date():
    tool = runpy.run_path(str(ROOT / "tools/conda_recipe.py"))
    assert (ROOT / "conda/recipe.yaml").read_text() == tool["recipe_text"](), "run: make format"
    recipe = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())
    needed = {item.split()[0] for item in recipe["requirements"]["run"]} - {"python"}
    renamed = {"matplotlib-base": "matplotlib"}
    assert {renamed.get(name, name) for name in needed} == names("pipeline")


def test_the_command_knows_the_modules_of_the_pipeline():
    only = names("pipeline") - names()
    assert {name.replace("-", "_") for name in only} == cli._PIPELINE


@pytest.mark.parametrize("kind", KINDS)
def test_lock_has_what_an_environment_needs_with_hashes(kind):
    assert names(*KINDS[kind]) <= set(versions(kind))
    assert set(versions("weekly" if kind == "weekly" else "runtime")) <= set(versions(kind))
    requirements = re.split(r"^(?=[a-z0-9])", packages(kind), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in requirement for requirement in requirements)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("opendp", {"weekly", "secure", "dev"}),
        ("pandas", {"runtime", "secure", "dev", "cluster"}),
        ("pytest", {"dev"}),
        ("snakemake-executor-plugin-slurm", {"cluster"}),
    ],
)
def test_an_environment_gets_no_package_that_only_others_need(name, kinds):
    assert {kind for kind in KINDS if name in versions(kind)} == kinds


def test_lock_names_no_host_and_no_other_environment():
    text = (ROOT / "requirements" / "lock.txt").read_text()
    assert "://" not in text
    assert "index" not in text
    with pytest.raises(subprocess.CalledProcessError):
        packages("everything")


def test_documentation_of_clusters_names_the_locked_plugin():
    plugin = "snakemake-executor-plugin-slurm"
    page = (ROOT / "docs/how-to/slurm.md").read_text()
    assert f"{plugin}=={versions('cluster')[plugin]}" in page


def test_version_is_the_same_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert dpol.__version__ == PROJECT["version"] == citation["version"]
    assert f"## {dpol.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_generated_config_files_are_up_to_date():
    folder = ROOT / "config"
    stale = [n for n, text in generated(folder).items() if (folder / n).read_text() != text]
    assert stale == [], "run: dpol config write"


def documented_columns(heading):
    page = (ROOT / "docs/reference/tables.md").read_text()
    section = page.split(f"## {heading}")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "columns"), [("streams/", STREAM_COLUMNS), ("runs/", RUN_COLUMNS)]
)
def test_columns_are_documented(heading, columns):
    assert documented_columns(heading) == list(columns)


@pytest.mark.parametrize("folder", ["my papers", "it's", 'say "dpol"', "a$b", "a\tb"])
def test_a_checkout_that_scripts_cannot_be_started_from_is_refused_first(tmp_path, folder):
    """The refusal is one line, before anything is installed."""
    setup = tmp_path / folder / "requirements" / "setup.sh"
    setup.parent.mkdir(parents=True)
    shutil.copy(ROOT / "requirements" / "setup.sh", setup)
    done = subprocess.run([setup, ".venv", "runtime"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: the path {setup.parents[1]} holds a space or a sign")
    assert not (setup.parents[1] / ".venv").exists()


def test_a_python_that_scripts_cannot_be_started_with_is_refused(tmp_path):
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


def test_the_bill_of_materials_is_the_lock():
    command = [sys.executable, ROOT / "tools/sbom.py"]
    bill = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    every = {name: it for kind in KINDS for name, it in versions(kind).items()}
    parts = {it["name"]: it for it in bill["components"]}
    assert {name: it["version"] for name, it in parts.items()} == every
    required = {name for name, it in parts.items() if it["scope"] == "required"}
    assert required == set(versions("runtime"))
    digests = [file["hashes"] for it in parts.values() for file in it["externalReferences"]]
    found = sorted(it["content"] for hashes in digests for it in hashes)
    lock = (ROOT / "requirements/lock.txt").read_text()
    assert found == sorted(re.findall(r"--hash=sha256:(\w{64})", lock))
    needs = {it["ref"]: it["dependsOn"] for it in bill["dependencies"]}
    assert set(needs) == {"dpol", *every}
    assert set(needs["dpol"]) == names(*PROJECT["optional-dependencies"])
    # Only builds need these two; nothing else is there that nothing needs.
    assert set(every) - {it for several in needs.values() for it in several} <= {
        "hatchling",
        "setuptools",
    }


def test_the_ways_to_cite_agree():
    """CITATION.cff for people, codemeta.json for indexes, .zenodo.json for the archive."""
    cff = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    meta, zenodo = (
        json.loads((ROOT / name).read_text()) for name in ("codemeta.json", ".zenodo.json")
    )
    assert cff["title"] == zenodo["title"]
    assert cff["title"].startswith(f"{PROJECT['name']}:")
    for name in ("version", "keywords"):
        assert PROJECT[name] == cff[name] == meta[name] == zenodo[name]
    assert PROJECT["description"] == cff["abstract"] == meta["description"] == zenodo["description"]
    assert PROJECT["license"] == cff["license"] == zenodo["license"]
    assert meta["license"] == f"https://spdx.org/licenses/{PROJECT['license']}"
    assert meta["runtimePlatform"] == f"Python {PROJECT['requires-python']}"
    people = [cff["authors"], zenodo["creators"], meta["author"]]
    assert [[it["name"] for it in several] for several in people] == 3 * [
        [it["name"] for it in PROJECT["authors"]]
    ]
    papers = {it["title"]: it["url"] for it in cff["references"]}
    assert papers == {it["name"]: it["url"] for it in meta["referencePublication"]}
    numbers = [it["identifier"].replace("arXiv:", "") for it in zenodo["related_identifiers"]]
    assert [f"https://arxiv.org/abs/{it}" for it in numbers] == list(papers.values())
    claims = (ROOT / "src/dpol/studies/claims/statements.yaml").read_text()
    assert papers.keys() == set(re.findall(r"paper: &\w+ (.+)", claims))
    assert all("family-names" in author for it in cff["references"] for author in it["authors"])
