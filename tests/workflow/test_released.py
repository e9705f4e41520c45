"""A run on released numbers: from a coordinator's log to the page, with no gains anywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
import yaml

from dpol.config.docs import schema
from dpol.live.decide import decide
from dpol.live.export import export
from pipeline import SMALL, fail, snakemake, succeed, write_config
from weekly import agreed, collected, day

CONFIG: dict[str, Any] = yaml.safe_load("""
run: small
seed: 1
dataset:
  source: {kind: released, file: state/log.sqlite, deployment: agreed.yaml, simulated: true}
released: {algorithms: [rw-ftpl]}
lazy: {n_rounds: [50], n_experts: [3], epsilons: [4], replicates: 4}
""")

pytestmark = pytest.mark.workflow


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    deployment = agreed(tmp_path)
    rows = [(name, it, f"{4 + it + 5 * (name == 'B')}") for it in range(4) for name in "ABC"]
    collected(tmp_path / "state", tmp_path / "in.csv", deployment, rows)
    return tmp_path


def test_a_log_is_played_and_shown_without_gains(folder: Path) -> None:
    write_config(folder, CONFIG)
    said = succeed(snakemake(folder))
    assert "Released numbers: deployment" in said
    results = folder / "results/small"
    decisions = pd.read_parquet(results / "released_decisions.parquet")
    own = decisions[decisions["algorithm"] == "empirical-bayes"]
    assert own["period"].dt.strftime("%Y-%m-%d").tolist() == [day(it) for it in range(1, 5)]
    assert own["entity"].iloc[-1] == decide(folder / "state").named[0] == "B"
    page = (results / "report/index.html").read_text()
    main = page[page.index("<body>") :]
    assert (
        "The true numbers are unknown: only noisy ones were released, so there are no gains."
        in main
    )
    absent = ('id="answers"', 'id="replay', "average-gain", "cumulative-gain", "noise-costs")
    for text in (*absent, "Total gain"):
        assert text not in main
    parts = [main.index(f'<section id="{it}"') for it in ("released", "lazy", "data", "provenance")]
    assert parts == sorted(parts)
    assert not list(results.glob("**/summary*"))
    assert not (results / "streams").exists()
    assert "Nothing to be done" in succeed(snakemake(folder))
    # The same numbers as a table: the same decisions.
    export(folder / "state", folder / "releases.parquet")
    source = {**CONFIG["dataset"]["source"], "file": "releases.parquet"}
    write_config(folder, CONFIG, run="table", dataset={"source": source})
    point = "points/released/deployment/released_decisions.parquet"
    succeed(snakemake(folder, f"results/table/{point}"))
    again = pd.read_parquet(folder / "results/table" / point)
    pd.testing.assert_frame_equal(again, pd.read_parquet(results / point))


def test_mistakes_are_told_before_anything_runs(folder: Path) -> None:
    more = {
        key: SMALL[key] for key in ("streams", "suites", "privacy", "report", "memory", "claims")
    }
    write_config(folder, {**CONFIG, **more, "replicates": 3})
    said = fail(snakemake(folder, "--dry-run"))
    for key in more:
        assert (
            f"{key} = 'a block': must not be given because dataset.source.kind is released" in said
        )
    assert "replicates = 3: must not be given" in said
    (folder / "agreed.yaml").write_text("name: x\n")
    write_config(folder, CONFIG)
    assert "agreed.yaml: 5 problems" in fail(snakemake(folder, "--dry-run"))
    agreed(folder)
    source = {**CONFIG["dataset"]["source"], "file": "none.csv"}
    write_config(folder, CONFIG, dataset={"source": source})
    assert "none.csv: no such file; dpol collect makes a log" in fail(
        snakemake(folder, "--dry-run")
    )


def test_a_bad_table_is_told_with_its_row(folder: Path) -> None:
    export(folder / "state", folder / "t.csv")
    text = (folder / "t.csv").read_text().replace("\nB,", "\nX,", 1)
    (folder / "t.csv").write_text(text)
    source = {**CONFIG["dataset"]["source"], "file": "t.csv"}
    write_config(folder, CONFIG, dataset={"source": source})
    said = fail(snakemake(folder, "results/small/released_reports.parquet"))
    assert "t.csv: 1 row cannot be used" in said
    assert "row 6: X is not an entity of the deployment" in said


def test_an_editor_knows_both_kinds_of_config() -> None:
    check = jsonschema.Draft202012Validator(json.loads(schema())).is_valid
    assert check(CONFIG)
    assert check(SMALL)
    assert not check({key: value for key, value in SMALL.items() if key != "streams"})
