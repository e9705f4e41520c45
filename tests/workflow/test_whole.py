"""One whole run of every study: its files, its values, and what a change reruns.

The run uses a copy of the project, whose code a test may change and restore.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import verify
import yaml

from dpol.config.experiment import parse_experiment
from dpol.plan import make_plan
from dpol.reruns.code_hashes import files_by_reader, hash_by_room, parts_of_job
from dpol.studies.registry import EVERY_RUN, STUDIES, load_study
from pipeline import ROOT, Done, run, snakemake, succeed, write_config
from report.crates import checked_crate

WHOLE: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())
WHOLE["points_per_job"] = 2  # as a job takes longer to start than to play two
IN_EVERY_RUN = [load_study(name).showing for name in EVERY_RUN]
BASE = f"results/{WHOLE['run']}"
OTHERS = [name for name in STUDIES if name != "games"]
PLAIN = {key: value for key, value in WHOLE.items() if key not in OTHERS}
GAME = "points/games/NM/local/isotropic/mu-0.5"
NOTED = Path(__file__).with_name("noted")
"""Folder of the code that writes down what a job imports and opens."""
pytestmark = pytest.mark.workflow


def command(folder: Path, *options: str) -> list[str]:
    """Return the command of Snakemake, in its own words, on the copy of the project in a folder."""
    start = [sys.executable, "-m", "snakemake", "--snakefile", str(folder / "Snakefile")]
    start += ["--workflow-profile", "none"]
    config = ["--configfile", str(folder / "config.yaml"), "--directory", str(folder)]
    return [*start, *config, *options]


def run_copy(folder: Path, *options: str) -> Done:
    path = os.pathsep.join(map(str, (folder / "src", NOTED)))
    return run(*command(folder, *options), PYTHONPATH=path, NOTES=str(folder / "notes"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a finished run."""
    folder = tmp_path_factory.mktemp("whole")
    for name in ("src", "workflow"):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copy(ROOT / "Snakefile", folder)
    # A default config with a mistake must not mix with the named one.
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text("replicats: 5\n")
    write_config(folder, WHOLE)
    printed = succeed(run_copy(folder, "--cores", "2"))
    assert [name for name in STUDIES if f"{load_study(name).title}: " not in printed] == []
    assert "tables/answer.md" in printed
    assert "figures/figure-2.png" in printed
    return folder


def test_every_output_of_a_run_exists(whole: Path) -> None:
    base = whole / BASE
    wanted = ["report/index.html", "provenance/Snakefile", "provenance/config.yaml"]
    wanted += ["data/cleaning.md", "data/cleaning.json", "data/panel.parquet"]
    config = parse_experiment(WHOLE, "small.yaml").config
    for study, block in config.studies():
        wanted += [f"{name}.parquet" for name in study.results_of(block, config.plan_facts)]
        for section in study.sections_of(block, config.plan_facts):
            figures = [f"figures/{it.name}" for it in section.figures]
            tables = [f"tables/{it.name}" for it in section.tables]
            wanted += [f"{name}.{kind}" for name in figures for kind in ("svg", "png", "pdf")]
            wanted += [f"{name}.{kind}" for name in tables for kind in ("md", "csv", "html")]
    assert [name for name in wanted if not (base / name).stat().st_size] == []
    named = {entity["@id"] for entity in checked_crate(base)}
    assert set(wanted) <= named
    assert "#hash-of-the-code-of-dpol" in named


def test_the_report_of_snakemake_shows_every_figure_and_table_without_a_warning(
    whole: Path,
) -> None:
    printed = succeed(run_copy(whole, "--report", str(whole / "report.zip")))
    assert "WARNING" not in printed
    with zipfile.ZipFile(whole / "report.zip") as packed:
        shown = {Path(name).name: packed.read(name) for name in packed.namelist()}
    assert b"Table 2 and Figure 2" in shown.pop("report.html")
    made = [*(whole / BASE).glob("figures/*.svg"), *(whole / BASE).glob("tables/*.html")]
    made = [path for path in made if not path.name.endswith(".fragment.html")]
    assert shown == {path.name: path.read_bytes() for path in made}


