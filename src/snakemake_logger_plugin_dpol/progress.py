"""The progress of a run: jobs done in each stage, and the time that the others will take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

STAGES = {
    "Data": ("fetch_dataset", "simulate_dataset", "clean_panel", "build_stream"),
    "Games": ("games_point", "games_results"),
    "Studies": ("_point", "_results"),
    "Figures": ("_shown",),
    "Report": ("render_report",),
}
"""Stages, with the ends of the names of their rules; the first that fits."""
_ENOUGH = 0.1
"""Share of the jobs that says how long the others take."""


def stage_of(rule: str) -> str | None:
    """The stage of a rule; None if its jobs only collect files."""
    return next((stage for stage, ends in STAGES.items() if rule.endswith(ends)), None)


@dataclass
class Progress:
    """The jobs of a run.

    Args:
        totals: how many jobs each rule has.
        began: when the run began, in seconds.
    """

    totals: Mapping[str, int]
    began: float
    running: dict[int, tuple[str, float]] = field(default_factory=dict)
    took: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.totals = {rule: count for rule, count in self.totals.items() if stage_of(rule)}

    def begin(self, job: int, rule: str, now: float) -> None:
        """A job begins."""
        if rule in self.totals:
            self.running[job] = rule, now

    def fail(self, job: int) -> None:
        """A job fails; it may begin again."""
        self.running.pop(job, None)

    def finish(self, job: int, now: float) -> str | None:
        """A job is done: its stage."""
        if job not in self.running:
            return None
        rule, began = self.running.pop(job)
        self.took.setdefault(rule, []).append(now - began)
        return stage_of(rule)

    def stages(self) -> dict[str, tuple[int, int]]:
        """Jobs that are done, and all jobs, of each stage that has any."""
        counts = {
            stage: (
                sum(len(times) for rule, times in self.took.items() if stage_of(rule) == stage),
                sum(total for rule, total in self.totals.items() if stage_of(rule) == stage),
            )
            for stage in STAGES
        }
        return {stage: count for stage, count in counts.items() if count[1]}

    def share(self) -> float:
        """The share of the jobs that are done."""
        return sum(map(len, self.took.values())) / max(1, sum(self.totals.values()))

    def seconds_left(self, now: float) -> float | None:
        """An estimate of the time to the end; None before enough is done.

        A job takes as long as those of its rule took so far, on average. Where none is done, it
        takes the average of all. As many run at a time as did so far.
        """
        done = [seconds for times in self.took.values() for seconds in times]
        if self.share() < _ENOUGH or now <= self.began:
            return None
        usual = {rule: sum(times) / len(times) for rule, times in self.took.items()}
        for rule in self.totals:
            usual.setdefault(rule, sum(done) / len(done))
        left = sum(
            usual[rule] * (total - len(self.took.get(rule, ())))
            for rule, total in self.totals.items()
        )
        spent = [(rule, now - began) for rule, began in self.running.values()]
        left -= sum(min(seconds, usual[rule]) for rule, seconds in spent)
        at_a_time = (sum(done) + sum(seconds for _, seconds in spent)) / (now - self.began)
        return left / at_a_time if at_a_time else None


def in_words(seconds: float) -> str:
    """A time, as exact as an estimate may be.

    >>> in_words(4), in_words(47), in_words(200), in_words(7400)
    ('5 s', '45 s', '3 min', '2 h 3 min')
    """
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
