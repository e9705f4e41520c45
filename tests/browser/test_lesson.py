"""The numbers of docs/teach.md, from the run that its game replays."""

from __future__ import annotations

import dataclasses
from functools import cache
from pathlib import Path

import pandas as pd

from dpol.config.experiment import load_experiment
from dpol.data.cleaning import clean_table
from dpol.data.stream import build_stream
from dpol.studies.games.replay import replay_rows
from dpol.studies.games.settings import GamesSettings, Report
from game_tables import joined, suite

ROOT = Path(__file__).parents[2]
TEACH = (ROOT / "docs/teach.md").read_text(encoding="utf-8")
BEYOND = load_experiment(ROOT / "config/beyond.yaml")
MUS = 1.0, 0.25
PLAYERS = "tree-ftpl-min-noise", "rw-meta"
AMG = "ALBUQUERQUE - AMG SPECIALTY HOSPITAL, LLC"
SAN_JUAN = "SAN JUAN REGIONAL MEDICAL CENTER INC"


@cache
def lesson_rows() -> pd.DataFrame:
    """Return the replay of the first run of config/beyond.yaml, on its first stream."""
    config = BEYOND
    dataset, label = config.dataset, next(iter(config.streams))
    file = ROOT / config.whole()["dataset"]["source"]["file"]
    panel, _ = clean_table(file, dataset, {label: config.streams[label]})
    stream = build_stream(panel, label, config.privacy.count_sensitivity, {}, gain=config.gain)
    played = (
        suite(stream, [it], mu=mu, seed=config.seed, replicates=range(1))
        for mu in MUS
        for it in PLAYERS
    )
    _, cells = joined(played)
    main = GamesSettings(report=Report(algorithms=[*PLAYERS]), seed=config.seed)
    facts = dataclasses.replace(config.facts, levels=MUS)
    return replay_rows(cells, {label: stream}, main, facts)


def test_the_lesson_has_the_numbers_of_the_run() -> None:
    replay = lesson_rows()
    weeks = replay["period"].dt.strftime("%Y-%m-%d")
    rounds = replay.loc[weeks == "2021-01-15", "round"].iloc[0] + range(10)
    low = replay[replay["mu"] == MUS[0]]
    best = low[low["oracle"] & low["round"].isin(rounds)]
    assert best["name"].tolist() == [SAN_JUAN, *[AMG] * 9]
    scale = 100 * best["noise_scale"].iloc[0]
    (opening,) = low.loc[low["round"] == 1, "period"].unique()
    for sentence in (
        f"the week of {opening:%Y-%m-%d} at μ = 1",
        f"On 2021-01-15 the smallest hospital has {100 * 2**0.5 / scale:.0f} beds",
        f"The standard deviation is {scale:.1f} per 100 beds",
        f"1.96 × {scale:.1f} = {1.96 * scale:.1f} to each side",
        f"four times as long: {4 * 1.96 * scale:.1f}, more",
    ):
        assert sentence in TEACH
