"""Standings: what each system keeps at each level, and how far three others are from it.

A system is an algorithm with its noise. The paired intervals of a level hold jointly for every pair
of systems, so a system may be named after one has seen which is the best.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.intervals import standard_error, student_factor
from dpol.core.randomness import Floats
from dpol.data.stream import MANY_UNMEASURED, UNMEASURED_SHARES
from dpol.privacy.account import best_guess
from dpol.privacy.guarantee import Model
from dpol.privacy.stays import STAYS
from dpol.studies.games.names import CELL, META, TABLE_2, gains_by_cell
from dpol.studies.verdicts import verdicts_on

if TYPE_CHECKING:
    from dpol.studies.comparison.settings import StandingsPoint

THE_LEVEL, ONE_WEEK, RAW = "the level", "one week", "raw"
"""What a row guarantees: its level, and for longer stays as much as independent noise at the level;
its level for one week only; its level from a curator or nobody, who see raw gains."""
THE_BASELINE, OUR_METHOD = "the baseline", "our method"
"""Roles: the first paper's RW-Meta with its noise, and our method, or the reader's."""
SYSTEM = ["algorithm", "noise"]
_LEVEL = ["question", "stream", "mu"]
_MOST = [
    *("guaranteed_mu", "mu_1_week", "mu_4_weeks", "mu_8_weeks", "epsilon", *UNMEASURED_SHARES),
]
"""Columns of a mean over streams that have the largest value of any stream."""
_MEAN = ["best_fixed_share", "named_right", "named_right_half_width"]
"""Those that have the mean value."""
_FIRST = [
    *("family", "exhibit", "column", "variant", "shown_as", "simplicity", "ours", "model", "sees"),
    *("level", "delta", "unit", "n_rounds", "replicates", "uniform_gain", "oracle_gain"),
    *("unmeasured_periods", "numerical"),
]
"""Those that have the value of the first stream; for most, all streams have the same."""


def standings(summary: pd.DataFrame, totals: pd.DataFrame, point: StandingsPoint) -> pd.DataFrame:
    """Return a row per system, level, and stream or question (docs/reference/tables.md).

    Rows of the summary that do not keep their level are left out.
    Where no two streams count the same people, a question has rows without a stream: means over its
    streams, replicate by replicate. Their intervals hold jointly, and so do those of all streams.
    They cover the noise on these streams.

    Args:
        summary: table of the main study.
        totals: table of the main study.
        point: our method, the questions, and the confidence of the intervals.

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
    rows["role"] = np.where(is_the_papers(rows), THE_BASELINE, "")
    rows.loc[is_system(rows, point.ours), "role"] = OUR_METHOD
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


def is_the_papers(rows: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows are of the baseline, the first paper's RW-Meta with its noise."""
    return (rows["exhibit"] == TABLE_2) & (rows["column"] == META) & ~rows["variant"]


def is_system(rows: pd.DataFrame, system: tuple[str, str] | None) -> pd.Series[bool]:
    """Return which rows are of a system; none of them if it is None."""
    algorithm, noise = system or ("", "")
    return (rows["algorithm"] == algorithm) & (rows["noise"] == noise)


def _samples(rows: pd.DataFrame, totals: pd.DataFrame) -> list[Floats]:
    """Return the (2, R) shares of the possible gain of each row, and gains in a round.

    Shares are nan where no gain is possible.
    """
    by_cell = gains_by_cell(totals)
    possible = (rows["oracle_gain"] - rows["uniform_gain"]).replace(0.0, math.nan)
    keys = rows[CELL].itertuples(index=False, name=None)
    cells = zip(keys, rows["uniform_gain"], possible, rows["n_rounds"], strict=True)
    return [
        np.stack([(by_cell[cell] - uniform) / most, by_cell[cell] / n_rounds])
        for cell, uniform, most, n_rounds in cells
    ]


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


def strongest(rows: pd.DataFrame, model: Model = "local") -> NDArray[np.bool_]:
    """Return which row of a level keeps the most: of the rivals of our method, or of a curator.

    Both guarantee the level, and are of another family than our method: with another noise, or
    without any, the same learner is still our method. A curator, who sees raw gains, can add the
    noise of any local system and play it.

    Args:
        rows: rows of a level with their `guarantee`, `model`, `family`, `role` and `gain_share`.
        model: `local`, of systems whose longer stays are as well hidden as by independent noise; or
            `central`, of these and of those that see raw gains.
    """
    ours = rows["family"].isin(rows.loc[rows["role"] == OUR_METHOD, "family"])
    may = rows["guarantee"] == THE_LEVEL
    if model == "central":
        may |= rows["model"] == model
    others = may & ~ours & rows["gain_share"].notna()
    largest = rows["gain_share"].where(others, -math.inf).argmax()
    return np.asarray(others & (np.arange(len(rows)) == largest))


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
    """Return the rows of a level with their shares, and their differences to three systems."""
    shares, gains = np.stack(samples, axis=1)
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
        gain_per_round=gains.mean(axis=1),
        gain_per_round_half_width=factor * standard_error(gains.T),
        confidence=confidence,
        ci_comparisons=comparisons,
        strongest=strongest,  # of the rows with these shares
        curator=partial(strongest, model="central"),
    )
    # The paper's method may be ours, too.
    others = {"baseline": is_the_papers(rows), "ours": rows["role"] == OUR_METHOD}
    depends = rows[UNMEASURED_SHARES].max(axis=1) > MANY_UNMEASURED
    for name, other in {"strongest": rows["strongest"], **others}.items():
        gap = half = np.full(len(rows), math.nan)
        for place in np.flatnonzero(other)[:1]:
            gap, half = gaps[:, place], factor * errors[:, place]
        rows[f"to_{name}"], rows[f"to_{name}_half_width"] = gap, half
        rows[f"to_{name}_verdict"] = verdicts_on(gap, half, depends)
    return rows


def _differences(shares: Floats, own: Floats) -> Floats:
    """Return the mean differences of systems (n, R) to one (R,), and their standard errors."""
    apart = shares - own
    return np.stack([apart.mean(axis=1), standard_error(apart.T)])
