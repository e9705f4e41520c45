"""Scores: enough for every result table, however the replicates are split into jobs."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpol.core.errors import DataError
from dpol.core.intervals import half_width, half_width_of
from dpol.core.schemas import write_frame
from dpol.experts.registry import make_members
from dpol.studies.games.collect import possible, read_scores
from dpol.studies.games.compute import play_suite
from dpol.studies.games.scores import (
    RunBlock,
    Scores,
    collect_cells,
    join_scores,
    scores_of,
    tables_of,
)
from runs_by_hand import played
from streams_by_hand import stream

SUITES = [("rw-ftpl", "ridge"), ("multiplicative-weights",), ("tree-ftpl-min-noise",)]
BATCHED = ("rw-adabatch",)


def suite(stream, specs=SUITES[0], *, mu=0.5, replicates=range(3), noise="isotropic"):
    members = [member for spec in specs for member in make_members(spec)]
    return play_suite(stream, members, noise=noise, mu=mu, seed=1, replicates=replicates)


def of_gains(gains: Sequence[Sequence[float]], first: int = 0) -> Scores:
    """Score runs with these gains; `first` is the number of the first replicate."""
    made = np.asarray(gains, dtype=float)
    runs = dataclasses.replace(
        played("a", "isotropic", 0.5, [0.0]),
        gains=made,
        actions=np.zeros(made.shape, dtype=np.int32),
    )
    return scores_of(runs, range(first, first + len(made)), np.full(made.shape[1], 0.5))


GAINS = arrays.arrays(
    float,
    st.tuples(st.integers(2, 7), st.integers(1, 5)),
    elements=st.floats(0, 1, width=16),
)


def test_scores_by_hand() -> None:
    scores = of_gains([[1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])
    assert scores.totals.tolist() == [1.5, 1.0]
    assert scores.hits.tolist() == [1, 0]  # the largest gain is 0.5 in every round
    assert scores.mean.tolist() == [0.5, 0.5, 1.25]
    assert scores.squares.tolist() == [0.5, 0.5, 0.125]
    assert not scores.equal
    assert scores.first_gains.tolist() == [1.0, 0.0, 0.5]


@given(GAINS)
def test_half_widths_from_scores_equal_half_widths_from_rounds(gains) -> None:
    scores, running = of_gains(gains), gains.cumsum(axis=1)
    np.testing.assert_array_equal(scores.totals, gains.sum(axis=1))
    np.testing.assert_allclose(scores.mean, running.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(
        half_width_of(scores.squares, len(gains), 0.9, 3), half_width(running, 0.9, 3), atol=1e-14
    )


@given(GAINS, st.data())
def test_joined_blocks_equal_the_whole(gains, data) -> None:
    """Totals are exact, curves agree up to rounding; equal replicates stay exactly equal."""
    cuts = sorted(data.draw(st.sets(st.integers(1, len(gains) - 1))))
    parts = [of_gains(own, first) for first, own in _cut(gains, cuts)]
    together = join_scores(data.draw(st.permutations(parts)))
    whole = of_gains(gains)
    np.testing.assert_array_equal(together.totals, whole.totals)
    np.testing.assert_array_equal(together.hits, whole.hits)
    np.testing.assert_array_equal(together.first, whole.first)
    np.testing.assert_allclose(together.mean, whole.mean, rtol=1e-14)
    np.testing.assert_allclose(together.squares, whole.squares, rtol=1e-9, atol=1e-13)
    assert together.equal == whole.equal == bool((gains == gains[0]).all())


def _cut(gains, cuts):
    ends = [0, *cuts, len(gains)]
    return [(a, gains[a:b]) for a, b in itertools.pairwise(ends)]


@given(st.floats(0, 1), st.integers(2, 60), st.integers(1, 59))
def test_equal_replicates_have_width_0_in_any_blocks(gain, size, cut) -> None:
    gains = np.full((size, 4), gain)
    parts = [of_gains(own, first) for first, own in _cut(gains, [min(cut, size - 1)])]
    assert join_scores(parts).squares.tolist() == [0.0] * 4


def test_blocks_that_differ_are_not_equal_though_their_replicates_are() -> None:
    together = join_scores([of_gains([[1.0]] * 2), of_gains([[0.5]] * 2, first=2)])
    assert not together.equal
    assert together.squares.tolist() == [0.25]


def test_blocks_are_joined_in_the_order_of_their_replicates() -> None:
    order = (10, 9, 2, 1, 0, 3, 4, 5, 6, 7, 8)
    (cell,) = collect_cells(of_gains([[float(number)]], number) for number in order)
    assert cell.totals.tolist() == list(range(11))


def test_every_setting_and_algorithm_is_a_cell() -> None:
    one = of_gains([[1.0]])
    changes = [{}, {"label": "b"}, {"mu": math.inf}, {"noise": "capacity"}, {"stream": "other"}]
    assert len(collect_cells(dataclasses.replace(one, **change) for change in changes)) == 5


@pytest.mark.parametrize("numbers", [[0, 2], [1, 2], [0, 0], [3, 1, 0, 1]])
def test_missing_and_repeated_replicates_are_refused(numbers: list[int]) -> None:
    with pytest.raises(ValueError, match=r"nm, a, mu 0.5: replicates .* are not 0, 1, 2"):
        collect_cells(of_gains([[0.0]], number) for number in numbers)


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


@pytest.mark.parametrize("mu", [0.25, math.inf])
@pytest.mark.parametrize("specs", [*SUITES, BATCHED])
def test_reading_gives_back_what_was_written(random_stream, tmp_path, specs, mu) -> None:
    noise = "isotropic-constant" if specs == BATCHED else "isotropic"
    stream = random_stream(9, 4)
    blocks = [suite(stream, specs, mu=mu, replicates=own, noise=noise) for own in ((2, 3), (0,))]
    paths = written(blocks, tmp_path / "new")
    expected = [
        scores_of(runs, block.replicates, block.best) for block in blocks for runs in block.played
    ]
    for scores, wanted in zip(read_scores(*paths), expected, strict=True):
        assert (scores.amplification is None) == (specs != BATCHED or mu == math.inf)
        np.testing.assert_equal(_plain(scores), _plain(wanted))


def written(blocks: Sequence[RunBlock], folder: Path) -> tuple[Path, Path]:
    """Write the scores and the curves of a job."""
    tables = [tables_of(block) for block in blocks]
    paths = folder / "scores.parquet", folder / "curves.parquet"
    for path in paths:
        write_frame(pa.concat_tables(each[path.stem] for each in tables), path)
    return paths


def test_files_of_two_jobs_are_refused(random_stream, tmp_path) -> None:
    stream = random_stream(9, 4)
    one, other = (written([suite(stream, specs)], tmp_path / specs[0]) for specs in SUITES[1:])
    assert list(read_scores(*one))
    with pytest.raises(DataError, match="differ; delete both"):
        list(read_scores(one[0], other[1]))


def _plain(scores: Scores) -> dict[str, object]:
    mixture = scores.amplification
    return vars(scores) | {"amplification": mixture and vars(mixture)}


@pytest.mark.parametrize("place", [0, 1], ids=["scores", "curves"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_files_that_are_no_point_of_games_are_refused(
    random_stream, tmp_path, damage: str, place: int
) -> None:
    paths = written([suite(random_stream(9, 4))], tmp_path)
    DAMAGES[damage](paths[place])
    with pytest.raises(DataError, match=rf"(?s){paths[place]}.* (delete|run snakemake)"):
        list(read_scores(*paths))


@pytest.mark.parametrize("total", [2.51, 0.49, math.nan, math.inf])
def test_a_total_gain_that_no_choices_have_is_refused(total: float) -> None:
    """Of two experts, the best have 2.5 in three rounds, and the worst 0.5."""
    gains = np.array([[1.0, 0.5], [0.0, 1.0], [0.5, 0.0]])
    data = stream(label="nm", gains=gains, capacity=None, given_sensitivity=[1.0] * 3)
    best, worst = of_gains([gains.max(axis=1)]), of_gains([gains.min(axis=1)])
    for own in (best, worst):
        assert possible(own, data, Path("scores.parquet")) is own
    changed = dataclasses.replace(best, totals=np.array([1.0, total]))
    with pytest.raises(DataError, match=r"^s.parquet: a has a total gain of .* 0.5 to 2.5; delete"):
        possible(changed, data, Path("s.parquet"))
