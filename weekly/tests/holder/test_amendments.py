"""A hospital goes on over an amendment: other beds, a holder that joins, a file that is late."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from dpol.core.errors import ConfigError
from dpol_weekly.deployment import refuse_amendment
from releases import NOISY, day, deployment, put, record, refuse, run, table

WEEKS = [f"2021-01-{day:02}" for day in (1, 8, 15, 22)]
BEDS = {"A": {"capacity": 20}, "B": {"capacity": 40}, "C": {}}
OLD = deployment(entities=BEDS)
AMENDS = {"agreement": OLD.sha256(), "since": WEEKS[2]}
JOINS = BEDS | {"A": {"capacity": 8}, "D": {"since": WEEKS[2]}}
NEW = deployment(entities=JOINS, amends=AMENDS)


def rows(*weeks, of="AB"):
    return [(name, WEEKS[week], "3") for week in weeks for name in of]


def beds(entity="A"):
    return {period: capacity for name, period, _, capacity in table() if name == entity}


def test_a_period_before_the_amendment_has_the_beds_of_then():
    """A week may be late, and so may a file; all rows are in one release."""
    put(*rows(0), made=OLD)
    put(*rows(0, 1, 2), made=NEW)
    assert beds() == {WEEKS[0]: "20", WEEKS[1]: "20", WEEKS[2]: "8"}
    assert record()["agreement"] == NEW.sha256()
    put(*rows(0, 1, 2, 3), made=OLD)
    assert beds()[WEEKS[3]] == "20"  # dpol collect knows that it is of the old agreement


def test_a_folder_without_the_old_agreement_releases_nothing_and_names_it():
    refuse("is due under the agreement .* copy the file of that one", *rows(1, 2), made=NEW)
    NOISY.mkdir()
    Path("noisy/old.json").write_text(json.dumps(json.loads(OLD.agreement())))
    done = put(*rows(1, 2), made=NEW)
    assert {period for _, period, _ in done.added} == {WEEKS[1], WEEKS[2]}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"mu": 0.6}, "mu: must stay as it was"),
        ({"budget_mu": 99}, "budget_mu: must stay"),
        ({"second_release": {"after": 4}}, "second_release: must stay"),
        ({"longest_stay": 7}, "longest_stay: must stay"),
        ({"entities": {"A": {}, "B": {}}}, "entities.C: must stay in the file"),
        ({"entities": BEDS | {"D": {}}}, "entities.D: must take part in the same periods before"),
        ({"entities": BEDS | {"A": {"until": WEEKS[1]}}}, "entities.A: must take part in the same"),
    ],
)
def test_an_amendment_changes_entities_from_then_on_and_nothing_else(keys, message):
    put(*rows(0), made=OLD)
    made = deployment(**{"entities": BEDS, "amends": AMENDS} | keys)
    with pytest.raises(ConfigError, match=message):
        put(*rows(0, 1), made=made, halted=True)


def test_an_amendment_may_begin_before_what_was_released_of_entities_that_stay():
    put(*rows(0, 1, 2), made=OLD)
    others = deployment(entities=BEDS | {"D": {"since": WEEKS[2]}}, amends=AMENDS)
    assert len(put(*rows(0, 1, 2, 3), made=others).added) == 2, "it changes D only"


def test_an_agreement_of_a_known_name_amends_one_that_is_known_or_is_refused():
    put(*rows(0), made=OLD)
    shutil.copytree(NOISY, "before")
    for made, message in (
        (deployment(mu=0.4), "is another agreement than d .* and does not amend it"),
        (
            deployment(name="d-2025", mu=0.4, entities=BEDS, amends=AMENDS),
            "(?s)name: must stay as it was.*mu: must stay as it was",
        ),
        (
            deployment(entities=BEDS, amends=AMENDS | {"agreement": "0" * 64}),
            "does not amend it. Take that one, or the amendments between",
        ),
    ):
        with pytest.raises(ConfigError, match=message):
            put(*rows(0, 1), made=made, halted=True)
    assert {it.name for it in NOISY.iterdir()} == {it.name for it in Path("before").iterdir()}
    put(*rows(0), made=OLD)
    Path("d.yaml").write_text(NEW.agreement())
    code, _, err = run("privatize")
    assert (code, "  +   D: {capacity: reported, since: '2021-01-15'}\n" in err) == (1, True)


@pytest.mark.parametrize(("old", "new"), [(0, 9), (9, 0), (1, 9), (2, 9), (9, 2), (None, 1)])
def test_an_end_is_moved_only_if_both_ends_are_to_come(old, new):
    """The amendment holds from week 2 on."""

    def ends(week, **more):
        at = {} if week is None else {"until": day(7 * week)}
        return deployment(entities={"A": at, "B": {}}, **more)

    before = ends(old)
    after = ends(new, amends={"agreement": before.sha256(), "since": day(14)})
    if old is not None and min(old, new) >= 2:
        refuse_amendment(before, after, (), "x")
    else:
        with pytest.raises(ConfigError, match="entities.A: must take part in the same periods"):
            refuse_amendment(before, after, (), "x")
