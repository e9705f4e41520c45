"""A user's mistake leaves only its message in a job's log; a bug leaves its traceback."""

import os
import re
import signal
from pathlib import Path

import pytest

from dpol.core.errors import DataError, DpolError, OutputError
from dpol.core.logs import LOGGER, error_in, log_of_job, progress


@pytest.fixture
def log(tmp_path):
    """Return the path of a log, and check that the job leaves the logger unchanged."""
    before = list(LOGGER.handlers)
    yield tmp_path / "logs/job.log"
    assert LOGGER.handlers == before


def fail(log, error):
    with log_of_job(log):
        LOGGER.info("began")
        raise error


def test_messages_go_to_the_file_with_the_time_of_day_and_nowhere_else(log, capsys):
    for number in (7, 3):  # a log is overwritten
        with log_of_job(log):
            LOGGER.debug("detail")
            LOGGER.info("cleaned %d rows of Peña", number)
    assert re.fullmatch(r"\d\d:\d\d:\d\d cleaned 3 rows of Peña\n", log.read_text(encoding="utf-8"))
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (DpolError("row 7:\n  fix it"), "error: row 7:\n  fix it"),
        (OutputError("full"), "error: full"),
        (ZeroDivisionError("a defect"), "Traceback .*\nZeroDivisionError: a defect"),
        (
            ModuleNotFoundError("No module named 'pandas'", name="pandas"),
            'error: pandas is missing; run pip install "\\.\\[pipeline\\]" in a clone, or "dpol.*',
        ),
        (ModuleNotFoundError("No module named 'x'", name="x"), "Traceback .*No module named 'x'"),
        (KeyboardInterrupt(), "error: stopped by Ctrl-C; the same command continues the run"),
    ],
)
def test_what_ended_a_job_is_in_its_log_and_nowhere_else(log, capsys, error, said):
    with pytest.raises(SystemExit) as caught:
        fail(log, error)
    assert caught.value.code == (130 if isinstance(error, KeyboardInterrupt) else 1)
    assert capsys.readouterr() == ("", "")
    assert re.fullmatch(said, error_in(log), re.DOTALL)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_log_on_a_full_disk_is_told_once_on_the_terminal(tmp_path, capsys):
    log = tmp_path / "logs/job.log"
    log.parent.mkdir(parents=True)
    log.symlink_to("/dev/full")
    with pytest.raises(SystemExit) as caught:
        fail(log, DataError("row 7"))
    said = f"error: cannot write {log}: the disk is full; free some space and run again"
    assert (caught.value.code, capsys.readouterr()) == (said, ("", ""))
    log.unlink()
    log.mkdir()
    with pytest.raises(SystemExit, match="a folder has that name"), log_of_job(log):
        pytest.fail("it begins")


def test_a_log_without_an_error_or_that_is_not_there_tells_none(log):
    assert error_in(log) == ""
    with log_of_job(log):
        LOGGER.info("a word about an error: none")
    assert error_in(log) == ""


def test_a_terminated_job_ends_with_the_code_of_its_signal(log):
    with pytest.raises(SystemExit) as caught, log_of_job(log):
        os.kill(os.getpid(), signal.SIGTERM)
    assert caught.value.code == 128 + signal.SIGTERM


def test_progress_of_work_that_is_broken_off_claims_no_end(log):
    with pytest.raises(SystemExit), log_of_job(log):
        raise DataError(next(progress(["bad", "good"], "rounds")))
    assert "done" not in log.read_text()


def test_progress_tells_each_step_that_is_due_and_the_end(log):
    with log_of_job(log):
        list(progress("abc", "plays", every=0))
        list(progress("abc", "rests", every=60))
    told = [line.split(" ", 1)[1] for line in log.read_text().splitlines()]
    assert [line.partition(" in ")[0] for line in told] == [
        "plays: 1 of 3",
        "plays: 2 of 3",
        "plays: 3 done",
        "rests: 3 done",
    ]
