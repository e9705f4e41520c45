"""A ledger goes on over an amendment: other beds, a holder that joins, a file that is late."""

from __future__ import annotations

import pytest

from dpol.core.errors import ConfigError
from releases import deployment, output, put, record

WEEKS = [f"2021-01-{day:02}" for day in (1, 8, 15, 22)]
BEDS = {"A": {"capacity": 20}, "B": {"capacity": 40}, "C": {}}
OLD = deployment(entities=BEDS)
AMENDS = {"agreement": OLD.sha256(), "since": WEEKS[2]}
JOINS = BEDS | {"A": {"capacity": 8}, "D": {"since": WEEKS[2]}}
NEW = deployment(entities=JOINS, amends=AMENDS)


def rows(*weeks, of="AB"):
    return [(name, WEEKS[week], "3") for week in weeks for name in of]


def beds(entity="A"):
    return {row["period"]: row["capacity"] for row in output() if row["entity"] == entity}


def test_a_period_before_the_amendment_has_the_beds_of_then():
    """A week may be late, and so may a file; all rows are in one output."""
    put(*rows(0), made=OLD)
    put(*rows(0, 1, 2), made=NEW)
    assert beds() == {WEEKS[0]: "20", WEEKS[1]: "20", WEEKS[2]: "8"}
    assert record()["agreement"] == NEW.sha256()
    put(*rows(0, 1, 2, 3), made=OLD)
    assert beds()[WEEKS[3]] == "20"  # dpol collect knows that it is of the old agreement


def test_a_ledger_that_does_not_know_the_old_agreement_releases_no_period_of_it():
    done = put(*rows(1, 2), made=NEW)
    assert (done.added, done.periods) == (2, [WEEKS[2]])
    assert done.impossible["A", WEEKS[1]] == "this ledger lacks the agreement of then"


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"mu": 0.6}, "mu: must stay as it was"),
        ({"budget_mu": 99}, "budget_mu: must stay"),
        ({"second_release": {"after": 4}}, "second_release: must stay"),
        ({"longest_stay": 7}, "longest_stay: must stay"),
        ({"entities": {"A": {}, "B": {}}}, "entities.C: must stay in the file"),
        ({"entities": BEDS | {"D": {}}}, "entities.D.since: must be 2021-01-15 or later"),
        ({"entities": BEDS | {"A": {"until": WEEKS[1]}}}, "entities.A.until"),
    ],
)
def test_an_amendment_changes_entities_from_then_on_and_nothing_else(keys, message):
    put(*rows(0), made=OLD)
    made = deployment(**{"entities": BEDS, "amends": AMENDS} | keys)
    with pytest.raises(ConfigError, match=message):
        put(*rows(0, 1), made=made, halted=True)


def test_an_amendment_is_taken_late_and_nothing_is_released_again():
    """A holder that forgot the new file in its first week is not left behind for ever."""
    put(*rows(0, 1, 2), made=OLD)
    assert beds()[WEEKS[2]] == "20"
    assert put(*rows(0, 1, 2, 3), made=NEW).added == 2
    assert beds() == dict(zip(WEEKS, ("20", "20", "20", "8"), strict=True))
    assert put(*rows(2, of="D"), made=NEW).added == 1, "one file names A and D as two places"
