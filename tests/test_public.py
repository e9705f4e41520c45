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
from dpol.noise import CONSTANT, ISOTROPIC, NO_NOISE
from game_tables import suite

ROOT = Path(__file__).parents[1]


def test_every_public_name_exists_and_is_on_the_page():
    page = (ROOT / "docs/reference/library.md").read_text()
    names = page.partition("## Names\n")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"`dpol\.(\w+)`", names)) == dpol.__all__
    for name in dpol.__all__:
        getattr(dpol, name)
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
    (played,) = suite(stream, [spec], noise=noise, mu=mu, seed=7, replicates=numbers)
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


def test_values_are_shown_in_a_line(random_stream):
    stream = random_stream(9, 4)
    names = repr(dpol.NOISES).split("Noise(")
    assert (
        names[1] == "'isotropic', " + dpol.NOISES["isotropic"].title + "), 'isotropic-constant': "
    )
    games = dpol.play("l2p", dpol.RawGains(stream, 1.0, 2, seed=1))
    said = r"Games\('l2p', 2 x 9 actions .*, mu \d\.\d+\)"
    assert re.fullmatch(said, repr(games))
    shown = replace(games, label="<l2p>")._repr_html_()
    assert "<tr><th>algorithm</th><td>&lt;l2p&gt;</td></tr>" in shown
    assert re.search(r"<th>guaranteed_mu</th><td>\d\.\d+</td>", shown)
    assert "nan" not in shown


def test_the_share_of_a_game_is_between_random_choice_and_the_best_of_each_round(make_stream):
    stream = make_stream([[0.0, 0.2, 0.7], [0.5, 0.1, 0.0]])
    games = dpol.play("follow-the-leader", dpol.RawGains(stream, math.inf, 2, seed=1))
    shares = [
        replace(games, actions=np.array(actions)).share(stream)
        for actions in ([[2, 0]], [[2, 0], [1, 1]], [[0, 2]])
    ]
    random, best = 0.3 + 0.2, 0.7 + 0.5
    assert shares == pytest.approx(
        [1, ((1.2 + 0.3) / 2 - random) / (best - random), -random / (best - random)]
    )


def test_gains_need_the_stream_that_was_played(random_stream):
    stream = random_stream(9, 4)
    games = dpol.play(dpol.FollowTheLeader(), dpol.RawGains(stream, math.inf, 2, seed=1))
    assert games.gains(stream)[1, 8] == stream.gains[8, games.actions[1, 8]]
    for other in (random_stream(8, 4), random_stream(9, 1), replace(stream, label="CA")):
        with pytest.raises(ValueError, match=f"played the stream test, .+ but {other.label} with"):
            games.to_frame(other)


def test_a_source_without_a_seed_is_refused(random_stream, make_noisy):
    with pytest.raises(ValueError, match="RawGains has no seed; pass one"):
        dpol.play(dpol.TreeFTPL(), dpol.RawGains(random_stream(3, 2), 1.0))
    with pytest.raises(ValueError, match=r"no seed; make them with dpol\.privatize"):
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
