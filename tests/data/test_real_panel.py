"""Cleaning makes the same panel of the HHS table that comes with dpol as when it was checked."""

from __future__ import annotations

import hashlib

import yaml

from data.drawn import dataset, streams
from dpol.data.cleaning import clean_table
from dpol.data.settings import Dataset
from pipeline import ROOT

TABLE = ROOT / "data/hospitals/hospitals-15-states-2021-01-01--2022-07-29.parquet"
COLUMNS = {
    "entity": "hospital_pk",
    "period": "collection_week",
    "name": "hospital_name",
    "count": "total_adult_patients_hospitalized_confirmed_covid_7_day_avg",
    "capacity": "all_adult_hospital_inpatient_beds_7_day_avg",
}


def test_the_table_that_comes_with_dpol_is_the_one_of_the_results() -> None:
    """Its bytes and the panel of three states are as before; an extract gave the same panel."""
    digest = hashlib.sha256(TABLE.read_bytes()).hexdigest()
    assert digest == "1d9a8c1471ac389004a67be9c735808c4f03226eb3afdacc8b19a5f5dd0dd088"
    rules = dataset(COLUMNS, case_factor=7, min_total_cases=100)
    panel, _ = clean_table(TABLE, rules, streams(NM=["NM"], PA=["PA"], CA=["CA"]))
    digest = hashlib.sha256(panel.to_csv(index=False).encode()).hexdigest()
    assert digest == "e4be70a146f1421344e7c6b1b536a720e3a1a55c2a499e938cfbe96c9abba21c"


def test_sums_tell_most_hidden_averages_of_central_texas() -> None:
    """The numbers were counted in the table itself."""
    keys = yaml.safe_load((ROOT / "config/config.yaml").read_text())["dataset"]
    keys["cleaning"] |= {"entities": "all", "capacity_zero": "carry", "max_zeroed": 1}
    del keys["cleaning"]["min_total_cases"]
    rules = Dataset.model_validate(keys)
    _, report = clean_table(ROOT / keys["source"]["file"], rules, streams(S=["TX"]))
    (stream,) = report["streams"]
    found = {rule: cells for rule, cells in stream["cells"].items() if cells}
    assert (found["summed_counts"], found["hidden_sum_counts"]) == (1029, 268)
    assert (found["summed_capacities"], found["hidden_sum_capacities"]) == (32, 1)
    assert not {"suppressed_counts", "uncovered_counts"} & {*found}
    assert found["idle_counts"] == 18 + 1
    (idle,) = (text for text in stream["checks"] if "a capacity of 0" in text)
    assert idle.endswith(": 450808 (1 period); 670006 (18 periods)")
