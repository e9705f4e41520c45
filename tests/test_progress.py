"""How far a run is, and how long it still takes, by hand-worked runs."""

from __future__ import annotations

import enum
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dpol.progress import Progress, ProgressHandler, mean_times

HEADER = "s\th:m:s\tmax_rss\n"


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def played(
    clock: Clock, totals: Mapping[str, int], *jobs: tuple[int, str, float, float], **earlier: float
) -> list[str | None]:
    """What is told at the end of each job (number, stage, start, end)."""
    progress = Progress(totals, earlier, clock)
    moments = [(start, 1, number, stage) for number, stage, start, _ in jobs]
    moments += [(end, 0, number, stage) for number, stage, _, end in jobs]
    told = []
    for moment, starts, number, stage in sorted(moments):
        clock.now = 100 + moment
        if starts:
            progress.start(number, stage)
        else:
            told.append(progress.finish(number))
    return told


def test_the_end_of_a_stage_is_told_with_the_time_left(clock: Clock) -> None:
    totals = {"build": 1, "run": 2, "draw": 3}
    found = played(
        clock, totals, (1, "build", 0, 4), (2, "run", 4, 14), (3, "run", 14, 26), draw=5, run=99
    )
    assert found == [
        "build: done in 4.0 s; 5 left, about 4 min",  # 2 x 99 + 3 x 5 s, one at a time
        None,
        "run: 2 of 2 jobs done in 22 s; 3 left, about 15 s",
    ]


def test_jobs_side_by_side_share_the_time_left(clock: Clock) -> None:
    jobs = [(1, "run", 0, 10), (2, "run", 0, 10), (3, "draw", 10, 12)]
    found = played(clock, {"run": 2, "draw": 4}, *jobs, draw=6)
    assert found[1] == "run: 2 of 2 jobs done in 10 s; 4 left, about 12 s"  # 4 x 6 s by 2


def test_times_of_this_run_count_before_those_of_earlier_ones(clock: Clock) -> None:
    jobs = [(1, "run", 0, 10), (2, "build", 10, 12)]
    assert played(clock, {"run": 4, "build": 1}, *jobs, run=1000, build=1)[-1] == (
        "build: done in 2.0 s; 3 left, about 30 s"
    )


def test_what_running_jobs_have_done_is_taken_off(clock: Clock) -> None:
    jobs = [(1, "run", 0, 20), (2, "build", 0, 15)]
    found = played(clock, {"run": 1, "build": 1}, *jobs, run=25)
    assert found[0] == "build: done in 15 s; 1 left, about 10 s"


def test_a_job_that_runs_longer_than_expected_takes_no_time_off_the_others(clock: Clock) -> None:
    jobs = [(1, "run", 0, 80), (2, "build", 0, 50)]
    found = played(clock, {"run": 2, "build": 1}, *jobs, run=10)
    assert found[0] == "build: done in 50 s; 2 left, about 5.0 s"  # 10 s of one job, by 2


def test_jobs_of_a_kind_never_timed_are_taken_for_average_and_told(clock: Clock) -> None:
    jobs = [(1, "build", 0, 4), (2, "run", 4, 12)]
    found = played(clock, {"build": 1, "run": 1, "draw": 2, "draft": 1}, *jobs, draft=3)
    assert found[0] == "build: done in 4.0 s; 4 left, about 15 s (a guess for 3 of them)"
    assert found[1] == "run: done in 8.0 s; 3 left, about 15 s (a guess for 2 of them)"


def test_the_last_job_leaves_nothing(clock: Clock) -> None:
    assert played(clock, {"run": 1}, (1, "run", 0, 4)) == ["run: done in 4.0 s; nothing left"]


def test_a_long_stage_is_told_once_a_minute(clock: Clock) -> None:
    jobs = [(k, "run", 25.0 * k, 25.0 * (k + 1)) for k in range(6)]
    found = played(clock, {"run": 6}, *jobs)
    assert found == [
        None,
        None,
        "run: 3 of 6 jobs done; 3 left, about 75 s",
        None,
        None,
        "run: 6 of 6 jobs done in 2 min; nothing left",
    ]


