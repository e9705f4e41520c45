import math
import tracemalloc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest

from dpol.core.schemas import write_frame
from dpol.data.synthetic import synthetic_stream
from dpol.experts.games import play
from dpol.experts.play import RawGains
from dpol.experts.registry import make_members
from dpol.noise import privatize
from dpol.studies.games import compute
from dpol.studies.games.collect import schema
from dpol.studies.games.compute import parts
from dpol.studies.games.scores import rounds_of
from game_tables import suite

LOCAL = (
    {"algorithm": "rw-ftpl", "label": "one"},
    {"algorithm": "rw-ftpl", "label": "two"},
    "ridge",
)


@pytest.fixture(scope="module")
def stream(random_stream):
    return random_stream(9, 4)


def test_a_whole_mu_is_the_same_number_as_a_float(stream):
    one, other = (suite(stream, ("rw-meta",), mu=mu)[0] for mu in (1, 1.0))
    np.testing.assert_array_equal(one.actions, other.actions)


@pytest.mark.parametrize(
    "name",
    [
        *("rw-meta", "random-effects", "mf-ftpl", "tree-ftpl-min-noise", "l2p"),
        *("limited-updates", "multiplicative-weights"),
    ],
)
def test_replicates_play_as_in_the_library_whatever_part_they_are_in(stream, name, monkeypatch):
    """In blocks, which are played in parts of at most 2. So local algorithms share their noise."""
    monkeypatch.setattr(compute, "MOST_TOGETHER", 2 * stream.n_experts)
    (member,) = make_members(name)
    free = member.algorithm.model == "none"
    noise = "none" if free else "capacity"
    if member.algorithm.model == "local":
        source = privatize(stream, noise, 0.5, seed=1, replicates=range(6))
    else:
        source = RawGains(stream, 0.5, 6, seed=1, **({} if free else {"noise": noise}))
    games = play(name, source)
    for block in (range(1), range(1, 6)):
        (played,) = suite(stream, (name,), replicates=block, noise=noise)
        np.testing.assert_array_equal(played.actions, games.actions[block])
        np.testing.assert_array_equal(played.gains, games.gains(stream)[block])
        assert (played.replicates, played.guarantee) == (block, games.guarantee)
    assert (games.actions[:4] != games.actions[2:]).any()


@pytest.mark.parametrize(
    ("noise", "mu", "expected"),
    [
        ("isotropic", 0.5, 4 * 2**0.5),
        ("capacity", 0.5, 2 * 2**0.5),
        ("capacity-memory", 0.5, math.nan),
        ("isotropic", math.inf, math.nan),
    ],
)
def test_the_noise_on_a_count_is_the_median_of_all_entities(make_stream, noise, mu, expected):
    """At mu = 0.5, isotropic noise is 2 sqrt(2) on the count of the smallest entity."""
    stream = make_stream(np.zeros((1, 3)), [10.0, 20.0, 50.0])
    (played,) = suite(stream, ["persistence"], noise=noise, mu=mu)
    assert played.count_noise == pytest.approx(expected, nan_ok=True)


def test_a_suite_and_its_file_describe_its_runs(stream, tmp_path):
    made = suite(stream, LOCAL, replicates=(5, 6), noise="capacity")
    assert made[0].best.tolist() == [max(gains) for gains in stream.gains.tolist()]
    assert [it.label for it in made][:3] == ["one", "two", "ridge-w8-weak"]
    assert [it.family for it in made][:3] == ["rw-ftpl", "rw-ftpl", "ridge"]
    assert {it.origin for it in made} == {"paper"}
    write_frame(rounds_of(made), tmp_path / "runs.parquet")
    rows = pq.read_table(tmp_path / "runs.parquet").to_pandas()
    schema("games/STREAM/LEVEL/SUITE/BLOCK/rounds").check(rows, "rounds")
    assert len(rows) == len(made) * 2 * 9
    assert set(rows["round"]) == set(range(1, 10))
    assert set(rows["replicate"]) == {5, 6}
    one = rows[(rows["algorithm"] == "two") & (rows["replicate"] == 6)].sort_values("round")
    assert one["action"].tolist() == made[1].actions[1].tolist()
    assert one["gain"].tolist() == made[1].gains[1].tolist()
    setting = rows[["stream", "noise", "mu"]].drop_duplicates().to_numpy().tolist()
    assert setting == [["test", "capacity", 0.5]]


# ---- parts of a block ----------------------------------------------------------------------------

MEMBERS = make_members("rw-ftpl")


@pytest.mark.parametrize(
    ("rounds", "n", "sizes"),
    [(2, 250, [30]), (2, 251, [15, 15]), (2, 7_600, [1] * 30), (8_000, 125, [30]),
     (8_001, 125, [15, 15]), (4_000_000, 1, [6] * 5)],
)  # fmt: skip
def test_parts_by_hand(rounds, n, sizes):
    """At most 7,500 replicates times experts; of games above 4,000 rounds in proportion fewer."""
    stream = synthetic_stream("any", np.zeros((rounds, n)))
    split = list(parts(stream, MEMBERS, range(7, 37)))
    assert [len(part) for part in split] == sizes
    assert [number for part in split for number in part] == list(range(7, 37))


def test_long_games_of_300_experts_are_played_several_at_a_time():
    stream = synthetic_stream("long", np.zeros((15_000, 300)))
    assert {len(part) for part in parts(stream, MEMBERS, range(60))} == {6}


def test_no_part_leaves_numbers_of_every_round_behind(random_stream, monkeypatch):
    """With one replicate a part, twelve more may keep their actions, and no further array."""
    stream = random_stream(2_000, 20)
    monkeypatch.setattr(compute, "MOST_TOGETHER", 1)
    peaks = []
    for replicates in (4, 16):
        tracemalloc.start()
        suite(stream, ["rw-ftpl"], replicates=range(replicates), noise="capacity")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    actions_and_gains = 12 * stream.n_rounds * 16
    assert peaks[1] - peaks[0] < 2 * actions_and_gains + stream.gains.nbytes


def test_many_learners_are_played_in_small_parts():
    """160^2 / 64 = 400 numbers for each replicate, so 18 of 30 would be too many for one part."""
    (member,) = MEMBERS
    large = replace(member, algorithm=SimpleNamespace(n_learners=160))
    stream = synthetic_stream("any", np.zeros((2, 5)))
    assert [len(part) for part in parts(stream, [member, large], range(30))] == [15, 15]
    assert [len(part) for part in parts(stream, [member], range(30))] == [30]
