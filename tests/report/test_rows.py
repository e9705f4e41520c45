"""Rows that travel rank as if played here; forged ones are refused, or shown as sent."""

from __future__ import annotations

import json
import math
from math import comb
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpol
from dpol.config.league import noises_to_play
from dpol.core.errors import DataError
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import NO_NOISE
from dpol.report.rows import read_rows, write_rows
from pipeline import ROOT
from small_config import changed as config_with

ENTRY = {"algorithm": "rw-ftpl", "label": "mine"}
ABOUT = {"sender": "Ann, Uni X", "looked_at": "nothing", "tried": 1}
GAMES = {"seed": 3, "replicates": 6}
ASKED = {"seed": 3, "noise_memory": "designed", "replicates": range(6)}
LEVELS = math.inf, 0.5


def run_of(stream, label, cells):
    """A finished run with the games of an algorithm: pairs of a noise and a level."""
    summary = pd.DataFrame(cells, columns=["noise", "mu"])
    return SimpleNamespace(
        folder="results/small",
        config=config_with(GAMES),
        table=lambda name: summary.assign(stream=stream.label, algorithm=label),
        stream=lambda label: stream,
    )


@pytest.fixture
def stream(random_stream):
    return random_stream(20, 5)


@pytest.fixture
def sent(stream, tmp_path):
    """A file with the rows of an algorithm at two levels."""
    file = tmp_path / "sent.parquet"
    run = run_of(stream, "mine", [("capacity", mu) for mu in LEVELS])
    write_rows([run], file, ENTRY, ABOUT)
    return file


def read(file, stream, replay=3, **asked):
    return read_rows(file, {stream.label: stream}, LEVELS, {**ASKED, **asked}, replay=replay)


def changed(file, change):
    """Write the rows of a file again, each changed by a function of its dictionary."""
    made = [change(row) or row for row in pq.read_table(file).to_pylist()]
    schema = pq.read_schema(file)
    pq.write_table(pa.Table.from_pylist(made, schema), file, row_group_size=1)


def test_rows_rank_as_if_they_were_played_here(stream, tmp_path) -> None:
    asked, file = {"levels": LEVELS, **GAMES}, tmp_path / "sent.parquet"
    cells = [(noise, mu) for noise in ("isotropic", "capacity") for mu in LEVELS]
    write_rows([run_of(stream, "mine", cells)], file, ENTRY, ABOUT)
    here = dpol.league(["cautious-mean", ENTRY], stream, **asked).standings
    league = dpol.league(["cautious-mean"], stream, rows=[file], **asked)
    there = league.standings
    same = [
        *("simplicity", "rank", "promise", "guaranteed_mu", "mu_8_weeks", "named_right"),
        *("gain_share", "gain_share_half_width", "gain_per_round", "strongest", "to_strongest"),
        *("to_strongest_half_width", "to_strongest_verdict"),
    ]
    rows = [own.set_index(["family", "noise", "mu"]).sort_index() for own in (here, there)]
    pd.testing.assert_frame_equal(*(own[same] for own in rows))
    theirs = there[there["sender"] == "Ann, Uni X"]
    assert {*theirs["algorithm"]} == {"mine (Ann, Uni X, replayed 3 of 6)"}
    assert {*theirs["sent"]} == {"replayed 3 of 6"}
    assert {*there.loc[there["sender"] == "", "sent"]} == {""}
    assert "mine (Ann, Uni X, replayed 3 of 6), capacity noise" in league._repr_html_()
    league.plot()


@pytest.mark.parametrize("name", [it for it in sorted(REGISTRY) if len(make_members(it)) == 1])
def test_each_algorithm_travels(name, stream, tmp_path) -> None:
    (member,) = make_members(name)
    cell = (*noises_to_play(member), NO_NOISE)[0], 0.5
    if member.algorithm.model == "none":
        cell = NO_NOISE, math.inf
    write_rows([run_of(stream, member.label, [cell])], tmp_path / "one.parquet", name, ABOUT)
    ((_, status, _),) = read(tmp_path / "one.parquet", stream, replay=math.inf)
    assert status == "replayed 6 of 6"


