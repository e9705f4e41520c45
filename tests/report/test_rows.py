"""Sent rows rank as if played here; forged ones are refused with a reason, or shown as they are."""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpol
from dpol.config.league import noises_to_play
from dpol.core.errors import DataError
from dpol.data.stream import PUBLIC
from dpol.experts.registry import REGISTRY, make_members
from dpol.noise import NO_NOISE
from dpol.privacy.losses import Loss
from dpol.report.league import _ranked
from dpol.report.rows import AS_SENT, read_rows, write_rows
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


def read(file, stream, **asked):
    return read_rows([file], {stream.label: stream}, LEVELS, {**ASKED, **asked})[1:]


def reasons(file, stream):
    """Return why the rows of a file are refused; none of them may be taken."""
    sent, refused = read(file, stream)
    assert not sent
    return refused


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
        *("simplicity", "rank", "guarantee", "guaranteed_mu", "mu_8_weeks", "named_right"),
        *("gain_share", "gain_share_half_width", "gain_per_round", "strongest", "to_strongest"),
        *("to_strongest_half_width", "to_strongest_verdict"),
    ]
    rows = [own.set_index(["family", "noise", "mu"]).sort_index() for own in (here, there)]
    pd.testing.assert_frame_equal(*(own[same] for own in rows))
    theirs = there[there["sender"] == "Ann, Uni X"]
    assert {*theirs["algorithm"]} == {"mine (Ann, Uni X, as sent)"}
    shown = league._repr_html_()
    assert "mine (Ann, Uni X, as sent), capacity noise" in shown
    assert AS_SENT.replace("'", "&#39;") in shown
    assert AS_SENT in "\n".join(league.in_text({"cautious-mean"}))
    league.plot()


@pytest.mark.parametrize("name", [it for it in sorted(REGISTRY) if len(make_members(it)) == 1])
def test_each_algorithm_travels(name, stream, tmp_path) -> None:
    (member,) = make_members(name)
    cell = (*noises_to_play(member), NO_NOISE)[0], 0.5
    if member.algorithm.model == "none":
        cell = NO_NOISE, math.inf
    write_rows([run_of(stream, member.label, [cell])], tmp_path / "one.parquet", name, ABOUT)
    sent, refused = read(tmp_path / "one.parquet", stream)
    assert (len(sent), refused) == (1, [])


def other(name, value):
    return lambda row: row.update({name: value})


def of_json(row, column, **fields):
    row[column] = json.dumps(json.loads(row[column]) | fields)


def gaussian(mu):
    return {**Loss().as_data(), "gaussian": mu}


TEXTS = "a\x1b[31m", "a\u202eb", "", "x" * 201, "x" * 1_000_000, 7, None
"""Values that no text of a row may have."""
FORGED = {
    **dict.fromkeys(("sender", "date", "looked_at", "family"), TEXTS),
    "run": TEXTS[:6],
    "stream": TEXTS[:6],
    "label": ("<script>", "a b", "", "-x", "x" * 65, "x" * 1_000_000, 7, None),
    "tried": (0, -1, None),
    "entry": ("{", "[]", "7", '"' + "x" * 1_000_000 + '"', None),
    "code": ("{", "[]", '{"a": 1}', '{"a": "\\u202e"}', '{"a": "' + "x" * 5000 + '"}', None),
    "noise": ("louder", "", "capacity ", "none", None),
    "mu": (0.0, -0.5, math.nan, None),
}
"""Forged values of fields; each must be refused with the field."""
OTHER_GAMES = {
    "seed": (7, "3", None, 3.5),
    "replicates": (10**6, 5, "6", None),
    "noise_memory": ("none", None, [0.1, 0.2]),
    "stay": (2, 0, None),
    "count_sensitivity": (3.0, 0.5, None, "1"),
    "gain_range": (2.0, None, -1),
    "stream": ("of another", "", None),
}
OTHER_GUARANTEES = {
    "loss": (*(gaussian(mu) for mu in (0.1, 0.4999, -1, "small", math.nan, 40)), "small", None, {}),
    "stays": ([gaussian(0.1)] * 4, [gaussian(0.5)] * 3, [], None, gaussian(0.5), [0.5] * 4),
    "model": ("none", "global", None),
    "sensitivity": (0.0, 2.0, -1, "x", math.nan),
    "sensitivity_unit": ("L1, persons", "", "x" * 5000),
    "adjacency": ("two equal streams, nobody", "", "x" * 1_000_000),
    "unit": ("nobody", "one person", ""),
    "mechanism": ("magic", "x" * 1_000_000),
    "taken_as_public": ("everything", None),
    "carried": ([3, gaussian(0.1)], [3], "x"),
    "memory": ("long", "x" * 5000),
}
"""Forged fields of the guarantee of a local algorithm."""


