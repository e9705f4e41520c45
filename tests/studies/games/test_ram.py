from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.core.schemas import write_frame
from dpol.experts.registry import LEARNERS, make_members
from dpol.studies.games.compute import bytes_per_replicate, parts, play_suite
from dpol.studies.games.scores import rounds_of

LOCAL = ("rw-ftpl", "rw-meta", "ridge", "random-effects")
LARGE = ({"algorithm": "rw-meta", "learners": list(LEARNERS)}, "random-effects")
CENTRAL = ("tree-ftpl-min-noise", "l2p")
BATCHED = ("rw-adabatch",)


def members_of(specs):
    return [member for spec in specs for member in make_members(spec)]


def memory_for(stream, members, replicates, at_a_time):
    """Find by trial the memory in MB into which `at_a_time` of the replicates just fit."""
    for megabytes in range(200, 4000):
        sizes = [len(part) for part in parts(stream, members, replicates, megabytes)]
        if max(sizes) == at_a_time:
            return megabytes
    raise AssertionError


@pytest.fixture(scope="module")
def wide(random_stream):
    """A stream so wide that few replicates take megabytes."""
    return random_stream(9, 5_000)


@given(st.integers(1, 40), st.floats(1, 5_000))
def test_parts_hold_every_replicate_once_in_order_and_are_nearly_equal(wide, count, megabytes):
    numbers = range(7, 7 + count)
    split = list(parts(wide, members_of(["rw-ftpl"]), numbers, megabytes))
    assert [number for part in split for number in part] == list(numbers)
    sizes = [len(part) for part in split]
    assert max(sizes) - min(sizes) <= 1
    assert min(sizes) >= 1


def test_all_replicates_fit_into_infinite_memory_and_one_is_played_in_any(wide):
    ask = wide, members_of(["rw-ftpl"]), range(30)
    assert [len(part) for part in parts(*ask, math.inf)] == [30]
    assert [len(part) for part in parts(*ask, 0.001)] == [1] * 30


def test_parts_by_hand(make_stream):
    """5 experts, 100 rounds, 13 learners: 8 (400 * 5 + 2 * 100 * 5 + 8 * 169) bytes each.

    220 MB for Python, 12 arrays of the stream, and 80 bytes for each of 10 * 100 rows.
    """
    stream = make_stream(np.zeros((100, 5)))
    members = members_of(["rw-meta"])
    assert bytes_per_replicate(stream, members) == 8 * (2000 + 1000 + 1352)
    least = 220 * 2**20 + 12 * 8 * 500 + 80 * 1000 + 4 * 8 * 4352
    enough, short = ((least + more) / 2**20 for more in (1, -1))
    assert [len(part) for part in parts(stream, members, range(10), enough)] == [3, 3, 4]
    assert [len(part) for part in parts(stream, members, range(10), short)] == [2, 3, 2, 3]


@pytest.mark.parametrize("specs", [LOCAL, CENTRAL])
def test_results_do_not_depend_on_the_parts(wide, specs, tmp_path):
    """5 replicates at once, or in parts of 1, 2 and 2, give equal bytes."""
    members, files = members_of(specs), []
    for megabytes in (math.inf, memory_for(wide, members, range(5), at_a_time=2)):
        settings = {"noise": "isotropic", "mu": 0.5, "seed": 1, "memory_mb": megabytes}
        played = play_suite(wide, members, replicates=range(5), **settings)
        write_frame(rounds_of(played), tmp_path / "runs.parquet")
        files.append((tmp_path / "runs.parquet").read_bytes())
    assert files[0] == files[1]


MEASURE = """
import pathlib
import re
import numpy as np
from dpol.studies.games.compute import play_suite
from dpol.experts.registry import make_members
from dpol.data.stream import GainStream

rounds, n = {rounds}, 2000
stream = GainStream(
    label="wide",
    gains=np.random.default_rng(0).random((rounds, n)),
    capacity=np.full((rounds, n), 100.0),
    entities=tuple(map(str, range(n))),
    periods=np.arange(rounds) * np.timedelta64(7, "D") + np.datetime64("2020-08-07"),
)
members = [m for spec in {specs} for m in make_members(spec)]
settings = {{"noise": {noise!r}, "mu": 0.5, "seed": 1, "memory_mb": 450}}
play_suite(stream, members, **settings, replicates=range({replicates}))
# Not ru_maxrss, which starts from the peak of the parent process.
status = pathlib.Path("/proc/self/status").read_text()
print(int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1024)
"""


@pytest.mark.parametrize(
    ("specs", "noise", "rounds", "replicates"),
    [
        (LARGE, "capacity", 12, 82),
        (CENTRAL, "isotropic", 20, 60),
        (BATCHED, "isotropic-constant", 70, 56),
    ],
    ids=["large", "central", "batched"],
)
def test_a_process_stays_below_its_memory(specs, noise, rounds, replicates):
    """The peak of a process stays below 450 MB when the replicates are split into two parts."""
    code = MEASURE.format(rounds=rounds, specs=specs, noise=noise, replicates=replicates)
    run = [sys.executable, "-c", code]
    peak = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    assert float(peak) < 450
