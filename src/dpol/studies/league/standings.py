"""Standings: what each system keeps at each level, and how far it is from the best.

A system is an algorithm with its noise. The paired intervals of a level hold jointly for every pair
of systems, so a system may be named after one has seen which is the best.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.intervals import standard_error, student_factor
from dpol.core.randomness import Floats
from dpol.privacy.account import best_guess
from dpol.privacy.stays import STAYS
from dpol.studies.games.names import CELL, gains_by_cell

if TYPE_CHECKING:
    from dpol.studies.league.settings import LeaguePoint

THE_LEVEL, ONE_WEEK, RAW = "the level", "one week", "raw"
"""What a row guarantees: its level, and for longer stays as much as independent noise at the level;
its level for one week only; its level from a curator or nobody, who see raw gains."""
SYSTEM = ["algorithm", "noise"]
ENOUGH_RUNS = 10
"""Replicates from which joint 95% intervals held in 95% of trials; with 5 they held in 88%."""
_LEVEL = ["question", "stream", "mu"]
_MOST = [
    *("guaranteed_mu", "mu_1_week", "mu_4_weeks", "mu_8_weeks", "epsilon", "unmeasured_share"),
]
"""Columns of a mean over streams that have the largest value of any stream."""
_MEAN = ["best_fixed_share", "named_right", "named_right_half_width"]
"""Those that have the mean value."""
_FIRST = [
    *("family", "exhibit", "column", "variant", "origin", "model", "sees"),
    *("level", "delta", "unit", "n_rounds", "replicates", "uniform_gain", "oracle_gain"),
    *("unmeasured_periods", "numerical"),
]
"""Those that have the value of the first stream; for most, all streams have the same."""


def standings(summary: pd.DataFrame, totals: pd.DataFrame, point: LeaguePoint) -> pd.DataFrame:
    """Return a row per system, level, and stream or question (docs/reference/tables.md).

    Rows of the summary that do not keep their level are left out.
    Where no two streams count the same people, a question has rows without a stream: means over its
    streams, replicate by replicate. Their intervals hold jointly, and so do those of all streams.
    They cover the noise on these streams.

    Args:
        summary: table of the main study.
        totals: table of the main study.
        point: the questions, and the confidence of the intervals.

    Raises:
        DataError: no system keeps its level.
        ValueError: the systems of a stream and level have different numbers of replicates.
    """
    if not summary["keeps_level"].any():
        raise DataError(
            "no system of suites keeps its level, since (epsilon, delta) alone proves no mu;"
            " add one that does, such as random-effects"
        )
    rows = summary.loc[
        summary["keeps_level"], [*CELL, "n_experts", "best_fixed", *_FIRST, *_MOST, *_MEAN]
    ]
    rows = rows.reset_index(drop=True)
    rows["question"] = rows["stream"].map(point.questions)
    samples = _samples(rows, totals)
    rows, samples = _with_means(rows, samples) if point.apart else (rows, samples)
    rows["right_guesses"] = rows["mu"].map(best_guess)
    rows["guarantee"] = guaranteed(rows)
    levels: dict[Any, Any] = rows.groupby(_LEVEL, sort=False).indices
    # Every share, and the difference of every pair.
    intervals = Counter[bool]()
    for (_, stream, _), places in levels.items():
        intervals[stream == ""] += math.comb(len(places) + 1, 2)
    parts = []
    for (_, stream, _), places in levels.items():
        own, comparisons = [samples[it] for it in places], intervals[stream == ""]
        parts.append(_compared(rows.iloc[places], own, point.confidence, comparisons))
    return pd.concat(parts).sort_index(ignore_index=True)


def is_system(rows: pd.DataFrame, system: tuple[str, str]) -> pd.Series[bool]:
    """Return which rows are of a system."""
    algorithm, noise = system
    return (rows["algorithm"] == algorithm) & (rows["noise"] == noise)


def _samples(rows: pd.DataFrame, totals: pd.DataFrame) -> list[Floats]:
    """Return the (R,) shares of the possible gain of each row.

    Shares are nan where no gain is possible.
    """
    by_cell = gains_by_cell(totals)
    possible = (rows["oracle_gain"] - rows["uniform_gain"]).replace(0.0, math.nan)
    keys = rows[CELL].itertuples(index=False, name=None)
    cells = zip(keys, rows["uniform_gain"], possible, strict=True)
    return [(by_cell[cell] - uniform) / most for cell, uniform, most in cells]


def guaranteed(rows: pd.DataFrame) -> NDArray[np.str_]:
    """Return what each row guarantees: only rows with one guarantee have ranks beside each other.

    Args:
        rows: rows of all levels, with the columns `algorithm`, `noise`, `mu`, `mu_8_weeks`,
            and `sees` of the summary.
    """
    longest = rows["mu"] * math.sqrt(STAYS[-1]) * (1 + 1e-9)  # of independent noise
    more = rows[f"mu_{STAYS[-1]}_weeks"] > longest
    # The noise is of one kind at all levels, also without any.
    stays = more.groupby([rows[name] for name in SYSTEM]).transform("any")
    return np.select([rows["sees"] != "noisy", stays], [RAW, ONE_WEEK], THE_LEVEL)


def keeps_most(rows: pd.DataFrame, may: Any) -> NDArray[np.bool_]:
    """Return which row of a level keeps the most among those of a mask, with their `gain_share`."""
    among = may & rows["gain_share"].notna()
    largest = rows["gain_share"].where(among, -math.inf).argmax()
    return np.asarray(among & (np.arange(len(rows)) == largest))


def _with_means(rows: pd.DataFrame, samples: list[Floats]) -> tuple[pd.DataFrame, list[Floats]]:
    """Put the means over the streams of each question before its rows, if there are several."""
    means, averaged = [], []
    for _, own in rows.groupby("question", sort=False):
        streams = own["stream"].nunique()
        for _, system in own.groupby([*SYSTEM, "mu"], sort=False) if streams > 1 else ():
            if len(system) == streams:
                places = rows.index.get_indexer(system.index)
                averaged.append(np.mean([samples[it] for it in places], axis=0))
                means.append(_mean_of(system))
    if not means:
        return rows, samples
    made = pd.DataFrame(means)[rows.columns]
    return pd.concat([made, rows], ignore_index=True), [*averaged, *samples]


def _mean_of(system: pd.DataFrame) -> dict[Any, Any]:
    """Return the row of a system's mean over its streams, but for its share."""
    same = system["best_fixed"].nunique() == 1
    return {
        **system.iloc[0][["question", *SYSTEM, "mu", *_FIRST]],
        **system[_MOST].max(),
        **{name: system[name].mean() for name in _MEAN},
        "stream": "",
        "n_experts": int(system["n_experts"].sum()),
        "best_fixed": system["best_fixed"].iloc[0] if same else "",
    }


