"""How far a run is: jobs done of each stage, and the time left, told at the end of each stage.

Snakemake tells what happens by log records with an `event`; the handler here counts them.
"""

from __future__ import annotations

import csv
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from dpol.core.logs import in_words

EVERY = 60.0
"""Seconds after which a stage that is not over is told too."""


def mean_times(folder: Path, stages: Iterable[str]) -> dict[str, float]:
    """Mean seconds of a job of each stage, from the benchmark files of earlier runs.

    They are `<folder>/<stage>.tsv` or lie below `<folder>/<stage>/`; stages without are left out.
    """
    means = {}
    for stage in stages:
        files = [folder / f"{stage}.tsv", *(folder / stage).rglob("*.tsv")]
        times = [seconds for file in files if (seconds := _seconds(file)) is not None]
        if times:
            means[stage] = sum(times) / len(times)
    return means


def _seconds(file: Path) -> float | None:
    """The time in a benchmark file; None if there is none, or it cannot be read."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            return float(next(csv.DictReader(lines, delimiter="\t"))["s"])
    except (OSError, LookupError, ValueError, TypeError, StopIteration):
        return None


class Progress:
    """Counts started and finished jobs, and estimates the time left.

    Args:
        totals: number of jobs of each stage in this run.
        earlier: mean seconds of a job by stage, from earlier runs; those of this run come first.
        clock: seconds, from any start.
    """

    def __init__(
        self,
        totals: Mapping[str, int],
        earlier: Mapping[str, float],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._totals, self._earlier, self._clock = dict(totals), dict(earlier), clock
        self._begun: dict[str, float] = {}
        self._times: dict[str, list[float]] = {stage: [] for stage in totals}
        self._running: dict[int, tuple[str, float]] = {}
        self._most_running, self._told = 1, clock()

    def start(self, job: int, stage: str) -> None:
        """A job of a stage starts; one that is tried again starts anew."""
        if stage in self._totals:
            now = self._clock()
            self._begun.setdefault(stage, now)
            self._running[job] = (stage, now)
            self._most_running = max(self._most_running, len(self._running))

    def fail(self, job: int) -> None:
        """A job failed."""
        self._running.pop(job, None)

    def finish(self, job: int) -> str | None:
        """A job is done: what to tell, at the end of its stage or after `EVERY` seconds."""
        if job not in self._running:
            return None
        (stage, start), now = self._running.pop(job), self._clock()
        self._times[stage].append(now - start)
        done, total = len(self._times[stage]), self._totals[stage]
        if done < total and now - self._told < EVERY:
            return None
        self._told = now
        jobs = f"{done} of {total} jobs " if total > 1 else ""
        took = f" in {in_words(now - self._begun[stage])}" if done >= total else ""
        return f"{stage}: {jobs}done{took}; {self._time_left(now)}"

    def _time_left(self, now: float) -> str:
        """Jobs left and how long they take; those of a kind never timed are taken for average."""
        left = {stage: n - len(self._times[stage]) for stage, n in self._totals.items()}
        jobs = sum(left.values())
        if not jobs:
            return "nothing left"
        known = [seconds for times in self._times.values() for seconds in times]
        means = {stage: self._mean(stage) for stage in left}
        guessed = sum(n for stage, n in left.items() if means[stage] is None)
        average = sum(known) / len(known)
        length = {stage: average if mean is None else mean for stage, mean in means.items()}
        work = sum(n * length[stage] for stage, n in left.items())
        work -= sum(min(now - start, length[stage]) for stage, start in self._running.values())
        guess = f" (a guess for {guessed} of them)" if guessed else ""
        return f"{jobs} left, about {in_words(work / min(self._most_running, jobs))}{guess}"

    def _mean(self, stage: str) -> float | None:
        times = self._times[stage]
        return sum(times) / len(times) if times else self._earlier.get(stage)


class ProgressHandler(logging.Handler):
    """Listens to Snakemake's log records, and tells progress after its line of steps done.

    Args:
        benchmarks: folder of the run's benchmark files.
        counts: whether jobs of a rule are counted; those that make nothing are not.
        tell: what to do with a line.
    """

    def __init__(
        self, benchmarks: Path, counts: Callable[[str], bool], tell: Callable[[str], None]
    ) -> None:
        super().__init__()
        self._benchmarks, self._counts, self._tell = benchmarks, counts, tell
        self._progress: Progress | None = None
        self._line: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Take a record; an error in here is told by `logging` and stops nothing."""
        try:
            self._take(str(getattr(record, "event", "")), vars(record))
        except Exception:
            self.handleError(record)

    def _take(self, event: str, facts: Mapping[str, object]) -> None:
        if event == "run_info":
            stats = facts["stats"]
            assert isinstance(stats, Mapping)
            totals = {
                rule: n for rule, n in stats.items() if rule != "total" and self._counts(rule)
            }
            self._progress = Progress(totals, mean_times(self._benchmarks, totals))
        elif self._progress is None:
            return
        elif event == "job_info":
            self._progress.start(int(str(facts["jobid"])), str(facts["rule_name"]))
        elif event == "job_error":
            self._progress.fail(int(str(facts["jobid"])))
        elif event == "job_finished":
            self._line = self._progress.finish(int(str(facts["job_id"]))) or self._line
        elif event == "progress" and self._line:
            line, self._line = self._line, None
            self._tell(line)
