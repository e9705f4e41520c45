"""A finished run in Python: all parts are read as written, and errors name known values."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text

import dpol
from dpol.core.files import sha256, write_text
from dpol.report.door import CONFIG, CRATE, disagreements, read_config, read_crate
from replays import stream_of
from report.run_by_hand import ASKED, PROVENANCE, config, record
from tables_by_hand import summary

GAME = "games/nm/mu-1/local/0-99"


@pytest.fixture
def run(folder: Path, tmp_path: Path) -> Path:
    """The hand-made run, with a table of its page and a game."""
    copy = shutil.copytree(folder, tmp_path / "run")
    write_text(copy / "tables/table-2.csv", "stream,mean_gain\nnm,2.5\n")
    write_text(copy / f"{GAME}/scores.parquet", "")
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
    with pytest.raises(
        dpol.DataError, match=r"tables/answer.csv is not as a job of this run wrote"
    ):
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
def test_a_strangers_record_is_refused_at_once(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    with pytest.raises(dpol.DataError, match=f"{name} cannot be read"):
        read_config(tmp_path) if name == CONFIG else read_crate(tmp_path)


# --- Figures, also of another release ---


def texts(figure: Figure) -> list[str]:
    return [it.get_text() for it in figure.findobj(Text) if it.get_text()]


def test_a_figure_has_the_width_titles_and_words_of_its_call(run: Path) -> None:
    usual, other = (
        dpol.open_run(run).plot(**changes)
        for changes in (
            {},
            {"width": 3.0, "titles": False, "words": {"share of the possible gain": "Anteil",
                                                      "no privacy": "offen", "none": "alle",
                                                      "An attacker": "Ein Angreifer"}},
        )
    )  # fmt: skip
    assert usual.get_figwidth() > other.get_figwidth() == 3.0
    assert (usual.get_suptitle() != "", other.get_suptitle()) == (True, "")
    (before, after) = (" ".join(texts(it)) for it in (usual, other))
    for old, new in (("share of the possible gain", "Anteil"), ("no privacy", "offen")):
        assert (old in before, old in after, new in after) == (True, False, True)
    assert "alle" in [it.get_text() for it in other.axes[0].get_xticklabels()]
    assert "Ein Angreifer is right" in other.get_label()


def test_results_of_another_release_are_told_as_such_and_drawn_if_they_fit(run: Path) -> None:
    params = replace(PROVENANCE.params, code="0a")
    origin = replace(PROVENANCE, params=params, versions=(("dpol", "0.0.9"),))
    assert dpol.open_run(record(run, origin)).plot().axes
    older = pd.read_parquet(run / "standings.parquet").drop(columns="role")
    older.to_parquet(run / "standings.parquet")
    with pytest.raises(dpol.DataError) as caught:
        dpol.open_run(record(run, origin)).plot()
    said = str(caught.value)
    assert f"standings.parquet: lacks column role: {run} was made by dpol 0.0.9 (commit" in said
    assert f"its own figures and tables are in {run}/figures and {run}/tables" in said
    assert "delete" not in said


def test_the_style_of_figures_is_no_reason_to_compute_anything_again() -> None:
    style = {"width": 3.3, "titles": False}
    usual, other = (config(report=it).games.model_dump(mode="json") for it in ({}, style))
    assert usual == other
    assert config(report=style).report.width == 3.3
