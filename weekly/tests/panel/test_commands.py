"""The commands decide on the real hospitals as the pipeline does."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from coordinator.test_pipeline import PLAYED, collected, compared

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


@pytest.fixture(scope="module")
def mexico(tmp_path_factory):
    """A folder into which 39 hospitals have reported every week, and their noisy counts."""
    folder, (counts, beds) = tmp_path_factory.mktemp("NM"), real_panel("NM")
    assert counts.shape == (67, 39)
    return folder, collected(folder, counts, beds), beds


@pytest.mark.parametrize("algorithm", PLAYED, ids=str)
def test_decisions_on_the_real_panel_are_the_pipelines(mexico, tmp_path, algorithm):
    template, noisy, beds = mexico
    named, played = compared(template, tmp_path, algorithm, noisy, beds, range(2, 67, 6))
    assert named == played
    assert len(set(played)) > 1, "a test that any constant passes"


def test_decisions_of_a_large_state_are_the_pipelines(tmp_path):
    counts, beds = real_panel("CA")
    assert counts.shape == (67, 343)
    noisy = collected(tmp_path / "template", counts, beds, step=67)
    given = "empirical-bayes", noisy, beds, (1, 20, 40, 66)
    named, played = compared(tmp_path / "template", tmp_path / "case", *given)
    assert named == played
    assert len(set(played)) > 1, "a test that any constant passes"
