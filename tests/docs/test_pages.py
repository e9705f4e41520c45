"""The pages agree with each other, with the workflow, and with the figures of runs."""

from __future__ import annotations

import re

import yaml

from code_blocks import ROOT, pages
from dpol.config.experiment import parse_experiment

DOCS = ROOT / "docs"
KINDS = ("figures", "tables")
NAMED = {
    'f"{study.name}_point"': ["STUDY_point"],
    "step": ["games_results", "games_shown", "STUDY_results"],
}
"""Words of the picture for rules whose names the workflow computes, by the code."""
TARGETS = {"data", "streams", "games", "results"}
"""Rules that only name the outputs of others."""


def shown(name: str, kind: str) -> set[str]:
    """Return the names of the figures or tables that the run of a config makes."""
    path = ROOT / f"config/{name}.yaml"
    config = parse_experiment(yaml.safe_load(path.read_text()), path.name).config
    shown = [
        (section, block)
        for study, block in config.studies()
        for section in study.sections_of(block, config.facts)
    ]
    if kind == "figures":
        return {it.name for section, _ in shown for it in section.figures}
    return {it.name for section, _ in shown for it in section.tables}


def test_results_that_pages_name_are_made() -> None:
    configs = {"central-texas": "config"} | {
        name: name for name in ("beyond", "paper", "simulated", "states")
    }
    made = {(run, kind): shown(name, kind) for run, name in configs.items() for kind in KINDS}
    found = [
        (page.name, run, kind, name)
        for page in pages()
        for run, kind, name in re.findall(r"results/([\w-]+)/(\w+)/([\w-]+)\.\w+", page.read_text())
        if (run, kind) in made
    ]
    assert found
    assert [row for row in found if row[3] not in made[row[1], row[2]]] == []


def test_picture_of_the_workflow_has_every_rule() -> None:
    """Of rules that the workflow names by code, it has the words of NAMED."""
    text = "\n".join(it.read_text() for it in sorted((ROOT / "workflow").rglob("*.smk")))
    text += (ROOT / "workflow/Snakefile").read_text()
    coded = re.findall(r"^ *name:\n +(.+),?$", text, re.M)
    rules = {name for code in coded for name in NAMED[code]}
    rules |= set(re.findall(r"^ *rule (\w+):", text, re.M)) - TARGETS
    drawn = re.findall(r'class="rules"[^>]*>([^<]*)<', (DOCS / "images/workflow.svg").read_text())
    assert sorted(", ".join(drawn).split(", ")) == sorted(rules)
