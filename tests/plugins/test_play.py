"""Algorithms of other packages play in the same loop as those of dpol."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import yaml

import dpol
from dpol.studies.games.scores import Played
from game_tables import suite
from pipeline import ROOT, fail, run, write_config
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
