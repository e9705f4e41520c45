"""The public names: `import dpol` gives them all, and loads nothing unused; tables of pandas."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpol
import dpol.labels
import dpol.lazy.convex
from dpol.config.rules import noises_to_play
from dpol.data.stream import GIVEN_COLUMNS, STREAM_COLUMNS
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import ISOTROPIC, NO_NOISE
from game_tables import suite
from streams_by_hand import given_stream
from streams_by_hand import stream as small_stream

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
@pytest.mark.parametrize("name", REGISTRY)
def test_a_library_user_gets_the_actions_of_the_pipeline(random_stream, name, mu):
    """Byte for byte, given the same seed, stream and replicates."""
    stream, numbers, member = random_stream(12, 4), [3, 4, 5], make_members(name)[0]
    algorithm, noise = member.algorithm, noises_to_play(member)[-1]
    if algorithm.model == "local":
        source = dpol.privatize(stream, noise, mu, seed=7, replicates=numbers)
    else:
        noise = NO_NOISE if algorithm.model == "none" else ISOTROPIC.name
        source = dpol.RawGains(stream, mu, numbers, seed=7)
    games = dpol.play(algorithm, source)
    played, *_ = suite(stream, [name], noise=noise, mu=mu, seed=7, replicates=numbers)
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
    title = dpol.NOISES["isotropic"].title
    assert names[1] == f"'isotropic', {title}), 'isotropic-constant': "
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


# ---- streams and games as tables of pandas -------------------------------------------------------


@pytest.mark.parametrize("made", [small_stream(), given_stream()], ids=["capacities", "given"])
def test_a_stream_has_the_table_of_its_file(made: dpol.GainStream, tmp_path: Path) -> None:
    frame, file = made.to_frame(), tmp_path / "stream.parquet"
    dpol.write_stream(made, file)
    written = pd.read_parquet(file)
    assert tuple(frame) == (STREAM_COLUMNS if made.capacity is not None else GIVEN_COLUMNS)
    kinds = {"entity": str, "name": str, "period": "datetime64[s]"}
    pd.testing.assert_frame_equal(frame, written.astype(kinds))


def test_games_have_a_row_per_replicate_and_round() -> None:
    played = small_stream()
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
    games = dpol.play(
        "rw-ftpl", dpol.privatize(small_stream(), "capacity", 1.0, seed=1, replicates=2)
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    for has_table in (small_stream(), games):
        with pytest.raises(ModuleNotFoundError) as caught:
            has_table.to_frame()
        remedy = 'run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"'
        assert str(caught.value) == f"pandas is missing; {remedy}"
