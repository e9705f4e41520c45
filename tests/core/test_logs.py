"""A user's mistake ends a job with its message alone; a defect keeps its traceback."""

from __future__ import annotations

import os
import re

import pytest

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.logs import LOGGER, errors_since, job_log, progress


@pytest.fixture
def log(tmp_path):
    """The path of a log; the logger is left as it was found, whatever the job did."""
    before = list(LOGGER.handlers)
    yield tmp_path / "logs" / "job.log"
    assert LOGGER.handlers == before


def fail(log, error):
    with job_log(log) as logger:
        logger.info("began")
        raise error


@pytest.mark.parametrize("echo", [False, True])
def test_messages_go_to_the_file_with_the_time_of_day_and_are_shown_only_if_asked_for(
    log, capsys, echo
):
    for number in (7, 3):  # a log is overwritten
        with job_log(log, echo=echo) as logger:
            logger.debug("detail")
            logger.info("cleaned %d rows of Peña", number)
    lines = r"\d\d:\d\d:\d\d cleaned 3 rows of Peña\n\d\d:\d\d:\d\d made with Python \S+, dpol .+\n"
    assert re.fullmatch(lines, log.read_text(encoding="utf-8"))
    shown = capsys.readouterr()
    assert ("3 rows" in shown.err) is echo
    assert shown.out == ""


@pytest.mark.parametrize("error", [DpolError, OutputError])
def test_a_mistake_of_the_user_ends_with_the_message_and_no_traceback(log, capsys, error):
    with pytest.raises(SystemExit) as caught:
        fail(log, error("table.csv, row 7: fix it"))
    assert caught.value.code == 1
    assert capsys.readouterr().err == "\nerror: table.csv, row 7: fix it\n\n"
    assert log.read_text().endswith(" error: table.csv, row 7: fix it\n")
    assert "Traceback" not in log.read_text()


def test_a_defect_is_raised_and_its_traceback_is_in_the_log(log, capsys):
    with pytest.raises(ZeroDivisionError), job_log(log):
        _ = 1 / 0
    text = log.read_text()
    assert "Traceback (most recent call last)" in text
    assert "_ = 1 / 0" in text
    assert text.endswith("ZeroDivisionError: division by zero\n\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "total", "lines"),
    [
        ([4.0] * 8, None, ["3 of 8", "6 of 8", "8 done in 32.0 s"]),
        ([10.0] * 2, 2, ["1 of 2", "2 done in 20.0 s"]),
        ([0.001] * 1000, None, ["1000 done in 1.0 s"]),
        ([], None, ["0 done in 0.0 s"]),
    ],
    ids=["every ten seconds", "a generator", "fast", "nothing"],
)
def test_the_log_tells_progress_and_the_end(log, monkeypatch, seconds, total, lines):
    now, items, worked = 50.0, range(len(seconds)), []
    monkeypatch.setattr("dpol.core.logs.time.monotonic", lambda: now)
    with job_log(log):
        for item in progress(iter(items) if total else items, "rounds", total):
            worked.append(item)
            now += seconds[item]
    monkeypatch.undo()
    assert worked == list(items)
    *told, _ = [line.split(" ", 1)[1] for line in log.read_text().splitlines()]
    assert told == [f"rounds: {line}" for line in lines]


def test_progress_of_work_that_is_broken_off_claims_no_end(log):
    with pytest.raises(SystemExit), job_log(log):
        raise DataError(next(progress(["bad", "good"], "rounds")))
    assert "done" not in log.read_text()


def test_errors_of_failed_jobs_are_found_in_their_logs(tmp_path):
    for name, message in (("old.log", "once wrong"), ("new.log", "wrong:\n  first\n  second")):
        with pytest.raises(SystemExit):
            fail(tmp_path / "deep" / name, DataError(message))
    with job_log(tmp_path / "good.log") as logger:
        logger.info("a word about an error: none")
    os.utime(tmp_path / "deep/old.log", (1, 1))
    assert errors_since(tmp_path, start=2) == ["error: wrong:\n  first\n  second"]
    assert len(errors_since(tmp_path, start=0)) == 2
