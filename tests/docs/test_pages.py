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
from dpol.privacy.account import protection
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


def test_papers_and_privacy_round_the_numbers_of_a_guarantee_alike() -> None:
    """Both pages round epsilon and right guesses at mu = 0.5 up, to the same numbers."""
    explanation = DOCS / "explanation"
    line = re.compile(r"^(\d+) week\(s\): mu = \S+, epsilon = (\S+), .* at most (\S+)%$", re.M)
    printed = line.findall((explanation / "papers.md").read_text(encoding="utf-8"))
    row = re.compile(r"^\| (\d+) \| \S+ \| \S+% \| (\S+) \| (\S+)% \|", re.M)
    table = row.findall((explanation / "privacy.md").read_text(encoding="utf-8"))
    assert [week for week, *_ in printed] == ["1", "4"]
    assert set(printed) <= set(table)
    for weeks, epsilon, guess in printed:
        exact = protection(0.5, delta=1e-6, weeks=int(weeks))
        assert exact.epsilon <= float(epsilon) < exact.epsilon + 0.01
        assert 100 * exact.best_guess <= float(guess)


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
    stays = {
        "independent noise": [0.5 * weeks**0.5 for weeks in (1, 2, 4, 8)],
        "correlated noise (0.2, 0.6)": [0.5 * norm for norm in echo],
        "factorised prefix sums, T = 148": guarantee_of(MatrixFTPL(), curator).stays,
        "tree, T = 148": guarantee_of(TreeFTPL(), curator).stays,
    }
    page = (DOCS / "explanation/privacy.md").read_text(encoding="utf-8")
    for mechanism, mus in stays.items():
        assert f"| {mechanism} | {' | '.join(f'{mu:.2f}' for mu in mus)} |" in page
