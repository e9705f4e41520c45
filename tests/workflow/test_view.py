"""The view of a run: stages, the time left, what was made, and every error once, at the end."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from pipeline import SMALL, Done, fail, run, succeed, write_config
from snakemake_logger_plugin_dpol import LogHandler
from snakemake_logger_plugin_dpol.progress import Progress, in_words

TOTALS = {"clean_panel": 1, "games_point": 8, "replay_shown": 1, "results": 1, "total": 11}
Say = Callable[..., None]


@pytest.fixture
def view() -> Any:
    """A new view; it is closed by the test, or after it."""
    views: list[LogHandler] = []

    def new(dryrun: bool = False, quiet: Any = None) -> tuple[LogHandler, Say]:
        views.append(LogHandler(SimpleNamespace(dryrun=dryrun, quiet=quiet), None))
        return views[-1], lambda event=None, text="", at=0.0, level=logging.INFO, **facts: views[
            -1
        ].handle(
            logging.makeLogRecord(
                {"event": event, "msg": text, "created": at, "levelno": level, **facts}
            )
        )

    yield new
    for view in views:
        view.close()


def plan(say: Say, done: str = "Done: page\nTables: tables", **seconds: float) -> None:
    """What the rules of a run tell."""
    say(seconds_of_rules=seconds, done_of_run=lambda: done)


def play(say: Say, done: int = 10, **seconds: float) -> None:
    """Jobs of a run, a second each, and then what it made."""
    rules = [rule for rule in TOTALS for _ in range(TOTALS[rule]) if rule not in ("total",)]
    plan(say, **seconds)
    say(LogEvent.RESOURCES_INFO, cores=2)
    say(LogEvent.RESOURCES_INFO, text="Rules claiming more threads will be scaled down.")
    say(LogEvent.RUN_INFO, stats=TOTALS)
    for job, rule in enumerate(rules[:done]):
        say(LogEvent.JOB_INFO, jobid=job, rule_name=rule, rule_msg=None, output=["it"], at=job)
        say(LogEvent.JOB_FINISHED, job_id=job, at=job + 1)
    if done == len(rules) - 1:
        say(LogEvent.JOB_INFO, jobid=99, rule_name="results", rule_msg="Done: page", output=[])


def test_without_a_terminal_stages_are_plain_lines_and_the_last_words_what_was_made(
    view: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, say = view()
    say(text="Building DAG of jobs...")
    play(say)
    shown.close()
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "\nDone: page\n"
    assert lines[-1] == "Figures     1/1    100% of all jobs after 10 s"
    assert "Games       8/8    90% of all jobs after 10 s, about 5 s left" in lines
    assert lines[0] == "10 jobs. Ctrl-C is safe: the same command continues from there."
    assert len(lines) == 11
    assert "\x1b" not in err


def test_the_length_of_a_run_is_told_at_once_where_its_jobs_are_known(
    view: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    say = view()[1]
    plan(say, games_point=10.0)  # another run of the same workflow
    play(say, 1, games_point=20.0, other_point=9.0)
    said = capsys.readouterr().err.splitlines()
    outlook = "10 jobs, about 80 s on 2 cores. "
    outlook += "Ctrl-C is safe: the same command continues from there."
    assert said[0] == outlook


@pytest.mark.parametrize(
    ("plans", "said"),
    [
        (
            ["Done: a/index.html\nTables: a", "Done: b/index.html"],
            [
                "Nothing to do: a/index.html is up to date.",
                "Tables: a",
                "Nothing to do: b/index.html is up to date.",
            ],
        ),
        ([""], ["Nothing to do: all files that you ask for are up to date."]),
        ([], ["Nothing to do: all files that you ask for are up to date."]),
    ],
)
def test_where_nothing_is_to_be_done_the_report_is_named(
    view: Any, capsys: pytest.CaptureFixture[str], plans: list[str], said: list[str]
) -> None:
    shown, say = view()
    for wanted in plans:
        plan(say, wanted)
    say(text="Nothing to be done (all requested files are present and up to date).")
    shown.close()
    assert capsys.readouterr() == ("\n".join(said) + "\n", "")


def test_lines_do_not_grow_with_the_jobs(
    view: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOTALS, "games_point", 1000)
    play(view()[1], 1002)
    assert len(capsys.readouterr().err.splitlines()) <= 13


class Terminal(io.StringIO):
    """A screen of 80 columns."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def screen(self) -> list[str]:
        """The lines that are left when all was drawn again."""
        lines: list[str] = []
        for part in re.split(r"(\x1b\[\d+F\x1b\[J)", self.getvalue()):
            if up := re.match(r"\x1b\[(\d+)F", part):
                del lines[-int(up[1]) :]
            else:
                lines += part.splitlines()
        return lines


