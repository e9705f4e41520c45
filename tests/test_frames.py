"""Streams and games as tables of pandas."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

import dpol
from dpol.data.stream import GIVEN_COLUMNS, STREAM_COLUMNS
from streams_by_hand import given_stream, stream


@pytest.mark.parametrize("made", [stream(), given_stream()], ids=["capacities", "given"])
def test_a_stream_has_the_table_of_its_file(made: dpol.GainStream, tmp_path: Path) -> None:
    frame, file = made.to_frame(), tmp_path / "stream.parquet"
    dpol.write_stream(made, file)
    written = pd.read_parquet(file)
    assert tuple(frame) == (STREAM_COLUMNS if made.capacity is not None else GIVEN_COLUMNS)
    kinds = {"entity": str, "name": str, "period": "datetime64[s]"}
    pd.testing.assert_frame_equal(frame, written.astype(kinds))


def test_games_have_a_row_per_replicate_and_round() -> None:
    played = stream()
    noisy = dpol.privatize(played, "capacity", 1.0, seed=1, replicates=[7, 3])
    games = dpol.play("rw-ftpl", noisy, label="mine")
    frame = games.to_frame(played)
    plain = ["stream", "algorithm", "replicate", "round", "action"]
    assert list(frame) == [*plain, "period", "entity", "name", "gain"]
    pd.testing.assert_frame_equal(games.to_frame(), frame[plain])
    assert frame["stream"].unique().tolist() == ["NM"]
    assert frame["algorithm"].unique().tolist() == ["mine"]
    assert frame["replicate"].tolist() == [7, 7, 7, 3, 3, 3]
    assert frame["round"].tolist() == [1, 2, 3, 1, 2, 3]
    assert frame["action"].tolist() == games.actions.ravel().tolist()
    assert frame["gain"].tolist() == games.gains(played).ravel().tolist()
    chosen = frame.merge(
        played.to_frame(), left_on=["round", "action"], right_on=["round", "expert"]
    )
    for column in ("period", "entity", "name", "gain"):
        assert (chosen[f"{column}_x"] == chosen[f"{column}_y"]).all()


def test_without_pandas_a_table_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    games = dpol.play("rw-ftpl", dpol.privatize(stream(), "capacity", 1.0, seed=1, replicates=2))
    monkeypatch.setitem(sys.modules, "pandas", None)
    for has_table in (stream(), games):
        with pytest.raises(ModuleNotFoundError) as caught:
            has_table.to_frame()
        assert (
            str(caught.value)
            == 'pandas is missing; run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"'
        )
