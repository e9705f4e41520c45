"""The progress of a run: finished jobs in each stage, and the time for the others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

STAGES = {
    "Data": (
        "fetch_dataset",
        "simulate_dataset",
        "read_rows",
        "clean_stream",
        "build_stream",
        "report_cleaning",
        "draw_table",
    ),
    "Games": ("games_point", "games_results"),
    "Studies": ("_point",),
    "Results": ("_results", "_shown"),
    "Report": ("render_report",),
}
"""Stages with the suffixes of their rules; the first match counts."""
_ENOUGH = 0.1
"""Share of finished jobs from which the time of the others is estimated if nothing is expected."""
_KNOWN, _KNOWN_OF_ALL = 5, 20
"""Number of jobs that the expected seconds of a rule, and those of all rules, count for."""
_SHOWN, _SECONDS = 5.0, 1.5
"""Seconds of a job that draws figures, and of another, about which nothing is known."""


def stage_of(rule: str) -> str | None:
    """Return the stage of a rule, or None if its jobs only collect files."""
    return next((stage for stage, ends in STAGES.items() if rule.endswith(ends)), None)


@dataclass
class Progress:
    """The jobs of a run.

    Args:
        totals: number of jobs of each rule.
        began: start of the run, in seconds.
        expected: mean seconds of a job, if known, by the end of the rule's name.
        cores: number of cores for jobs; None if jobs run on other machines.
    """

    totals: Mapping[str, int]
    began: float
    expected: Mapping[str, float] = field(default_factory=dict)
    cores: int | None = None
    running: dict[int, tuple[str, float]] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.totals = {rule: count for rule, count in self.totals.items() if stage_of(rule)}

    def begin(self, job: int, rule: str, now: float) -> None:
        """Note that a job begins."""
        if rule in self.totals:
            self.running[job] = rule, now

    def fail(self, job: int) -> None:
        """Note that a job failed; it may begin again."""
        self.running.pop(job, None)

    def finish(self, job: int, now: float) -> str | None:
        """Note that a job finished, and return its stage."""
        if job not in self.running:
            return None
        rule, began = self.running.pop(job)
        self.took.setdefault(rule, []).append(now - began)
        return stage_of(rule)

    def stage_at_work(self) -> str | None:
        """Return the stage of the job that began first of those that run."""
        return next((stage_of(rule) for rule, _ in self.running.values()), None)

    def jobs_of(self, stage: str) -> tuple[int, int]:
        """Return the finished jobs and all jobs of a stage."""
        rules = [rule for rule in self.totals if stage_of(rule) == stage]
        done = sum(len(self.took.get(rule, ())) for rule in rules)
        return done, sum(self.totals[rule] for rule in rules)

    def share(self) -> float:
        """Return the share of finished jobs."""
        return sum(map(len, self.took.values())) / max(1, sum(self.totals.values()))

    def seconds_in_all(self) -> float | None:
        """Return an estimate of the whole run's time, or None if no job of it is known."""
        if not self.cores or not any(rule.endswith(tuple(self.expected)) for rule in self.totals):
            return None
        usual = self._usual()
        work = sum(usual[rule] * total for rule, total in self.totals.items())
        return max(work / self.cores, *usual.values())

    def _usual(self) -> dict[str, float]:
        known = {**self.expected, "_results": _SHOWN, "_shown": _SHOWN}.items()
        return {
            rule: next((seconds for end, seconds in known if rule.endswith(end)), _SECONDS)
            for rule in self.totals
        }

    def seconds_left(self, now: float) -> float | None:
        """Return an estimate of the time to the end, or None while nothing is known.

        No single job moves it far. The expected seconds of all rules are multiplied by the
        geometric mean of how much longer jobs took than expected, and then averaged with the times
        of the rule's own jobs; in both means, what is expected counts as several jobs. At first as
        many jobs run in parallel as there are cores; the more of the run is done, the more counts
        how many did so far.
        """
        share = self.share()
        if now <= self.began or not (self.seconds_in_all() or share >= _ENOUGH):
            return None
        usual = self._usual()
        spent = [(rule, now - began) for rule, began in self.running.values()]
        done = [(rule, seconds) for rule, times in self.took.items() for seconds in times]
        late = [(rule, seconds) for rule, seconds in spent if seconds > usual[rule]]
        logs = [math.log(max(seconds, 0.1) / usual[rule]) for rule, seconds in [*done, *late]]
        slower = math.exp(sum(logs) / (_KNOWN_OF_ALL + len(logs)))
        left = 0.0
        for rule, total in self.totals.items():
            times = self.took.get(rule, [])
            mean = (_KNOWN * slower * usual[rule] + sum(times)) / (_KNOWN + len(times))
            left += mean * (total - len(times))
            left -= sum(min(seconds, mean) for its, seconds in spent if its == rule)
        busy = sum(seconds for _, seconds in [*done, *spent])
        so_far = max(busy / (now - self.began), 0.1)  # also if the clock was set back
        return left / math.pow(self.cores or so_far, 1 - share) / math.pow(so_far, share)


def in_words(seconds: float) -> str:
    """Return a time as text, with the precision of an estimate.

    >>> in_words(4), in_words(47), in_words(200), in_words(7400)
    ('5 s', '45 s', '3 min', '2 h 3 min')
    """
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