def test_on_a_terminal_the_same_lines_are_drawn_again(
    view: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    shown, say = view()
    play(say, 3)
    for _ in range(3):
        shown._draw(3.0)
    say(text="the disk is slow", level=logging.WARNING)
    say(LogEvent.JOB_INFO, jobid=50, rule_name="games_point", rule_msg="NM", output=["it"])
    shown.close()
    screen = terminal.screen()
    assert screen[0].startswith("10 jobs. ")
    assert screen[1] == "the disk is slow"
    assert screen[2] == f"Data    {'█' * 24}    1/1"
    assert screen[3] == f"Games   {'█' * 6}{'░' * 18}    2/8"
    assert screen[4] == f"Figures {'░' * 24}    0/1"
    assert (len(screen), screen[-1]) == (7, "now: NM")


def fail_job(say: Say, log: str, job: int = 0) -> None:
    say(LogEvent.ERROR, "RuleException:\nexit status 1", level=logging.ERROR)
    facts = {"jobid": job, "rule_name": "clean_panel", "log": [log], "output": ["it"]}
    say(LogEvent.JOB_ERROR, "Error in rule", level=logging.ERROR, **facts)


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("10:00:00 error: row 5:\n  fix it\n", "error: row 5:\n  fix it"),
        (
            "10:00:00 began\n",
            "RuleException:\nexit status 1\nerror: clean_panel did not finish; see job.log",
        ),
    ],
)
def test_the_error_of_a_job_is_said_once_and_last(
    view: Any,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("job.log").write_text(log)
    shown, say = view(quiet={"all"})
    play(say, 0)
    fail_job(say, "job.log")
    fail_job(say, "job.log", 1)
    say(text="Exiting because a job execution failed. Look above", level=logging.ERROR)
    say(LogEvent.ERROR, "WorkflowError:\nAt least one job did not", level=logging.ERROR)
    shown.close()
    assert capsys.readouterr() == ("", f"{said}\n")


def test_a_job_that_is_done_at_another_try_is_no_error(
    view: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, say = view()
    say(LogEvent.RUN_INFO, stats=TOTALS)
    facts = {"jobid": 0, "rule_name": "clean_panel", "log": [], "output": ["it"], "rule_msg": ""}
    say(LogEvent.JOB_INFO, **facts)
    say(LogEvent.JOB_ERROR, level=logging.ERROR, **facts)
    say(LogEvent.JOB_INFO, **facts)
    say(LogEvent.JOB_FINISHED, job_id=0, at=1)
    shown.close()
    assert "error" not in capsys.readouterr().err


def test_an_interrupted_run_reports_no_jobs_that_were_ended(
    view: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, say = view()
    play(say, 2)
    say(text="Terminating processes on user request, this might take some time.")
    fail_job(say, "no.log")
    shown.close()
    said = capsys.readouterr().err
    assert "RuleException" not in said


def test_the_time_left_follows_from_the_jobs_that_are_done() -> None:
    progress = Progress(totals={"games_point": 40, "x_shown": 10, "results": 1}, began=0.0)
    assert progress.seconds_left(1.0) is None
    for job in range(10):  # two at a time, four seconds each
        progress.begin(job, "games_point", 4.0 * (job // 2))
        progress.finish(job, 4.0 * (job // 2 + 1))
    assert progress.share() == 0.2
    assert progress.seconds_left(20.0) == pytest.approx((30 + 10) * 4 / 2)
    progress.begin(10, "x_shown", 20.0)
    progress.finish(10, 40.0)  # dearer than was thought, and alone
    assert progress.seconds_left(40.0) == pytest.approx((30 * 4 + 9 * 20) / (60 / 40))


def test_before_enough_is_done_the_time_left_follows_from_what_is_known_of_the_jobs() -> None:
    rules = {"games_point": 40, "x_shown": 10, "results": 1}
    unknown = Progress(totals=rules, began=0.0, expected={"y_shown": 1.0}, cores=2)
    assert (unknown.seconds_in_all(), unknown.seconds_left(1.0)) == (None, None)
    known = {"games_point": 4.0, "y_shown": 99.0}
    assert Progress(totals=rules, began=0.0, expected=known).seconds_in_all() is None  # no cores
    progress = Progress(totals=rules, began=0.0, expected=known, cores=2)
    assert progress.seconds_in_all() == pytest.approx((40 * 4 + 10 * 1.5) / 2)
    progress.begin(0, "games_point", 1.0)
    assert progress.seconds_left(3.0) == pytest.approx((40 * 4 + 10 * 1.5 - 2) / 2)
    alone = Progress(totals={"games_point": 2}, began=0.0, expected={"games_point": 9.0}, cores=8)
    assert alone.seconds_in_all() == 9.0


@pytest.mark.parametrize(("seconds", "words"), [(0, "5 s"), (89, "90 s"), (91, "2 min")])
def test_a_time_is_told_as_exactly_as_it_is_known(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def dpol(folder: Path, *words: str) -> Done:
    return run(sys.executable, "-m", "dpol", *words, folder=folder, **{"COLUMNS": "80"})


@pytest.mark.workflow
def test_real_runs_are_short_and_end_with_what_was_made_or_the_error(tmp_path: Path) -> None:
    write_config(tmp_path, SMALL, run="tiny")
    made = dpol(tmp_path, "run", "config.yaml", "data", "--cores", "1")
    assert (succeed(made), made.stdout) == (
        made.stdout + made.stderr,
        "\nDone: results/tiny/data/cleaning.md\n",
    )
    assert re.match(r"2 jobs.*\. Ctrl-C is safe: ", made.stderr)
    assert made.stderr.splitlines()[-1].startswith("Data        2/2    100% of all jobs")
    assert len(made.stderr.splitlines()) <= 4
    again = dpol(tmp_path, "run", "config.yaml", "data", "--cores", "1")
    assert succeed(again) == "Nothing to do: all files that you ask for are up to date.\n"
    assert "This was a dry-run" in succeed(
        dpol(tmp_path, "run", "config.yaml", "streams", "--dry-run")
    )
    assert "Provided cores" in succeed(
        dpol(tmp_path, "run", "config.yaml", "data", "-Fc1", "--verbose")
    )
    panel = tmp_path / "results/tiny/data/panel.parquet"
    panel.write_bytes(b"damaged")
    os.utime(panel, (2e9, 2e9))
    said = fail(dpol(tmp_path, "run", "config.yaml", "streams", "--cores", "1"))
    assert said.count("error: ") == 1
    assert "panel.parquet" in said.splitlines()[-1]
