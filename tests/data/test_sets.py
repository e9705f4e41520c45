"""Tables that come with dpol are read, cleaned and played as when they were checked."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import dpol
from data.drawn import streams
from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_table
from dpol.data.settings import Dataset
from dpol.data.stream import build_stream
from pipeline import ROOT


def test_every_real_table_has_a_licence_and_a_citation() -> None:
    for path in (ROOT / "config").glob("*.yaml"):
        its = load_experiment(path).dataset
        assert its.simulated or (its.licence and its.citation), path.name


@pytest.mark.parametrize(
    ("name", "shape", "empty"), [("flu", (230, 52), 36), ("intensive-care", (730, 16), 0)]
)
def test_gains_are_those_of_pandas_alone(name: str, shape: tuple[int, int], empty: int) -> None:
    config = load_experiment(ROOT / f"config/{name}.yaml")
    panel, report = clean_table(
        config.raw_file, config.dataset, config.streams, config.gains.values()
    )
    (label,) = config.streams
    stream = build_stream(panel, label, 1.0, {}, gain=config.gain)
    raw, of = pd.read_parquet(config.raw_file), config.dataset.needed_columns
    period, entity, count, capacity = of.period, of.entity, of.count, str(of.capacity)
    assert raw[count].isna().sum() == empty == report["streams"][0]["cells"]["zero_counts"]
    assert panel["count"].sum() == raw[count].sum()
    raw["share"] = raw[count].fillna(0) / raw[capacity] * of.capacity_per
    wide = raw.pivot(index=period, columns=entity, values="share")[list(stream.entities)]
    assert stream.gains.shape == shape
    np.testing.assert_allclose(stream.gains, wide.to_numpy(float), rtol=1e-12)
    noisy = dpol.privatize(stream, noise="capacity", mu=1.0, seed=1, replicates=2)
    assert np.isfinite(dpol.play(dpol.RWMeta(), noisy).gains(stream)).all()


def test_the_table_that_comes_with_dpol_is_the_one_of_the_results() -> None:
    """Its bytes and the panel of three states are as before; an extract gave the same numbers."""
    config = load_experiment(ROOT / "config/states.yaml")
    digest = hashlib.sha256(Path(config.raw_file).read_bytes()).hexdigest()
    assert digest == "1d9a8c1471ac389004a67be9c735808c4f03226eb3afdacc8b19a5f5dd0dd088"
    three = {state: config.streams[state] for state in ("NM", "PA", "CA")}
    panel, _ = clean_table(config.raw_file, config.dataset, three, config.gains.values())
    digest = hashlib.sha256(panel.to_csv(index=False).encode()).hexdigest()
    assert digest == "94137c1b790f48a9c344ace7713b3d81f8cc02a196ad4bf18eee5ec9cd63eef3"


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
