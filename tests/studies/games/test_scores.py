"""Scores: enough for every result table, however the replicates are split into jobs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpol.core.errors import DataError
from dpol.core.intervals import half_width, half_width_of
from dpol.core.schemas import write_frame
from dpol.studies.games.scores import RunBlock, score_tables
from dpol.studies.games.summary import read_scores
from game_tables import block_of, joined, suite
from runs_by_hand import runs
from streams_by_hand import stream

SUITES = [("rw-ftpl", "ridge"), ("multiplicative-weights",), ("tree-ftpl-min-noise",)]


def of_gains(gains: Sequence[Sequence[float]], first: int = 0, **about: Any) -> RunBlock:
    """Return runs with these gains; `first` is the number of the first replicate."""
    return block_of(runs(gains, **about), first, best=0.5)


def one(blocks: Sequence[RunBlock]) -> tuple[pd.DataFrame, pd.Series]:
    """Return the scores and the row of the only cell of blocks."""
    scores, cells = joined(blocks)
    (place,) = cells.index
    return scores, cells.loc[place]


GAINS = arrays.arrays(
    float,
    st.tuples(st.integers(2, 7), st.integers(1, 5)),
    elements=st.floats(0, 1, width=16),
)


def test_scores_by_hand() -> None:
    scores, cell = one([of_gains([[1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])])
    assert scores["total_gain"].tolist() == [1.5, 1.0]
    assert scores["hits"].tolist() == [1, 0]  # the largest gain is 0.5 in every round
    assert cell["mean_cumulative_gain"].tolist() == [0.5, 0.5, 1.25]
    assert cell["squared_deviations"].tolist() == [0.5, 0.5, 0.125]


@given(GAINS)
def test_half_widths_from_scores_equal_half_widths_from_rounds(gains) -> None:
    (scores, cell), running = one([of_gains(gains)]), gains.cumsum(axis=1)
    np.testing.assert_array_equal(scores["total_gain"], gains.sum(axis=1))
    np.testing.assert_allclose(cell["mean_cumulative_gain"], running.mean(axis=0), rtol=1e-14)
    half = half_width_of(cell["squared_deviations"], len(gains), 0.9, 3)
    np.testing.assert_allclose(half, half_width(running, 0.9, 3), atol=1e-14)


@given(GAINS, st.data())
def test_joined_blocks_equal_the_whole(gains, data) -> None:
    """Totals are exact, curves agree up to rounding; equal replicates stay exactly equal."""
    cuts = sorted(data.draw(st.sets(st.integers(1, len(gains) - 1))))
    parts = [of_gains(own, first) for first, own in _cut(gains, cuts)]
    scores, together = one(data.draw(st.permutations(parts)))
    every, whole = one([of_gains(gains)])
    pd.testing.assert_frame_equal(scores, every)
    np.testing.assert_array_equal(together["first_actions"], whole["first_actions"])
    for name, close in (
        ("mean_cumulative_gain", {"rtol": 1e-14}),
        ("squared_deviations", {"rtol": 1e-9, "atol": 1e-13}),
    ):
        np.testing.assert_allclose(together[name], whole[name], **close)
    assert together["replicates"] == whole["replicates"] == len(gains)


def _cut(gains, cuts):
    ends = [0, *cuts, len(gains)]
    return [(a, gains[a:b]) for a, b in itertools.pairwise(ends)]


@given(st.floats(0, 1), st.integers(2, 60), st.integers(1, 59))
def test_equal_replicates_have_width_0_in_any_blocks(gain, size, cut) -> None:
    gains = np.full((size, 4), gain)
    parts = [of_gains(own, first) for first, own in _cut(gains, [min(cut, size - 1)])]
    assert one(parts)[1]["squared_deviations"].tolist() == [0.0] * 4


def test_blocks_of_equal_replicates_may_differ() -> None:
    _, together = one([of_gains([[1.0]] * 2), of_gains([[0.5]] * 2, first=2)])
    assert together["squared_deviations"].tolist() == [0.25]


def test_blocks_are_joined_in_the_order_of_their_replicates() -> None:
    order = (10, 9, 2, 1, 0, 3, 4, 5, 6, 7, 8)
    scores, cell = one([of_gains([[float(number)]], number) for number in order])
    assert scores["total_gain"].tolist() == list(range(11))
    assert cell["first_actions"].tolist() == [0]


def test_every_setting_and_algorithm_is_a_cell() -> None:
    changes = [{}, {"label": "b"}, {"mu": math.inf}, {"noise": "capacity"}, {"stream": "other"}]
    _, cells = joined(of_gains([[1.0]], **change) for change in changes)
    assert len(cells) == 5


@pytest.mark.parametrize("numbers", [[0, 2], [1, 2], [0, 0], [3, 1, 0, 1]])
def test_missing_and_repeated_replicates_are_refused(numbers: list[int]) -> None:
    with pytest.raises(ValueError, match=r"nm, a, mu 0.5: replicates .* are not 0, 1, 2"):
        joined(of_gains([[0.0]], number) for number in numbers)


# --- Files ---


def cut(share: float) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def changed(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], object]:
    return lambda path: pq.write_table(change(pq.read_table(path)), path)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    **{f"cut at {share}": cut(share) for share in (0.0, 0.1, 0.5, 0.9, 0.999)},
    "no rows": changed(lambda table: table.slice(0, 0)),
    "a row less": changed(lambda table: table.slice(1)),
    "a column less": changed(lambda table: table.drop_columns(["mu"])),
    "texts": changed(lambda table: table.set_column(5, "mu", table["stream"])),
    "other": changed(lambda table: pa.table({"a": [1]})),
}


def written(blocks: Sequence[RunBlock], folder: Path) -> tuple[Path, Path]:
    """Write the scores and the curves of a job."""
    tables = [score_tables(block) for block in blocks]
    paths = folder / "scores.parquet", folder / "curves.parquet"
    for path in paths:
        write_frame(pa.concat_tables(each[path.stem] for each in tables), path)
    return paths


def test_files_of_two_jobs_are_refused(random_stream, tmp_path) -> None:
    stream = random_stream(9, 4)
    one, other = (written([suite(stream, specs)], tmp_path / specs[0]) for specs in SUITES[1:])
    streams = {stream.label: stream}
    scores, curves = read_scores(*one, streams)
    assert (len(scores), len(curves)) == (3, 1)
    with pytest.raises(DataError, match="differ; delete both"):
        read_scores(one[0], other[1], streams)


@pytest.mark.parametrize("place", [0, 1], ids=["scores", "curves"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_files_that_are_no_point_of_games_are_refused(
    random_stream, tmp_path, damage: str, place: int
) -> None:
    stream = random_stream(9, 4)
    paths = written([suite(stream, SUITES[0])], tmp_path)
    DAMAGES[damage](paths[place])
    with pytest.raises(DataError, match=rf"(?s){paths[place]}.* (delete|run snakemake)"):
        read_scores(*paths, {stream.label: stream})


@pytest.mark.parametrize("total", [2.51, 0.49, math.nan, math.inf])
def test_a_total_gain_that_no_choices_have_is_refused(tmp_path: Path, total: float) -> None:
    """Of two experts, the best have 2.5 in three rounds, and the worst 0.5."""
    gains = np.array([[1.0, 0.5], [0.0, 1.0], [0.5, 0.0]])
    data = stream(label="nm", gains=gains, capacity=None, given_sensitivity=[1.0] * 3)
    paths = written([of_gains([gains.max(axis=1), gains.min(axis=1)])], tmp_path)
    scores, _ = read_scores(*paths, {"nm": data})
    assert scores["total_gain"].tolist() == [2.5, 0.5]
    write_frame(scores.assign(total_gain=[1.0, total]), paths[0])
    wrong = "column total_gain, row 1, is empty|a has a total gain of .* 0.5 to 2.5"
    told = rf"^{paths[0]}: ({wrong}); delete"
    with pytest.raises(DataError, match=told):
        read_scores(*paths, {"nm": data})
