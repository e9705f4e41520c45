"""The commands decide on the real hospitals as the pipeline does."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from coordinator.test_pipeline import collected, compared

ROOT = Path(__file__).parents[3]
TABLE = ROOT / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
COUNT = "total_adult_patients_hospitalized_confirmed_covid_7_day_avg"
BEDS = "all_adult_hospital_inpatient_beds_7_day_avg"


def real_panel(state):
    """(T, n) counts and beds of a state, holes repeated; suppressed counts are taken as 2."""
    table = pd.read_parquet(TABLE).query("state == @state")
    found = [
        table.pivot_table(
            index="collection_week", columns="hospital_pk", values=column, dropna=False
        )
        for column in (COUNT, BEDS)
    ]
    counts, beds = (it.ffill().bfill() for it in (found[0].replace(-999999, 2), found[1]))
    there = (beds > 1).all() & counts.notna().all()
    return counts.loc[:, there].to_numpy(), beds.loc[:, there].to_numpy()


@pytest.mark.parametrize(
    ("state", "size", "step", "weeks"),
    [("NM", (67, 39), 1, range(2, 67, 6)), ("CA", (67, 343), 67, (1, 20, 40, 66))],
)
def test_decisions_on_the_real_panel_are_the_pipelines(tmp_path, state, size, step, weeks):
    counts, beds = real_panel(state)
    assert counts.shape == size
    named, played = compared(tmp_path, collected(tmp_path, counts, beds, step=step), beds, weeks)
    assert named == played
