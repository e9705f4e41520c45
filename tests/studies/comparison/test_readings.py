"""A verdict that unmeasured numbers may decide needs the same verdict at every reading."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.config.experiment import parse_experiment
from dpol.core.intervals import half_width
from dpol.data.stream import UNMEASURED, write_stream
from dpol.studies.comparison.points import ReadingsPoint
from dpol.studies.comparison.readings import agreed, play_readings, with_verdicts
from dpol.studies.comparison.study import points
from dpol.studies.study import Inputs, reading_label
from pipeline import snakemake, succeed, write_config
from small_config import COMPARED, changed, problems

READINGS = {"dataset.readings": {"ones": {"suppressed_value": 1}, "nines": {"suppressed_value": 9}}}
CONFIG = parse_experiment(changed(COMPARED, READINGS), "my.yaml").config


@pytest.mark.parametrize(
    ("share", "found", "said"),
    [
        (0.05, ["below", "below"], "above"),
        (0.06, ["above", "above"], "above"),
        (0.06, ["above", "undecided"], "ahead at this reading"),
        (0.06, ["below", "above"], "ahead at this reading"),
        (0.06, [], "ahead at this reading"),
    ],
)
def test_above_needs_measured_numbers_or_all_readings(
    share: float, found: Sequence[str], said: str
) -> None:
    pair = {"stream": "a", "mu": 1.0, "other_algorithm": "x", "other_noise": "n"}
    comparison = pd.DataFrame([{**pair, "verdict": "above"}])
    readings = pd.DataFrame([{**pair, "verdict": verdict} for verdict in found])
    summary = pd.DataFrame([{"stream": "a", "unmeasured_share": share}])
    assert agreed(comparison, readings, summary)["verdict"].tolist() == [said]
    alone = agreed(comparison.replace("above", "below"), None, summary)["verdict"].tolist()
    assert alone == ["below" if share <= 0.05 else "behind at this reading"]


def test_ours_and_each_rival_play_only_where_the_reading_may_matter(
    random_stream: Any, tmp_path: Path
) -> None:
    """Differences of equal replicates, recomputed from games played by hand, agree."""
    of_streams = points(CONFIG.block("comparison"), CONFIG.facts)
    point = of_streams["one/readings"]
    assert dict(point.inputs) == {
        "stream": "streams/one.parquet",
        "ones": "streams/one@ones.parquet",
        "nines": "streams/one@nines.parquet",
    }
    assert isinstance(point.settings, ReadingsPoint)
    settings, files = replace(point.settings, replicates=4), {}
    for name, seed in (("stream", 1), ("ones", 2), ("nines", 3)):
        made = random_stream(12, 3, label="one" if name == "stream" else f"one@{name}", seed=seed)
        made = replace(made, capacity=np.full((12, 3), 50.0))
        files[name] = tmp_path / f"{name}.parquet"
        write_stream(replace(made, provenance={UNMEASURED: {"periods": 4, "share": 0.06}}),
                     files[name])  # fmt: skip
    inputs = Inputs(seed=5, memory_mb=1e3, files=files)
    rows = play_readings(settings, inputs)
    assert rows.groupby("reading").size().to_dict() == {"ones": 2, "nines": 2}, "two levels each"
    assert set(zip(rows["other_algorithm"], rows["other_noise"], strict=True)) == {
        ("rw-meta", "isotropic")
    }
    lead = rows["mean_gain"] - rows["other_mean_gain"]
    np.testing.assert_allclose(rows["difference"], lead, rtol=0, atol=1e-12)
    made = with_verdicts(rows, 0.9)
    one = half_width(np.array([0.0, 1.0, 2.0, 3.0]), 0.9, comparisons=4)
    unit = np.array([0.0, 1.0, 2.0, 3.0]).std(ddof=1) / 2
    np.testing.assert_allclose(
        made["difference_half_width"], rows["difference_error"] * one / unit, rtol=1e-12
    )
    calm = replace(random_stream(12, 3, label="one"), provenance={})
    write_stream(calm, files["stream"])
    assert play_readings(settings, inputs).empty


def test_readings_need_a_comparison_of_single_algorithms() -> None:
    allowed = "must not be given without the block comparison, which plays them"
    assert problems(READINGS) == [f"dataset.readings = ['ones', 'nines']: {allowed}"]
    family = {"comparison.baseline": {"algorithm": "ridge-w8-weak", "noise": "isotropic"}}
    (said,) = problems(COMPARED, READINGS, family)
    assert said.startswith("comparison.baseline.algorithm = 'ridge-w8-weak': must be an entry")
    (empty,) = problems(COMPARED, {"dataset.readings": {"x": {}}})
    assert empty.startswith("dataset.readings.x")
    assert reading_label("one", "ones") not in CONFIG.streams


COUNTS = {"A": "27 27 27 3 3 3 3 3", "B": "<5 <5 <5 <5 <5 <5 <5 <5", "C": "1 1 1 1 1 1 1 1"}
BEDS = {"A": 30, "B": 10, "C": 30}


@pytest.mark.workflow
def test_a_run_says_ahead_at_this_reading_until_all_readings_agree(tmp_path: Path) -> None:
    """The hidden B is the best of five weeks if it is read as 2 or 4, and of none if as 0.5.

    Last week's choice finds it at once, the leader of all weeks only later.
    """
    days = pd.date_range("2021-01-03", periods=8, freq="7D").strftime("%Y-%m-%d")
    rows = [
        (town, day, count, BEDS[town])
        for town, line in COUNTS.items()
        for day, count in zip(days, line.split(), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["town", "week", "sick", "beds"])
    (tmp_path / "data/raw").mkdir(parents=True)
    table.to_csv(tmp_path / "data/raw/towns.csv", index=False)
    config = {
        "run": "towns",
        "seed": 1,
        "dataset": {
            "source": {"kind": "local", "file": "data/raw/towns.csv"},
            "columns": {"entity": "town", "period": "week", "count": "sick", "capacity": "beds"},
            "cleaning": {
                "entities": "all",
                "suppressed_markers": ["<5"],
                "suppressed_value": 4,
            },
        },
        "streams": {"all": {"groups": ["all"]}},
        "privacy": {"levels": {"mu-inf": float("inf")}},
        "suites": {
            "local": {"noises": ["capacity"], "algorithms": ["persistence", "rw-ftpl"]},
        },
        "replicates": 20,
        "comparison": {
            "baseline": {"algorithm": "rw-ftpl", "noise": "capacity"},
            "ours": {"algorithm": "persistence", "noise": "capacity"},
        },
    }
    results = tmp_path / "results/towns"
    write_config(tmp_path, config)
    succeed(snakemake(tmp_path, "results/towns/comparison.parquet"))
    (verdict,) = pd.read_parquet(results / "comparison.parquet")["verdict"]
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["streams"][0]["unmeasured"]["periods"] == 5
    assert any("nobody measured the best number" in text for text in report["warnings"])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unmeasured_periods"]) == {5}
    assert verdict == "ahead at this reading"
    for value, there, said in ((2, "above", "above"), (0.5, "equal", verdict)):
        config["dataset"]["readings"] = {"other": {"suppressed_value": value}}
        write_config(tmp_path, config)
        succeed(snakemake(tmp_path, "results/towns/comparison.parquet"))
        assert pd.read_parquet(results / "readings.parquet")["verdict"].tolist() == [there]
        assert pd.read_parquet(results / "comparison.parquet")["verdict"].tolist() == [said]
    config["dataset"]["cleaning"]["suppressed_value"] = 0.5  # then nothing hidden is the best
    write_config(tmp_path, config)
    succeed(snakemake(tmp_path, "results/towns/comparison.parquet"))
    assert pd.read_parquet(results / "readings.parquet").empty
    assert pd.read_parquet(results / "comparison.parquet")["verdict"].tolist() == ["equal"]