def _compared(
    rows: pd.DataFrame, samples: list[Floats], confidence: float, comparisons: int
) -> pd.DataFrame:
    """Return the rows of a level with their shares, ranks, and distance to the best.

    A curator, who sees raw gains, can add the noise of any local system and play it.
    """
    shares = np.stack(samples)
    factor = student_factor(confidence, comparisons, shares.shape[1])
    means = shares.mean(axis=1)
    # A row each for the other system, and a column for the one whose share is subtracted.
    gaps, errors = np.stack([_differences(shares, own) for own in shares], axis=2)
    alike = rows["guarantee"].to_numpy()[:, np.newaxis] == rows["guarantee"].to_numpy()
    # Without noise, an algorithm with several noises plays one game, and is one system.
    again = rows.assign(share=means).duplicated(["algorithm", "guarantee", "share"])
    once = ~(again & (rows["mu"] == math.inf)).to_numpy()
    rows = rows.assign(
        rank=1 + (alike & once[:, np.newaxis] & (gaps - factor * errors > 0)).sum(axis=0),
        gain_share=means,
        gain_share_half_width=factor * standard_error(shares.T),
        confidence=confidence,
        ci_comparisons=comparisons,
    )
    level = rows["guarantee"] == THE_LEVEL
    best = keeps_most(rows, level)
    gap = half = np.full(len(rows), math.nan)
    for place in np.flatnonzero(best):
        gap, half = gaps[:, place], factor * errors[:, place]
    enough = shares.shape[1] >= ENOUGH_RUNS
    return rows.assign(
        best=best,
        not_told_apart=level & enough & (np.abs(gap) <= half),
        curator=keeps_most(rows, level | (rows["model"] == "central")),
        to_best=gap,
        to_best_half_width=half,
    )


def _differences(shares: Floats, own: Floats) -> Floats:
    """Return the mean differences of systems (n, R) to one (R,), and their standard errors."""
    apart = shares - own
    return np.stack([apart.mean(axis=1), standard_error(apart.T)])
