"""One whole run of every study: its files, its values, and what changes run again.

It is made of a copy of the project, whose code tests may change and put back.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import verify
import yaml

from dpol.config.experiment import parse_experiment
from dpol.studies.registry import STUDIES, load_study
from pipeline import ROOT, Done, fail, run, snakemake, succeed, write_config
from report.crates import checked_crate

WHOLE: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())
BASE = f"results/{WHOLE['run']}"
OTHERS = [name for name in STUDIES if name != "games"]
PLAIN = {key: value for key, value in WHOLE.items() if key not in OTHERS}
RUN = "runs/NM/local/isotropic/mu-0.5/block-0.parquet"
NOT_HASHED = {
    "__init__.pyi": "names the public functions, which jobs do not use",
    "labels/__init__.pyi": "as of dpol",
    "lazy/convex/__init__.pyi": "as of dpol",
    "experts/registry.py": "the algorithms that it makes are hashed with all their parameters",
    "experts/registry.yaml": "as of registry.py; its looks are hashed where figures are drawn",
    "core/yaml_files.py": "reads the registry, whose entries are hashed as above",
    "show/__init__.py": "is empty",
    "show/looks.py": "is watched by what draws; the registry holds looks, which nothing plays by",
}

pytestmark = pytest.mark.workflow


def command(folder: Path, *options: str) -> list[str]:
    """Snakemake on the copy of the project in a folder."""
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(folder / "Snakefile")]
    config = ["--configfile", str(folder / "config.yaml"), "--directory", str(folder)]
    return [*start, *config, *options]


def run_copy(folder: Path, *options: str, path: str = "", **variables: str) -> Done:
    source = os.pathsep.join(filter(None, (path, str(folder / "src"))))
    return run(*command(folder, *options), PYTHONPATH=source, **variables)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a finished run, and the notes of its jobs in notes.jsonl."""
    folder = tmp_path_factory.mktemp("whole")
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    # A default config with a mistake, which is not mixed with the one that is named.
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text("replicats: 5\n")
    write_config(folder, WHOLE)
    noted = {"DPOL_LOADED": str(folder / "notes.jsonl"), "DPOL_PACKAGE": str(folder / "src/dpol")}
    recorder = str(ROOT / "tests/workflow/recorder")
    said = succeed(run_copy(folder, "--cores", "2", path=recorder, **noted))
    assert [name for name in STUDIES if f"{load_study(name).title}: " not in said] == []
    assert "tables/average-gain.md" in said
    assert "figures/cumulative-gain.png" in said
    return folder


def test_every_output_of_a_run_is_there(whole: Path) -> None:
    base = whole / BASE
    wanted = ["report/index.html", "provenance/Snakefile", "provenance/config.yaml"]
    wanted += ["data/cleaning.md", "data/cleaning.json", "data/panel.parquet"]
    config = parse_experiment(WHOLE, "small.yaml").config
    for study, block in config.studies():
        wanted += [f"{name}.parquet" for name in study.results_of(block, config.facts)]
        for section in study.sections_of(block, config.facts):
            figures = [f"figures/{figure.name}" for figure in section.figures]
            tables = [f"tables/{table.name}" for table in section.tables]
            wanted += [f"{it}.{kind}" for it in figures for kind in ("svg", "png", "pdf")]
            wanted += [f"{it}.{kind}" for it in tables for kind in ("md", "csv", "tex", "html")]
    assert [name for name in wanted if not (base / name).stat().st_size] == []
    named = {it["@id"] for it in checked_crate(base)}
    assert set(wanted) <= named
    played = [*(f"suite-{it}" for it in WHOLE["suites"]), *(f"study-{it}" for it in OTHERS)]
    played.append("noise-with-memory")
    assert {f"#hash-of-the-code-of-{it}" for it in played} <= named


def test_values_of_the_whole_run_are_as_expected(whole: Path) -> None:
    assert verify.differing("small", whole / BASE) == [], "if it is meant: verify/expect.py"