def forgeries():
    for name, values in FORGED.items():
        for value in values:
            yield name, lambda row, name=name, value=value: row.update({name: value})
    for column, table in (("asked", OTHER_GAMES), ("guarantee", OTHER_GUARANTEES)):
        for key, values in table.items():
            for value in values:
                fields = {key: value}
                yield column, lambda row, column=column, it=fields: of_json(row, column, **it)
    for value in ("{", "[]", "7", "null"):
        yield "asked", lambda row, value=value: row.update(asked=value)
        yield "guarantee", lambda row, value=value: row.update(guarantee=value)
    yield "choices", lambda row: row["choices"].append(0)
    yield "choices", lambda row: row["choices"].pop()
    yield "choices", lambda row: row["choices"].__setitem__(3, 5)
    yield "choices", lambda row: row["choices"].__setitem__(3, -1)
    yield "choices", lambda row: row.update(choices=[])


def test_each_forged_field_is_refused_with_its_row_and_field(stream, sent) -> None:
    """Long texts make the row too large before a field is read."""
    (honest, *_), schema = pq.read_table(sent).to_pylist()[1:], pq.read_schema(sent)
    tried = 0
    for field, change in forgeries():
        row = json.loads(json.dumps(honest))
        change(row)
        tried += 1
        try:
            table = pa.Table.from_pylist([row], schema)
        except pa.ArrowException:  # of another type than a column of ours
            table = pa.Table.from_pylist([row])
        pq.write_table(table, sent, row_group_size=1)
        taken, refused = read(sent, stream)
        assert not taken, (field, str(row[field])[:99])
        (reason,) = refused
        assert "\n" not in reason
        assert len(reason) < 3000
        named = reason.startswith(f"{sent}, row 1: ") and f"{field}: " in reason
        assert named or "bytes beside its choices" in reason, (field, reason)
    assert tried >= 119


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"adjacency": "two equal streams, nobody"}, "protects "),
        ({"unit": "nobody"}, "protects nobody, not one person in one round"),
        ({"loss": gaussian(40)}, "claims mu = 40 but 0.5 was requested"),
        ({"sensitivity": 1e-3}, "has the sensitivity 0.001, not "),
        ({"taken_as_public": "all"}, "takes private data as public"),
    ],
)
def test_a_curators_guarantee_must_agree_with_the_readers_stream(
    fields, wrong, stream, tmp_path
) -> None:
    file, name = tmp_path / "one.parquet", "tree-ftpl-min-noise"
    write_rows([run_of(stream, name, [("isotropic", 0.5)])], file, name, ABOUT)
    assert len(read(file, stream)[0]) == 1
    changed(file, lambda row: of_json(row, "guarantee", **fields))
    (reason,) = reasons(file, stream)
    assert reason.startswith(f"{file}, row 1: guarantee: ")
    assert wrong in reason


def test_what_only_the_sender_knows_is_shown_as_it_is(stream, sent) -> None:
    changed(sent, other("sender", "Bo"))
    changed(sent, other("looked_at", "everything"))
    changed(sent, lambda row: of_json(row, "code", version="0"))
    changed(sent, other("entry", '"no_such_package:It"'))
    changed(sent, lambda row: of_json(row, "guarantee", model="central"))
    played, refused = read(sent, stream)
    assert [it.label for it in played] == ["mine (Bo, as sent)"] * 2
    assert {it.facts["sees"] for it in played} == {"raw"}
    assert not refused


PATCHES = """
import dpol.report.league
from dpol.experts.ftpl import RandomWalkFTPL as It
dpol.report.league._ranked = None
"""
READS_FRAMES = """
import sys
from dataclasses import dataclass
import numpy as np
from dpol.data.stream import GainStream
from dpol.experts.interface import LocalAlgorithm
@dataclass(frozen=True)
class It(LocalAlgorithm):
    def init(self, setup):
        return 0
    def step(self, state, observation, generators):
        frame, raw = sys._getframe(), []
        while not raw:
            frame = frame.f_back
            raw = [it for it in frame.f_locals.values() if isinstance(it, GainStream)]
        return state + 1, np.full(6, raw[0].gains[state].argmax(), np.int32)
"""


