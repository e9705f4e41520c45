"""The simulated table: its promises cell by cell, and its likeness to the real weeks."""

from __future__ import annotations

import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpol.data import simulator
from dpol.data.simulator import simulate_hospitals
from dpol.data.table import read_table

FRIDAY = datetime.date(2020, 8, 7)
STATES = {"NM": 24, "PA": 146, "CA": 293}
BEDS, COUNTS, CASES = (list(names) for names in (simulator.BEDS, simulator.COUNTS, simulator.CASES))
TEXTS = ["hospital_pk", "collection_week", "state", "hospital_name", "hospital_subtype"]
PAIRS = {"adult confirmed": (COUNTS[3], BEDS[1]), "all": (COUNTS[0], BEDS[0])}
KEY = ["hospital_pk", "collection_week"]
HIDDEN, MISSING = "-999999", ["", "NA"]
REAL = (
    Path(__file__).parents[2] / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
)


def numbers(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells as numbers; hidden becomes 2, missing NaN."""
    return cells.replace({HIDDEN: "2", "": "nan", "NA": "nan"}).astype(float)


def total_cases(table: pd.DataFrame) -> pd.Series[float]:
    """Suspected cases of each hospital as cleaning counts them, missing as 0."""
    by_hospital = numbers(table[CASES]).groupby(table["hospital_pk"]).sum()
    return by_hospital[CASES[0]] + by_hospital[CASES[1]]


def most_beds(table: pd.DataFrame) -> pd.DataFrame:
    return numbers(table[BEDS]).groupby(table["hospital_pk"]).max().fillna(0)


def regular(table: pd.DataFrame, least_cases: float = 100) -> list[str]:
    """The hospitals that cleaning keeps."""
    beds, cases = most_beds(table), total_cases(table)
    kept: list[str] = cases[(cases >= least_cases) & (beds > 0).all(axis=1)].index.tolist()
    return kept


def matrix(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """The numbers of a column by week and hospital."""
    values = numbers(table[[name]]).assign(**table[KEY])
    return values.pivot(index="collection_week", columns="hospital_pk", values=name)


def density(table: pd.DataFrame, count: str, beds: str) -> pd.DataFrame:
    """Density by week of the hospitals that ever have beds, cleaned but not clipped."""
    rows = table.drop_duplicates()
    capacity = matrix(rows, beds)
    capacity = capacity.where(capacity > 0).ffill().bfill().dropna(axis=1)
    return matrix(rows, count)[capacity.columns].ffill(limit=4).fillna(0) / capacity


def regular_density(table: pd.DataFrame, pair: str) -> pd.DataFrame:
    return density(table[table["hospital_pk"].isin(regular(table))], *PAIRS[pair])


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
    own, other = (many[many["state"] == state] for state in ("NM", "PA"))
    assert own.to_csv(index=False) == alone.to_csv(index=False)
    assert numbers(own[COUNTS]).sum().sum() != numbers(other[COUNTS]).sum().sum()


# Schema


def test_columns_and_cells(table: pd.DataFrame) -> None:
    assert list(table.columns) == TEXTS + BEDS + COUNTS + CASES
    assert all(isinstance(cell, str) for cell in table.iloc[[0, -1]].to_numpy().ravel())
    assert not table.isna().any().any()
    for name in BEDS + COUNTS:
        assert table[name].str.fullmatch(r"(0|[1-9]\d*)(\.[1-9])?|-999999|NA|").all(), name
    for name in CASES:
        assert table[name].str.fullmatch(r"0|[1-9]\d*|-999999|NA|").all(), name
    for name in BEDS + COUNTS:  # averages, not whole numbers only
        assert table[name].str.contains(".", regex=False).any(), name


def test_ids_are_plainly_simulated(table: pd.DataFrame) -> None:
    ids = "SIM-" + table["state"] + "-" + table["hospital_pk"].str[-3:]
    assert (table["hospital_pk"] == ids).all()
    names = "Simulated Hospital " + table["state"] + " " + table["hospital_pk"].str[-3:]
    assert (table["hospital_name"] == names).all()
    assert table.groupby("state")["hospital_pk"].nunique().to_dict() == {
        state: number + 2 for state, number in STATES.items()
    }


def test_rows_are_ordered_by_week_state_and_hospital(table: pd.DataFrame) -> None:
    order = ["collection_week", "state", "hospital_pk"]
    pd.testing.assert_frame_equal(table[order], table[order].sort_values(order, ignore_index=True))
    assert table["collection_week"].iloc[-1] == "2023-06-04", "as in the paper"


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


# Defects


@pytest.mark.parametrize("seed", range(5))
def test_exactly_one_row_is_there_twice(seed: int) -> None:
    rows = simulate_hospitals({"A": 9, "B": 4}, 20, FRIDAY, seed)
    assert rows.duplicated().sum() == 1
    assert rows.duplicated(KEY).sum() == 1


def test_counts_from_1_to_3_are_hidden_and_nothing_else(table: pd.DataFrame) -> None:
    for name in COUNTS + CASES:
        shown = numbers(table[[name]][table[name] != HIDDEN])[name]
        assert not ((shown > 0) & (shown < 4)).any(), name
        assert (table[name] == HIDDEN).any(), name
    assert (numbers(table[COUNTS]) == 4).any().any()  # 4 itself is published
    assert not (table[BEDS] == HIDDEN).any().any()


def test_missing_cells(table: pd.DataFrame) -> None:
    rows = table[table["hospital_pk"].isin(regular(table))]
    for name in BEDS + COUNTS + CASES:
        share = rows[name].isin(MISSING).mean()
        # The real panel lacks 0.5% to 2.6% of the counts, by state.
        assert 0.003 < share < 0.026, name
        assert set(MISSING) <= set(rows[name]), name
    rows = rows.sort_values(KEY)
    gone = rows[BEDS + COUNTS].isin(MISSING).all(axis=1)
    longest = gone.groupby([rows["hospital_pk"], (~gone).cumsum()]).sum().max()
    assert longest == 7  # longer than the default of cleaning.max_carry, so that zeros appear too


@pytest.mark.parametrize(
    ("number", "weeks"), [(2, 60), (7, 60), (8, 60), (24, 60), (146, 60), (293, 60), (60, 2)]
)
def test_late_joiners_and_closed_hospitals(number: int, weeks: int) -> None:
    rows = simulate_hospitals({"A": number}, weeks, FRIDAY, 3).drop_duplicates()
    order = {week: i for i, week in enumerate(rows["collection_week"].unique())}
    spans = rows["collection_week"].map(order).groupby(rows["hospital_pk"]).agg(["min", "max"])
    present = rows.groupby("hospital_pk").size()
    assert (present == spans["max"] - spans["min"] + 1).all()  # no row missing in between
    late, closed = spans["min"] > 0, spans["max"] < weeks - 1
    assert late.sum() == round(0.03 * number)
    assert closed.sum() == (max(1, round(0.006 * number)) if number >= 8 else 0)
    assert not (late & closed).any()
    assert set(spans.index[late | closed]) <= set(regular(rows, min(weeks, 50) * 2))


def test_one_silent_hospital_and_one_without_beds_in_each_group(table: pd.DataFrame) -> None:
    for _, rows in table.groupby("state"):
        cases, beds = total_cases(rows), most_beds(rows)
        (silent,) = cases.index[cases < 100]
        assert 0 < cases[silent] <= 50  # clearly below, yet not nothing
        assert (beds.loc[silent] > 0).all()
        (without,) = beds.index[(beds <= 0).any(axis=1)]
        assert (beds.loc[without] <= 0).all()
        assert set(rows[rows["hospital_pk"] == without][BEDS[1]]) == {"0", *MISSING}
        assert cases[without] >= 100  # so that only the missing beds drop it


# The promised number of hospitals


@pytest.mark.parametrize(
    ("hospitals", "weeks"), [({"NM": 24}, 1), ({"NM": 24}, 0), ({"NM": 24, "PA": 1}, 9), ({}, 9)]
)
def test_too_small_is_refused(hospitals: dict[str, int], weeks: int) -> None:
    with pytest.raises(ValueError, match="2 weeks or more, and groups of 2 hospitals or more"):
        simulate_hospitals(hospitals, weeks, FRIDAY, 0)


@pytest.mark.parametrize(
    "constants",
    [{"CASES_RATE": 1e-6, "CASES_AIM": 0.01}, {"BEDS_MISSING": 0.95, "COUNT_MISSING": 0.95}],
    ids=["hardly a case drawn", "nearly every cell lost"],
)
def test_the_promise_holds_without_luck(
    monkeypatch: pytest.MonkeyPatch, constants: dict[str, float]
) -> None:
    for name, value in constants.items():
        monkeypatch.setattr(f"dpol.data.simulator.{name}", value)
    rows = simulate_hospitals(STATES, 52, FRIDAY, 0)
    assert len(regular(rows)) == sum(STATES.values())


@settings(max_examples=40, deadline=None)
@given(number=st.integers(2, 40), weeks=st.integers(2, 80), seed=st.integers(0, 2**63 - 1))
def test_any_size_keeps_its_hospitals(number: int, weeks: int, seed: int) -> None:
    rows = simulate_hospitals({"g.1": number}, weeks, FRIDAY, seed)
    least = 2 * min(weeks, 50)  # the proportional share of 100, for shorter periods
    assert len(regular(rows, least)) == number
    assert rows["hospital_pk"].nunique() == number + 2


# Likeness to the real weeks


def test_a_few_very_small_hospitals(table: pd.DataFrame) -> None:
    for state, rows in table.groupby("state"):
        beds = numbers(rows[[BEDS[1]]])[BEDS[1]].groupby(rows["hospital_pk"]).median()
        beds = beds[regular(rows)]
        assert 4 <= beds.min() <= 15, state
        # Real survivors: 3% below 16 beds, medians 46 (NM), 112 (PA), 152 (CA), most 519 to 1108.
        assert 0 < (beds < 16).mean() < 0.1, state
        assert 70 < beds.median() < 150, state
        assert 300 < beds.max() < 1500, state


def test_counts_are_consistent(table: pd.DataFrame) -> None:
    values = numbers(table[BEDS + COUNTS])
    assert (values[BEDS[0]] + 0.05 >= values[BEDS[1]])[values[BEDS].notna().all(axis=1)].all()
    known = ~table[COUNTS].isin([HIDDEN, *MISSING]).any(axis=1)
    total, adults, children, confirmed = (values[name][known] for name in COUNTS)
    assert (adults >= confirmed).all()
    assert (adults > confirmed).mean() > 0.1
    assert (total - adults - children).abs().max() < 0.11  # each is rounded


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("seed", range(3))
def test_densities_have_the_real_scale(pair: str, seed: int) -> None:
    rows = simulate_hospitals(STATES, 148, FRIDAY, seed)
    count, _ = PAIRS[pair]
    kept = rows[rows["hospital_pk"].isin(regular(rows))]
    # Real survivors 18% to 24%, all hospitals 15%; all patients are more, so fewer are hidden.
    assert 0.10 < (kept[count] == HIDDEN).mean() < 0.20
    values = regular_density(rows, pair).to_numpy()
    # Real: median 0.055 to 0.079, 95% 0.33 to 0.37, 99% 0.48 to 0.53 in 67 weeks around the
    # three great waves; here the quieter year after them is in it and lowers all three.
    assert 0.04 < np.quantile(values, 0.5) < 0.09
    assert 0.22 < np.quantile(values, 0.95) < 0.38
    assert 0.35 < np.quantile(values, 0.99) < 0.62
    assert (values > 0.4).mean() < 0.05  # real: 3%
    # Real: 0.74 to 0.94, but for one week of one hospital.
    assert 0.7 < values.max() < 1.15


def test_densities_move_as_in_the_real_weeks(table: pd.DataFrame) -> None:
    for state, rows in table.groupby("state"):
        values = regular_density(rows, "adult confirmed").to_numpy()
        # Real: 0.87 (NM), 0.90 (PA), 0.93 (CA).
        correlation = np.corrcoef(values[:-1].ravel(), values[1:].ravel())[0, 1]
        assert 0.85 < correlation < 0.95, state
        best = values.argmax(axis=1)
        # Real: stays best with 0.44 to 0.58; 12 to 22 different ones in 67 weeks.
        assert 0.28 < (best[1:] == best[:-1]).mean() < 0.70, state
        assert len(set(best)) >= 8, state
        # Real: the best of each week has 1.6 to 2.0 times the density of the best single one.
        assert 1.15 < values.max(axis=1).mean() / values.mean(axis=0).max() < 2.6, state
        # Real: playing last week's best has 1.35 to 1.60 times the density of the best single
        # one, so that adapting pays, at a large group clearly.
        followed = values[np.arange(1, len(values)), best[:-1]].mean()
        best_single = values[1:].mean(axis=0).max()
        assert followed > (1.0 if state == "NM" else 1.15) * best_single, state
        level = values.mean(axis=1)
        # Real: from 0.02 in spring 2022 to 0.24 (NM), 0.27 (PA), 0.36 (CA).
        assert level.max() > 0.17, state
        assert level.min() < 0.04, state
        assert level[15:30].max() > 2 * level[32:44].mean(), state  # winter 2020/21, then spring
        assert level[70:83].max() > 2 * level[88:95].mean(), state  # omicron, then spring


def test_against_the_real_weeks(table: pd.DataFrame) -> None:
    count, beds = PAIRS["adult confirmed"]
    columns = [*KEY, "state", count, beds]
    cells = read_table(REAL, columns).cells.replace("-999999.0", HIDDEN)
    weeks = set(cells["collection_week"])
    shifted = weeks | {str((pd.Timestamp(week) + pd.Timedelta(days=2)).date()) for week in weeks}
    levels = [0.5, 0.75, 0.9, 0.95, 0.99]
    for state, number in STATES.items():
        rows = cells[cells["state"] == state]
        # As many as the paper kept: those with the most patients.
        patients = matrix(rows, count).sum()[density(rows, count, beds).columns]
        kept = patients.sort_values().index[-number:]
        real = density(rows, count, beds)[kept].to_numpy()
        ours = regular_density(table[table["state"] == state], "adult confirmed")
        ours = ours[ours.index.isin(shifted)]
        assert len(ours) == len(real) == 67
        # Upper quantiles within 25% (real states differ by 20%), the median within half.
        ratio = np.quantile(ours.to_numpy(), levels) / np.quantile(real, levels)
        assert (np.abs(np.log(ratio)) < np.log([1.5, 1.35, 1.3, 1.3, 1.3])).all(), (state, ratio)


def test_ids_of_a_thousand_hospitals_sort_like_numbers() -> None:
    rows = simulate_hospitals({"CA": 1000}, 2, FRIDAY, 0)
    assert rows["hospital_pk"].nunique() == 1002
    assert rows["hospital_pk"].str.len().nunique() == 1
    assert len(regular(rows, least_cases=4)) == 1000
