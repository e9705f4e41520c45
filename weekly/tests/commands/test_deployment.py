"""`dpol deployment`: a new file, its check, and that every key is described."""

from __future__ import annotations

from pathlib import Path

import yaml

from dpol_weekly.coordinator.settings import Coordination
from dpol_weekly.deployment import Deployment, Entity, Periods, read_deployment
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.tables import DATES
from releases import run

FILLED = {
    "budget_mu: 0.001": "budget_mu: 1.42",
    "first: <TODO>": "first: 2024-01-07",
    "mu: <TODO>": "mu: 0.5",
    "affirmed: <TODO>": "affirmed: true",
    "name: <TODO>": "name: w",
    "<TODO>: {capacity": "A: {capacity",
}


def test_a_new_file_is_filled_in_and_checked(folder):
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
    first, whole, _, budget, *_ = run("deployment", "check", "new.yaml")[1].splitlines()
    assert first == f"The agreement w ({made.sha256()[:12]}) has the hash"
    assert whole == made.sha256()
    assert budget == "Its budget_mu is 1.42; the least that works is 1.415."
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
    hospital = (docs / "hospital.md").read_text()
    assert [key for key in Hospital.model_fields if f"`{key}`" not in hospital] == []
    forms = {form.removesuffix(" time") for form in DATES}
    assert [form for form in forms if f"`{form}`" not in hospital] == []