def contents(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Files that must not depend on how the run was made."""
    return {name: (folder / BASE / name).read_bytes() for name in names}


def targets(names: Iterable[str]) -> list[str]:
    """The files as Snakemake is asked for them."""
    return [f"{BASE}/{name}" for name in names]


def test_results_depend_neither_on_cores_nor_on_blocks(whole: Path, tmp_path: Path) -> None:
    """The run uses one core, and three replicates in blocks of two and one."""
    names = [RUN.replace("block-0", f"block-{block}") for block in (0, 1)]
    base = whole / BASE
    points = [str(path.relative_to(base)) for path in base.rglob("points/labels/*/*.parquet")]
    write_config(tmp_path, WHOLE, block_replicates=2)
    succeed(snakemake(tmp_path, *targets([*names, *points]), "--cores", "1"))
    assert contents(tmp_path, points) == contents(whole, points)  # every other study is one job
    keys = ["algorithm", "replicate", "round"]
    parts = [pd.read_parquet(tmp_path / name) for name in targets(names)]
    joined = pd.concat(parts).sort_values(keys, ignore_index=True)
    at_once = pd.read_parquet(base / RUN)
    pd.testing.assert_frame_equal(joined, at_once.sort_values(keys, ignore_index=True))


def test_killed_run_continues_to_the_same_results(whole: Path, tmp_path: Path) -> None:
    base = whole / BASE
    names = [str(path.relative_to(base)) for path in (base / "runs/NM/local").rglob("*.parquet")]
    write_config(tmp_path, PLAIN)
    (tmp_path / "src").symlink_to(whole / "src")
    (tmp_path / "workflow").symlink_to(whole / "workflow")
    shutil.copy(whole / "Snakefile", tmp_path)
    started = subprocess.Popen(
        command(tmp_path, "--cores", "2", *targets(names)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    runs = tmp_path / BASE / "runs"
    deadline = time.monotonic() + 120
    while len(list(runs.rglob("*.parquet"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    assert runs.exists()
    assert len(list(runs.rglob("*.parquet"))) < len(names)
    assert "--unlock" in fail(snakemake(tmp_path, *targets(names)))
    succeed(snakemake(tmp_path, "--unlock"))
    succeed(snakemake(tmp_path, *targets(names)))
    assert contents(tmp_path, names) == contents(whole, names)


# --- What runs again ---


def test_every_job_watches_all_that_it_loads(whole: Path) -> None:
    lines = [json.loads(line) for line in (whole / "notes.jsonl").read_text().splitlines()]
    made_of = {line["code"]: set(line["files"]) for line in lines if "code" in line}
    package = whole / "src/dpol"
    exempt = {str(package / name) for name in NOT_HASHED}
    jobs = [line for line in lines if "job" in line]
    assert {line["job"] for line in jobs} > {"clean_panel", "games_point", "labels_point"}
    for line in jobs:
        watched = set().union(*(made_of[code] for code in line["codes"]))
        assert set(line["files"]) > {str(package / "__init__.py")}
        assert set(line["files"]) - watched - exempt == set(), line["job"]


def planned(folder: Path) -> tuple[set[str], set[str]]:
    """The rules of which a job would run, and what of the main experiment would be played."""
    said = succeed(run_copy(folder, "--dry-run"))
    rules = set(re.findall(r"^(\w+) +\d+$", said, re.MULTILINE)) - {"all", "total"}
    return rules, set(re.findall(r"Games: [^/\s]+/([^/\s]+)/", said))


def jobs_of(*studies: str) -> set[str]:
    """The rules of studies, and of the report."""
    made = {f"{study}_{kind}" for study in studies for kind in ("point", "results")}
    shown = {section for study in studies for section in SHOWN.get(study, {f"{study}_shown"})}
    return made | shown | {"render_report"}


SHOWN = {
    "games": {"privacy_utility_shown", "average_gain_shown", "noise_costs_shown"},
    "comparison": {"beyond_shown", "memory_shown"},
}
# The comparison and some of the claims read results of the main experiment.
MAIN = jobs_of("games", "comparison", "claims")
OF_LAZY = jobs_of("lazy", "convex", "audits")
ALL_SUITES = {*WHOLE["suites"]}
REGISTRY = "experts/registry.yaml"


@pytest.mark.parametrize(
    ("edits", "rules", "played"),
    [
        ({}, set(), set()),
        (
            {
                "experts/play.py": ('"""', '"""In other words: '),
                "core/randomness.py": ("\n\n\n", "\n\n\n# A comment.\n"),
                "data/sources.yaml": ("not updated since 2024-W08", "of 2025"),
                "config/docs.py": ("\n\n\n", "\n\n\nNEW = 1\n"),
            },
            set(),
            set(),
        ),
        (
            {
                REGISTRY: ("{window: 8}", "{window: 9}"),
                "studies/registry.py": ("\n\n\n", "\n\n\nNEW = 1\n"),
            },
            {"render_report"},
            set(),
        ),
        (
            {
                "studies/claims/statements.yaml": ("\n", "\n# YAML\n"),
                "studies/labels/figures.py": ("\n\n\n", "\n\n\nNEW = 1\n"),
            },
            {*jobs_of("claims"), "labels_shown"},
            set(),
        ),
        (
            {"studies/games/shown.yaml": ("Week by week", "Again and again")},
            {*SHOWN["games"], "render_report"},
            set(),
        ),
        ({REGISTRY: ("{objective: min-noise}", "{objective: min-regret}")}, MAIN, {"central"}),
        (
            {
                "experts/learners/joined.py": (
                    "return state, actions[:, self.place]",
                    "return state, actions[:, self.place].copy()",
                )
            },
            MAIN,
            {"local"},
        ),
        ({"lazy/accounting.py": ("\n\n\n", "\n\n\nNEW = 1\n")}, MAIN | OF_LAZY, {"lazy"}),
    ],
    ids=["nothing", "words", "unused", "data", "sections", "fixed", "learner", "deep"],
)  # fmt: skip
def test_a_change_of_code_runs_again_what_it_changes(
    whole: Path, edits: Mapping[str, tuple[str, str]], rules: set[str], played: set[str]
) -> None:
    before = {whole / "src/dpol" / file: (whole / "src/dpol" / file).read_text() for file in edits}
    for (path, text), (old, new) in zip(before.items(), edits.values(), strict=True):
        assert old in text
        path.write_text(text.replace(old, new, 1))
    found = planned(whole)
    for path, text in before.items():
        path.write_text(text)
    assert found == (rules, played)


DATASET, STREAM = WHOLE["dataset"], WHOLE["streams"]["NM"]
TITLED = {**DATASET["columns"], "titles": {"entity": "clinic"}}
FROM_DATA = {"simulate_dataset", "clean_panel", "build_stream"}


@pytest.mark.parametrize(
    ("changed", "rules", "played"),
    [
        (
            {"dataset": {**DATASET, "public": True, "columns": TITLED}, "job_memory_mb": 2000},
            {"render_report"},
            set(),
        ),
        (
            {"streams": {"NM": {**STREAM, "title": "Another"}}},
            {*SHOWN["games"], *SHOWN["comparison"], "labels_shown", "render_report"},
            set(),
        ),
        (
            {"report": {**WHOLE["report"], "algorithms": ["rw-ftpl"]}},
            MAIN - {"games_point"},
            set(),
        ),
        (
            {"privacy": {**WHOLE["privacy"], "delta": 1e-5}},
            MAIN - {"games_point"} | jobs_of(*OTHERS),
            set(),
        ),
        ({"seed": 8}, MAIN | jobs_of(*OTHERS) | FROM_DATA, ALL_SUITES),
    ],
    ids=["words", "title", "report", "delta", "seed"],
)  # fmt: skip
def test_a_change_of_the_config_runs_again_what_it_changes(
    whole: Path, changed: dict[str, Any], rules: set[str], played: set[str]
) -> None:
    write_config(whole, WHOLE, **changed)
    found = planned(whole)
    write_config(whole, WHOLE)
    assert found == (rules, played)


def test_a_new_algorithm_in_a_suite_of_its_own_runs_alone(whole: Path) -> None:
    package = whole / "src/dpol/experts"
    text = (package / "follow_the_leader.py").read_text()
    (package / "newest.py").write_text(text.replace("FollowTheLeader", "Newest"))
    registry = package / "registry.yaml"
    before = registry.read_text()
    line = "  follow-the-leader:\n"
    new = '  newest: {target: "dpol.experts.newest:Newest"}\n'
    registry.write_text(before.replace(line, new + line))
    assert registry.read_text() != before
    write_config(whole, WHOLE, suites={**WHOLE["suites"], "new": {"algorithms": ["newest"]}})
    found = planned(whole)
    registry.write_text(before)
    write_config(whole, WHOLE)
    assert found == (MAIN, {"new"})
