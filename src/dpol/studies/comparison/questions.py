"""Several questions: the share of the possible gain that each system keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.intervals import half_width
from dpol.studies.comparison.run_totals import RunTotals, by_stream, find_run
from dpol.studies.comparison.settings import Comparison


def compare_questions(
    runs: Sequence[RunTotals],
    summary: pd.DataFrame,
    comparison: Comparison,
    levels: Mapping[str, float],
    question_of: Mapping[str, str],
    confidence: float,
) -> pd.DataFrame:
    """Compute the share of the possible gain that each role keeps, by question, level and stream.

    Rows without a stream are unweighted means over the streams of a question. Each replicate gives
    one such mean, and these are independent. Their Student interval covers the noise on these
    streams, not other streams. Columns: docs/reference/tables.md.

    Args:
        runs: all runs.
        summary: summary of the main study.
        comparison: the systems of each role.
        levels: mu of each privacy level, by label.
        question_of: question of each stream; both by label.
        confidence: joint confidence of the intervals of all means, and of all streams.

    Raises:
        ValueError: a system was not run.
    """
    bounds = summary.drop_duplicates("stream").set_index("stream")
    of_stream = by_stream(runs)
    rows: list[dict[str, Any]] = []
    samples = []
    for question in dict.fromkeys(question_of.values()):
        streams = [label for label, own_question in question_of.items() if own_question == question]
        own = bounds.loc[streams]
        uniform = own["uniform_gain"].to_numpy()[:, None]
        possible = own["oracle_gain"].to_numpy()[:, None] - uniform
        roles = [(role, system) for role, systems in comparison.roles.items() for system in systems]
        for role, system in roles:
            for level, mu in levels.items():
                played = [find_run(of_stream[label], system, mu) for label in streams]
                shares = (np.stack([run.totals for run in played]) - uniform) / possible
                facts = {
                    "question": question,
                    "role": role,
                    "algorithm": system.algorithm,
                    "noise": system.noise,
                    "level": level,
                    "mu": mu,
                    "guaranteed_mu": max(run.privacy["guaranteed_mu"] for run in played),
                }
                named = (*streams, ""), (*shares, shares.mean(axis=0))
                fixed = (*own["best_fixed_share"], own["best_fixed_share"].mean())
                for stream, sample, best in zip(*named, fixed, strict=True):
                    rows.append({**facts, "stream": stream, "best_fixed_share": best})
                    samples.append(sample)
    frame = pd.DataFrame(rows).assign(gain_share=[sample.mean() for sample in samples])
    means = frame["stream"] == ""
    comparisons = np.where(means, means.sum(), (~means).sum())
    halves = [
        float(half_width(sample, confidence, int(count)))
        for sample, count in zip(samples, comparisons, strict=True)
    ]
    return frame.assign(
        gain_share_half_width=halves,
        replicates=len(samples[0]),
        confidence=confidence,
        ci_comparisons=comparisons,
    )
