"""The pages agree with each other, with the workflow, and with the figures of runs."""

from __future__ import annotations

import re

from code_blocks import ROOT, pages
from dpol.config.experiment import load_experiment

DOCS = ROOT / "docs"
NAMED = {
    'f"{study.name}_point"': ["STUDY_point"],
    "step": ["games_results", "games_shown", "STUDY_results"],
}
"""Words of the picture for rules whose names the workflow computes, by the code."""
TARGETS = {"data", "streams", "games", "results"}
"""Rules that only name the outputs of others."""


def made() -> dict[str, set[str]]:
    """Return the figures and tables that each config makes, by the name of its run."""
    made = {}
    for path in (ROOT / "config").glob("*.yaml"):
        config = load_experiment(path).config
        for study, block in config.studies():
            for section in study.sections_of(block, config.facts):
                names = {f"figures/{it.name}" for it in section.figures}
                names |= {f"tables/{it.name}" for it in section.tables}
                made.setdefault(config.run, set()).update(names)
    return made


def test_results_that_pages_name_are_made() -> None:
    there, named = made(), r"results/([\w-]+)/((?:figures|tables)/[\w-]+)\.\w+"
    found = {(page.name, *it) for page in pages() for it in re.findall(named, page.read_text())}
    of_configs = {each for each in found if each[1] in there}
    assert of_configs
    assert {each for each in of_configs if each[2] not in there[each[1]]} == set()


def test_picture_of_the_workflow_has_every_rule() -> None:
    """Of rules that the workflow names by code, it has the words of NAMED."""
    text = "\n".join(it.read_text() for it in sorted((ROOT / "workflow").rglob("*.smk")))
    text += (ROOT / "workflow/Snakefile").read_text()
    coded = re.findall(r"^ *name:\n +(.+),?$", text, re.M)
    rules = {name for code in coded for name in NAMED[code]}
    rules |= set(re.findall(r"^ *rule (\w+):", text, re.M)) - TARGETS
    drawn = re.findall(r'class="rules"[^>]*>([^<]*)<', (DOCS / "images/workflow.svg").read_text())
    assert sorted(", ".join(drawn).split(", ")) == sorted(rules)
