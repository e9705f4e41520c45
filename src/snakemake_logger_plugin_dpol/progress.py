"""The progress of a run: finished jobs in each stage, and the time for the others."""

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
"""Stages with the suffixes of their rules; the first match counts."""
_ENOUGH = 0.1
"""Share of finished jobs from which the time of the others is estimated."""
_SLOW = 10.0
"""Times that a job takes its usual seconds before they are taken for wrong."""
_SECONDS = 1.5
"""Seconds of a job about which nothing is known."""


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
        known = self.expected.items()
        return {
            rule: next((seconds for end, seconds in known if rule.endswith(end)), _SECONDS)
            for rule in self.totals
        }

    def seconds_left(self, now: float) -> float | None:
        """Return an estimate of the time to the end, or None while nothing is known.

        At first the estimate uses the expected seconds. Once enough jobs are finished, a job takes
        the mean time of its rule so far, or of all jobs if none of its rule is finished, and as
        many jobs run in parallel as did so far. Once a job takes ten times its seconds, all others
        are taken to be as much longer as those that began were together.
        """
        spent = [(rule, now - began) for rule, began in self.running.values()]
        if self.share() >= _ENOUGH and now > self.began:
            done = [seconds for times in self.took.values() for seconds in times]
            usual = dict.fromkeys(self.totals, sum(done) / len(done))
            usual |= {rule: sum(times) / len(times) for rule, times in self.took.items()}
            at_a_time = (sum(done) + sum(seconds for _, seconds in spent)) / (now - self.began)
        elif self.seconds_in_all():
            usual, at_a_time = self._usual(), float(self.cores or 1)
        else:
            return None
        tried = [*spent, *((rule, it) for rule, times in self.took.items() for it in times)]
        if any(seconds >= _SLOW * usual[rule] for rule, seconds in tried):
            slower = sum(seconds for _, seconds in tried) / sum(usual[rule] for rule, _ in tried)
            usual = {rule: slower * seconds for rule, seconds in usual.items()}
        left = sum(
            usual[rule] * (total - len(self.took.get(rule, ())))
            for rule, total in self.totals.items()
        )
        left -= sum(min(seconds, usual[rule]) for rule, seconds in spent)
        return left / at_a_time if at_a_time else None


def in_words(seconds: float) -> str:
    """Return a time as text, with the precision of an estimate.

    >>> in_words(4), in_words(47), in_words(200), in_words(7400)
    ('5 s', '45 s', '3 min', '2 h 3 min')
    """
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
