"""Results of another config, code or table are never up to date."""

from __future__ import annotations

import base64
import math
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpol.core.errors import ConfigError
from dpol.core.files import sha256, write_json, write_text
from dpol.core.reach import code_of_results
from dpol.core.record import CLEANING, CODE, CONFIG, CRATE
from dpol.plan import Plan, make_plan
from small_config import SMALL

TABLE = """
dataset:
  source: {kind: local, file: t.csv}
  columns: {entity: a, period: b, count: c, capacity: {file: beds.csv, entity: a, capacity: d}}
streams:
  all: {groups: [all]}
"""


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The record of a finished run of a local table, in the working folder; no Snakemake."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "results/small"
    for name in ("t.csv", "beds.csv"):
        Path(name).write_text(name)
    provenance = {
        "sha256": sha256("t.csv"),
        "capacities": {"file": "beds.csv", "sha256": sha256("beds.csv")},
    }
    write_json(folder / CLEANING, {"provenance": provenance})
    write_text(folder / CONFIG, local().text)
    values = {CODE: code_of_results(), "seed": SMALL["seed"]}
    graph: list[dict[str, Any]] = [
        {"@id": "#data-0", "@type": "CreativeWork", "sha256": sha256("t.csv")},
        *({"@id": it, "@type": "PropertyValue", "name": it, "value": values[it]} for it in values),
    ]
    for name in (CLEANING, CONFIG):
        file = {"@id": name, "@type": "File", "contentSize": "1", "sha256": sha256(folder / name)}
        graph.append(file)
    write_json(folder / CRATE, {"@graph": graph})
    return folder


def local(**changed: Any) -> Plan:
    return make_plan(SMALL | yaml.safe_load(TABLE) | changed, [], "test")


def known(file: str) -> Path:
    """Make Snakemake's record of a file."""
    place = Path(".snakemake/metadata") / base64.urlsafe_b64encode(file.encode()).decode()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("{}")
    return place


def test_results_of_another_config_table_or_code_are_refused_if_snakemake_cannot_know(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local().refuse_other_results()
    privacy = {"levels": {"none": math.inf, "high": 0.5}}
    Path("t.csv").write_text("corrected")
    Path("beds.csv").write_text("corrected too")
    monkeypatch.setattr("dpol.plan.code_of_results", lambda: "fedcba987654")
    other = local(seed=2, privacy=privacy, replicates=7)
    with pytest.raises(ConfigError) as caught:
        other.refuse_other_results()
    head, *lines, foot = str(caught.value).splitlines()
    assert head == "results/small holds the results of something else:"
    assert lines[:3] == [
        "  seed: 1 → 2",
        "  privacy.levels.high: 0.25 → 0.5",
        f"  hash of the code of dpol: {code_of_results()} → fedcba987654",
    ]
    for line, name in zip(lines[3:5], ("t.csv", "beds.csv"), strict=True):
        assert line.startswith(f"  {name}: SHA-256 ")
        assert line.endswith(sha256(name))
    assert lines[5:] == ["  replicates: not set → 7"]
    assert foot == (
        "Snakemake has no records of these files in .snakemake, so it would keep them. Delete or"
        " move results/small, or give the config another run."
    )

    # Snakemake makes again what it has a record of, so all files need one.
    last = [known(f"results/small/{name}") for name in (CLEANING, CONFIG)][-1]
    other.refuse_other_results()
    last.unlink()
    with pytest.raises(ConfigError, match="holds the results of something else"):
        other.refuse_other_results()


def test_a_run_that_is_not_finished_has_nothing_to_compare(results: Path) -> None:
    (results / CRATE).unlink()
    local(seed=2).refuse_other_results()
    local(run="another").refuse_other_results()


def test_files_that_changed_are_named_with_the_remedy(results: Path) -> None:
    assert local().changed == []
    (results / CONFIG).write_text("seed: 3")
    assert local().changed == [
        f"warning: results/small/{CONFIG} was changed after the job that made it; delete it and run"
        " snakemake again"
    ]
