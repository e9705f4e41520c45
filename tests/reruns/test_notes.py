"""What a job was asked and answered, and files that are not as a job wrote them."""

from __future__ import annotations

import json
import math
import os
import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from dpol.core.errors import DataError
from dpol.core.files import sha256, write_text
from dpol.core.logs import error_in
from dpol.reruns.code_hashes import code_of_job
from dpol.reruns.job import job_log
from dpol.reruns.notes import (
    asked,
    changed_files,
    check_notes,
    checksums,
    digest,
    note_of,
    noted_sums,
    read_notes,
    reasons_to_rerun,
)
from pipeline import run, succeed

FOLDER = Path("results/small")
LOG = FOLDER / "logs/games_point/A/mu-0.25.log"
STREAM, SCORES = FOLDER / "streams/A.parquet", FOLDER / "games/A.parquet"
PARAMS = {"seed": 1, "settings": {"levels": {"none": math.inf}}, "points": ["a" * 50, "b" * 50]}


@pytest.fixture(autouse=True)
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs in the working folder: a stream, and its scores."""
    monkeypatch.chdir(tmp_path)
    with job_log(FOLDER / "logs/build_stream/A.log", outputs=[str(STREAM)]):
        write(STREAM, "1")
    with job_log(LOG, [str(STREAM), ".snakemake/asked"], [str(SCORES)], PARAMS):
        write(SCORES, "1")


def write(file: Path, text: str) -> Path:
    write_text(file, text)
    return file


def anew(params: Any = PARAMS) -> list[str] | None:
    notes = read_notes(FOLDER)
    note = notes.get(note_of(LOG))
    return None if note is None else reasons_to_rerun(note, asked(params), noted_sums(notes))


class Model(BaseModel):
    """As a setting may be."""

    rate: float = math.inf


@dataclass
class Row:
    """As a fact may be."""

    day: date


KINDS = {
    "numbers": (math.inf, -math.inf, math.nan, 0.1),
    "names": {"b", "a", "c"},
    "model": Model(),
    "row": Row(date(2021, 1, 3)),
    "none": None,
}


def test_the_values_of_params_are_told_in_one_way() -> None:
    assert asked(KINDS) == {
        "numbers": "[Infinity, -Infinity, NaN, 0.1]",
        "names": '["a", "b", "c"]',
        "model": '{"rate": Infinity}',
        "row": '{"day": "2021-01-03"}',
        "none": "null",
    }
    assert asked({"a": {"x": 1, "y": {}}}) == {"a.x": "1", "a.y": "{}"}
    assert asked({"a": {"b.c": 1}}) == {'a."b.c"': "1"} != asked({"a": {"b": {"c": 1}}})
    assert asked({"a": [{"x": 1, "y": 2}]}) != asked({"a": [{"y": 2, "x": 1}]}), "the order counts"
    assert asked({"contents": {"a/t.csv": "1"}, "file": "a/t.csv"}) == {
        'contents."t.csv"': '["1"]',
        "file": '"t.csv"',
    }
    both = [{"contents": {"a/t.csv": one, "b/t.csv": two}} for one, two in ("11", "12", "21")]
    assert len({str(asked(it)) for it in both}) == 3
    assert asked({"a": (1, 2)}) == asked({"a": [1, 2]}) != asked({"a": [2, 1]})
    with pytest.raises(Exception, match="serialize"):
        asked({"a": object()})  # its text would hold an address


def test_other_processes_ask_the_same() -> None:
    code = "from reruns.test_notes import *; print(asked({'all': KINDS | {'x': 'y' * 99}}))"
    folder = str(Path(__file__).parents[1])
    said = {
        succeed(run(sys.executable, "-c", code, PYTHONPATH=folder, PYTHONHASHSEED=seed))
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_a_job_that_answered_names_what_is_asked_otherwise() -> None:
    assert anew() == []
    assert anew({**PARAMS, "seed": 2}) == ["seed: 1 → 2"]
    assert anew(dict(reversed(PARAMS.items()))) == ["the order of its settings"]
    assert anew({**PARAMS, "settings": {"levels": {"none": math.inf, "high": 1.0}}}) == [
        "settings.levels.high: not set → 1.0"
    ]
    (long,) = anew({**PARAMS, "points": ["a" * 50, "c" * 50]}) or []
    assert long.startswith("points: ")
    assert len(long) < 50


def test_a_job_that_was_broken_off_left_no_answer() -> None:
    with pytest.raises(SystemExit), job_log(LOG, [str(STREAM)], [str(SCORES)], PARAMS):
        raise DataError(f"at the start: {anew()}")
    assert error_in(LOG) == "error: at the start: None"
    assert anew() is None


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"asked": 1, "read": {}}', '{"asked": {"seed": "1"}}']
)
def test_a_damaged_answer_is_none(text: str) -> None:
    note_of(LOG).write_text(text)
    assert anew() is None


def test_an_answer_holds_for_the_files_that_the_job_read_and_wrote() -> None:
    note = json.loads(note_of(LOG).read_text())
    assert (note["read"].keys(), note["wrote"].keys()) == (
        {"streams/A.parquet"},
        {"games/A.parquet"},
    )
    with job_log(FOLDER / "logs/build_stream/A.log", outputs=[str(STREAM)]):
        write(STREAM, "2")
    assert anew() == ["streams/A.parquet"]
    with job_log(FOLDER / "logs/another.log", outputs=[str(SCORES)]):
        write(SCORES, "2")
    assert anew() == ["streams/A.parquet", "games/A.parquet"], "the last job counts"
    note_of(FOLDER / "logs/build_stream/A.log").unlink()
    assert "streams/A.parquet" in (anew() or [])


def test_a_page_needs_every_job_as_asked_and_every_file_as_written() -> None:
    def wrong(**params: Any) -> str:
        asks = {str(LOG): digest(asked({**PARAMS, **params}))}
        try:
            made = check_notes(FOLDER, read_notes(FOLDER), checksums(FOLDER, [SCORES]), asks)
        except DataError as error:
            return str(error)
        assert made == [read_notes(FOLDER)[note_of(LOG)]]
        return ""

    assert wrong() == ""
    assert "not as this run asks: logs/games_point/A/mu-0.25.json; the config" in wrong(seed=2)
    write(SCORES, "2")
    assert "not as this run asks: games/A.parquet; the config" in wrong()
    write(STREAM, "2")
    with job_log(LOG, [str(STREAM), ".snakemake/asked"], [str(SCORES)], PARAMS):
        write(SCORES, "1")
    assert "not as this run asks: streams/A.parquet; the config" in wrong()
    note_of(LOG).unlink()
    assert "not as this run asks" in wrong()


@pytest.mark.parametrize("texts", ["2", "21"])
@pytest.mark.parametrize("file", [STREAM, Path("t.csv")])
def test_a_job_fails_where_what_it_reads_changed_while_it_ran(file: Path, texts: str) -> None:
    params = PARAMS | {"contents": {"t.csv": sha256(write(Path("t.csv"), "1"))}}
    with pytest.raises(SystemExit), job_log(LOG, [str(STREAM)], [str(SCORES)], params):
        [write(*it) for it in ((SCORES, "1"), *((file, text) for text in texts))]
    assert error_in(LOG).startswith(f"error: changed while this job ran: {file}; run the same")
    assert anew() is None


def test_a_job_fails_where_code_or_table_are_not_those_of_the_plan() -> None:
    code = code_of_job("clean_stream")
    params = {"code": code, "contents": {"t.csv": sha256(write(Path("t.csv"), "1"))}}
    with job_log(LOG, [str(STREAM)], [str(SCORES)], params):
        write(SCORES, "1")
    for other in (
        {"contents": {"t.csv": "of another table"}},
        {"code": {**code, "noise": "0123"}},
        {"code": {**code, "script": "0123"}},
    ):
        with pytest.raises(SystemExit), job_log(LOG, outputs=[str(SCORES)], params=params | other):
            pytest.fail("it begins")
        assert "changed after it was planned: " in error_in(LOG)
    assert "script: " in error_in(LOG)


def test_a_job_removes_what_a_killed_one_left_of_its_outputs() -> None:
    left, others = (
        SCORES.with_name(".A.parquet~1.parquet"),
        SCORES.with_name(".B.parquet~1.parquet"),
    )
    for file in (left, others):
        write(file, "raw")
    with job_log(LOG, [str(STREAM)], [str(SCORES)], PARAMS):
        write(SCORES, "1")
        assert (left.exists(), others.exists()) == (False, True)


def test_odd_files_in_the_place_of_results_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def changed() -> list[str]:
        return changed_files(FOLDER, noted_sums(read_notes(FOLDER)))

    assert changed() == []
    assert checksums(FOLDER, [SCORES.with_name("gone")]) == {}
    before = SCORES.stat()
    SCORES.write_text("2")
    os.utime(SCORES, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert changed() == ["games/A.parquet"], "an old time hides nothing"
    SCORES.unlink()
    assert changed() == [], "it is made again"
    SCORES.mkdir()
    with pytest.raises(DataError, match=f"{SCORES} cannot be read .*not a regular file.*; delete"):
        changed()
    SCORES.rmdir()
    os.mkfifo(SCORES)
    with pytest.raises(DataError, match=f"{SCORES} cannot be read .*not a regular file.*; delete"):
        changed()
    SCORES.unlink()
    SCORES.symlink_to("nothing")
    with pytest.raises(DataError, match=f"{SCORES} cannot be read .*not a regular file.*; delete"):
        changed()
    SCORES.unlink()
    STREAM.unlink()
    STREAM.parent.rmdir()
    STREAM.parent.write_text("")
    assert changed() == [], "Snakemake tells that a file is in the way"
    write(SCORES, "1")

    def denied(file: Path) -> str:
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr("dpol.reruns.notes.sha256", denied)
    with pytest.raises(DataError, match="A.parquet cannot be read .*Permission denied"):
        changed()


@pytest.mark.parametrize(
    ("log", "folder"),
    [
        ("results/logs/logs/clean_panel.log", "results/logs"),
        ("results/x/logs/games_point/logs/logs/a.log", "results/x"),
    ],
)
def test_notes_are_in_the_folder_of_the_run_whatever_is_called_logs(log: str, folder: str) -> None:
    file = Path(folder, "a.parquet")
    with job_log(log, outputs=[str(file)]):
        write(file, "1")
    assert noted_sums(read_notes(Path(folder))).keys() == {"a.parquet"}
