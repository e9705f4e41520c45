"""The plan of a run; tests/workflow/test_what_runs_again.py has what a change of it costs."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
import verify
import yaml

from dpol.core.errors import ConfigError
from dpol.core.files import sha256
from dpol.plan import Plan, inputs_of, make_plan
from dpol.studies.jobs import settings_from
from dpol.studies.league.settings import LeaguePoint
from dpol.studies.registry import STUDIES, load_study
from pipeline import ROOT, run, succeed, write_config

SMALL: dict[str, Any] = yaml.safe_load((verify.HERE / "small.yaml").read_text())


def plan(**changed: Any) -> Plan:
    return make_plan(SMALL | changed, [], "test")


def on_the_web(name: str, group: str, file: str = "table.csv.gz") -> Plan:
    """Return the plan of a run that fetches a table."""
    source = {"kind": "web", "file": file, "endpoints": [{"kind": "file", "url": "http://x/"}]}
    dataset = SMALL["dataset"] | {"source": source}
    return plan(run=name, dataset=dataset, streams={"NM": {"groups": [group]}})


def test_jobs_get_the_settings_of_their_points_through_json() -> None:
    """Infinite mu as well, which JSON itself does not have."""
    asked = plan()
    for study, _ in asked.studies:
        for job in asked.jobs[study.name].values():
            plain = json.loads(json.dumps(job.plain))
            assert tuple(settings_from(study.package, it) for it in plain) == job.points
    assert math.inf in {it.mu for job in asked.jobs["games"].values() for it in job.points}
    assert {type(it) for it in asked.jobs["league"]["standings"].points} == {LeaguePoint}


def test_the_result_tables_are_made_from_what_points_read() -> None:
    read = {study: inputs_of(jobs.values()) for study, jobs in plan().jobs.items()}
    assert read["games"] == {"stream": ["streams/NM.parquet"]}
    assert read["league"].keys() == {"summary", "totals"}
    assert read["lazy"] == {}


def test_the_text_of_a_config_has_its_order_letters_and_overrides(tmp_path: Path) -> None:
    titled = {label: stream | {"title": "Peña"} for label, stream in SMALL["streams"].items()}
    text = plan(streams=titled).text
    assert list(yaml.safe_load(text)) == list(SMALL)
    assert "title: Peña\n" in text
    assert plan().name == "module test"
    file = tmp_path / "a.yaml"
    file.write_text(f"# Comment.\n{yaml.safe_dump(SMALL)}")
    assert make_plan(SMALL, [file]).text == file.read_text()
    assert "\nseed: 9\n" in make_plan(SMALL | {"seed": 9}, [file]).text


def test_a_job_is_told_the_checksum_of_its_table_unless_a_job_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a fetched table that is gone, its record tells the checksum."""
    monkeypatch.chdir(tmp_path)
    table, local, fetched = Path("table.csv.gz"), plan(), on_the_web("a", "NM")

    def told(asked: Plan, *, made: bool) -> str | None:
        (found,) = asked.contents(str(table), made=lambda file: made)
        return found

    assert told(local, made=False) is told(fetched, made=True) is None
    Path(f"{table}.provenance.json").write_text(json.dumps({"sha256": "abc"}))
    assert told(fetched, made=True) == "abc"
    for text in ("fetched", "corrected, by hand or by another fetch"):
        table.write_text(text)
        assert told(local, made=False) == told(fetched, made=True) == sha256(table)
    assert told(local, made=True) is None


def test_two_imports_share_a_fetched_table_only_if_they_ask_for_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = {"first": on_the_web("a", "NM")}
    on_the_web("b", "NM").refuse_twins(first)
    on_the_web("b", "PA", "other.csv.gz").refuse_twins(first)
    with pytest.raises(ConfigError, match="module first fetches other groups, columns or periods"):
        on_the_web("b", "PA").refuse_twins(first)
    (tmp_path / "table.csv.gz").touch()  # placed by hand, so nobody fetches it
    on_the_web("b", "PA").refuse_twins(first)
    assert not plan().must_fetch
    several = {"B": {"groups": ["PA", "NM"]}, "A": {"groups": ["NM"]}}
    assert plan(streams=several).wanted_groups == ["NM", "PA"], "their order makes no other query"


PLANNED = """
import sys
from dpol.plan import make_plan
from dpol.core.yaml_files import read_yaml
from dpol.reruns.code_hashes import code_of_job
plan = make_plan(read_yaml("config/beyond.yaml"), ["config/beyond.yaml"])
for study, block in plan.studies:
    for section in study.sections_of(block, plan.config.facts):
        plan.jobs, code_of_job("study_shown", study.showing, *section.drawing)
print(*sys.modules)
"""


def test_planning_imports_the_plans_of_studies_and_no_tables_or_figures() -> None:
    """NumPy comes with the algorithms, which check their parameters."""
    done = succeed(run(sys.executable, "-c", PLANNED, folder=ROOT))
    imported = set(done.split())
    assert imported.isdisjoint({"pandas", "matplotlib", "pyarrow", "scipy.stats", "requests"})
    studies = [load_study(name) for name in STUDIES]
    assert imported.isdisjoint({study.computing for study in studies})
    assert imported >= {f"{study.package}.study" for study in studies}


def test_a_fault_of_the_command_line_is_named_as_such(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_config(tmp_path, SMALL)
    overridden = r"^config.yaml with --config seed: 1 problem\n  seed = 'a"
    with pytest.raises(ConfigError, match=overridden):
        make_plan({**SMALL, "seed": "abc"}, ["config.yaml"])
    write_config(tmp_path, SMALL, seed="abc")
    with pytest.raises(ConfigError, match="^config.yaml: 1 problem"):
        make_plan({**SMALL, "seed": "abc"}, ["config.yaml"])
