"""A league in Python has the numbers of the games that it plays, and shows them."""

from __future__ import annotations

import math
import shutil
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import dpol
from dpol.core.schemas import write_frame
from dpol.studies.comparison.standings import OUR_METHOD
from in_process import command
from report.run_by_hand import record

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
    assert all(f"{name}, capacity noise" in shown for name in ("Last", "mine", "rw-ftpl"))
    names = [text.get_text() for text in league.plot().axes[0].texts]
    assert sum("Last" in name for name in names) == 1


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
    rows.loc[rows["algorithm"] == "rw-meta", "role"] = OUR_METHOD  # the run's, not the reader's
    mine = rows[rows["algorithm"] == "ridge-w8-weak"].assign(noise="capacity")
    write_frame(pd.concat([rows, mine]), run / "standings.parquet")
    record(run)
    monkeypatch.setattr("dpol.report.league.write_league", lambda *_: "hand")
    monkeypatch.setattr("subprocess.run", lambda words, check: SimpleNamespace(returncode=0))
    code, out, _ = command("league", STARRED, "--on", "shelters")
    lines = [line.partition(",")[0] for line in out.splitlines() if " noise " in line]
    names = ["ridge-w64-strong", *["* ridge-w8-weak"] * 2, "rw-meta", "tree-ftpl-min-noise"]
    assert (code, lines) == (0, names)
