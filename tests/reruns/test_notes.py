"""What a job was asked and answered, and files that are not as a job wrote them."""

from __future__ import annotations

import math
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from dpol.core.errors import DataError
from dpol.core.files import sha256, write_text
from dpol.core.logs import error_in
from dpol.reruns import code_hashes
from dpol.reruns.code_hashes import code_of_job
from dpol.reruns.job import job_log
from dpol.reruns.notes import align_times, digest, noted_sums, read_note, read_notes, unanswered
from in_process import forget_code
from pipeline import run, succeed, written_as_before

FOLDER = Path("results/small")
STREAM, SCORES = FOLDER / "streams/A.parquet", FOLDER / "games/A.parquet"
LOGS = {"build_stream/A": {"seed": 1}, "games/A/mu-0.25": {"levels": {"none": math.inf}}}
"""What two jobs are asked, by their names."""
PLAN = {name: digest({"job": [str(FOLDER), name], **asks}) for name, asks in LOGS.items()}
MADE, PLAYED = PLAN


def log(name: str) -> Path:
    return FOLDER / f"logs/{name}.log"


def job(name: str, inputs: Any = (), **params: Any) -> AbstractContextManager[None]:
    """Begin one of the jobs of `LOGS`."""
    output = {MADE: STREAM, PLAYED: SCORES}[name]
    asks = {"job": [str(FOLDER), name], **LOGS[name], **params}
    return job_log(log(name), map(str, inputs), [str(output)], params=asks)


def write(file: Path, text: str) -> Path:
    write_text(file, text)
    return file


def play(text: str = "1", during: Any = None, **params: Any) -> None:
    """Play the games of the stream."""
    with job(PLAYED, [STREAM], **params):
        write(SCORES, text)
        if during:
            during()


def make(read: Any = (), text: str = "1", during: Any = None, **params: Any) -> None:
    """Make the stream."""
    with job(MADE, read, **params):
        write(STREAM, text)
        if during:
            during()


