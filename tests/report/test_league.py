"""A league has the numbers of its games and shows them; algorithms join its config one by one."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import dpol
from dpol.config.experiment import load_experiment
from dpol.core.errors import ConfigError, DpolError, UsageError
from dpol.core.schemas import write_frame
from dpol.core.yaml_files import read_yaml
from dpol.report.league import write_league
from in_process import command
from legible import lines
from report.run_by_hand import record
from small_config import changed

MINE = {"algorithm": "rw-ftpl", "label": "mine"}


@dataclass(frozen=True)
class Last(dpol.LocalAlgorithm):
    """The leader of the last round; as defined in a notebook."""

    def init(self, setup):
        return np.zeros(setup.n_replicates, dtype=np.int32)

    def step(self, last, observation, generators):
        return last, last if observation is None else observation.gains.argmax(axis=1)


def test_a_league_ranks_the_games_of_dpol_play(random_stream) -> None:
    stream, levels = random_stream(30, 4), [math.inf, 0.5]
    algorithms = [dpol.TreeFTPL(), "rw-ftpl", MINE, Last(), dpol.FollowTheLeader(), "rw-adabatch"]
    league = dpol.league(algorithms, stream, levels=levels, replicates=5, seed=3)
    rows = league.standings.set_index(["algorithm", "noise", "mu"])
    assert len(rows) == 2 * (2 + 2 + 2 + 2 + 1) + 1
    noisy = dpol.privatize(stream, "capacity", 0.5, seed=3, replicates=5)
    for name, played in (("rw-ftpl", "rw-ftpl"), ("Last", Last())):
        share = dpol.play(played, noisy).share(stream)
        assert rows.loc[(name, "capacity", 0.5), "gain_share"] == pytest.approx(share)
    assert set(rows.loc["rw-adabatch"].index.get_level_values("noise")) == {"isotropic-constant"}
    shown = league._repr_html_()
    assert all(f"{name} with capacity noise" in shown for name in ("Last", "mine", "rw-ftpl"))
    assert league.plot().axes
    mine = dpol.league([Last()], stream, levels=levels, replicates=2).plot()
    assert "Last" in lines(mine.axes[0]), "also without the paper's systems"
    own = replace(stream, provenance={"file": "wards.csv"})
    private = dpol.league(["rw-ftpl"], own, levels=[0.5], replicates=2)
    assert "raw counts that are not public" not in str(league)
    assert "raw counts that are not public" in str(private)


STARRED = "{algorithm: ridge, windows: [8], penalties: {weak: 0.1}}"


def test_two_algorithms_of_one_label_are_refused(random_stream) -> None:
    with pytest.raises(ValueError, match="rw-ftpl plays twice; name one in a block"):
        dpol.league(["rw-ftpl", dpol.RandomWalkFTPL()], random_stream(9, 3), replicates=2)


def test_the_command_ranks_the_best_first_and_stars_the_algorithm_that_it_was_given(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run = shutil.copytree(folder, Path("results/hand"))
    rows = pd.read_parquet(run / "standings.parquet")
    mine = rows[rows["algorithm"] == "ridge-w8-weak"].assign(noise="capacity")
    write_frame(pd.concat([rows, mine]), run / "standings.parquet")
    record(run)
    monkeypatch.setattr("dpol.report.league.write_league", lambda *_: "hand")
    monkeypatch.setattr("subprocess.run", lambda words, check: SimpleNamespace(returncode=0))
    code, out, _ = command("league", STARRED, "--on", "shelters")
    found = [line.partition(" with")[0] for line in out.splitlines() if " noise " in line]
    names = ["ridge-w64-strong", *["* ridge-w8-weak"] * 2, "rw-meta", "tree-ftpl-min-noise"]
    assert (code, found) == (0, names)
    assert "Share nothing" not in out, "its counts are public"


# ---- the config of a league ----------------------------------------------------------------------

ENTRY = {"algorithm": "persistence", "label": "mine"}


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


def test_a_league_has_the_games_of_its_config_and_the_algorithm(base: Path, league: Path) -> None:
    assert write_league(base, ENTRY, league) == "league-small"
    raw, asked = read_yaml(league), read_yaml(base)
    mine = {"noises": ["isotropic", "capacity"], "algorithms": [ENTRY]}
    assert raw["suites"] == asked["suites"] | {"mine": mine}
    kept = {"seed", "dataset", "streams", "privacy"}
    assert {*raw} == {"run", "suites"} | kept
    assert all(raw[key] == asked[key] for key in kept)
    made, known = load_experiment(league), load_experiment(base)
    assert made.facts.streams == known.facts.streams
    assert made.replicates == known.replicates


def test_another_algorithm_joins_and_the_suites_of_all_others_stay(
    base: Path, league: Path
) -> None:
    """Suites that do not change are not played again; the last algorithm is the one compared."""
    write_league(base, ENTRY, league)
    before, bytes_of_base = read_yaml(league)["suites"], base.read_bytes()
    assert write_league(base, "discounted-mean", league) == "league-small"
    after = read_yaml(league)
    assert {label: after["suites"][label] for label in before} == before
    assert {*after["suites"]} - {*before} == {"discounted-mean"}
    write_league(base, ENTRY | {"caution": 0.5, "algorithm": "discounted-mean"}, league)
    again = read_yaml(league)["suites"]
    assert {*again} == {*after["suites"]}, "the same label again is a new version"
    assert again["mine"]["algorithms"] == [ENTRY | {"caution": 0.5, "algorithm": "discounted-mean"}]
    assert base.read_bytes() == bytes_of_base


@pytest.mark.parametrize(
    ("entry", "noises"),
    [
        ("rw-adabatch", ["isotropic-constant"]),
        ("noisy-max", ["isotropic", "capacity"]),
        ("l2p", ["isotropic"]),
        ("multiplicative-weights", ["isotropic", "capacity"]),
    ],
)
def test_an_algorithm_plays_with_noises_that_it_can_read(
    base: Path, league: Path, entry: str, noises: list[str]
) -> None:
    write_league(base, entry, league)
    raw = read_yaml(league)
    assert raw["suites"][entry]["noises"] == noises


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
        write_league(base, ENTRY, league)
    before = league.read_bytes() if exists else None
    with pytest.raises(error, match=message):
        write_league(base, entry, league)
    assert (league.read_bytes() if league.exists() else None) == before


def test_a_league_that_is_no_config_any_more_is_refused_and_kept(base: Path, league: Path) -> None:
    league.write_text("run: league-small\nsuites: []\n")
    with pytest.raises(ConfigError, match="league-small"):
        write_league(base, ENTRY, league)
    assert league.read_text() == "run: league-small\nsuites: []\n"
