"""What files of several agreements and versions cost: mutants that lived."""

from __future__ import annotations

import itertools
import json

import pytest

from dpol_weekly.records import parse, recompute
from releases import A1, newest, put


@pytest.mark.parametrize("version", [4.0, True, 2, 5, "4", None])
def test_a_release_of_another_version_is_no_release(version):
    put(A1)
    facts = json.loads(newest().read_text())
    assert parse(json.dumps(facts).encode()) == facts
    with pytest.raises(ValueError, match="another version|at dpol_release"):
        parse(json.dumps(facts | {"dpol_release": version}).encode())


def terms(amends=None, days=7, **more):
    plain = {"mu": 1.0, "count_sensitivity": 1.0, "budget_mu": 100.0, "longest_stay": 1}
    plain |= {"counted_by": 1, "periods": {"first": "2021-01-01", "days": days}}
    return plain | {"amends": amends and {"agreement": amends}} | more


def cost(agreements, *files):
    """The squared mu of a period for each file: agreement, and rows of entity and day."""
    given = [
        (
            str(number),
            {
                "agreement": made,
                "rows": [[name, f"2021-01-{of:02}", str(number), "9"] for name, of in rows],
            },
        )
        for number, (made, *rows) in enumerate(files)
    ]
    return [round(it["period_mu"] ** 2, 6) for it in recompute(given, agreements)]


def test_amendments_of_any_length_are_one_agreement():
    """A person is in one of two places of it; three steps lead to the first one."""
    names = ["a", "b", "c", "d"]
    chain = {name: terms(before) for before, name in zip([None, *names], names, strict=False)}
    files = [(name, (f"x{number}", 1)) for number, name in enumerate(names)]
    for one, other in itertools.combinations(files, 2):
        assert cost(chain, one, other) == [1, 1]
    assert cost({"a": terms(), "d": terms()}, files[0], files[3]) == [2, 2]


def test_a_period_in_which_only_another_agreement_released_counts():
    both = {"a": terms(), "b": terms(mu=3)}
    assert cost(both, ("a", ("x", 1)), ("b", ("y", 8))) == [9, 9]
    assert cost(both, ("a", ("x", 1)), ("b", ("y", 1))) == [10, 10]


def test_several_places_of_another_agreement_cost_the_largest_in_each_of_its_periods():
    week = [("x", 1), ("y", 1), ("x", 2), ("y", 3), ("y", 4)]
    files = ("a", ("x", 1)), ("b", *week)
    assert cost({"a": terms(), "b": terms(days=1)}, *files)[0] == 1 + 4
    assert cost({"a": terms(), "b": terms(days=1, counted_by=2)}, *files)[0] == 1 + 2 * 4
    assert cost({"a": terms(counted_by=3), "b": terms(days=1)}, *files)[0] == 3 + 4
