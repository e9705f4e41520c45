"""Decisions of the commands on the real hospitals are those of the pipeline: make test-panel."""

from __future__ import annotations

import pandas as pd
import pytest
from pipeline import ROOT

from coordinator.test_pipeline import PLAYED, collected, compared

TABLE = ROOT / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
COUNT = "total_adult_patients_hospitalized_confirmed_covid_7_day_avg"
BEDS = "all_adult_hospital_inpatient_beds_7_day_avg"


def real_panel(state):
    """(T, n) counts and beds of a state, holes repeated; suppressed counts are taken as 2."""
    table = pd.read_parquet(TABLE).query("state == @state")
    found = [
        table.pivot_table(index="collection_week", columns="hospital_pk", values=it, dropna=False)
        for it in (COUNT, BEDS)
    ]
    counts, beds = (it.ffill().bfill() for it in (found[0].replace(-999999, 2), found[1]))
    there = (beds > 1).all() & counts.notna().all()
    return counts.loc[:, there].to_numpy(), beds.loc[:, there].to_numpy()


@pytest.mark.parametrize(("state", "n"), [("NM", 39), ("PA", 173), ("CA", 343)])
@pytest.mark.parametrize(("algorithm", "memory"), PLAYED, ids=str)
def test_decisions_on_the_real_panel_are_the_pipelines(tmp_path, state, n, algorithm, memory):
    counts, beds = real_panel(state)
    assert counts.shape == (67, n)
    step = 1 if state == "NM" else len(counts)
    template = collected(tmp_path / "template", counts, beds, memory, step=step)
    named, played = compared(template, tmp_path / "case", algorithm, beds, memory)
    assert len(played) == 66
    assert named == played
    assert len(set(played)) > 1, "a test that any constant passes"
