"""A ledger goes on over an amendment: other beds, a holder that joins, a file that is late."""

from __future__ import annotations

import pytest

from dpol.core.errors import ConfigError
from dpol_weekly.holder.agreement import NotConfirmedError, confirm
from dpol_weekly.holder.ledger import open_ledger
from releases import LEDGER, Halted, ask, deployment, hospital, output, put, record, refuse

WEEKS = [f"2021-01-{day:02}" for day in (1, 8, 15, 22)]
BEDS = {"A": {"capacity": 20}, "B": {"capacity": 40}, "C": {}}
KEYS = {"noise": {"memory": "designed"}, "entities": BEDS}
OLD = deployment(**KEYS)
AMENDS = {"agreement": OLD.sha256(), "since": WEEKS[2]}
NEW = deployment(
    **KEYS | {"entities": BEDS | {"A": {"capacity": 8}, "D": {"since": WEEKS[2]}}}, amends=AMENDS
)


def rows(*weeks, of="AB"):
    return [(name, WEEKS[week], "3") for week in weeks for name in of]


def lengths():
    """The entity and the number of releases of each chain in the last release."""
    return [(chain["entity"], chain["releases"]) for chain in record()["chains"]]


def beds(entity="A"):
    return {row["period"]: row["capacity"] for row in output() if row["entity"] == entity}


def asked(made):
    """The words in which an agreement is asked for."""
    with pytest.raises(NotConfirmedError) as question, open_ledger(LEDGER) as ledger:
        confirm(ledger, made, hospital(made).use(made), agree=False)
    return question.value.statement


def test_other_beds_end_the_chain_of_that_entity_and_of_no_other():
    put(*rows(0, 1), made=OLD)
    put(*rows(0, 1, 2), made=NEW)
    put(*rows(0, 1, 2, 3), made=NEW)
    assert sorted(lengths()) == [("A", 2), ("A", 2), ("B", 4)]
    ended = ask(
        "SELECT u IS NULL FROM chain WHERE number IN (SELECT chain FROM release) ORDER BY 1"
    )
    assert ended == [(0,), (0,), (1,)]
    assert beds() == dict(zip(WEEKS, ["20", "20", "8", "8"], strict=True))


def test_a_period_before_the_amendment_has_the_beds_of_then():
    """A week may be late, and so may a file."""
    put(*rows(0), made=OLD)
    put(*rows(0, 1, 2), made=NEW)
    assert beds() == {WEEKS[0]: "20", WEEKS[1]: "20", WEEKS[2]: "8"}
    put(*rows(0, 1, 2, 3), made=OLD)
    assert beds()[WEEKS[3]] == "20"  # dpol collect knows that it is of the old agreement


def test_a_ledger_that_does_not_know_the_agreement_of_then_says_so():
    message = (
        "line 2: its period is before 2021-01-15, and this ledger does not know .* the file of"
    )
    refuse(message, *rows(1, 2), made=NEW)
    assert not LEDGER.exists()
    put(*rows(1), made=OLD)
    assert put(*rows(1, 2), made=NEW).added == 2


def test_a_holder_joins_with_a_new_ledger():
    done = put(*rows(0, 1, 2, 3, of="D"), made=NEW, own={"entity": "D"}, to="d", ledger="new")
    assert (done.added, done.outside) == (2, 2)
    assert record("d")["deployment"]["sha256"] == NEW.sha256()


def test_an_amendment_is_asked_for_with_what_changed():
    put(*rows(0), made=OLD)
    text = asked(NEW)
    assert "  entities.A.capacity: 20 -> 8\n" in text
    assert "does not amend" not in text
    # A file of that name that amends nothing is asked for too, and said to be none.
    text = asked(deployment(**KEYS, longest_stay=9))
    assert "  longest_stay: 8 -> 9\n" in text
    assert "It does not amend the one that you confirmed" in text


@pytest.mark.parametrize("keys", [{"mu": 0.4}, {"budget_mu": 99}, {"longest_stay": 9}])
def test_an_amendment_that_changes_a_promise_is_refused(keys):
    put(*rows(0), made=OLD)
    made = deployment(**KEYS, **keys, amends=AMENDS)
    (key,) = keys
    with pytest.raises(ConfigError, match=rf"(?s)the agreement d: .*{key}: must stay as it was"):
        put(*rows(0, 2), made=made, sampler=Halted())
