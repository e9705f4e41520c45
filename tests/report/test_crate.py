"""Crate of a run: it describes the files of the run and nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rocrate.rocrate import ROCrate

from dpol.core.files import write_text
from dpol.report.door import CRATE
from dpol.reruns.code_hashes import code_of_results
from report.crates import changed_files, checked_crate
from report.run_by_hand import ASKED, CLEANING, PROVENANCE, record

ODD = "tables/half & half #1.csv"


@pytest.fixture
def crated(folder: Path, tmp_path: Path) -> Path:
    """The hand-made run with its crate."""
    copy = shutil.copytree(folder, tmp_path / "hand")
    write_text(copy / "report/index.html", "the page")
    write_text(copy / ODD, "1")
    return record(copy)


def test_the_crate_names_inputs_code_and_outputs(crated: Path) -> None:
    entities = {entity["@id"]: entity for entity in checked_crate(crated)}
    run, data = entities["#run"], entities["#data-0"]
    assert (run["startTime"], run["endTime"]) == (
        "2001-09-09T01:46:19+00:00",
        "2001-09-09T01:47:00+00:00",
    )
    results = {file["@id"] for file in run["result"]}
    assert {"report/index.html", "tables/half%20%26%20half%20%231.csv"} <= results
    there = {it.relative_to(crated).parts[0] for it in crated.rglob("*.*")}
    assert there - {it.split("/")[0] for it in results} == {CRATE, "logs", "provenance"}
    assert data["sha256"] == CLEANING["provenance"]["sha256"]
    assert data["url"] == "https://example.org/t.csv"
    assert entities["#seed"]["value"] == 7
    assert entities["#hash-of-the-code-of-dpol"]["value"] == code_of_results()
    assert entities["pkg:pypi/dpol@0.1.0"]["softwareVersion"] == "0.1.0"
    assert entities["#commit"]["value"] == "0123abc"
    assert (crated / "provenance/config.yaml").read_text() == PROVENANCE.params.config_text
    assert not any("Person" in entity["@type"] or "agent" in entity for entity in entities.values())


def test_the_description_warns_if_the_counts_are_not_public(crated: Path) -> None:
    described = []
    for public in (True, False):
        record(crated, dataset=ASKED["dataset"] | {"public": public})
        described.append(ROCrate(crated).root_dataset["description"])
    assert described[0].endswith("results of one run, on real data.")
    assert described[1] == (
        f"{described[0]} This folder holds your raw counts. Share nothing of it."
    )


def test_equal_files_give_an_equal_crate(crated: Path) -> None:
    before = (crated / CRATE).read_bytes()
    record(crated)
    assert (crated / CRATE).read_bytes() == before
    (crated / "summary.parquet").write_bytes(b"other numbers")
    assert changed_files(crated) == ["summary.parquet"]
    record(crated)
    checked_crate(crated)