def test_a_job_that_is_tried_again_counts_once_with_its_last_time(clock: Clock) -> None:
    progress = Progress({"run": 2}, {}, clock)
    progress.start(1, "run")
    clock.now += 500
    progress.fail(1)
    progress.start(1, "run")
    clock.now += 10
    assert progress.finish(1) == "run: 1 of 2 jobs done; 1 left, about 10 s"
    assert progress.finish(1) is None


def test_jobs_of_other_stages_are_not_counted(clock: Clock) -> None:
    progress = Progress({"run": 1}, {}, clock)
    progress.start(7, "all")
    assert progress.finish(7) is None


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_earlier_times_are_the_means_of_benchmark_files(tmp_path: Path) -> None:
    write(tmp_path / "clean.tsv", HEADER + "2.5\t0:00:02\t10\n")
    write(tmp_path / "run/A/local/block-0.tsv", HEADER + "1.0\t0:00:01\t10\n")
    write(tmp_path / "run/B/block-0.tsv", HEADER + "4.0\t0:00:04\t10\n")
    for name, text in (("cut", HEADER + "-\t"), ("bare", HEADER), ("odd", "x\n1\n"), ("none", "")):
        write(tmp_path / "run" / f"{name}.tsv", text)
    assert mean_times(tmp_path, ["clean", "run", "draw"]) == {"clean": 2.5, "run": 2.5}
    assert mean_times(tmp_path / "nowhere", ["clean"]) == {}


class Event(enum.StrEnum):
    """As Snakemake's."""

    RUN_INFO = enum.auto()
    JOB_INFO = enum.auto()
    JOB_ERROR = enum.auto()
    JOB_FINISHED = enum.auto()
    PROGRESS = enum.auto()


@pytest.fixture
def told(tmp_path: Path) -> tuple[ProgressHandler, list[str]]:
    write(tmp_path / "draw.tsv", HEADER + "30.0\t0:00:30\t10\n")
    lines: list[str] = []
    return ProgressHandler(tmp_path, lambda rule: rule != "all", lines.append), lines


def send(handler: logging.Handler, event: str | None, **facts: Any) -> None:
    record = logging.makeLogRecord({"msg": None, **({"event": event} if event else {}), **facts})
    handler.handle(record)


def test_the_handler_tells_after_the_steps_of_the_last_job(
    told: tuple[ProgressHandler, list[str]],
) -> None:
    handler, lines = told
    send(handler, Event.JOB_INFO, jobid=1, rule_name="run")  # before anything is known
    send(handler, Event.RUN_INFO, stats={"run": 1, "draw": 2, "all": 1, "total": 4})
    send(handler, None, msg="Select jobs to execute...")
    send(handler, Event.JOB_INFO, jobid=3, rule_name="run")
    send(handler, Event.JOB_FINISHED, job_id=3)
    assert lines == []
    send(handler, Event.PROGRESS, done=1, total=4)
    (line,) = lines
    assert line.startswith("run: done in 0.")
    assert line.endswith("; 2 left, about 60 s")
    send(handler, Event.PROGRESS, done=1, total=4)
    assert len(lines) == 1


def test_a_failed_job_is_no_longer_running(told: tuple[ProgressHandler, list[str]]) -> None:
    handler, lines = told
    send(handler, Event.RUN_INFO, stats={"run": 1, "total": 1})
    send(handler, Event.JOB_INFO, jobid=3, rule_name="run")
    send(handler, Event.JOB_ERROR, jobid=3)
    send(handler, Event.JOB_FINISHED, job_id=3)
    send(handler, Event.PROGRESS, done=1, total=1)
    assert lines == []


def test_records_of_another_shape_stop_nothing(
    told: tuple[ProgressHandler, list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    handler, lines = told
    send(handler, Event.RUN_INFO)
    send(handler, Event.RUN_INFO, stats={"run": 1, "total": 1})
    send(handler, Event.JOB_INFO, rule_name="run")
    send(handler, Event.JOB_FINISHED, job_id="x")
    assert lines == []
    assert "Logging error" in capsys.readouterr().err
