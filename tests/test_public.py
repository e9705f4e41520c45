"""The public names: `import dpol` gives them all, and loads nothing unused."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dpol
import dpol.labels
import dpol.lazy.convex
from dpol.experts.registry import make_members
from dpol.noise import CONSTANT, ISOTROPIC, NO_NOISE
from dpol.studies.games.compute import play_suite

ROOT = Path(__file__).parents[1]


def test_every_public_name_exists_and_is_on_the_page():
    page = (ROOT / "docs/reference/library.md").read_text()
    named = re.findall(r"\{py:\w+\}`dpol\.(\w+) <[\w.]+>`", page)
    assert sorted(set(named)) == dpol.__all__
    for name in dpol.__all__:
        value = getattr(dpol, name)
        home = re.search(rf"`dpol\.{name} <([\w.]+)>`", page)[1]
        assert home.rpartition(".")[2] == name
        assert getattr(sys.modules[home.rpartition(".")[0]], name) is value
    assert dir(dpol) == dpol.__all__


def test_a_game_on_arrays_loads_neither_tables_nor_configs():
    code = (
        "import sys, dpol; dpol.GainStream, dpol.RWMeta, dpol.play, dpol.privatize;"
        "assert not {'pandas', 'pydantic', 'pyarrow'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("mu", [0.5, math.inf])
@pytest.mark.parametrize(
    ("algorithm", "spec", "noise"),
    [
        (dpol.RWMeta(), "rw-meta", "capacity"),
        (dpol.RandomWalkFTPL(), "rw-ftpl", ISOTROPIC.name),
        (dpol.ExponentialWeights(0.02), "fixed-share", "capacity"),
        (dpol.RWAdaBatch(), "rw-adabatch", CONSTANT.name),
        (dpol.TreeFTPL("min-regret"), "tree-ftpl-min-regret", ISOTROPIC.name),
        (dpol.LazyWeights(), "l2p", ISOTROPIC.name),
        (dpol.MultiplicativeWeights(), "multiplicative-weights", NO_NOISE),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_library_user_gets_the_actions_of_the_pipeline(random_stream, algorithm, spec, noise, mu):
    """Byte for byte, given the same seed, stream and replicates."""
    stream, numbers = random_stream(12, 4), [3, 4, 5]
    if algorithm.model == "local":
        source = dpol.privatize(stream, noise, mu, seed=7, replicates=numbers)
    else:
        source = dpol.RawGains(stream, mu, numbers, seed=7)
    games = dpol.play(algorithm, source)
    run = play_suite(stream, make_members(spec), noise=noise, mu=mu, seed=7, replicates=numbers)
    (played,) = run.played
    assert games.label == played.label
    assert games.actions.tobytes() == played.actions.tobytes()
    assert games.gains(stream).tobytes() == played.gains.tobytes()
    assert repr(games.guarantee) == repr(played.guarantee)


def test_a_label_keys_the_algorithms_own_numbers(random_stream):
    noisy = dpol.privatize(random_stream(40, 4), noise="capacity", mu=0.5, seed=1, replicates=20)
    one, same, other = (
        dpol.play(dpol.RWMeta(), noisy, label=label).actions for label in (None, "rw-meta", "other")
    )
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_gains_need_the_stream_that_was_played(random_stream):
    stream = random_stream(9, 4)
    games = dpol.play(dpol.FollowTheLeader(), dpol.RawGains(stream, math.inf, 2, seed=1))
    assert games.gains(stream)[1, 8] == stream.gains[8, games.actions[1, 8]]
    for other in (random_stream(8, 4), random_stream(9, 1), replace(stream, label="CA")):
        with pytest.raises(ValueError, match=f"played the stream test, .+ but {other.label} with"):
            games.gains(other)


def test_a_source_without_a_seed_is_refused(random_stream, make_noisy):
    with pytest.raises(ValueError, match="RawGains has no seed; pass one"):
        dpol.play(dpol.TreeFTPL(), dpol.RawGains(random_stream(3, 2), 1.0))
    with pytest.raises(ValueError, match=r"no seed; make them by dpol\.privatize"):
        dpol.play(dpol.RandomWalkFTPL(), make_noisy(np.zeros((1, 3, 2))))


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ("rw-meta", r"RWMeta is local and cannot play .*; give it dpol\.privatize\(stream, "),
        (dpol.TreeFTPL(), r"TreeFTPL is central and cannot play .*; give it dpol\.RawGains\("),
        (dpol.RWMeta, r"RWMeta is a class; play an instance, such as RWMeta\(\)"),
        (object(), r"object is not an algorithm; derive its class from dpol\.LocalAlgorithm, "),
    ],
    ids=["local", "central", "class", "object"],
)
def test_an_algorithm_that_cannot_play_is_refused_with_a_remedy(random_stream, algorithm, message):
    with pytest.raises(TypeError, match=message):
        dpol.play(algorithm, random_stream(3, 2))