def other(name, value):
    return lambda row: row.update({name: value})


def inside(column, **fields):
    """Change fields of a column of JSON."""
    return lambda row: row.update({column: json.dumps(json.loads(row[column]) | fields)})


REFUSED = {
    "row 1: seed is 7; here it is 3": inside("asked", seed=7),
    "replicates is 1000000; here it is 6": inside("asked", replicates=10**6),
    "noise_memory is none; here it is designed": inside("asked", noise_memory="none"),
    "stay is 2; here it is 1": inside("asked", stay=2),
    "count_sensitivity is 3.0; here it is 1.0": inside("asked", count_sensitivity=3.0),
    "gain_range is 2.0; here it is 1.0": inside("asked", gain_range=2.0),
    "stream is of another; here it is": inside("asked", stream="of another"),
    "these games have 120 choices": lambda row: row["choices"].append(0),
    "a choice is no expert": lambda row: row["choices"].__setitem__(3, 5),
    "a choice is no expert of": lambda row: row["choices"].__setitem__(3, -1),
    "sender: ": other("sender", "a\x1b[31m"),
    "looked_at: ": other("looked_at", "a\u202eb"),
    "label: ": other("label", "<script>alert(1)</script>"),
    "noise: ": other("noise", "louder"),
    "mu: ": other("mu", 0.0),
    "tried: ": other("tried", 0),
    "entry: Invalid JSON": other("entry", "{"),
    "this is not the promise of capacity noise at mu": inside("guarantee", mu=0.1),
    "not the promise of capacity noise": inside("guarantee", stays=[0.1] * 4),
    "not the promise of": inside("guarantee", model="none"),
    "guarantee: ": inside("guarantee", mu="small"),
    "guarantee: Value error": inside("guarantee", mu=-1),
    "guarantee: Input should be": other("guarantee", "[]"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_row_of_other_games_or_with_another_promise_is_refused(words, stream, sent) -> None:
    changed(sent, REFUSED[words])
    with pytest.raises(DataError) as refused:
        read(sent, stream)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_promise_of_a_local_row_is_checked_where_its_code_is_not_installed(
    stream, sent
) -> None:
    changed(sent, inside("code", version="0"))
    changed(sent, inside("guarantee", mu=0.1))
    with pytest.raises(DataError, match="not the promise of capacity noise"):
        read(sent, stream)


def test_a_row_of_a_swapped_stream_is_refused(stream, sent, random_stream) -> None:
    with pytest.raises(DataError, match="row 1: stream is .*; here it is"):
        read(sent, random_stream(20, 5, seed=8))


def test_a_file_without_such_rows_is_refused(stream, sent, tmp_path) -> None:
    for place in ({"other": stream}, {}):
        with pytest.raises(DataError, match="has no row of these streams and levels"):
            read_rows(sent, place, LEVELS, ASKED, replay=0)
    with pytest.raises(DataError, match="has no row .* or of run league-x"):
        read_rows(sent, {stream.label: stream}, LEVELS, ASKED, run="league-x", replay=0)
    pq.write_table(pa.table({"seed": [1]}), tmp_path / "x.parquet")
    with pytest.raises(DataError, match="row 1: sender: Field required; date: "):
        read(tmp_path / "x.parquet", stream)
    sent.write_text("no parquet")
    with pytest.raises(DataError, match="holds no rows of a league"):
        read(sent, stream)


def test_rows_of_other_levels_are_left_out(stream, sent) -> None:
    assert len(read_rows(sent, {stream.label: stream}, [0.5], ASKED, replay=0)) == 1


def test_a_script_in_the_name_of_a_sender_is_escaped(stream, sent) -> None:
    changed(sent, other("sender", "<script>alert('$x_$')</script>"))
    league = dpol.league(["cautious-mean"], stream, rows=[sent], levels=LEVELS, **GAMES)
    shown = league._repr_html_()
    assert "mine (&lt;script&gt;alert(" in shown
    assert "<script" not in shown
    league.plot().canvas.draw()


def test_no_game_is_ranked_twice(stream, sent, tmp_path) -> None:
    twice = tmp_path / "twice.parquet"
    pq.write_table(pa.concat_tables([pq.read_table(sent)] * 2), twice, row_group_size=1)
    for files in ([sent, sent], [twice]):
        with pytest.raises(DataError, match=r"mine \(Ann, Uni X, .*\) plays twice on test"):
            dpol.league(["cautious-mean"], stream, rows=files, levels=LEVELS, **GAMES)


def forge(row):
    """Choose the first expert in all rounds of the second replicate."""
    row["choices"][20:40] = [0] * 20


def test_the_whole_replay_finds_choices_forged_in_one_replicate(stream, sent) -> None:
    changed(sent, forge)
    with pytest.raises(DataError, match="mine played again makes .* other choices"):
        read(sent, stream, replay=math.inf)


def test_a_drawn_replay_finds_them_if_it_draws_the_replicate(stream, sent, monkeypatch) -> None:
    """Draws are of three different replicates, so C(5, 3) of C(6, 3) miss one of six."""
    changed(sent, forge)
    one = tuple(row for row in range(6) if row != 1)
    drawn, seeded = [], np.random.default_rng

    class Drawing:
        def __init__(self, seed):
            self.numbers = seeded(seed)

        def choice(self, *args, **kwargs):
            drawn.append(self.numbers.choice(*args, **kwargs))
            return drawn[-1]

    seeds = iter(range(1000))
    of_games = lambda *given: seeded(*given) if given else Drawing(next(seeds))  # noqa: E731
    monkeypatch.setattr(np.random, "default_rng", of_games)
    missed = 0
    for _ in range(40):
        drawn.clear()
        try:
            read(sent, stream)
            missed += 1
            assert all({*own} <= {*one} for own in drawn)
        except DataError:
            assert 1 in drawn[-1]
        assert all(len({*own}) == 3 for own in drawn)
    assert 0 < missed < 40
    page = (ROOT / "docs/how-to/send-a-row.md").read_text(encoding="utf-8")
    for forged, words in ((1, "one that is forged, of 100,"), (50, "50 of them")):
        missed = comb(100 - forged, 3) / comb(100, 3)
        assert f"{words} with probability {missed:.0%}" in page


def test_one_near_tie_is_no_forgery_and_a_choice_in_each_replicate_is(stream, sent) -> None:
    def turn(row, count):
        for replicate in range(count):
            place = 20 * replicate + 7
            row["choices"][place] = (row["choices"][place] + 1) % 5

    changed(sent, lambda row: turn(row, 1))
    assert len(read(sent, stream, replay=math.inf)) == 2
    changed(sent, lambda row: turn(row, 6))
    with pytest.raises(DataError, match="makes [56] other choices"):
        read(sent, stream, replay=math.inf)


@pytest.mark.parametrize(
    "change",
    [
        inside("code", version="0 (0123456789ab)"),
        inside("code", package="mine"),
        inside("code", **{"dpol's code": "0123456789ab"}),
        other("entry", '"no-such-algorithm"'),
        other("entry", '"no_such_package:It"'),
        other("entry", '"dpol.no_such_module:It"'),
        other("entry", '{"learners": 5}'),
        other("entry", '"cautious-mean"'),
        other("entry", '{"algorithm": "ridge", "label": "mine"}'),
    ],
)
def test_a_row_of_other_code_is_shown_as_sent(change, stream, sent) -> None:
    changed(sent, change)
    assert {status for _, status, _ in read(sent, stream)} == {"as sent"}
