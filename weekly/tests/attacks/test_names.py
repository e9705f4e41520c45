"""A coordinator who calls a hospital by another name gets nothing twice unnoticed (S2).

Under another agreement the rows add up (test_ceiling.py); under the same one they are refused.
"""

from __future__ import annotations

import math

import pytest

from releases import COLUMNS, ask, deployment, put, refuse, stays

WEEK = "2021-01-01", "2021-01-08", "2021-01-15"
N = deployment(entities={"n": {"capacity": 20}})
RENAMED = "was released already, for n. If that is another name"
BOTH = deployment(entities={name: {"capacity": 20} for name in ("n", "m", "o")})


def long(name):
    """A holder's file that reads the rows of x as an entity."""
    return {"columns": COLUMNS, "entities": {name: "x"}}


def single(name):
    """A holder's file that reads all rows as an entity."""
    return {"columns": {**COLUMNS, "entity": None}, "entities": [name]}


def play(made, own, *weeks, refused=None, more="", **options):
    rows = [("x", WEEK[week], f"{3 + week}{more}") for week in weeks]
    if refused:
        return refuse(refused, *rows, made=made, own=own, **options)
    return put(*rows, made=made, own=own, **options)


@pytest.mark.parametrize("more", ["", ".04"])
def test_a_new_name_in_another_agreement_is_paid_for(more):
    """By both agreements, however the counts are written."""
    play(N, long("n"), 0, 1)
    other = deployment(name="v2", entities={"nord": {"capacity": 20}})
    done = play(other, long("nord"), 0, 1, 2, more=more)
    assert done.mu_of_stay == pytest.approx(math.sqrt(8 * 2 * 0.25))
    assert [*stays().values()] == [pytest.approx(math.sqrt(0.5))] * 2


def test_a_new_name_in_an_amendment_releases_nothing_again():
    """Though the amendment begins in a period that was released."""
    play(N, long("n"), 0, 1)
    since = WEEK[1]
    ends = {"n": {"capacity": 20, "until": since}, "n2": {"capacity": 20, "since": since}}
    made = deployment(entities=ends, amends={"agreement": N.sha256(), "since": since})
    play(made, long("n2"), 1, 2, refused=f"line 2: {WEEK[1]} {RENAMED}")
    assert play(made, long("n2"), 2).added == 1
    assert ask("SELECT COUNT(*) FROM release") == [(3,)]


@pytest.mark.parametrize("own", [long, single])
@pytest.mark.parametrize("more", ["", ".04"])
def test_two_files_of_a_holder_on_one_table_release_it_once(own, more):
    """However the counts are written, in whatever folder."""
    play(BOTH, own("n"), 0, 1)
    options = {"to": "there", "more": more, "refused": RENAMED}
    play(BOTH, own("m"), 0, 1, **options)
    play(BOTH, own("m"), 2, to="there")
    del options["refused"]
    assert play(BOTH, own("m"), 1, 2, **options).added == 0, "m begins with week 2"


def test_a_split_is_confirmed_once_for_a_pair_of_names():
    """Two hospitals with a table each."""
    play(BOTH, single("n"), 0)
    play(BOTH, single("m"), 0, to="m", refused=RENAMED)
    assert play(BOTH, single("m"), 0, to="m", split=True).added == 1
    assert play(BOTH, single("m"), 0, 1, to="m").added == 1
    assert play(BOTH, single("n"), 0, 1).added == 1
    play(BOTH, single("o"), 0, to="o", refused="was released already, for [mn]")


def test_entities_of_one_table_are_not_asked_about():
    """They have rows of their own for one period, though not in one run."""
    own = {"columns": COLUMNS, "entities": ["n", "m"]}
    n, m = (("n", WEEK[0], "3"), ("m", WEEK[0], "3"))
    put(n, made=BOTH, own=own)
    assert put(n, m, made=BOTH, own=own).added == 1
    put(("n", WEEK[1], "3"), made=BOTH, own=own)
    assert put(("m", WEEK[1], "3"), made=BOTH, own=own).added == 1


@pytest.mark.parametrize("count", ["4", "5"])
def test_whether_a_run_is_refused_depends_on_no_count(count):
    """Two wards with own files and tables of new rows: 4 and 4 would show that they are equal."""

    def ward(name, week, count, **more):
        put(("x", WEEK[week], count), made=BOTH, own=single(name), to=name, **more)

    ward("n", 0, "7")
    with pytest.raises(Exception, match=RENAMED):
        ward("m", 0, "9", halted=True)
    ward("m", 0, "9", split=True)
    ward("n", 1, "4")
    ward("m", 1, count)
    ward("m", 2, "4")
    ward("n", 2, count)
