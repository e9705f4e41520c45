"""Replay: exactly what algorithms saw and chose."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpol.noise import NoisyGains, privatize
from dpol.studies.games import compute
from dpol.studies.games.collect import schema
from dpol.studies.games.replay import MOST_EXPERTS, MOST_ROUNDS, replay_rows
from game_tables import joined
from replays import FREE, LOCAL, MAIN, SEED, facts_of, games, replay_of, stream_of

SIX_BY_THREE = stream_of(6, 3)


@pytest.fixture(scope="module")
def replay() -> pd.DataFrame:
    return schema("replay").check(replay_of(SIX_BY_THREE), "replay")


def grid(replay: pd.DataFrame, column: str, noise: str, mu: float) -> Any:
    own = replay[(replay["noise"] == noise) & (replay["mu"] == mu)]
    return own.pivot(index="round", columns="expert", values=column).to_numpy()


def test_the_replay_has_the_noise_that_the_algorithms_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[tuple[str, float], NoisyGains] = {}

    def spy(stream: Any, noise: str, mu: float, **facts: Any) -> NoisyGains:
        seen[noise, mu] = privatize(stream, noise, mu, **facts)
        return seen[noise, mu]

    monkeypatch.setattr(compute, "privatize", spy)
    replay = replay_of(SIX_BY_THREE, games(SIX_BY_THREE, ("isotropic", "capacity-memory")))
    assert len(seen) == 4
    for (noise, mu), noisy in seen.items():
        released = grid(replay, "noisy_gain", noise, mu)
        np.testing.assert_array_equal(released, noisy.gains[0])
        np.testing.assert_array_equal(grid(replay, "noise_scale", noise, mu), noisy.noise_scale)
        assert (mu == math.inf) == np.array_equal(released, noisy.gains[1]), "another replicate"


def test_the_noise_has_the_memory_of_the_config() -> None:
    memory = (0.2, 0.6)
    _, cells = joined(games(SIX_BY_THREE, ("capacity-memory",), levels=(1.0,)))
    main = MAIN.model_copy(update={"memory": memory})
    replay = replay_rows(cells, {"nm": SIX_BY_THREE}, main, facts_of(SIX_BY_THREE))
    noisy = privatize(
        SIX_BY_THREE, "capacity-memory", 1.0, seed=SEED, replicates=[0], memory=memory
    )
    released = grid(replay, "noisy_gain", "capacity-memory", 1.0)
    np.testing.assert_array_equal(released, noisy.gains[0])


def test_noise_that_is_weaker_than_its_level_is_not_replayed() -> None:
    _, cells = joined(games(SIX_BY_THREE))
    weak = cells["noise"].eq("isotropic") & cells["mu"].eq(1.0)
    cells.loc[weak, "guaranteed_mu"] = 1.01
    replay = replay_rows(cells, {"nm": SIX_BY_THREE}, MAIN, facts_of(SIX_BY_THREE))
    replayed = replay[["noise", "mu"]].drop_duplicates()
    assert replayed.to_numpy().tolist() == [
        ["isotropic", math.inf],
        ["capacity", math.inf],
        ["capacity", 1.0],
    ]


def test_choices_come_from_the_first_replicate(replay: pd.DataFrame) -> None:
    played = [*chain(*games(SIX_BY_THREE))]
    assert len(played) == 9
    for game in played:
        noise = game.noise if game.noise != "none" else "capacity"
        chose = grid(replay, "chosen_by", noise, game.mu)
        chosen = [[game.label in cell.split() for cell in row] for row in chose]
        assert np.argmax(chosen, axis=1).tolist() == game.actions[0].tolist()
        assert np.sum(chosen) == 6


def test_a_game_by_hand(replay: pd.DataFrame) -> None:
    gains = SIX_BY_THREE.gains
    assert (grid(replay, "gain", "isotropic", 1.0) == gains).all()
    best = grid(replay, "oracle", "isotropic", 1.0)
    assert best.argmax(axis=1).tolist() == gains.argmax(axis=1).tolist()
    # Without noise persistence takes the last best; at first all are equal.
    chosen = grid(replay, "chosen_by", "isotropic", math.inf)
    last = [next(i for i in range(3) if "persistence" in row[i]) for row in chosen]
    assert last == [0, *gains.argmax(axis=1)[:-1]]
    # One person moves a share by 1/capacity, two shares at most: sqrt(2) over mu.
    scale = grid(replay, "noise_scale", "capacity", 1.0)
    np.testing.assert_allclose(scale, math.sqrt(2) / SIX_BY_THREE.capacity)
    rows = replay.drop_duplicates("round")
    assert rows["uniform_gain"].tolist() == gains.mean(axis=1).tolist()
    assert rows["period"].astype(str).tolist()[:2] == ["2021-01-01", "2021-01-08"]


def test_of_many_experts_and_rounds_those_that_matter_are_kept() -> None:
    stream = stream_of(MOST_ROUNDS + 5, 60)
    replay = replay_of(stream, games(stream, ("isotropic",), replicates=1))
    shown = set(replay.loc[replay["shown"], "expert"])
    assert len(shown) == MOST_EXPERTS
    # The best experts are the same in every setting, and count once.
    labels = replay["chosen_by"].str.split().str.len()
    setting = (replay["noise"] == "isotropic") & (replay["mu"] == 1.0)
    times = (labels + (setting & replay["oracle"])).groupby(replay["expert"]).sum()
    often = times.index.isin(shown)
    assert times[often].min() >= times[~often].max() > 0
    assert replay["round"].max() == MOST_ROUNDS
    others = replay[~replay["shown"]]
    assert ((others["chosen_by"] != "") | others["oracle"]).all()
    rounds = replay.groupby(["noise", "mu", "round"])
    assert rounds["oracle"].sum().eq(1).all(), "nothing that was chosen or best is lost"
    chosen = replay.assign(number=replay["chosen_by"].str.split().str.len())
    totals = chosen.groupby(["noise", "mu", "round"])["number"].sum()
    assert totals.eq(len(LOCAL) + len(FREE)).all()


def test_noise_of_one_scale_is_left_out_and_without_any_the_truth_is_replayed() -> None:
    kinds = ("isotropic-constant", "isotropic-worst-case")
    replay = replay_of(SIX_BY_THREE, games(SIX_BY_THREE, kinds))
    assert set(replay["noise"]) == {"none"}
    assert (replay["noisy_gain"] == replay["gain"]).all()
    assert set(" ".join(replay["chosen_by"]).split()) == set(FREE)