@pytest.mark.parametrize(("eve", "code"), [("patches", PATCHES), ("frames", READS_FRAMES)])
def test_a_row_runs_no_code_and_imports_no_package(
    eve, code, stream, tmp_path, monkeypatch
) -> None:
    """Of a package that writes a file on import, and is installed where the row is read."""
    sent, written = tmp_path / "sent.parquet", tmp_path / "imported"
    (tmp_path / f"{eve}.py").write_text(f"open({str(written)!r}, 'w').close()\n{code}")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("dpol.report.league._ranked", _ranked)  # again, after the import
    entry = {"algorithm": f"{eve}:It", "label": "mine"}
    write_rows([run_of(stream, "mine", [("capacity", mu) for mu in LEVELS])], sent, entry, ABOUT)
    choices = pq.read_table(sent)["choices"].to_pylist()
    cheats = choices == [np.tile(stream.gains.argmax(axis=1), 6).tolist()] * 2
    assert cheats == (eve == "frames")
    written.unlink()
    dpol.write_stream(stream, tmp_path / "stream.parquet")
    code = (
        "import sys, dpol\n"
        "stream = dpol.read_stream('stream.parquet')\n"
        f"league = dpol.league(['persistence'], stream, rows=['{sent.name}'], seed=3,\n"
        "    replicates=6, levels=[float('inf'), .5])\n"
        "shown = league._repr_html_(), *league.in_text({'mine'}), league.plot()\n"
        f"print((league.standings['sender'] != '').sum(), '{eve}' in sys.modules)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert said.stdout == "2 False\n", said.stderr
    assert not written.exists()


def test_a_row_of_a_swapped_stream_is_refused(stream, sent, random_stream) -> None:
    for place, reason in enumerate(reasons(sent, random_stream(20, 5, seed=8)), start=1):
        assert f"row {place}: asked: stream is " in reason


def test_a_group_of_a_million_rows_is_refused_before_it_is_read(stream, sent) -> None:
    row = pq.read_table(sent).slice(0, 1)
    many = pa.concat_tables([row] * 1000).combine_chunks()
    many = pa.concat_tables([many] * 1000)
    pq.write_table(many, sent, row_group_size=10**6, compression="zstd")
    assert sent.stat().st_size < 10**6
    before, began = resource.getrusage(resource.RUSAGE_SELF), time.process_time()
    (reason,) = reasons(sent, stream)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert "the group has 1,000,000 rows" in reason
    assert time.process_time() - began < 1
    assert after.ru_maxrss - before.ru_maxrss < 50_000  # kB


def test_a_file_without_such_rows_says_so(stream, sent, tmp_path) -> None:
    for given, run in (({"other": stream}, ""), ({}, ""), ({stream.label: stream}, "league-x")):
        found = read_rows([sent], given, LEVELS, ASKED, run=run)
        assert found == ({}, [], ["2 rows of other streams, levels or runs than those here"])
    senders, taken, why = read_rows([sent], {stream.label: stream}, [0.5], ASKED)
    assert [*senders.values()] == [ABOUT["sender"]]
    assert (len(taken), why) == (1, ["1 rows of other streams, levels or runs than those here"])
    pq.write_table(pa.table({"seed": [1]}), tmp_path / "x.parquet")
    (reason,) = reasons(tmp_path / "x.parquet", stream)
    assert "row 1: sender: must be string; date: must be string; " in reason
    sent.write_text("no parquet")
    with pytest.raises(DataError, match="holds no rows of a league"):
        read(sent, stream)


def test_a_script_in_the_name_of_a_sender_is_escaped(stream, sent) -> None:
    changed(sent, other("sender", "<script>alert('$x_$')</script>"))
    league = dpol.league(["cautious-mean"], stream, rows=[sent], levels=LEVELS, **GAMES)
    shown = league._repr_html_()
    assert "mine (&lt;script&gt;alert(" in shown
    assert "<script" not in shown
    league.plot().canvas.draw()


def test_no_game_is_ranked_twice_and_the_league_says_which_row_is_refused(stream, sent) -> None:
    files = [sent, sent]
    league = dpol.league(["cautious-mean"], stream, rows=files, levels=LEVELS, **GAMES)
    assert (league.standings["sender"] != "").sum() == 2
    lines = [*league.in_text({"cautious-mean"})]
    for place in (1, 2):
        reason = f"{sent}, row {place}: label: there is a row of this game already"
        assert f"Refused: {reason}." in lines


def test_what_a_refused_row_says_is_escaped(stream, sent) -> None:
    changed(sent, lambda row: of_json(row, "asked", seed="<script>alert(1)</script>"))
    league = dpol.league(["cautious-mean"], stream, rows=[sent], levels=LEVELS, **GAMES)
    assert len(league.refused) == 2
    assert "<script" not in league._repr_html_()
    assert "&lt;script&gt;" in league._repr_html_()


def test_a_private_table_writes_no_row(stream, tmp_path) -> None:
    for said, private in (({"file": "t"}, True), ({PUBLIC: False}, True), ({PUBLIC: True}, False)):
        own = dpol.GainStream(**{**vars(stream), "provenance": said})
        assert own.private is private
        file = tmp_path / f"{len(said)}{private}.parquet"
        runs = [run_of(own, "mine", [("capacity", 0.5)])]
        if not private:
            assert write_rows(runs, file, ENTRY, ABOUT) == 1
            continue
        with pytest.raises(DataError, match="which gives the table away: choices without noise"):
            write_rows(runs, file, ENTRY, ABOUT)
        assert not file.exists()


def test_choices_are_scored_on_the_stream_of_the_reader(stream, sent) -> None:
    best = stream.gains.argmax(axis=1)
    changed(sent, lambda row: row.update(choices=[*map(int, np.tile(best, 6))]))
    league = dpol.league(["cautious-mean"], stream, rows=[sent], levels=LEVELS, **GAMES)
    own = league.standings[league.standings["sender"] != ""]
    assert own["gain_share"].to_numpy() == pytest.approx(1)
