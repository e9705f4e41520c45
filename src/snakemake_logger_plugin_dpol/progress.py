"""The progress of a run: finished jobs in each stage."""

from __future__ import annotations

from collections import Counter
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


def stage_of(rule: str) -> str | None:
    """Return the stage of a rule, or None if its jobs only collect files."""
    return next((stage for stage, ends in STAGES.items() if rule.endswith(ends)), None)


@dataclass
class Progress:
    """The jobs of a run.

    Args:
        totals: number of jobs of each rule.
        began: start of the run, in seconds.
    """

    totals: Mapping[str, int]
    began: float
    running: dict[int, str] = field(default_factory=dict)
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.totals = {rule: count for rule, count in self.totals.items() if stage_of(rule)}

    def begin(self, job: int, rule: str) -> None:
        """Note that a job begins."""
        if rule in self.totals:
            self.running[job] = rule

    def fail(self, job: int) -> None:
        """Note that a job failed; it may begin again."""
        self.running.pop(job, None)

    def finish(self, job: int) -> str | None:
        """Note that a job finished, and return its stage."""
        if job not in self.running:
            return None
        rule = self.running.pop(job)
        self.done[rule] += 1
        return stage_of(rule)

    def stage_at_work(self) -> str | None:
        """Return the stage of the job that began first of those that run."""
        return next(map(stage_of, self.running.values()), None)

    def jobs_of(self, stage: str) -> tuple[int, int]:
        """Return the finished jobs and all jobs of a stage."""
        rules = [rule for rule in self.totals if stage_of(rule) == stage]
        return sum(self.done[it] for it in rules), sum(self.totals[it] for it in rules)

    def share(self) -> float:
        """Return the share of finished jobs."""
        return self.done.total() / max(1, sum(self.totals.values()))


def in_words(seconds: float) -> str:
    """Return a time as text, rounded as a person would say it.

    >>> in_words(4), in_words(47), in_words(200), in_words(7400)
    ('5 s', '45 s', '3 min', '2 h 3 min')
    """
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
