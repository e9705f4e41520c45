"""The experts of the largest predictions, several in each round."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from dpol.experts.registry import make_members
from dpol.noise import privatize
from dpol.studies.games import schema
from dpol.studies.games.runs import play_suite, read_runs, write_runs
from dpol.studies.games.settings import Games, Report
from dpol.studies.games.top import top_rows
from replays import stream_of

LABELS = ["persistence", "empirical-bayes", "rw-meta"]


def played(stream, names, mu=1.0, memory_mb=math.inf):
    members = [it for label in LABELS for it in make_members(label)]
    return play_suite(
        stream,
        members,
        noise="isotropic",
        mu=mu,
        seed=3,
        replicates=range(4),
        names=names,
        memory_mb=memory_mb,
    )


def test_persistence_by_hand():
    """It predicts the last noisy gains, so its k best are theirs."""
    stream, k = stream_of(20, 6), 3
    persistence, bayes, meta = played(stream, k).played
    noisy = privatize(stream, "isotropic", 1.0, seed=3, replicates=range(4)).gains
    best = np.argsort(-noisy[:, :-1], axis=2)[:, :, :k]
    for week in range(1, 20):
        sums = stream.gains[week][best[:, week - 1]].sum(axis=1)
        np.testing.assert_allclose(persistence.top[:, week], sums)
    assert bayes.top.shape == (4, 20)
    assert meta.top is None, "it has no predictions"


def test_games_stay_as_they_are_and_runs_keep_the_sums(tmp_path):
    stream = stream_of(20, 6)
    plain, both = played(stream, 1), played(stream, 3)
    write_runs(plain, tmp_path / "plain.parquet")
    write_runs(both, tmp_path / "both.parquet")
    for before, after, read in zip(
        plain.played, both.played, read_runs(tmp_path / "both.parquet").played, strict=True
    ):
        np.testing.assert_array_equal(before.actions, after.actions)
        np.testing.assert_array_equal(read.gains, after.gains)
        assert (read.top is None) == (after.top is None)
        if after.top is not None:
            np.testing.assert_array_equal(read.top, after.top)
            assert (after.top >= after.gains - 1e-12).all(), "the action is among the k best"
    assert {it.top is None for it in read_runs(tmp_path / "plain.parquet").played} == {True}
    few = played(stream, 3, memory_mb=1.0).played[0]
    np.testing.assert_array_equal(few.top, both.played[0].top)


def test_the_table_has_shares_of_what_k_can_gain():
    stream = stream_of(20, 6)
    main = Games(
        streams={stream.label: None},
        levels={"none": math.inf},
        names=3,
        report=Report(algorithms=LABELS),
    )
    cells = list(played(stream, 3, mu=math.inf).played)
    best = np.sort(stream.gains, axis=1)[:, -3:].sum(axis=1)
    foreseen = dataclasses.replace(cells[0], label="foreseen", top=np.tile(best, (4, 1)))
    table = top_rows([*cells, foreseen], {stream.label: stream}, main)
    assert list(table.columns) == list(schema("top").columns)
    rows = table.set_index("algorithm")
    assert list(rows.index) == ["persistence", "empirical-bayes", "foreseen"]
    assert rows.loc["foreseen", "gain_share"] == pytest.approx(1)
    assert rows.loc["persistence", "gain_share"] < 0.5, "gains are random"
    row = rows.loc["persistence"]
    assert row["chance_gain"] == pytest.approx(3 * stream.gains.mean(axis=1).sum())
    assert row["best_static_gain"] == pytest.approx(np.sort(stream.gains.sum(axis=0))[-3:].sum())
    assert row["foresight_gain"] == pytest.approx(best.sum())
