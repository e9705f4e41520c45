"""Records agree with each other, and the page of benchmarks with its last ones."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import findings
import pandas as pd
import pytest
import record
import tables

from dpol.show.reported import FILLINGS


def test_the_page_of_benchmarks_shows_the_last_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tables.ROOT / "benchmarks"
    monkeypatch.syspath_prepend(folder)
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    made = importlib.import_module("run").page(found)
    assert (folder / "results.md").read_text(encoding="utf-8") == made


def test_the_default_treatment_of_unmeasured_cells_is_the_recorded_run() -> None:
    """Both play the same games, but with intervals of their own."""
    same, key = "treatment == 'measured counts and beds' and read_as == 2", ["algorithm", "noise"]
    fillings = pd.read_csv(FILLINGS).query(same).set_index([*key, "mu"])["mean_gain"]
    run = findings.recorded("central-texas", "summary").set_index([*key, "mu"])
    for cell, gain in fillings.items():
        if cell in run.index:  # the best of the linear models with capacity noise is not played
            assert gain == pytest.approx(run["mean_gain"][cell], rel=1e-5)


@pytest.mark.parametrize("run", ["states", "held-out"])
def test_a_record_keeps_what_over_states_needs(tmp_path: Path, run: str) -> None:
    """The lead over the strongest rival, and its interval over states, follow from kept rows."""
    every = findings.recorded("beyond", "standings").replace({"question": {"": "share"}})
    every.to_parquet(tmp_path / "standings.parquet")
    of_all = record.spread(tmp_path)
    kept = record.standings(tmp_path).query(record.OF_RUN[run]["standings"])
    assert len(kept) < len(every)
    kept.to_parquet(tmp_path / "standings.parquet")
    pd.testing.assert_frame_equal(record.spread(tmp_path), of_all)