@pytest.fixture(autouse=True)
def finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two jobs in the working folder: a stream, and its scores."""
    monkeypatch.chdir(tmp_path)
    make()
    play()


def test_equal_params_are_equal_and_others_are_not() -> None:
    assert digest({"a": (1, 2)}) == digest({"a": [1, 2]}) != digest({"a": [2, 1]})
    assert digest({"a": {"x": 1, "y": 2}}) != digest({"a": {"y": 2, "x": 1}}), "the order counts"
    assert digest({"a": 1, "b": 2}) != digest({"b": 2, "a": 1})
    with pytest.raises(Exception, match="serialize"):
        digest({"a": object()})  # its text would hold an address


def test_other_processes_ask_the_same() -> None:
    kinds = '{"names": {"b", "a", "c"}, "numbers": (math.inf, math.nan, 0.1), "none": None}'
    code = f"import math; from dpol.reruns.notes import digest; print(digest({kinds}))"
    said = {
        succeed(run(sys.executable, "-c", code, PYTHONHASHSEED=seed)) for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_what_does_not_answer_the_plan_is_named() -> None:
    assert unanswered(FOLDER, PLAN) == []
    assert unanswered(FOLDER, {**PLAN, PLAYED: "other", "new": "1"}) == [PLAYED, "new"]
    write(SCORES, "2")
    assert unanswered(FOLDER, PLAN) == ["games/A.parquet"]
    assert unanswered(FOLDER, PLAN, [STREAM]) == []
    SCORES.unlink()
    assert unanswered(FOLDER, PLAN) == [], "it is made again if a job needs it"
    make(text="2")
    assert unanswered(FOLDER, PLAN) == ["streams/A.parquet"], "the games had read another"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "{}", '{"asked": "0f"}'])
def test_a_damaged_note_is_none(text: str) -> None:
    log(PLAYED).with_suffix(".json").write_text(text)
    assert read_note(FOLDER, PLAYED) is None
    assert unanswered(FOLDER, PLAN) == [PLAYED]


def test_a_job_that_was_broken_off_left_no_note() -> None:
    with pytest.raises(SystemExit), job(PLAYED, [STREAM]):
        raise DataError("at the start")
    assert unanswered(FOLDER, PLAN) == [PLAYED]


def test_a_job_begins_only_on_what_the_plan_asks() -> None:
    table = write(Path("t.csv"), "1")
    sources, code = {MADE: PLAN[MADE]}, code_of_job("clean_stream")
    play(sources=sources, code=code, contents=[None])
    for params, said in (
        ({"sources": {MADE: "of another seed"}}, f"not as this run asks: {MADE}; run"),
        ({"code": {**code, "core": "0123"}}, "changed after it was planned: code in core; run"),
        ({"code": {**code, "script": "01"}}, "changed after it was planned: code in script; run"),
        ({"contents": ["of another table"]}, "changed after it was planned: t.csv; run"),
    ):
        with pytest.raises(SystemExit), job(PLAYED, [table, STREAM], **params):
            pytest.fail("it begins")
        assert said in error_in(log(PLAYED))
    write(STREAM, "2")
    with pytest.raises(SystemExit):
        play(sources=sources)
    assert "not as this run asks: streams/A.parquet; run the same" in error_in(log(PLAYED))


@pytest.mark.parametrize("file", [STREAM, SCORES])
def test_a_job_fails_where_a_file_changed_while_it_ran(file: Path) -> None:
    def change_content_alone() -> None:
        with written_as_before(file):
            file.write_text("2")

    with pytest.raises(SystemExit):
        play(during=change_content_alone)
    assert f"changed while this job ran: {file}; run the same" in error_in(log(PLAYED))
    assert unanswered(FOLDER, PLAN)[:1] == [PLAYED]


@pytest.mark.parametrize(
    "look",
    [
        os.utime,
        lambda file: os.utime(file, (1e9, 1e9)),
        lambda file: file.chmod(0o400),
        lambda file: os.link(file, "linked"),
        lambda file: write(file, file.read_text()),
    ],
    ids=["touch", "older", "chmod", "cp -al", "same content"],
)
@pytest.mark.parametrize("file", [STREAM, SCORES, Path("t.csv")], ids=["stream", "scores", "table"])
def test_a_job_goes_on_where_only_times_or_rights_of_a_file_changed(
    file: Path, look: Callable[[Path], object]
) -> None:
    table = write(Path("t.csv"), "1")
    with job(PLAYED, [table, STREAM], contents=[sha256(table)]):
        write(SCORES, "1")
        look(file)
    note = read_note(FOLDER, PLAYED)
    assert note
    assert note.read == {"streams/A.parquet": sha256(STREAM)}
    assert note.wrote == {"games/A.parquet": sha256(SCORES)}


def test_a_job_goes_on_where_only_the_time_of_its_code_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "workflow/scripts/clean_stream.py"
    write(script, "import dpol.core.words\n")
    with monkeypatch.context() as patched:
        patched.setattr(code_hashes, "pipeline", lambda: tmp_path)
        forget_code()
        code = code_of_job("clean_stream")
        play(code=code, during=lambda: os.utime(script))
        with pytest.raises(SystemExit):
            play(code=code, during=lambda: write(script, "import dpol.core.errors\n"))
    forget_code()
    assert f"changed while this job ran: {script}; run the same" in error_in(log(PLAYED))


def test_a_table_that_changes_while_a_job_reads_it_fails_the_job() -> None:
    table = write(Path("t.csv"), "1")
    with pytest.raises(SystemExit):
        make(["t.csv"], during=lambda: write(table, "2"), contents=[sha256(table)])
    assert error_in(log(MADE)).startswith("error: changed while this job ran: t.csv; run the same")


def test_a_job_removes_what_a_killed_one_left_of_its_outputs() -> None:
    left, others = (SCORES.with_name(f".{it}.parquet~1.parquet") for it in "AB")
    there = list[tuple[bool, bool]]()
    for file in (left, others):
        write(file, "raw")
    play(during=lambda: there.append((left.exists(), others.exists())))
    assert there == [(False, True)]


def test_times_that_a_copy_turned_round_are_aligned_unless_a_file_changed() -> None:
    def turn_round() -> None:
        os.utime(STREAM, (2e9, 2e9))

    before = SCORES.stat().st_mtime
    align_times(FOLDER)
    assert SCORES.stat().st_mtime == before, "they are in order"
    turn_round()
    align_times(FOLDER)
    assert STREAM.stat().st_mtime == SCORES.stat().st_mtime
    write(STREAM, "2")
    turn_round()
    align_times(FOLDER)
    assert STREAM.stat().st_mtime > SCORES.stat().st_mtime
    make()
    turn_round()
    SCORES.unlink()
    align_times(FOLDER)
    align_times(Path("results/none"))


def test_odd_files_in_the_place_of_results_are_named() -> None:
    SCORES.unlink()
    SCORES.mkdir()
    with pytest.raises(DataError, match=f"{SCORES} cannot be read .*; delete"):
        unanswered(FOLDER, PLAN)
    SCORES.rmdir()
    shutil.rmtree(STREAM.parent)
    STREAM.parent.write_text("")
    assert unanswered(FOLDER, PLAN) == [], "Snakemake tells that a file is in the way"


NAMES = {"logs": "clean_panel", "x": "games_point/logs/logs/a.b"}
"""Names of jobs of two runs."""
PLACES = (
    "results/logs/logs/own.log",
    "mine.log",
    "logs/job.txt",
    "results/other/logs/clean_panel.log",
)
"""Paths of logs, which an importer may choose."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("run", NAMES)
def test_notes_are_in_the_folder_of_the_run_wherever_the_log_is(run: str, place: str) -> None:
    folder = Path("results", run)
    file, asks = folder / "a.parquet", {"job": [str(folder), NAMES[run]]}
    with job_log(place, outputs=[str(file)], params=asks):
        write(file, "1")
    assert Path(place).is_file()
    assert noted_sums(read_notes(folder)).keys() == {"a.parquet"}
    assert [*read_notes(folder)] == [NAMES[run]]
    assert unanswered(folder, {NAMES[run]: digest(asks)}) == []
