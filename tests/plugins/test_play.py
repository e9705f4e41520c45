"""Algorithms of other packages play in the same loop as those of dpol."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import dpol
from dpol.studies.games.scores import Played
from game_tables import suite
from paper_run import SUITES
from pipeline import ROOT, SMALL, fail, run, snakemake, succeed, write_config
from plugins.conftest import install

CODE = '''
from dataclasses import dataclass

import pandas as pd

import dpol
from dpol.experts.learners.leader import LeaderBank


@dataclass(frozen=True)
class Totals(dpol.LocalAlgorithm):
    """Follow the leader, in pandas."""

    def init(self, setup):
        return pd.DataFrame(setup.initial)

    def step(self, state, observation, generators):
        state = state if observation is None else state + pd.DataFrame(observation.gains)
        return state, state.idxmax(axis=1).to_numpy()


@dataclass(frozen=True)
class Fails(Totals):
    def step(self, state, observation, generators):
        raise KeyError("north\\nsouth")


@dataclass(frozen=True)
class FailsInPublic(dpol.FollowTheLeader):
    def init(self, setup):
        raise ZeroDivisionError


@dataclass(frozen=True)
class FailingLeader(LeaderBank):
    def step(self, state, observation):
        raise LookupError
'''


@pytest.fixture
def stream(packages, monkeypatch, random_stream) -> dpol.GainStream:
    install(packages, "others", points="", code=CODE)
    monkeypatch.delitem(sys.modules, "others", raising=False)
    return random_stream(9, 4)


def play(stream: dpol.GainStream, spec: Any) -> Played:
    (played,) = suite(stream, [spec])
    return played


def test_a_package_may_import_pandas(stream) -> None:
    theirs, ours = play(stream, "others:Totals"), play(stream, "rw-ftpl")
    np.testing.assert_array_equal(theirs.actions, ours.actions)
    assert theirs.guarantee == ours.guarantee


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "others:Fails",
            r"Fails fails: KeyError: 'north\\nsouth'; in Fails\.step, round 1; it plays",
        ),
        (
            "others:FailsInPublic",
            r"FailsInPublic fails: ZeroDivisionError; it plays code of another",
        ),
        (
            {"algorithm": "rw-meta", "learners": ["others:FailingLeader"]},
            r"rw-meta fails: LookupError; in RWMeta\.step, round 1; it plays code of another",
        ),
    ],
)
def test_a_failure_in_another_package_is_one_line_with_its_name(stream, spec, message) -> None:
    with pytest.raises(dpol.DpolError, match=message):
        play(stream, spec)


def test_a_failure_in_dpol_stays_what_it_is(stream, monkeypatch) -> None:
    monkeypatch.setattr("dpol.experts.ftpl.RandomWalkFTPL.step", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        play(stream, "rw-ftpl")


@pytest.mark.workflow
def test_a_rival_is_beside_the_papers_algorithms_by_config_alone(
    packages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Table 2 has its column, Figure 2 and the first figure of the page have its line."""
    monkeypatch.setenv("PYTHONPATH", str(packages))
    games = {key: SMALL[key] for key in ("run", "seed", "dataset", "privacy")}
    suites = SUITES | {"mine": {"algorithms": ["adalg:ForgetfulLeader", "persistence"]}}
    more = {"streams": {"A": {"groups": ["A"]}}, "suites": suites, "replicates": 3}
    ours = {"ours": {"algorithm": "rw-meta", "noise": "capacity"}}
    write_config(tmp_path, games, comparison=ours, **more)
    succeed(snakemake(tmp_path))
    results = tmp_path / "results/small"
    said = "ForgetfulLeader, not in the paper"
    for kind in ("md", "html"):
        table = (results / f"tables/table-2.{kind}").read_text()
        head = table[table.index("RW-Meta") :]
        assert head.index("best linear model") < head.index(said) < head.index("persistence, not")
    assert "ForgetfulLeader, \\\\" in (results / "tables/table-2.tex").read_text()
    rows = pd.read_csv(results / "tables/table-2.csv").query("column == 'ForgetfulLeader'")
    summary = pd.read_parquet(results / "summary.parquet").query("algorithm == 'ForgetfulLeader'")
    assert rows["mean_gain"].tolist() == pytest.approx(summary["mean_gain"].tolist())
    assert said in (results / "figures/figure-2.svg").read_text()
    page = (results / "report/index.html").read_text()
    (read,) = re.findall(r'id="answer-data">(.*?)</script>', page)
    names = [it["name"] for it in json.loads(read)["panels"][0]["lines"]]
    assert [it.endswith(", not in the paper") for it in names][-3:] == [False, True, True]
    assert page.count(said) > 1, "the table of the page and its first figure"


@pytest.mark.workflow
def test_a_module_beside_the_config_is_refused_in_a_line(tmp_path) -> None:
    (tmp_path / "loose.py").write_text(CODE)
    config = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
    suites = {"local": {"algorithms": ["loose:Totals"]}}
    report = {"algorithms": ["Totals"]}
    write_config(tmp_path, config, suites=suites, report=report)
    words = "-m", "dpol", "run", "config.yaml", "--dry-run"
    said = fail(run(sys.executable, *words, folder=tmp_path, PYTHONPATH="."))
    assert "\nerror: loose is not installed where the jobs run; pip install it," in said
    assert said.count("\n") == 2, "that line, and the name of the profile"
