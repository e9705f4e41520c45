"""A finished run: it is read as written, its crate describes it, and its answer ends a call."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from rocrate.rocrate import ROCrate

import dpol
from dpol.core.errors import DataError
from dpol.core.files import sha256, write_text
from dpol.report.door import CONFIG, CRATE, disagreements, last_lines, read_crate
from dpol.report.run import Run
from dpol.reruns.notes import Note, checksums, digest, write_note
from dpol.studies.paper1.table_2 import Verdict
from replays import stream_of
from report.run_by_hand import ASKED, CLEANING, PROVENANCE, answered, checked_crate, config, record
from tables_by_hand import summary

GAME = "games/nm/mu-1/local/0-99"


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Path:
    """The hand-made run, with a table of its page and a game."""
    copy = shutil.copytree(folder, tmp_path / "run")
    write_text(copy / "tables/table-2.csv", "stream,mean_gain\nnm,2.5\n")
    write_text(copy / f"{GAME}/scores.parquet", "")
    write_text(copy / "report/index.html", "the page")
    write_text(copy / ODD, "1")
    return record(copy)


def test_all_parts_are_read_as_they_were_written(run: Path) -> None:
    read = dpol.open_run(str(run))
    assert read.table("summary")["mean_gain"].tolist() == summary()["mean_gain"].tolist()
    assert read.config == ASKED
    np.testing.assert_array_equal(read.stream("nm").gains, stream_of(6, 3).gains)
    assert read.table("table-2")["mean_gain"].tolist() == [2.5]


def test_files_of_an_earlier_config_are_warned_of_and_not_read(run: Path) -> None:
    """A suite had another name, a question and a stream are gone."""
    results = sorted(it.stem for it in run.glob("*.parquet"))
    (run / "tables/answer.csv").write_text("question,stream,best_fixed,mean_gain\nnow,,,1\n")
    record(run)
    assert dpol.open_run(run).table("answer")["mean_gain"].tolist() == [1]
    for old, new in (
        (GAME, GAME.replace("local", "mine")),
        ("streams/nm.parquet", "streams/mn.parquet"),
        ("tables/answer.csv", "tables/answer-by-question.csv"),
        ("summary.parquet", "questions.parquet"),
    ):
        (shutil.copytree if old == GAME else shutil.copy)(run / old, run / new)
    (run / "tables/table-2.csv").unlink()
    (run / "tables/answer.csv").write_text("question,stream,best_fixed,mean_gain\nnow,,,2\n")
    with pytest.warns(UserWarning, match="was changed after the run: ") as caught:
        read = dpol.open_run(run)
    told = str(caught[0].message)
    for text in (
        "tables/answer.csv (changed), tables/table-2.csv (missing), ",
        f"{GAME.replace('local', 'mine')}/scores.parquet (new), ",
        "questions.parquet (new), ",
        f"streams/mn.parquet (new) and tables/answer-by-question.csv (new); see dpol verify {run}",
    ):
        assert text in told
    assert list(read.tables) == ["answer", "table-2", *results]
    with pytest.raises(dpol.DataError, match=r"answer.csv is not as a job of this run wrote"):
        read.table("answer")
    with pytest.raises(dpol.DataError, match=r"table-2.csv is missing; run snakemake again"):
        read.table("table-2")
    with pytest.raises(dpol.DataError, match="no stream mn; known: nm"):
        read.stream("mn")
    with pytest.raises(dpol.DataError, match="no table questions; known: "):
        read.table("questions")


def test_files_are_compared_with_the_crate_and_the_crate_with_its_note(run: Path) -> None:
    assert disagreements(run) == []
    table = run / "tables/table-2.csv"
    before = sha256(table)
    table.write_text("stream,mean_gain\nnm,9\n")
    assert disagreements(run) == [("changed", "tables/table-2.csv")]
    crate = run / CRATE
    crate.write_text(crate.read_text().replace(before, sha256(table)))
    assert disagreements(run) == [("changed", CRATE)]
    record(run)
    hidden = run / "tables/.t.csv~abc.csv"
    hidden.write_text("left by a killed job")
    assert disagreements(run) == [("new", "tables/.t.csv~abc.csv")]
    hidden.unlink()
    shutil.rmtree(run / "logs")
    assert disagreements(run) == [("missing", "logs")]


@pytest.mark.parametrize(
    ("name", "text"),
    [(CONFIG, "a: &a [*a]"), (CONFIG, "a: " + "[" * 3_000), (CRATE, "[" * 100_000)],
)
def test_a_strangers_record_is_refused_at_once(run: Path, name: str, text: str) -> None:
    (run / name).write_text(text)
    with pytest.raises(dpol.DpolError, match=f"{name}( cannot be read|: is )"):
        _ = Run(run, read_crate(run)).config


# --- Figures ---


def test_a_figure_has_the_width_and_titles_of_its_call(run: Path) -> None:
    read = dpol.open_run(run)
    usual, other = read.plot(), read.plot(width=3.0, titles=False)
    assert usual.get_figwidth() > other.get_figwidth() == 3.0
    assert (usual.get_suptitle() != "", other.get_suptitle()) == (True, "")


def test_the_style_of_figures_is_no_reason_to_compute_anything_again() -> None:
    style = {"width": 3.3, "titles": False}
    usual, other = (config(report=it).games.model_dump(mode="json") for it in ({}, style))
    assert usual == other
    assert config(report=style).report.width == 3.3


# ---- the crate -----------------------------------------------------------------------------------

ODD = "figures/half & half #1.csv"


def test_the_crate_names_inputs_code_and_outputs(run: Path) -> None:
    entities = {entity["@id"]: entity for entity in checked_crate(run)}
    made, data = entities["#run"], entities["#data-0"]
    assert (made["startTime"], made["endTime"]) == (
        "2001-09-09T01:46:19+00:00",
        "2001-09-09T01:47:00+00:00",
    )
    results = {file["@id"] for file in made["result"]}
    assert {"report/index.html", "figures/half%20%26%20half%20%231.csv"} <= results
    there = {it.relative_to(run).parts[0] for it in run.rglob("*.*")}
    assert there - {it.split("/")[0] for it in results} == {CRATE, "logs", "provenance"}
    assert data["sha256"] == CLEANING["provenance"]["sha256"]
    assert data["url"] == "https://example.org/t.csv"
    assert entities["#seed"]["value"] == 7
    assert entities["pkg:pypi/dpol@0.1.0"]["softwareVersion"] == "0.1.0"
    assert entities["#commit"]["value"] == "0123abc"
    assert (run / "provenance/config.yaml").read_text() == PROVENANCE.config_text
    assert not any("Person" in entity["@type"] or "agent" in entity for entity in entities.values())


def test_the_description_warns_if_the_counts_are_not_public(run: Path) -> None:
    described = []
    for public in (True, False):
        record(run, dataset=ASKED["dataset"] | {"public": public})
        described.append(ROCrate(run).root_dataset["description"])
    assert described[0].endswith("results of one run, on real data.")
    assert described[1] == (
        f"{described[0]} This folder holds your raw counts. Share nothing of it."
    )


def test_equal_files_give_an_equal_crate(run: Path) -> None:
    before = (run / CRATE).read_bytes()
    record(run)
    assert (run / CRATE).read_bytes() == before


# ---- the last lines of a call --------------------------------------------------------------------

UNFINISHED = "not finished: the answer follows when all jobs ran"
MADE = {"report_cleaning": "data/cleaning.json", "render_report": CRATE}
RUN = Path("results/hand")


@pytest.fixture
def jobs(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A digest of what is asked of two jobs that ran, by their names."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, RUN)
    finish()
    return {name: digest({"seed": "1"}) for name in MADE}


def finish(verdict: Verdict | None = None) -> None:
    """Write the crate with the answer of the run, and note that both jobs ran."""
    record(RUN, answer=answered(RUN, config(), verdict).lines)
    for name, file in MADE.items():
        note(name, file)


def note(name: str, *wrote: str) -> None:
    """Note that a job wrote these files."""
    sums = checksums(RUN, [RUN / it for it in wrote])
    found = Note(asked=digest({"seed": "1"}), read={}, wrote=sums, began=0, ended=1)
    write_note(RUN, name, found)


def lines(jobs: dict[str, str]) -> list[str]:
    return last_lines(RUN, config(), jobs)


def test_a_run_that_answers_its_plan_tells_doubts_and_answer(jobs: dict[str, str]) -> None:
    """A run of the paper says first what it reproduces."""
    assert lines(jobs)[0] == f"warning: {CLEANING['warnings'][0]}"
    finish(Verdict(heading="Reproduced: it", said="Here it is.", why=""))
    *_, first, answer = lines(jobs)
    assert first == "Reproduced: it."
    assert answer.startswith("At μ = 1, RW-Meta keeps 1 of 100 points (0: a random choice")


@pytest.mark.parametrize("name", MADE)
def test_a_job_that_was_asked_something_else_tells_nothing(jobs: dict[str, str], name: str) -> None:
    jobs[name] = digest({"seed": "2"})
    told = lines(jobs)
    assert told[0].startswith("warning") == (name != "report_cleaning")
    assert (UNFINISHED in told) == (name == "render_report")
    assert bool([line for line in told if "ridge-w64-strong with" in line]) == (
        name == "report_cleaning"
    )


@pytest.mark.parametrize("name", MADE.values())
def test_a_file_that_has_changed_is_refused(jobs: dict[str, str], name: str) -> None:
    (RUN / name).write_bytes(b"other")
    with pytest.raises(DataError, match=f"{name} is not as a job of this run wrote it; delete it"):
        lines(jobs)


def test_a_run_whose_results_are_with_a_storage_provider_says_no_word_on_them(
    jobs: dict[str, str],
) -> None:
    for name in MADE:
        note(name)
    assert lines(jobs) == []
