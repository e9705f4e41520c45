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
from plugins.conftest import CODE


@pytest.fixture
def stream(packages, random_stream) -> dpol.GainStream:
    """A stream, where the package is installed."""
    return random_stream(9, 4)


def play(stream: dpol.GainStream, spec: Any) -> Played:
    (played,) = suite(stream, [spec])
    return played


def test_a_package_may_import_pandas(stream) -> None:
    forgets_nothing = {"algorithm": "forgetful-leader", "keep": 1.0}
    theirs, ours = play(stream, forgets_nothing), play(stream, "rw-ftpl")
    np.testing.assert_array_equal(theirs.actions, ours.actions)
    assert theirs.guarantee == ours.guarantee


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (
            "adalg:Fails",
            r"Fails fails: KeyError: 'north\\nsouth'; in Fails\.step, round 1; it plays",
        ),
        ("adalg:FailsInPublic", "FailsInPublic fails: ZeroDivisionError; it plays code of another"),
        (
            {"algorithm": "rw-meta", "learners": ["adalg:FailingLeader"]},
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
    suites = {"local": {"algorithms": ["loose:ForgetfulLeader"]}}
    report = {"algorithms": ["ForgetfulLeader"]}
    write_config(tmp_path, config, suites=suites, report=report)
    words = "-m", "dpol", "run", "config.yaml", "--dry-run"
    said = fail(run(sys.executable, *words, folder=tmp_path, PYTHONPATH="."))
    assert "\nerror: loose is not installed where the jobs run; pip install it," in said
    assert said.count("\n") == 2, "that line, and the name of the profile"
