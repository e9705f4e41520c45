"""The workflow as a module of another one, and as the main one without the root Snakefile."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pipeline import ROOT, Done, fail, run, succeed, write_config

TEST = ROOT / ".test"
CONFIG: dict[str, Any] = yaml.safe_load((TEST / "config/config.yaml").read_text())
SNAKEFILE = ROOT / "workflow/Snakefile"

pytestmark = pytest.mark.workflow


def start(folder: Path, *options: str, snakefile: Path = SNAKEFILE, **variables: str) -> Done:
    """Run snakemake with a Snakefile that is not the root one."""
    words = ("--snakefile", str(snakefile), "--directory", str(folder), "--cores", "2", *options)
    return run(sys.executable, "-m", "snakemake", *words, **variables)


def import_it(folder: Path, rest: str = "", **configs: dict[str, Any]) -> Path:
    """A Snakefile that imports the workflow once for each config, under its name."""
    (folder / "config").mkdir(exist_ok=True)
    # The importer's: dpol may neither read it nor take keys from it.
    (folder / "config/config.yaml").write_text("replicats: 5\n")
    (folder / "importer.yaml").write_text(yaml.safe_dump(configs))
    modules = "".join(
        f'module {name}:\n    snakefile: "{SNAKEFILE}"\n    config: config["{name}"]\n'
        f"use rule * from {name} as {name}_*\n"
        for name in configs
    )
    (folder / "Snakefile").write_text(f'configfile: "importer.yaml"\n{modules}{rest}')
    return folder / "Snakefile"


def test_a_rule_of_the_importer_takes_a_result(tmp_path: Path) -> None:
    """A real run; its jobs are those of the workflow run by itself, to the hash of their code."""
    shutil.copytree(TEST / "config", tmp_path / "config")
    succeed(start(tmp_path, snakefile=TEST / "Snakefile"))
    assert "rw-meta" in (tmp_path / "results/best.csv").read_text().splitlines()[1]
    page = (tmp_path / "results/test/report/index.html").read_text()
    assert "Config: module dpol" in page
    assert ">hospitals point<" in page  # its time is found, though the rule has another name
    planned = succeed(start(tmp_path, "--dry-run"))
    # The page names the config file, which the module did not have.
    assert set(re.findall(r"^(\w+) +\d+$", planned, re.M)) == {"render_report", "results", "total"}


SHARED = {
    "kind": "web",
    "file": "table.csv.gz",
    "endpoints": [{"kind": "file", "url": "http://x/"}],
}


def on_the_web(name: str, *groups: str) -> dict[str, Any]:
    """A config that reads a table which others read too."""
    streams = {"it": {"groups": list(groups)}}
    dataset = {**CONFIG["dataset"], "source": SHARED}
    return {**CONFIG, "run": name, "streams": streams, "dataset": dataset}


def test_two_configs_share_a_workflow_and_a_table(tmp_path: Path) -> None:
    goal = 'rule all:\n    default_target: True\n    input: "own.txt", rules.b_results.input\n'
    data = 'rule data:\n    input: rules.a_results.input\n    output: "own.txt"\n    shell: "x"\n'
    snakefile = import_it(tmp_path, goal + data, a=on_the_web("x", "A"), b=on_the_web("y", "A"))
    said = succeed(start(tmp_path, "--dry-run", snakefile=snakefile))
    assert {"results/x/report/index.html", "results/y/report/index.html"} <= set(said.split())
    for line in ("a_hospitals_point +1", "b_hospitals_point +1", "a_fetch_dataset +1", "data +1"):
        assert re.search(f"^{line}$", said, re.M), line
    assert "b_fetch_dataset" not in said


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"a": CONFIG, "b": CONFIG}, "config of module b: run = test: module a has a run of"),
        (
            {"a": on_the_web("x", "A"), "b": on_the_web("y", "B")},
            "module a fetches other groups, columns or periods into it",
        ),
        ({"a": {**CONFIG, "sede": 1}}, "config of module a: "),
    ],
    ids=["run", "table", "mistake"],
)
def test_what_two_imports_or_a_config_get_wrong_is_told(
    tmp_path: Path, configs: dict[str, Any], message: str
) -> None:
    said = fail(start(tmp_path, "--dry-run", snakefile=import_it(tmp_path, **configs)))
    assert message in said
    assert "replicats" not in said


def test_a_rule_of_the_importer_makes_the_table(tmp_path: Path) -> None:
    local = {**CONFIG["dataset"], "source": {"kind": "local", "file": "table.csv"}}
    make = 'rule make:\n    output: "table.csv"\n    shell: "touch {output}"\n'
    snakefile = import_it(tmp_path, make, a={**CONFIG, "dataset": local})
    planned = succeed(start(tmp_path, "a_data", "--dry-run", snakefile=snakefile))
    assert re.search(r"^make +1$", planned, re.M)
    assert "localrules" not in planned  # these would be rules of the importer that have the names


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ('__version__ = "0.0.9"', " has dpol 0.0.9; install that release into it"),
        ("raise ModuleNotFoundError", " has none; install that release into it"),
    ],
    ids=["other", "none"],
)
def test_a_package_that_does_not_belong_to_the_workflow_is_refused(
    tmp_path: Path, code: str, message: str
) -> None:
    (tmp_path / "dpol").mkdir()
    (tmp_path / "dpol/__init__.py").write_text(code)
    write_config(tmp_path, CONFIG)
    assert message in fail(start(tmp_path, "--dry-run", PYTHONPATH=str(tmp_path)))


# Snakemake, whose rules hand out their outputs with a flag, as where a storage provider holds them.
STORED = """
import sys

from snakemake.cli import main
from snakemake.rules import RuleProxy

plain = RuleProxy._to_iofile


def stored(self, files):
    found = plain(self, files)
    for file in found:
        file._file.flags["stored"] = True
    return found


RuleProxy._to_iofile = stored
main(sys.argv[1:])
"""


def planned_where_outputs_are_stored(folder: Path, snakefile: Path) -> Done:
    words = ("--snakefile", str(snakefile), "--directory", str(folder), "--cores", "2")
    return run(sys.executable, "-c", STORED, *words, "--dry-run")


def test_outputs_may_be_held_by_a_storage_provider(tmp_path: Path) -> None:
    shutil.copytree(TEST / "config", tmp_path / "config")
    assert "build_stream" in succeed(planned_where_outputs_are_stored(tmp_path, SNAKEFILE))


def test_a_pattern_that_a_storage_provider_flags_is_noticed(tmp_path: Path) -> None:
    rules = 'rule one:\n    output: "{a}.txt"\n    shell: "touch {output}"\n'
    rules += "rule all:\n    input: expand(rules.one.output[0], a=[1])\n"
    (tmp_path / "Snakefile").write_text(rules)
    done = planned_where_outputs_are_stored(tmp_path, tmp_path / "Snakefile")
    assert done.returncode == 1
    assert "given to expand() are invalid" in done.stdout + done.stderr
