"""The simulated table keeps its promises cell by cell."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.data import simulator
from dpol.data.simulator import simulate_hospitals

FRIDAY = datetime.date(2020, 8, 7)
STATES = {"NM": 24, "PA": 146, "CA": 293}
BEDS = [*simulator.BEDS]
COUNTS = [simulator.ALL_COVID, simulator.ADULT_CONFIRMED]
CASES = [simulator.ADULT_SUSPECTED, simulator.CHILD_SUSPECTED]
KEY = ["hospital_pk", "collection_week"]
HIDDEN, MISSING = "-999999", ["", "NA"]


def numbers(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells as numbers: 2 for hidden cells, NaN for missing ones."""
    return cells.replace({HIDDEN: "2", "": "nan", "NA": "nan"}).astype(float)


def total_cases(table: pd.DataFrame) -> pd.Series[float]:
    """Return the suspected cases of each hospital as cleaning counts them, missing as 0."""
    by_hospital = numbers(table[CASES]).groupby(table["hospital_pk"]).sum()
    return by_hospital[CASES[0]] + by_hospital[CASES[1]]


def most_beds(table: pd.DataFrame) -> pd.DataFrame:
    return numbers(table[BEDS]).groupby(table["hospital_pk"]).max().fillna(0)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return simulate_hospitals(STATES, 148, FRIDAY, seed=2020)


# Determinism


def test_same_seed_same_bytes_other_seed_others() -> None:
    first, again, other = (simulate_hospitals({"NM": 9}, 30, FRIDAY, s) for s in (5, 5, 6))
    assert first.to_csv(index=False) == again.to_csv(index=False)
    # Not only somewhere: almost every hospital and week has other beds.
    shared = first.merge(other, on=KEY)
    assert (shared[f"{BEDS[0]}_x"] != shared[f"{BEDS[0]}_y"]).mean() > 0.8


def test_a_group_depends_on_its_label_and_not_on_the_others() -> None:
    alone = simulate_hospitals({"NM": 9}, 30, FRIDAY, 5).drop_duplicates()
    many = simulate_hospitals({"PA": 9, "NM": 9, "AZ": 3}, 30, FRIDAY, 5).drop_duplicates()
    ours, other = (many[many["state"] == state] for state in ("NM", "PA"))
    assert ours.to_csv(index=False) == alone.to_csv(index=False)
    assert numbers(ours[COUNTS]).sum().sum() != numbers(other[COUNTS]).sum().sum()


# Weeks


@pytest.mark.parametrize("weeks", [2, 3, 4, 60, 148])
def test_fridays_become_sundays(weeks: int) -> None:
    rows = simulate_hospitals({"NM": 3}, weeks, FRIDAY, 1)
    starts = pd.to_datetime(pd.Series(rows["collection_week"].unique()))
    assert len(starts) == weeks
    assert starts[0] == pd.Timestamp(FRIDAY)
    gaps = starts.diff().dt.days.to_numpy()[1:]
    switches = np.flatnonzero(gaps == 9) + 1
    assert (np.delete(gaps, switches - 1) == 7).all()
    if weeks < 3:
        assert len(switches) == 0
    else:
        assert len(switches) == 1
        assert abs(switches[0] - 2 * weeks / 3) < 1
        assert set(starts.dt.day_name()[switches[0] :]) == {"Sunday"}


# Shares


def test_the_patients_of_a_group_rise_and_fall_twice_a_year(table: pd.DataFrame) -> None:
    rows = table[table["state"] == "CA"]
    both = numbers(rows[[simulator.ALL_COVID, simulator.ALL_BEDS]])
    sums = both.groupby(rows["collection_week"].to_numpy()).sum()
    share = sums[simulator.ALL_COVID] / sums[simulator.ALL_BEDS]
    assert 0.01 < share.min() < 0.04 < 0.15 < share.max() < 0.25
    half, whole = (np.corrcoef(share[:-lag], share[lag:])[0, 1] for lag in (13, 26))
    assert half < -0.9 < 0.9 < whole


# Defects


def test_counts_from_1_to_3_are_hidden_and_nothing_else(table: pd.DataFrame) -> None:
    for name in COUNTS + CASES:
        shown = numbers(table[[name]][table[name] != HIDDEN])[name]
        assert not ((shown > 0) & (shown < 4)).any(), name
        assert (table[name] == HIDDEN).any(), name
    assert (numbers(table[COUNTS]) == 4).any().any()  # 4 itself is published
    hidden = (table[CASES[0]] == HIDDEN).groupby(table["hospital_pk"]).any()
    assert hidden.mean() > 0.5, "also of hospitals that play"
    assert not (table[BEDS] == HIDDEN).any().any()


def test_of_each_group_one_hospital_joins_late_one_closes_one_is_silent_and_one_has_no_beds(
    table: pd.DataFrame,
) -> None:
    for _, rows in table.groupby("state"):
        weeks = rows.groupby("hospital_pk")["collection_week"].agg(["min", "max"])
        assert (weeks["min"] > weeks["min"].min()).sum() == 1
        assert (weeks["max"] < weeks["max"].max()).sum() == 1
        cases, beds = total_cases(rows), most_beds(rows)
        (silent,) = cases.index[cases < 100]
        assert 0 < cases[silent] <= 50  # clearly below, yet not nothing
        assert (beds.loc[silent] > 0).all()
        (without,) = beds.index[(beds <= 0).any(axis=1)]
        assert (beds.loc[without] <= 0).all()
        assert set(rows[rows["hospital_pk"] == without][BEDS[1]]) == {"0", *MISSING}
        assert cases[without] >= 100  # so that only the missing beds drop it


@settings(max_examples=40, deadline=None)
@given(number=st.integers(2, 40), weeks=st.integers(2, 80), seed=st.integers(0, 2**63 - 1))
def test_any_size_keeps_its_hospitals(number: int, weeks: int, seed: int) -> None:
    rows = simulate_hospitals({"g.1": number}, weeks, FRIDAY, seed)
    enough = total_cases(rows) >= 2 * min(weeks, 50)
    assert (enough & (most_beds(rows) > 0).all(axis=1)).sum() == number
    assert rows["hospital_pk"].nunique() == number + 2
