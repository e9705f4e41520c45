"""Foreign algorithms that look for raw gains, each played as in a run."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

import dpol
from dpol.core.errors import AlgorithmError
from dpol.data.stream import write_stream
from dpol.experts.alone import play_alone
from dpol.experts.registry import make_members
from dpol.noise import privatize
from dpol.studies.games.runs import Played, play_suite
from pipeline import ROOT, fail, run, write_config
from plugins.conftest import install

CHEATS = Path(__file__).with_name("cheats.py").read_text()
HONEST = "cheats:Leader"


@pytest.fixture
def stream(packages, tmp_path, monkeypatch, make_stream) -> dpol.GainStream:
    """The stream of a run, with eight experts and a best one."""
    install(packages, "cheats", points="", code=CHEATS)
    monkeypatch.delitem(sys.modules, "cheats", raising=False)
    gains = np.random.default_rng(5).random((12, 8))
    gains[:, 3] += 0.1
    made = make_stream(gains / 2)
    write_stream(made, tmp_path / "results/one/streams/A.parquet")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHEATED", str(tmp_path))
    return made


def play(stream: dpol.GainStream, *specs: object, mu: float = 0.05, **more: object) -> list[Played]:
    members = [member for spec in specs for member in make_members(spec)]
    played = play_suite(
        stream, members, noise="isotropic", mu=mu, seed=1, replicates=range(5), **more
    )
    return list(played.played)


@pytest.mark.parametrize("name", ["GC", "Frames", "Env", "Carried"])
def test_no_raw_gains_are_in_the_process_that_plays(stream, name) -> None:
    honest, cheat = play(
        stream,
        {"algorithm": HONEST, "label": "one"},
        {"algorithm": f"cheats:{name}", "label": "two"},
    )
    np.testing.assert_array_equal(cheat.actions, honest.actions)
    assert not (cheat.actions == stream.best_fixed_expert()).all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Disk", r"Disk, played without raw gains: it opens .*results/one/streams/A.parquet; it"),
        ("Average", r"Average: replicate \d alone plays other actions than among 5 replicates"),
    ],
)
def test_a_detected_attempt_ends_the_run(stream, name, message) -> None:
    with pytest.raises(AlgorithmError, match=message):
        play(stream, f"cheats:{name}")


def test_nothing_opens_a_file_without_asking_python(stream) -> None:
    honest, cheat = play(
        stream,
        {"algorithm": HONEST, "label": "one"},
        {"algorithm": "cheats:MachineCode", "label": "two"},
    )
    np.testing.assert_array_equal(cheat.actions, honest.actions)


@pytest.mark.parametrize(
    "spec",
    [
        "rw-meta",
        "rw-ftpl",
        {"algorithm": "ridge", "windows": [4], "penalties": {"weak": 0.1}},
    ],
)
def test_an_honest_algorithm_plays_the_same_game_there(stream, spec) -> None:
    (member,) = make_members(spec)
    (expected,) = play(stream, spec)
    source = privatize(stream, "isotropic", 0.05, seed=1, replicates=range(5))
    np.testing.assert_array_equal(play_alone(member, source), expected.actions)


def test_a_foreign_learner_makes_its_algorithm_foreign(stream) -> None:
    (meta,) = make_members({"algorithm": "rw-meta", "learners": ["adalg:OtherLeaders"]})
    (known,) = make_members("rw-meta")
    assert (meta.foreign, known.foreign) == (True, False)


@pytest.mark.workflow
def test_a_run_ends_with_the_name_of_the_cheat(stream, packages, tmp_path) -> None:
    config = yaml.safe_load((ROOT / ".test/config/config.yaml").read_text())
    suites = {"local": {"algorithms": ["cheats:Disk"]}}
    report = {"algorithms": ["Disk"], "envelope": ""}
    write_config(tmp_path, config, suites=suites, report=report)
    words = "-m", "dpol", "run", "config.yaml", "--cores", "1", "--quiet", "all"
    done = run(sys.executable, *words, folder=tmp_path, PYTHONPATH=str(packages))
    assert "Disk, played without raw gains: it opens" in fail(done)
    assert not list(tmp_path.glob("results/test/points/games/**/*.parquet"))
