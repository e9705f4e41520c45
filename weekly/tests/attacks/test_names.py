"""A coordinator who calls a hospital by another name gets nothing twice (S2)."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpol.core.errors import ConfigError
from releases import COLUMNS, Halted, ask, deployment, put, refuse

WEEK = "2021-01-01", "2021-01-08", "2021-01-15"
N = deployment(entities={"n": {"capacity": 20}})
RENAMED = "are those that were released before under another name"


def long(name):
    """A holder's file that reads the rows of x as an entity."""
    return {"columns": COLUMNS, "entities": {name: "x"}}


def single(name):
    """A holder's file that reads all rows as an entity."""
    return {"columns": {**COLUMNS, "entity": None}, "entity": name}


def play(made, own, *weeks, refused=None, **options):
    rows = [("x", WEEK[week], f"{3 + week}") for week in weeks]
    if refused:
        return refuse(refused, *rows, made=made, own=own, **options)
    return put(*rows, made=made, own=own, **options)


@pytest.mark.parametrize("own", [long, single])
def test_a_new_name_in_another_agreement_releases_nothing_again(own):
    """A later week is another cell."""
    play(N, own("n"), 0, 1)
    other = deployment(name="v2", entities={"nord": {"capacity": 20}})
    play(other, own("nord"), 0, 1, 2, refused=f"line 2: the counts of nord {RENAMED}")
    assert ask("SELECT COUNT(*) FROM release") == [(2,)]
    assert play(other, own("nord"), 2).added == 1


def test_a_new_name_in_an_amendment_releases_nothing_again():
    """The amendment itself is refused where it begins in a period that was released."""
    play(N, long("n"), 0, 1)
    for since in WEEK[1], WEEK[2]:
        ends = {"n": {"capacity": 20, "until": since}, "n2": {"capacity": 20, "since": since}}
        amends = {"agreement": N.sha256(), "since": since}
        made = deployment(entities=ends, amends=amends)
        if since == WEEK[2]:
            assert play(made, long("n2"), 0, 1, 2).added == 1
            continue
        with pytest.raises(ConfigError, match=f"amends.since = {since}: must be after {WEEK[1]}"):
            play(made, long("n2"), 0, 1, 2, sampler=Halted())


def test_two_files_of_a_holder_on_one_table_release_it_once():
    both = deployment(entities={"n": {"capacity": 20}, "n2": {"capacity": 20}})
    play(both, long("n"), 0)
    play(both, long("n2"), 0, to=Path("there"), refused=f"the counts of n2 {RENAMED}")


def test_a_split_is_confirmed_once_for_a_pair_of_names():
    """Two hospitals with a table each, which look alike."""
    both = deployment(entities={name: {"capacity": 20} for name in ("n", "m", "o")})
    play(both, single("n"), 0)
    play(both, single("m"), 0, to=Path("m"), refused=RENAMED)
    assert play(both, single("m"), 0, to=Path("m"), split=True).added == 1
    assert play(both, single("m"), 0, 1, to=Path("m")).added == 1
    assert play(both, single("n"), 0, 1).added == 1
    play(both, single("o"), 0, to=Path("o"), refused=RENAMED)
