"""Configs of leagues: algorithms join, one by one, and nothing else changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from dpol.config.experiment import load_experiment
from dpol.core.errors import ConfigError, DpolError, UsageError
from dpol.report.league import write_league
from pipeline import ROOT
from small_config import changed

MINE = {"algorithm": "persistence", "label": "mine"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A config with a name and settings that no game depends on."""
    path = tmp_path / "small.yaml"
    raw = changed({"report.replay": True, "keep_rounds": True, "audits": {"runs": 400}})
    path.write_text(yaml.safe_dump(raw))
    return path


@pytest.fixture
def league(tmp_path: Path) -> Path:
    return tmp_path / "league-small.yaml"


def read(path: Path) -> dict[str, Any]:
    raw: dict[str, Any] = yaml.safe_load(path.read_text())
    return raw


def test_a_league_has_the_games_of_its_config_and_the_algorithm(base: Path, league: Path) -> None:
    assert write_league(base, MINE, league) == "league-small"
    raw, asked = read(league), read(base)
    mine = {"noises": ["isotropic", "capacity"], "algorithms": [MINE]}
    assert raw["suites"] == asked["suites"] | {"mine": mine}
    assert raw["comparison"] == {"ours": {"algorithm": "mine", "noise": "capacity"}}
    kept = {"seed", "dataset", "streams", "privacy"}
    assert {*raw} == {"run", "suites", "comparison"} | kept
    assert all(raw[key] == asked[key] for key in kept)
    made, known = load_experiment(league), load_experiment(base)
    assert made.facts.streams == known.facts.streams
    assert made.replicates == known.replicates


def test_another_algorithm_joins_and_the_suites_of_all_others_stay(
    base: Path, league: Path
) -> None:
    """Suites that do not change are not played again; the last algorithm is the one compared."""
    write_league(base, MINE, league)
    before, bytes_of_base = read(league)["suites"], base.read_bytes()
    assert write_league(base, "discounted-mean", league) == "league-small"
    after = read(league)
    assert {label: after["suites"][label] for label in before} == before
    assert {*after["suites"]} - {*before} == {"discounted-mean"}
    assert after["comparison"]["ours"] == {"algorithm": "discounted-mean", "noise": "capacity"}
    write_league(base, MINE | {"caution": 0.5, "algorithm": "discounted-mean"}, league)
    again = read(league)["suites"]
    assert {*again} == {*after["suites"]}, "the same label again is a new version"
    assert again["mine"]["algorithms"] == [MINE | {"caution": 0.5, "algorithm": "discounted-mean"}]
    assert base.read_bytes() == bytes_of_base


@pytest.mark.parametrize(
    ("entry", "noises", "ours"),
    [
        ("rw-adabatch", ["isotropic-constant"], "isotropic-constant"),
        ("noisy-max", ["isotropic", "capacity"], "capacity"),
        ("l2p", ["isotropic"], "isotropic"),
        ("multiplicative-weights", ["isotropic", "capacity"], None),
    ],
)
def test_an_algorithm_plays_with_noises_that_it_can_read(
    base: Path, league: Path, entry: str, noises: list[str], ours: str | None
) -> None:
    write_league(base, entry, league)
    raw = read(league)
    assert raw["suites"][entry]["noises"] == noises
    assert raw.get("comparison", {}).get("ours", {}).get("noise") == ours
    league.unlink()
    # Its table has further readings, which need a method to compare.
    write_league(ROOT / "config/states.yaml", {"algorithm": entry, "label": "mine"}, league)
    assert load_experiment(league).comparison.ours


@pytest.mark.parametrize(
    ("entry", "error", "message"),
    [
        ("ridge", UsageError, "ridge stands for 12 algorithms; write a block whose parameters"),
        ("persistense", UsageError, "persistense.*did you mean persistence"),
        ({"algorithm": "persistence", "windo": 3}, UsageError, "windo"),
        ("rw-ftpl", ConfigError, "'rw-ftpl': is already played by suite noisy; give it a label"),
        (["persistence"], UsageError, "persistence"),
        ({"algorithm": "persistence", "label": "open"}, UsageError, "has a suite open; give the"),
    ],
)
@pytest.mark.parametrize("exists", [True, False])
def test_a_refusal_writes_nothing(
    base: Path, league: Path, entry: Any, error: type[DpolError], message: str, exists: bool
) -> None:
    if exists:
        write_league(base, MINE, league)
    before = league.read_bytes() if exists else None
    with pytest.raises(error, match=message):
        write_league(base, entry, league)
    assert (league.read_bytes() if league.exists() else None) == before


def test_a_league_that_is_no_config_any_more_is_refused_and_kept(base: Path, league: Path) -> None:
    league.write_text("run: league-small\nsuites: []\n")
    with pytest.raises(ConfigError, match="league-small"):
        write_league(base, MINE, league)
    assert league.read_text() == "run: league-small\nsuites: []\n"