def test_values_of_the_whole_run_are_as_expected(whole: Path) -> None:
    found = verify.differing("small", whole / BASE) + verify.differing("ledger", whole / BASE)
    found = [it for it in found if not it.startswith("ledger-of-gains: ")]  # of another stream
    assert found == [], "if it is meant: verify/expect.py"


def contents(folder: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Read files that must not depend on how the run was made."""
    return {name: (folder / BASE / name).read_bytes() for name in names}


def targets(names: Iterable[str]) -> list[str]:
    """Return the files as targets of Snakemake."""
    return [f"{BASE}/{name}" for name in names]


def test_results_depend_neither_on_cores_nor_on_points_per_job(whole: Path, tmp_path: Path) -> None:
    """The run uses one core, and a job plays one point."""
    write_config(tmp_path, WHOLE, points_per_job=1)
    wanted = targets([f"{GAME}/scores.parquet", "labels.parquet"])
    succeed(snakemake(tmp_path, *wanted, "--cores", "1"))
    assert contents(tmp_path, ["labels.parquet"]) == contents(whole, ["labels.parquet"])
    for name in ("scores.parquet", "curves.parquet"):
        both = pd.read_parquet(whole / BASE / f"{GAME}+1" / name)
        alone = pd.read_parquet(tmp_path / BASE / GAME / name)
        first = both[both["mu"] == 0.5].reset_index(drop=True)
        pd.testing.assert_frame_equal(first, alone, check_exact=True)


# --- Reruns ---


def code_of_jobs() -> dict[str, frozenset[str]]:
    """Return the modules that each job of the whole run watches, by rule."""
    plan = make_plan(WHOLE, [], "test")
    scripts = "simulate_dataset", "clean_panel", "build_stream"
    codes = {script: parts_of_job(script) for script in scripts}
    for study, block in plan.studies:
        codes[f"{study.name}_point"] = parts_of_job("study_point", study.computing)
        called = study.module, study.collecting
        codes[f"{study.name}_results"] = parts_of_job("study_results", *called)
        for section in study.sections_of(block, plan.config.plan_facts):
            called = study.showing, section.drawing, *IN_EVERY_RUN
            own, rule = parts_of_job("study_shown", *called), f"{section.chapter}_shown"
            codes[rule] = codes.get(rule, frozenset()) | own
    return codes


def test_no_job_imports_or_reads_what_it_does_not_watch(whole: Path) -> None:
    """Else a job would stay as it is although its code changed."""
    codes, package = code_of_jobs(), whole / "src/dpol"
    jobs = [json.loads(path.read_text()) for path in (whole / "notes").glob("*.json")]
    assert {job["rule"] for job in jobs} >= {"games_point", "third_shown", "render_report"}
    for job in jobs:
        # The page records a hash of all that computes.
        if job["rule"] == "render_report":
            continue
        modules = codes[job["rule"]]
        rooms = {name: it for name, it in job["code"].items() if name != "of"}
        assert rooms == hash_by_room(modules), job["rule"]
        assert set(job["modules"]) <= modules, job["rule"]
        opened = {Path(file) for file in job["opened"] if file.startswith(f"{package}/")}
        data = {file for file in opened if file.suffix not in {".py", ".pyc", ".pyi", ""}}
        watched = {file for module in modules for file in files_by_reader().get(module, ())}
        watched = {file.relative_to(ROOT / "src/dpol") for file in watched}
        assert {file.relative_to(package) for file in data} <= watched, job["rule"]


def planned(folder: Path) -> tuple[set[str], set[str]]:
    """Return the rules with jobs to run, and the suites of the main experiment to play."""
    printed = succeed(run_copy(folder, "--dry-run"))
    rules = set(re.findall(r"^(\w+) +\d+$", printed, re.MULTILINE)) - {"all", "total"}
    return rules, set(re.findall(r"Games: [^/\s]+/([^/\s]+)/", printed))


def jobs_of(*studies: str) -> set[str]:
    """Return the rules of studies, and of the report."""
    made = {f"{study}_{kind}" for study in studies for kind in ("point", "results")}
    sections = [it for study in studies for it in load_study(study).sections if it.made]
    return made | {f"{it.chapter}_shown" for it in sections} | {"render_report"}


# The standings and some of the claims read results of the games.
MAIN = jobs_of("games", "comparison", "claims")
ALL_SUITES = {*WHOLE["suites"]}


# Points of these have no delta, or one of their own.
WITHOUT_DELTA = {f"{name}_point" for name in ("games", "lazy", "convex", "labels", "audits")}
FROM_DATA = {"simulate_dataset", "clean_panel", "build_stream"}


@pytest.mark.parametrize(
    ("changed", "rules", "played"),
    [
        (
            {"report": {**WHOLE["report"], "algorithms": ["rw-ftpl"]}},
            MAIN - {"games_point"},
            set(),
        ),
        (
            {"privacy": {**WHOLE["privacy"], "delta": 1e-5}},
            (MAIN | jobs_of(*OTHERS)) - WITHOUT_DELTA,
            set(),
        ),
        ({"privacy": {**WHOLE["privacy"], "memory": "none"}}, MAIN, ALL_SUITES),
        ({"seed": 8}, MAIN | jobs_of(*OTHERS) | FROM_DATA, ALL_SUITES),
    ],
    ids=["report", "delta", "memory", "seed"],
)  # fmt: skip
def test_a_change_of_the_config_reruns_only_what_depends_on_it(
    whole: Path, changed: dict[str, Any], rules: set[str], played: set[str]
) -> None:
    write_config(whole, WHOLE, **changed)
    rerun = planned(whole)
    write_config(whole, WHOLE)
    assert rerun == (rules, played)


def with_changes(folder: Path, *changes: tuple[str, str, str]) -> set[str]:
    """Return the rules with jobs to run after a word in some files of the code was replaced."""
    package = ROOT / "src/dpol"
    for file, old, new in changes:
        text = (package / file).read_text(encoding="utf-8")
        assert old in text
        (folder / "src/dpol" / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    rules, _ = planned(folder)
    for file, *_ in changes:
        shutil.copy(package / file, folder / "src/dpol" / file)
    return rules


def test_words_rerun_nothing_and_the_look_of_the_page_only_the_page(whole: Path) -> None:
    assert with_changes(
        whole,
        ("labels/game.py", '"""The game', '"""Other words. The game'),
        ("experts/cautious_mean.py", "@dataclass", "# A comment.\n\n@dataclass"),
        ("noise/noises.py", "return None", "return None  # no memory"),
        ("studies/paper3/figures.py", '"""', '"""Other words. '),
        ("studies/jobs.py", "def join_tables(", "\n\ndef join_tables("),
        ("report/templates/report.css", "{", "{ "),
    ) == {"render_report"}  # fmt: skip


# What follows from the summary of the games, and all that draws.
SUMMED = MAIN - {"games_point"}
SHOWN = {rule for rule in jobs_of(*STUDIES) if rule.endswith("_shown")}


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        (("labels/game.py", " * ", " / "), jobs_of("labels", "audits", "claims")),
        (
            ("experts/cautious_mean.py", "np.zeros(", "np.ones("),
            MAIN | jobs_of("batching", "audits"),
        ),
        (("studies/paper3/figures.py", '"alpha": 0.8', '"alpha": 0.7'), {"third_shown"}),
        (("studies/games/summary.py", "replace(0.0, math.nan)", "replace(0.0, 1.0)"), SUMMED),
        (("studies/games/results.yaml", "columns:", "columns: # words"), SUMMED | SHOWN),
    ],
    ids=["labels", "algorithm", "figure", "summary", "columns"],
)
def test_a_change_of_code_reruns_what_can_run_it(
    whole: Path, change: tuple[str, str, str], rules: set[str]
) -> None:
    assert with_changes(whole, change) == {*rules, "render_report"}
