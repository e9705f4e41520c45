"""325 releases that were altered, forged or made with an own key: none harms."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from dpol_weekly.coordinator.collect import collect
from dpol_weekly.coordinator.log import Log
from dpol_weekly.keys import make_key
from releases import (
    day,
    deployment,
    forge,
    known_keys,
    newest,
    put,
    record,
    run,
    table,
)

MADE = deployment(entities={name: {"capacity": 20} for name in "AB"}, budget_mu=9)
WEEKS = [("A", str(day(7 * week)), str(week)) for week in range(4)]
CELLS = [
    (0, ["B", "b", "C", "", "A\n"]),
    (1, ["2021-01-02", "2020-12-25", "2999-01-01", "2021-1-1", "2021-02-30"]),
    (2, ["3", "1e9", "999999999.000000", "-0.000000", "nan"]),
    (3, ["21", "0", "20.0", "1000000000", "-20"]),
]


@pytest.fixture
def sent():
    """Four weeks of hospital A, whose first two the coordinator has."""
    put(*WEEKS[:2], made=MADE)
    known_keys("A")
    words = "collect", newest(), "--into", "state", "--deployment", "d.yaml"
    assert run(*words, "--known-keys", "known.yaml")[0] == 0
    put(*WEEKS, made=MADE)
    return newest().read_bytes()


def harmless(content):
    """A file is collected: no row is accepted but those that hospital A has signed, as they are."""
    Path("x.json").write_bytes(content)
    (done,) = collect([Path("x.json")], Path("state"), keys={})
    rows = {(*place, *cells) for place, held in Log(Path("state")).rows.items() for cells in held}
    assert rows <= {tuple(row) for row in table()}
    return done


def test_altered_bytes(sent):
    """160 seeded changes of a byte; a blank between cells changes nothing that is signed."""
    chance, refused = random.Random(3), 0
    for _ in range(160):
        place = chance.randrange(len(sent))
        other = bytes([sent[place] ^ (1 << chance.randrange(8))])
        refused += bool(harmless(sent[:place] + other + sent[place + 1 :]).refused)
    assert refused > 120
    assert len(harmless(sent).taken) == 2 or len(Log(Path("state")).rows) == 4


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_altered_cells(sent, column):
    """60 cells: 15 of each column, without a new signature, in three rows."""
    facts = json.loads(sent)
    for text in dict(CELLS)[column]:
        for row in (0, 2, 3):
            rows = [[*it] for it in facts["rows"]]
            rows[row][column] = text
            assert harmless(json.dumps(facts | {"rows": rows}).encode()).refused


def test_rows_of_the_hospital_that_others_have_signed(sent):
    """100 releases by 100 keys: with its rows, with other counts, with its name as theirs."""
    facts, chance = json.loads(sent), random.Random(4)
    for number in range(100):
        Path("x.json").write_bytes(sent)
        make_key(Path(f"{number}.key"))
        count = f"{chance.gauss(9, 3):.6f}"
        rows = [*facts["rows"], ["A", str(day(28 + 7 * number)), count, "20"]]
        named = {"key": facts["key"]} if number % 2 else {}
        forge("x.json", by=f"{number}.key", rows=rows if number % 3 else rows[-1:], **named)
        assert harmless(Path("x.json").read_bytes()).refused


def test_what_a_hospital_signs_itself(sent):
    """Another first release of a week, one of a week to come, one more, one of B, other beds."""
    facts = record()
    first, last = facts["rows"][0], facts["rows"][-1]
    own = {tuple(row) for row in table()}
    for rows in (
        [[*first[:2], "5.000000", "20"]],
        [[first[0], "2999-01-04", *first[2:]]],
        [*facts["rows"], [*last[:2], "5.000000", "20"]],
        [["B", *first[1:]]],
        [[*first[:3], "19"]],
    ):
        shutil.copy(newest(), "x.json")
        forge("x.json", rows=rows)
        (done,) = collect([Path("x.json")], Path("state"), keys={})
        assert len(done.refused) == 1
        held = {(*place, *it) for place, cells in Log(Path("state")).rows.items() for it in cells}
        assert held <= own
