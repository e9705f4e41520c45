"""A law that dpol does not know says itself what records and tables say of it.

Nothing in dpol lists the law, its mechanism or its noise.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest

from dpol.checks.check import check
from dpol.core.rounding import at_most
from dpol.data.stream import write_stream
from dpol.noise import NOISES, find_noise, privatize
from dpol.privacy.account import EPSILON, best_guess, promises_of
from dpol.privacy.noise_laws import LAWS
from dpol.studies.answer.promises import promises_table
from dpol.studies.comparison.noise_memory import compare_memories, play_memories
from dpol.studies.comparison.settings import MemoryPoint, NoiseMemories, NoiseRead
from dpol.studies.comparison.study import games_with_memory
from dpol.studies.study import Facts, Inputs
from noise.geometric import LAW
from tables_by_hand import lines

NAME, MU, DELTA, PERSISTENCE = "noise.geometric:NOISE", 0.25, 1e-6, "persistence"


def test_its_record_names_it(random_stream):
    record = privatize(random_stream(6, 3), NAME, MU, seed=1, replicates=1).guarantee
    assert record.mechanism == f"{NAME}, two-sided geometric noise on counts"
    assert record.mu == pytest.approx(MU)


def test_it_passes_the_checks():
    assert all(verdict.holds for verdict in check(NAME))


def test_its_deviation_is_that_of_its_draws(random_stream):
    """Within 5 standard errors, of 40,000 whole numbers."""
    stream = dataclasses.replace(random_stream(10, 4), capacity=np.full((10, 4), 40.0))
    noisy = privatize(stream, NAME, 1.0, seed=1, replicates=1000)
    noise = (noisy.gains - stream.gains) * stream.capacity
    np.testing.assert_allclose(noise, noise.round(), atol=1e-9)
    expected = (noisy.noise_scale * stream.capacity)[0, 0]
    spread = np.std(noise**2) / expected**2 / math.sqrt(noise.size)
    assert abs(np.mean(noise**2) / expected**2 - 1) < 5 * spread


@pytest.fixture(scope="module")
def memory(tmp_path_factory, random_stream) -> pd.DataFrame:
    """The table `memory` of a run with the noise among its rivals."""
    file = tmp_path_factory.mktemp("streams") / "x.parquet"
    write_stream(random_stream(12, 3, label="x"), file)
    rivals = [NoiseRead(noise=it, algorithm=PERSISTENCE) for it in ("laplace-uniform", NAME)]
    asked = NoiseMemories(weeks=[1, 3], mus=[MU], algorithm="random-effects", rivals=rivals)
    played = []
    for weeks in asked.weeks:
        readers = [("random-effects", games_with_memory(asked))]
        for rival in rivals:
            levels = dict.fromkeys(rival.levels(MU, weeks, DELTA).values())
            readers.append((rival.algorithm, tuple((rival.noise, level) for level in levels)))
        point = MemoryPoint(readers=tuple(readers), weeks=weeks, replicates=3)
        played.append(play_memories(point, Inputs(seed=1, memory_mb=1000, files={"stream": file})))
    return compare_memories(pd.concat(played), asked, delta=DELTA, confidence=0.9)


def test_the_table_of_noises_names_each_law(memory):
    laws = memory.drop_duplicates("noise").set_index("noise")["law"].to_dict()
    gaussian = dict.fromkeys(("capacity-memory", "capacity"), "Gaussian")
    assert laws == {**gaussian, "laplace-uniform": "Laplace", NAME: "geometric"}


def test_the_table_of_promises_prints_its_own_guesses(memory):
    """At epsilon(1e-6) of mu = 0.25 and one week 63%, not the 66.1% of Gaussian noise there."""
    possible = {"uniform_gain": [1.0], "oracle_gain": [5.0]}
    frames = {"memory": memory, "summary": pd.DataFrame({"stream": ["x"], **possible})}
    facts = Facts({"x": "X"}, simulated=True, confidence=0.9, delta=DELTA)
    table = promises_table(frames, facts)
    printed = {
        (promise, noise): [cell.notes[0] for cell in cells if cell.notes]
        for promise, noise, cells in lines(table)
    }
    mechanism, promises = find_noise(NAME).mechanism, promises_of(MU, DELTA)
    guess_of = find_noise(NAME).best_guess
    groups = list(dict.fromkeys(group for group, _, _ in lines(table)))
    for group, promise in zip(groups, promises.values(), strict=True):
        shares = [guess_of(mechanism.level(promise, weeks), weeks) for weeks in (1, 3)]
        expected = [f"guess {at_most(100 * share)}%" for share in shares]
        assert printed[group, f"{NAME} noise"] == expected, group
    level = mechanism.level(promises[EPSILON], 1)
    assert 100 * guess_of(level, 1) == pytest.approx(62.957, abs=5e-4)
    assert 100 * best_guess(level) == pytest.approx(66.094, abs=5e-4)
    assert printed[groups[2], f"{NAME} noise"][0] == "guess 63%"


def test_it_is_nowhere_in_dpol():
    assert LAW.name not in LAWS
    assert not any(name.startswith("geometric") for name in NOISES)
