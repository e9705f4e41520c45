"""One whole run of every study: its files, its values, and what a change reruns.

The run uses a copy of the project, whose code a test may change and restore.
"""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
import verify
import yaml
from matplotlib import pyplot

from dpol.config.experiment import parse_experiment
from dpol.plan import inputs_of
from dpol.reruns.code_hashes import files_by_reader, hash_by_room, parts_of_job
from dpol.studies.jobs import collect
from dpol.studies.registry import STUDIES, load_study
from dpol.studies.showing import frames_of
from dpol.studies.study import Facts, SomeFacts, Study
from pipeline import ROOT, Done, call_copy, copy_code, snakemake, succeed, write_config
from report.run_by_hand import checked_crate

WHOLE: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())
BASE = f"results/{WHOLE['run']}"
GAME = "games/NM/mu-0.5/local/0-2"
NOTED = Path(__file__).with_name("noted")
"""Folder of the code that writes down what a job imports and opens."""
pytestmark = pytest.mark.workflow


def run_copy(folder: Path, *options: str) -> Done:
    """Run Snakemake, in its own words, on the copy of the project in a folder."""
    variables = {"PYTHONPATH": f"{folder}/src{os.pathsep}{NOTED}", "NOTES": f"{folder}/notes"}
    return call_copy(folder, "--workflow-profile", "none", *options, **variables)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with a finished run."""
    folder = tmp_path_factory.mktemp("whole")
    copy_code(folder)
    # A default config with a mistake must not mix with the named one.
    (folder / "config").mkdir()
    (folder / "config/config.yaml").write_text("replicats: 5\n")
    write_config(folder, WHOLE)
    printed = succeed(run_copy(folder))
    assert [name for name in STUDIES if f"{load_study(name).title}: " not in printed] == []
    assert "tables/league.md" in printed
    assert "figures/figure-2.png" in printed
    return folder


def test_every_output_of_a_run_exists(whole: Path) -> None:
    base = whole / BASE
    wanted = ["report/index.html", "provenance/Snakefile", "provenance/config.yaml"]
    wanted += ["data/cleaning.md", "data/cleaning.json", "data/rows.parquet"]
    config = parse_experiment(WHOLE, "small.yaml")
    for study, block in config.studies():
        wanted += [f"{name}.parquet" for name in study.results_of(block, config.facts)]
        for section in study.sections_of(block, config.facts):
            figures = [f"figures/{it.name}" for it in section.figures]
            tables = [f"tables/{it.name}" for it in section.tables]
            wanted += [f"{name}.{kind}" for name in figures for kind in ("svg", "png", "pdf")]
            wanted += [f"{name}.{kind}" for name in tables for kind in ("md", "csv", "html")]
    assert [name for name in wanted if not (base / name).stat().st_size] == []
    named = {entity["@id"] for entity in checked_crate(base)}
    assert set(wanted) <= named


def test_the_report_of_snakemake_shows_every_figure_and_table_without_a_warning(
    whole: Path,
) -> None:
    printed = succeed(run_copy(whole, "--report", str(whole / "report.zip")))
    assert "WARNING" not in printed
    with zipfile.ZipFile(whole / "report.zip") as packed:
        shown = {Path(name).name: packed.read(name) for name in packed.namelist()}
    page = shown.pop("report.html")
    assert b"Table 2 and Figure 2" in page
    assert b"Numbers in grey are the paper" in page, "captions have the words of the sections"
    made = [*(whole / BASE).glob("figures/*.svg"), *(whole / BASE).glob("tables/*.html")]
    assert shown == {path.name: path.read_bytes() for path in made}


def test_values_of_the_whole_run_are_as_expected(whole: Path) -> None:
    found = verify.differing("small", whole / BASE) + verify.differing("ledger", whole / BASE)
    found = [it for it in found if not it.startswith("ledger-of-gains: ")]  # of another stream
    assert found == [], "if it is meant: verify/expect.py"


class Read(SomeFacts):
    """Facts of a job that note which of them it reads."""

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name in Facts.__dataclass_fields__:
            self.__dict__.setdefault("read", set()).add(name)
        return found


def unread(study: Study, base: Path) -> set[str]:
    """Return the facts that a study names and does not read, as it collects or as it draws.

    Raises:
        AttributeError: it reads a fact that it does not name.
    """
    config = parse_experiment(WHOLE, "small.yaml")
    facts, block = config.facts, config.block(study.name)
    jobs = study.jobs(block, facts)
    files = {
        name: [base / study.name / place / f"{name}.parquet" for place in jobs]
        for name in study.written_by_jobs(block, facts)
    }
    for name, paths in inputs_of(jobs.values()).items():
        files[name] = [base / path for path in paths]
    collecting = Read(config.facts.told(study.collects, titled=False))
    dict(collect(study, block, collecting, files))
    drawing = Read({name: getattr(config.facts, name) for name in study.draws})
    for section in study.sections_of(block, facts):
        frames = frames_of(study.package, {it: base / f"{it}.parquet" for it in section.results})
        for figure in section.figures:
            pyplot.close(figure.function(frames, drawing))
        for table in section.tables:
            table.function(frames, drawing)
    found = ((study.collects, collecting), (study.draws, drawing))
    return {name for names, own in found for name in {*names} - vars(own).get("read", set())}


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_names_the_facts_that_it_reads_and_no_other(whole: Path, name: str) -> None:
    study = load_study(name)
    assert unread(study, whole / BASE) == set()


def test_a_fact_that_is_not_named_is_refused() -> None:
    with pytest.raises(AttributeError, match="the study does not name the fact reported"):
        _ = SomeFacts({}).reported


def test_results_do_not_depend_on_cores(whole: Path, tmp_path: Path) -> None:
    write_config(tmp_path, WHOLE)
    results = f"{GAME}/scores.parquet", f"{GAME}/curves.parquet", "labels.parquet"
    wanted = [f"{BASE}/{it}" for it in results]
    succeed(snakemake(tmp_path, *wanted, "--cores", "1"))
    for name in wanted:
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()


# --- The code that a job watches ---

LATE = {
    # Functions import it, to read a file of YAML.
    "dpol.core.yaml_files",
    # Figures of any study may show results of these two, so all watch their columns.
    "dpol.studies.games.show",
    "dpol.studies.league.show",
}
"""Modules that some jobs watch and no job of their rule loads."""


def test_a_job_watches_the_code_that_it_loads_and_little_else(whole: Path) -> None:
    """Else a job would stay as it is although its code changed, or run again for no reason."""
    package, reached, loaded = whole / "src/dpol", dict[str, set[str]](), dict[str, set[str]]()
    jobs = [json.loads(path.read_text()) for path in (whole / "notes").glob("*.json")]
    assert {job["rule"] for job in jobs} >= {"games_point", "labels_results", "render_report"}
    for job in jobs:
        modules = parts_of_job(*job["code"]["of"])
        rooms = {name: it for name, it in job["code"].items() if name != "of"}
        assert rooms == hash_by_room(modules), job["rule"]
        assert set(job["modules"]) <= modules, job["rule"]
        opened = {Path(file) for file in job["opened"] if file.startswith(f"{package}/")}
        data = {file for file in opened if file.suffix not in {".py", ".pyc", ".pyi", ""}}
        watched = {file for module in modules for file in files_by_reader().get(module, ())}
        watched = {file.relative_to(ROOT / "src/dpol") for file in watched}
        assert {file.relative_to(package) for file in data} <= watched, job["rule"]
        reached.setdefault(job["rule"], set()).update(modules)
        loaded.setdefault(job["rule"], set()).update(job["modules"])
    never = {it for rule in reached for it in reached[rule] - loaded[rule]}
    assert {it for it in never if not it.startswith("dpol.script.")} == LATE


def test_nothing_runs_again_by_all_triggers_of_snakemake(whole: Path) -> None:
    """Who imports the rules does not take the triggers of this clone's profile."""
    printed = succeed(run_copy(whole, "--dry-run"))
    assert "Nothing to be done" in printed
