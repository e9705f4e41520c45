"""The estimates of the time left in three recorded runs, and if their first job took long."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping

import pytest

from dpol.config.experiment import load_experiment
from dpol.plan import Plan
from pipeline import ROOT
from snakemake_logger_plugin_dpol.progress import Progress

DATA = {"fetch_dataset": [6.1], "read_rows": [2.7], "clean_stream": [1.0, 2.0, 1.8, 1.9]}
GAMES = {
    "games_results": [3.4],
    "comparison_results": [6.0],
    "games_shown": [7.3],
    "render_report": [5.4],
}
# Seconds of jobs, of each rule again and again from the start: the default run on an idle machine,
# cleaning, streams and games of config/states.yaml and the mean of its readings (processor time
# on a busy machine), and claims in that of config/paper.yaml.
LEAST = 60.0
"""Seconds below which an estimate may be any number: lines are a minute apart."""
RECORDED: Mapping[str, Mapping[str, list[float]]] = {
    "config": {
        **DATA,
        "games_point": [1.3, 1.3, 1.1, 1.0, 3.7, 2.1, 1.2, 1.2, 1.3],
        "comparison_point": [1.4],
        "batching_point": [9.0, 6.8],
        "lazy_point": [4.0, 5.0, 7.9, 15.7],
        "convex_point": [6.9, 22.4],
        "labels_point": [7.0, 3.7],
        "audits_point": [10.8, 7.5],
        **GAMES,
        "labels_results": [9.4],
        "lazy_results": [4.7],
        "batching_results": [4.2],
        "convex_results": [3.3],
        "audits_results": [2.1],
    },
    "states": {
        "read_rows": [45.1],
        "clean_stream": [1.1],
        "games_point": [2.4, 5.9, 2.3, 7.0, 2.4, 5.7, 2.7, 4.6],
        "comparison_point": [3.9],
        **GAMES,
    },
    "ledger": {
        **DATA,
        "games_point": [1.2, 2.1, 3.7, 1.1],
        "comparison_point": [1.4],
        "claims_point": [23.0, 9.0, 5.0, 1.0],
        **GAMES,
    },
}


def jobs_of(config: str) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Return the seconds of all jobs of a run by rule, and what dpol expects of its rules."""
    settings = load_experiment(ROOT / f"config/{config}.yaml").config
    plan = Plan(config=settings, place="", name="", text="")
    counts = {f"{study}_point": len(jobs) for study, jobs in plan.jobs.items()}
    counts["clean_stream"] = len(settings.streams)
    times = {
        rule: list(itertools.islice(itertools.cycle(seconds), counts.get(rule, 1)))
        for rule, seconds in RECORDED[config].items()
    }
    assert counts.keys() <= times.keys()
    return times, plan.seconds


def ends(times: Mapping[str, list[float]], cores: int) -> Iterator[tuple[str, float, float]]:
    """Yield the rule, begin and end of each job; the jobs of a rule wait for the rules before."""
    free, last = [0.0] * cores, 0.0
    for rule, seconds in times.items():
        if not rule.endswith(("_point", "_results")) or rule in (*GAMES, "games_point"):
            free = [last] * cores
        for it in seconds:
            free.sort()
            yield rule, free[0], free[0] + it
            free[0] += it
            last = max(last, free[0])


def told(config: str, factor: float) -> list[tuple[float, float, float]]:
    """Return the times of the lines of a run, their estimates, and the truth.

    A line comes at the end of a job: the first, the last of its stage, or a minute after a line.
    """
    times, expected = jobs_of(config)
    times[next(iter(times))][0] *= factor
    totals = {rule: len(each) for rule, each in times.items()}
    progress = Progress(totals, began=0.0, expected=expected, cores=2)
    jobs = list(enumerate(ends(times, 2)))
    events = [(began, 1, job, rule) for job, (rule, began, _) in jobs]
    events += [(end, 0, job, rule) for job, (rule, _, end) in jobs]
    whole, last, lines = max(end for _, (_, _, end) in jobs), -math.inf, []
    for now, begins, job, rule in sorted(events):
        if begins:
            progress.begin(job, rule, now)
        elif stage := progress.finish(job, now):
            done, total = progress.jobs_of(stage)
            left = progress.seconds_left(now)
            if left and (done == total or now >= last + 60):
                last = now
                lines.append((now, left, whole - now))
    return lines


@pytest.mark.parametrize("factor", [1, 10])
@pytest.mark.parametrize("config", RECORDED)
def test_no_estimate_of_a_recorded_run_moves_by_more_than_a_factor_of_two(
    config: str, factor: float
) -> None:
    lines = told(config, factor)
    for (before, said, _), (now, left, _) in itertools.pairwise(lines):
        ratio = max(left, LEAST) / max(said - (now - before), LEAST)
        assert 1 / 2 <= ratio <= 2, f"at {now:.0f} s: {left:.0f} s left after {said:.0f} s"
    for now, left, truth in lines[1:]:
        ratio = max(left, LEAST) / max(truth, LEAST)
        assert 1 / 2 <= ratio <= 2, f"at {now:.0f} s: {left:.0f} s left, of {truth:.0f} s"
