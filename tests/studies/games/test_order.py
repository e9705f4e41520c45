"""The order of the columns of the first paper's Table 2, by paired differences."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.stats

from dpol.core.randomness import Floats
from dpol.show.reported import load_reported
from dpol.studies.games.names import TABLE_2
from dpol.studies.paper1.table_2 import ORDER, column_pairs

LINEAR = {f"ridge-{number}": "best-linear-model" for number in range(3)}
COLUMNS = {column: column for column in ORDER[1:]} | LINEAR


def tables(samples: dict[str, Floats]) -> tuple[pd.DataFrame, ...]:
    """Summary and totals of one level of one stream, in an order of no meaning."""
    level = {"stream": "s", "noise": "isotropic", "mu": 0.25}
    of_column = {"exhibit": TABLE_2, "variant": False, "confidence": 0.95}
    summary = [{"algorithm": name, "column": COLUMNS[name], **of_column} for name in samples]
    totals = [
        {"algorithm": name, "replicate": replicate, "total_gain": gain, **level}
        for name, gains in samples.items()
        for replicate, gain in reversed(list(enumerate(gains)))
    ]
    return pd.DataFrame(summary).assign(**level), pd.DataFrame(totals)


def test_the_order_is_that_of_every_line_of_the_paper() -> None:
    for _, line in load_reported().groupby(["stream", "mu"]):
        assert tuple(line.sort_values("mean_gain", ascending=False)["algorithm"]) == ORDER


def test_differences_are_paired_and_allow_for_the_choice_of_the_largest() -> None:
    generator = np.random.default_rng(3)
    shared = 10 * generator.normal(size=20)
    samples = {name: shared + generator.normal(size=20) for name in COLUMNS}
    pairs = column_pairs(*tables(samples)).set_index(["column", "other"])
    assert list(pairs.index) == list(combinations(ORDER, 2))
    # Three pairs of single algorithms, and three linear models against each of three.
    factor = scipy.stats.t.ppf(1 - 0.05 / 2 / 12, 19) / np.sqrt(20)
    for (column, other), row in pairs.iterrows():
        one = LINEAR if column == "best-linear-model" else [column]
        apart = [samples[name] - samples[other] for name in one]
        half = [factor * it.std(ddof=1) for it in apart]
        for name, sign in (("lower", -1), ("difference", 0), ("upper", 1)):
            ends = [it.mean() + sign * own for it, own in zip(apart, half, strict=True)]
            assert row[name] == pytest.approx(max(ends))
        assert row["upper"] - row["lower"] < 3, "the shared part has a deviation of 10"


@pytest.mark.parametrize(
    ("ahead", "verdict"), [(0.5, "above"), (-0.5, "below"), (0.02, "undecided"), (0.0, "equal")]
)
def test_the_verdict_passes_through_the_interval(ahead: float, verdict: str) -> None:
    noise = 0.1 * np.random.default_rng(4).normal(size=20) * (ahead != 0)
    samples = {name: np.zeros(20) for name in COLUMNS}
    samples["tree-ftpl-min-noise"] = noise - noise.mean() + ahead
    pairs = column_pairs(*tables(samples)).set_index(["column", "other"])["verdict"]
    assert pairs["tree-ftpl-min-noise", "tree-ftpl-min-regret"] == verdict


def test_equal_columns_are_rarely_ordered() -> None:
    """Of 100 tables in which all columns have one mean, at most 5% may order any two.

    A right rule orders more than 15 with probability below 0.0001; intervals of one pair alone,
    without the correction for twelve, order some in about half of the tables.
    """
    generator = np.random.default_rng(5)
    summary, totals = tables({name: np.zeros(20) for name in COLUMNS})
    ordered = 0
    for _ in range(100):
        drawn = totals.assign(total_gain=generator.normal(size=len(totals)))
        ordered += not (column_pairs(summary, drawn)["verdict"] == "undecided").all()
    assert ordered <= 15


def test_runs_without_the_papers_columns_have_no_pairs() -> None:
    summary, totals = tables({"rw-meta": np.zeros(3)})
    assert column_pairs(summary, totals).empty
    assert column_pairs(summary.assign(variant=True), totals).empty
