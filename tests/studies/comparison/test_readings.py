"""A verdict that unmeasured numbers may decide needs the same verdict at every reading."""

from __future__ import annotations

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
