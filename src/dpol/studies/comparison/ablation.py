"""Split the loss of a private system into noise, its learners, and its selection among them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from dpol.noise import find_noise
from dpol.studies.comparison.comparison import HalfWidth, half_widths
from dpol.studies.comparison.run_totals import (
    RunTotals,
    by_stream,
    count_replicates,
    find_run,
    runs_of_family,
)
from dpol.studies.comparison.settings import Comparison, System

TERMS = ("noise_loss", "learner_loss", "selection_loss", "total_loss", "own_noise_loss")
"""The losses; the first three add up to `total_loss`."""


def ablate(
    runs: Sequence[RunTotals],
    comparison: Comparison,
    levels: Mapping[str, float],
    confidence: float,
) -> pd.DataFrame:
    """Split each system's loss against the best of the paper's learners without noise.

    The best of a family is its largest mean in hindsight, by stream, mu and noise.

    - `noise_loss`: loss of the best of the paper's learners to the system's noise. They cannot
      model correlated noise, so they get independent noise of the same kind.
    - `learner_loss`: loss of the system's best learner against it, under the same noise.
    - `selection_loss`: loss of the system against its best learner.
    - `total_loss`: the sum of the three. A negative loss is a gain.
    - `own_noise_loss`: loss of the system itself to the noise.

    The best learner is chosen on the runs that score it, so its mean is biased upwards:
    `selection_loss` tends to be too large, and `noise_loss` too small.

    Args:
        runs: all runs.
        comparison: the systems and their learners.
        levels: mu of each privacy level, by label; one is infinite.
        confidence: joint confidence of all intervals.

    Raises:
        ValueError: a system or family was not run, or the numbers of replicates differ.
    """
    systems = list(dict.fromkeys((comparison.baseline, *comparison.ablations, comparison.ours)))
    streams = by_stream(runs)
    comparisons = len(TERMS) * len(streams) * len(levels) * len(systems)
    half = half_widths(confidence, comparisons)
    rows = [
        {
            "stream": stream,
            "level": label,
            "mu": mu,
            **_losses(own, system, comparison.baseline, mu, half),
        }
        for stream, own in streams.items()
        for label, mu in levels.items()
        for system in systems
    ]
    return pd.DataFrame(rows).assign(
        replicates=count_replicates(runs),
        confidence=confidence,
        ci_comparisons=comparisons,
    )


def _losses(
    runs: Sequence[RunTotals], system: System, paper: System, mu: float, half: HalfWidth
) -> dict[str, Any]:
    own = find_run(runs, system, mu)
    reference = _best(runs, paper.learners, paper.noise, math.inf)
    independent = find_noise(system.noise).independent or system.noise
    noisy = _best(runs, paper.learners, independent, mu)
    best_learner = _best(runs, system.learners, system.noise, mu)
    row: dict[str, Any] = {
        "algorithm": system.algorithm,
        "noise": system.noise,
        "learners": system.learners,
        "mean_gain": float(own.totals.mean()),
        **own.privacy,
    }
    for name, best in {
        "reference": reference,
        "noisy_reference": noisy,
        "best_learner": best_learner,
    }.items():
        row |= {name: best.algorithm, f"{name}_gain": float(best.totals.mean())}
    pairs = [(reference, noisy), (noisy, best_learner), (best_learner, own), (reference, own)]
    pairs.append((find_run(runs, system, math.inf), own))
    for term, (more, less) in zip(TERMS, pairs, strict=True):
        loss = more.totals - less.totals
        row |= {term: float(loss.mean()), f"{term}_half_width": half(loss)}
    return row


def _best(runs: Sequence[RunTotals], family: str, noise: str, mu: float) -> RunTotals:
    """Return the member with the largest mean; ties go to the first label."""
    members = runs_of_family(runs, family, noise, mu)
    return min(members, key=lambda run: (-float(run.totals.mean()), run.algorithm))
