"""The pages agree with each other, with the workflow, and with the figures of runs."""

from __future__ import annotations

import re

import numpy as np
import workflow_picture as workflow
import yaml

from code_blocks import ROOT, pages
from dpol.config.experiment import parse_experiment
from dpol.data.stream import GainStream
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, guarantee_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.privacy.chains import chain_norm

DOCS = ROOT / "docs"
KINDS = ("figures", "tables")


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
    assert workflow.PICTURE.read_text(encoding="utf-8") == workflow.drawn()
    boxed = [rule for box in workflow.BOXES for rule in box.rules]
    assert sorted(boxed) == sorted(workflow.rules(ROOT / "workflow"))


def test_privacy_states_the_stays_of_each_mechanism() -> None:
    """The table has mu of a person counted in 1, 2, 4 and 8 weeks, at mu = 0.5."""
    stream = GainStream(
        label="three",
        gains=np.full((148, 3), 0.1),
        capacity=np.full((148, 3), 40.0),
        entities=("a", "b", "c"),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(148),
    )
    curator = RawGains(stream, mu=0.5)
    echo = [chain_norm(0.2, 0.6, weeks) / chain_norm(0.2, 0.6, 1) for weeks in (1, 2, 4, 8)]
    factorised, tree = (guarantee_of(it, curator).stays for it in (MatrixFTPL(), TreeFTPL()))
    stays = {
        "independent noise": [0.5 * weeks**0.5 for weeks in (1, 2, 4, 8)],
        "correlated noise (0.2, 0.6)": [0.5 * norm for norm in echo],
        "factorised prefix sums, T = 148": [loss.mu for loss in factorised],
        "tree, T = 148": [loss.mu for loss in tree],
    }
    page = (DOCS / "explanation/privacy.md").read_text(encoding="utf-8")
    for mechanism, mus in stays.items():
        assert f"| {mechanism} | {' | '.join(f'{mu:.2f}' for mu in mus)} |" in page
