"""Zeros that may hide counts: what a draw hides, and which verdict all draws give."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpol.data.stream import ZERO_OR_HIDDEN
from dpol.studies.comparison.standings import OUR_METHOD, THE_BASELINE, THE_LEVEL
from dpol.studies.robustness.zeros import hidden_averages, in_reach, summed_up, with_hidden

WEEKS = pd.date_range("2021-01-01", periods=52, freq="7D")
KNOWN = np.array([2.0, 4.0, 8.0, 12.0, 27.0]) / 7


def test_a_hidden_average_is_told_by_its_sum_and_its_days(tmp_path: Path) -> None:
    """A sum of 1 to 3 is hidden too, and read as 2; a count that is shown tells nothing."""
    rows = {"n_avg": [-999999, -999999, -999999, 5.0], "n_sum": [14, -999999, 9, 35]}
    pd.DataFrame(rows | {"n_coverage": [7, 4, 0, 7]}).to_parquet(tmp_path / "table.parquet")
    assert hidden_averages(tmp_path / "table.parquet", "n_avg").tolist() == [2.0, 0.5]


def panel(source: str) -> pd.DataFrame:
    """Return a year of 40 hospitals with 2 beds; every third count is 0, every fourth carried."""
    count = np.tile(np.arange(52) % 3, 40).astype(float)
    kind = np.where(np.arange(len(count)) % 4 == 0, "carried", source)
    return pd.DataFrame(
        {"stream": "NM", "entity": np.repeat(np.arange(40), 52), "period": np.tile(WEEKS, 40)}
        | {"count": count, "capacity": 2.0, "density": count / 2, "count_source": kind}
    )


@pytest.mark.parametrize("source", ["reported", ZERO_OR_HIDDEN])
def test_all_zeros_of_a_hidden_quarter_and_nothing_else_take_a_hidden_average(source: str) -> None:
    rows = panel(source)
    made = with_hidden(rows, KNOWN, 0.3, 0)
    moved = made["count"] != rows["count"]
    zero = (rows["count"] == 0) & (rows["count_source"] == source)
    assert not moved[~zero].any()
    quarter = [rows["entity"], rows["period"].dt.quarter]
    share = moved[zero].groupby([it[zero] for it in quarter]).mean()
    assert set(share) == {0.0, 1.0}
    assert share.mean() == pytest.approx(0.3, abs=0.1)
    values = made["count"][moved]
    assert values.between(2 / 7, 27 / 7).all()
    pd.testing.assert_series_equal(
        made["density"][moved], (values / 2).clip(upper=1), check_names=False
    )
    within = np.log(values).groupby([it[moved] for it in quarter]).std().median()
    assert 0.1 < within < np.log(values).std()
    assert not with_hidden(rows, KNOWN, 0.3, 1)["count"].equals(made["count"])
    assert with_hidden(rows, KNOWN, 0.0, 0)["count"].equals(rows["count"])


@pytest.mark.parametrize(
    ("lead", "verdict"),
    [([0.2, 0.1], "above"), ([0.2, -0.1], "undecided"), ([-0.2, -0.1], "below")],
)
def test_a_verdict_needs_all_draws_each_with_its_strongest_rival(
    lead: list[float], verdict: str
) -> None:
    systems = pd.DataFrame(
        [
            ("ours", "ours", OUR_METHOD),
            ("rw-meta", "paper", THE_BASELINE),
            ("a", "a", ""),
            ("b", "b", ""),
        ],
        columns=["algorithm", "family", "role"],
    ).assign(noise="capacity", guarantee=THE_LEVEL, mu=0.25)
    noise = 0.001 * np.array([-1.0, 0.0, 1.0])
    shares = np.zeros((4, 2, 3))
    shares[0], shares[1] = 0.5 + noise, 0.1
    shares[2], shares[3] = 0.05, np.nan  # b does not play in the second draw
    shares[2, 1], shares[3, 0] = 0.5 - lead[1], 0.5 - lead[0]
    row = summed_up(systems, shares, 0.95, 3)
    assert row["verdict"] == verdict
    assert [row["lead_least"], row["lead_most"]] == pytest.approx(sorted(lead))
    assert (row["draws"], row["baseline"], row["rival"]) == (2, pytest.approx(0.1), "b")


def test_only_systems_that_cannot_be_the_strongest_are_left_out() -> None:
    systems = pd.DataFrame(
        {"algorithm": [*"opabc"], "family": [*"opabc"], "guarantee": THE_LEVEL, "mu": 0.25}
    ).assign(role=[OUR_METHOD, THE_BASELINE, "", "", ""])
    noise = np.array([-0.01, 0.0, 0.01])
    shares = np.array([0.9, 0.0, 0.5, 0.49, 0.3])[:, None] + np.outer([0, 0, 0, 1, 1], noise)
    assert in_reach(systems, shares, 0.95, 4).tolist() == [True, True, True, True, False]
    free = systems.assign(mu=np.inf)
    near = np.array([0.9, 0.0, 0.5, 0.46, 0.44])[:, None] * np.ones(3)
    assert in_reach(free, near, 0.95, 4).tolist() == [True, True, True, True, False]
