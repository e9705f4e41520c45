"""A holder's weeks by the file of a deployment: `dpol deployment` and `privatize`.

Noise here is secure, so outputs differ in every run; what is tested does not depend on it.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
import yaml

from dpol.core.errors import ConfigError
from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.deployment import Deployment, Entity, Periods, read_deployment
from releases import output, own_file, run

FILE = """\
name: winter
periods: {first: 2024-01-07}
entities:
  "050002": {capacity: 18}
  B: {}
mu: 0.5
budget_mu: 1.5
affirmed: true
"""
ROWS = ["050002,2024-01-07,3,20", "B,2024-01-07,4,100", "050002,2024-01-14,5,20"]
COLUMNS = {"entity": "hospital", "count": "covid", "capacity": "beds"}
BOTH = {"entities": ["050002", "B"]}
FIRST = "noisy/winter-2024-01-14.json"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("d.yaml").write_text(FILE)
    return tmp_path


def privatize(*rows, more=(), header="hospital,period,covid,beds", own=BOTH):
    Path("counts.csv").write_text("\n".join([header, *rows]) + "\n")
    columns = {key: it for key, it in COLUMNS.items() if it in header}
    return run("privatize", own_file(columns=columns, **own), *more, *confirmed())


def confirmed():
    """The flag that confirms the agreement as it is now; none where the file is wrong."""
    with contextlib.suppress(ConfigError):
        begin = () if Path("dpol-ledger.sqlite").exists() else ("--begin-after", "2023-12-31")
        return "--agree", read_deployment("d.yaml").sha256(), *begin
    return ()


def test_a_place_begins_with_its_first_release():
    privatize(ROWS[2])
    code, out, err = privatize(ROWS[0], ROWS[2], "B,2024-01-21,4,100")
    assert (code, ": 1 row released for 2024-01-21" in out) == (0, True)
    assert err.startswith("Due, and cannot be released (the table has no row): 050002 2024-01-21,")
    assert [row["period"][-2:] for row in output()] == ["14", "21"]


FILLED = {
    "budget_mu: 0.001": "budget_mu: 1.42",
    "first: TODO": "first: 2024-01-07",
    "mu: TODO": "mu: 0.5",
    "affirmed: TODO": "affirmed: true",
    "name: TODO": "name: w",
    "TODO: {capacity": "A: {capacity",
}


def test_a_new_file_is_filled_in_and_checked():
    said = "new.yaml: fill it in, and check it with dpol deployment check new.yaml\n"
    assert run("deployment", "new", "new.yaml") == (0, said, "")
    text = Path("new.yaml").read_text()
    assert "exists already" in run("deployment", "new", "new.yaml")[2]
    for todo, filled in FILLED.items():
        assert text.count(todo) == 1
        assert run("deployment", "check", "new.yaml")[0] == 1, f"{todo} is left"
        text = text.replace(todo, filled)
        Path("new.yaml").write_text(text)
    made = read_deployment("new.yaml")
    first, whole, _, budget, *_, unbound = run("deployment", "check", "new.yaml")[1].splitlines()[
        :7
    ]
    assert first == f"The agreement w ({made.sha256()[:12]}) has the hash"
    assert whole == made.sha256()
    assert budget == "Its budget_mu is 1.42; the least that works is 1.415."
    assert unbound.startswith("No key is agreed for A: ")
    # All keys are there; optional keys have their defaults.
    whole, usual = yaml.safe_load(Path("new.yaml").read_text()), {}
    assert {*whole, "amends", "second_release"} == {*Deployment.model_fields}
    for key in ("name", "periods", "entities", "mu", "budget_mu", "affirmed"):
        usual[key] = whole[key]
    assert Deployment.model_validate(usual) == made
    assert {*whole["periods"]} == {*Periods.model_fields}


def test_every_key_is_described():
    docs = Path(__file__).parents[2] / "docs"
    text, own = (docs / "agreement.md").read_text(), (docs / "coordinator.md").read_text()
    for model in (Deployment, Periods, Entity):
        assert [key for key in model.model_fields if f"`{key}`" not in text] == []
    assert [key for key in Coordination.model_fields if f"| `{key}` | " not in own] == []
