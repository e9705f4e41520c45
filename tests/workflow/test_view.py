"""The view of a run: its length and stages, and what was made or the errors."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline import SMALL, Done, fail, run, snakemake, succeed, write_config
from snakemake_logger_plugin_dpol import LogHandler
from snakemake_logger_plugin_dpol.progress import in_words


@pytest.fixture
def view() -> LogHandler:
    """A new view."""
    return LogHandler(SimpleNamespace(dryrun=False, verbose=False, quiet=None), None)


def say(view: LogHandler, event: LogEvent, text: str = "", **facts: Any) -> None:
    error = event in (LogEvent.ERROR, LogEvent.JOB_ERROR)
    level = logging.ERROR if error else logging.INFO
    record = {"event": event, "msg": text, "levelno": level, "created": 0.0, **facts}
    view.handle(logging.makeLogRecord(record))


def begin(view: LogHandler, job: int) -> None:
    say(view, LogEvent.JOB_INFO, jobid=job, rule_name="games_point", rule_msg="", output=["it"])


def fail_job(view: LogHandler, job: int, log: str, exception: str = "killed") -> None:
    say(view, LogEvent.ERROR, exception, exception="RuleException")
    say(view, LogEvent.JOB_ERROR, jobid=job, rule_name="games_point", log=[log])


AGAIN = "the same command runs it again; add --cores 1 if memory ran out"
LONG = "10:00:00 1\n10:00:00 2\n10:00:00 3\n10:00:00 4\n10:00:00 5\n"
NO_MEMORY = (
    "error: games_point had not enough memory; run the same command with fewer jobs at once,"
    " as with --cores 1, on a machine with more memory, or with a higher limit (ulimit -v)"
)
TRACEBACK = "10:00:00 Traceback (most recent call last):\n"
ERRORS = [
    ("killed", "10:00:00 error: row 5:\n  fix it\n", "job.log:\nerror: row 5:\n  fix it"),
    (
        "killed",
        f"10:00:00 0\n{LONG}",
        f"killed\njob.log:\n{LONG}error: games_point did not finish; {AGAIN}",
    ),
    ("killed", "", f"killed\nerror: games_point did not finish, and left no job.log; {AGAIN}"),
    ("ImportError: _libs.so: failed to map segment from shared object", "", NO_MEMORY),
    ("killed", f"{TRACEBACK}MemoryError\n", NO_MEMORY),
    ("killed", f"{TRACEBACK}OSError: [Errno 12] Cannot allocate memory\n", NO_MEMORY),
    ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB", "", NO_MEMORY),
]
"""What Snakemake and the log say of a job, and what is said of it."""


@pytest.mark.parametrize(("exception", "log", "said"), ERRORS)
def test_the_error_of_a_job_is_said_once_and_last(
    view: LogHandler,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    exception: str,
    log: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if log:
        Path("job.log").write_text(log)
    say(view, LogEvent.RUN_INFO, stats={"games_point": 2, "total": 2})
    for job in range(2):
        begin(view, job)
        fail_job(view, job, "job.log", exception)
    say(view, LogEvent.ERROR, "At least one job did not complete", exception="WorkflowError")
    view.close()
    view.close()  # as Snakemake does
    assert capsys.readouterr().err.endswith(f"from there.\n{said}\n")


def test_a_folder_that_a_killed_run_left_locked_has_a_way_on(
    view: LogHandler, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DPOL_COMMAND", raising=False)
    say(view, LogEvent.ERROR, "The folder is locked", exception="LockException")
    view.close()
    _, said = capsys.readouterr().err.splitlines()
    assert said.endswith("If none is at work, type once: the same command with --unlock")


def test_a_job_that_is_done_at_another_try_is_no_error(
    view: LogHandler, capsys: pytest.CaptureFixture[str]
) -> None:
    say(view, LogEvent.RUN_INFO, stats={"games_point": 1, "total": 1})
    begin(view, 0)
    fail_job(view, 0, "no.log")
    begin(view, 0)
    say(view, LogEvent.JOB_FINISHED, job_id=0)
    view.close()
    assert "error" not in capsys.readouterr().err


def test_the_length_of_a_run_is_told_also_where_a_module_renames_the_rules(
    view: LogHandler, capsys: pytest.CaptureFixture[str]
) -> None:
    say(view, LogEvent.RUN_INFO, stats={"mine_games_point": 8, "all": 1, "total": 9})
    assert capsys.readouterr().err.startswith("8 jobs. Ctrl-C is safe")


def test_a_file_has_a_line_after_the_first_job_and_one_a_minute(
    view: LogHandler, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("snakemake_logger_plugin_dpol.LOOK_SECONDS", 0.01)
    clock = [1000.0]
    monkeypatch.setattr("snakemake_logger_plugin_dpol.time.time", lambda: clock[0])
    say(view, LogEvent.RUN_INFO, stats={"games_point": 40, "total": 40}, created=1000.0)
    for job in range(4):
        begin(view, job)
    for job, now in enumerate((1001.0, 1002.0, 1003.0)):
        say(view, LogEvent.JOB_FINISHED, job_id=job, created=now)

    def lines() -> list[str]:
        return capsys.readouterr().err.splitlines()

    time.sleep(0.1)
    assert [line.split(" of ")[0] for line in lines()[1:]] == ["Games       1/40   2%"]
    for minute in (1, 2):  # no job ends
        clock[0] = 1001.0 + 60 * minute
        time.sleep(0.2)
        assert [line.split(" of ")[0] for line in lines()] == ["Games       3/40   8%"]
    view.close()
    clock[0] = 2000.0
    time.sleep(0.1)
    assert lines() == []


@pytest.mark.parametrize(("seconds", "words"), [(0, "5 s"), (89, "90 s"), (91, "2 min")])
def test_a_time_is_told_as_exactly_as_it_is_known(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


MADE = ["simulate_dataset", "read_rows"]
LOUD = "with --verbose it names each job and Snakemake's reason for it.\n"


def dpol(folder: Path, *words: str) -> Done:
    return run(sys.executable, "-m", "dpol", "run", "config.yaml", *words, folder=folder)


@pytest.mark.workflow
def test_real_runs_are_short_and_end_with_what_was_made_or_the_error(tmp_path: Path) -> None:
    write_config(tmp_path, SMALL, run="tiny")
    plan = dpol(tmp_path, "streams", "--dry-run").stdout
    assert re.findall(r"^(\w+) +\d$", plan, re.M) == [*MADE, "clean_stream", "streams", "total"]
    assert plan.endswith(f"This was a dry-run; {LOUD}")
    made = snakemake(tmp_path, "data", "--cores", "1")
    succeed(made)
    assert made.stdout == f"In {tmp_path}:\nDone: results/tiny/data/cleaning.md\n"
    profile, length, *stages = made.stderr.splitlines()
    assert profile.startswith("Using workflow specific profile ")
    assert length == "6 jobs. Ctrl-C is safe: the same command continues from there."
    told = [line for line in stages if line.startswith(("Data ", "Results "))]
    assert re.fullmatch(r"\w+ +\d/\d +100% of all jobs after \d+ s.*", told[-1])
    warnings = [line for line in stages[len(told) :] if line.startswith("warning: ")]
    assert "warning: stream both: missing counts set to 0: 9 of 280 cells" in warnings
    assert stages[len(told) + len(warnings) :] == [
        "Cleaning changed 169 of 380 cells.",
        "Read results/tiny/data/cleaning.md on them.",
        "not finished: the answer follows when all jobs ran",
        "",
        stages[-1],
    ]
    assert re.fullmatch(r"Time: \d+ s", stages[-1])
    assert "Nothing to be done" in succeed(dpol(tmp_path, "data", "--cores", "1"))
    table = "results/tiny/data/simulated.csv.gz"
    assert "Provided cores" in succeed(dpol(tmp_path, table, "-Fc1", "--verbose"))
    panel = tmp_path / "results/tiny/data/rows.parquet"
    panel.write_bytes(b"damaged")
    os.utime(panel, (2e9, 2e9))
    for found in (
        dpol(tmp_path, "streams", "--cores", "1", "--quiet", "all"),
        snakemake(tmp_path, "streams"),
    ):
        said = fail(found)
        assert said.count("error: ") == 1
        assert "rows.parquet" in said.splitlines()[-1]
