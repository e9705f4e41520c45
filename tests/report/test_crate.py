"""Crate of a run: it describes the files of the run and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from dpol.report.door import CRATE
from dpol.reruns.code_hashes import code_of_results
from report.crates import changed_files, checked_crate
from report.run_by_hand import CLEANING, PROVENANCE, config, write_files

ODD = "tables/half & half #1.csv"


@pytest.fixture
def crated(folder: Path, tmp_path: Path) -> Path:
    """The hand-made run with its crate."""
    copy = tmp_path / "hand"
    shutil.copytree(folder, copy)
    (copy / "report").mkdir()
    (copy / "report/index.html").write_text("the page")
    (copy / ODD).write_text("1")
    write(copy)
    return copy


def write(folder: Path, **changes: Any) -> dict[str, Any]:
    names = ["report/index.html", "summary", "data/cleaning.json", ODD]
    return write_files(folder, config(**changes), PROVENANCE, names)


def test_the_crate_names_inputs_code_and_outputs(crated: Path) -> None:
    entities = {entity["@id"]: entity for entity in checked_crate(crated)}
    run, data = entities["#run"], entities["#data-0"]
    assert (run["startTime"], run["endTime"]) == (
        "2001-09-09T01:46:19+00:00",
        "2001-09-09T01:47:00+00:00",
    )
    assert {file["@id"] for file in run["result"]} == {
        *("report/index.html", "summary.parquet", "data/cleaning.json"),
        "tables/half%20%26%20half%20%231.csv",
    }
    assert data["sha256"] == CLEANING["provenance"]["sha256"]
    assert data["url"] == "https://example.org/t.csv"
    assert entities["#seed"]["value"] == 7
    assert entities["#hash-of-the-code-of-dpol"]["value"] == code_of_results()
    assert entities["pkg:pypi/dpol@0.1.0"]["softwareVersion"] == "0.1.0"
    assert entities["#commit"]["value"] == "0123abc"
    assert (crated / "provenance/config.yaml").read_text() == PROVENANCE.params.config_text
    assert not any("Person" in entity["@type"] or "agent" in entity for entity in entities.values())


def test_the_description_warns_if_the_counts_are_not_public(crated: Path) -> None:
    described = {
        public: next(
            entity["description"]
            for entity in write(
                crated,
                dataset=config().dataset.model_dump(mode="json", exclude_none=True)
                | {"public": public},
            )["@graph"]
            if entity["@id"] == "./"
        )
        for public in (True, False)
    }
    assert described[True].endswith("results of one run, on real data.")
    assert described[False] == (
        f"{described[True]} This folder holds your raw counts. Share nothing of it."
    )


def test_equal_files_give_an_equal_crate(crated: Path) -> None:
    before = (crated / CRATE).read_bytes()
    write(crated)
    assert (crated / CRATE).read_bytes() == before
    (crated / "summary.parquet").write_bytes(b"other numbers")
    assert changed_files(crated) == ["summary.parquet"]
    write(crated)
    checked_crate(crated)
