"""Both sides of comparisons with a hash, a key, a mode, a date or a version: mutants that lived."""

from __future__ import annotations

import datetime
import itertools
import json
from pathlib import Path

import pytest

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.coordinator.collect import set_aside
from dpol_weekly.coordinator.decide import decide
from dpol_weekly.deployment import read_deployment, refuse_amendment
from dpol_weekly.holder.request import Request
from dpol_weekly.records import parse, recompute
from releases import A1, A2, LEDGER, USUAL, deployment, hospital, newest, put, refuse, run
from weekly import Coordinator, agreed, day, public, report

DIGITS = USUAL.sha256()


def test_a_hash_that_differs_in_one_digit_or_is_a_part_confirms_nothing():
    """Two agreements with equal first digits are found in minutes."""
    changed = [
        DIGITS[:place] + ("0" if DIGITS[place] != "0" else "1") + DIGITS[place + 1 :]
        for place in range(64)
    ]
    parts = [DIGITS[:length] for length in (0, 8, 12, 32, 63)]
    for wrong in (*changed, *parts, DIGITS + "0", deployment(mu=35).sha256()):
        with pytest.raises(DataError, match="is not the hash of the agreement d, .* all 64 digits"):
            Request(hospital=hospital(USUAL), deployment=USUAL, agree=wrong)
    for right in (DIGITS, DIGITS.upper()):
        Request(hospital=hospital(USUAL), deployment=USUAL, agree=right)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o600])
def test_a_ledger_that_others_could_touch_is_closed(mode):
    put(A1)
    LEDGER.chmod(mode)
    put(A2)
    assert LEDGER.stat().st_mode & 0o777 == 0o600


def test_a_period_that_begins_on_the_date_of_a_new_ledger_stays_closed_to_others():
    """It is that of another agreement, whose ledger may have spent it."""
    begin = datetime.date.fromisoformat(A2[1])
    put(("A", "2021-01-15", "3"), begin_after=begin)
    days = deployment(name="days", periods={"first": A1[1], "days": 1})
    refuse("overlaps the period from 2021-01-08 on", ("A", "2021-01-14", "3"), made=days, to="x")
    assert put(("A", "2021-01-15", "3"), made=days, to=Path("x")).added == 1


@pytest.mark.parametrize(("old", "new"), [(0, 9), (9, 0), (1, 9), (2, 9), (9, 2), (None, 1)])
def test_an_end_is_moved_only_if_both_ends_are_to_come(old, new):
    """The amendment holds from week 2 on."""

    def ends(week, **more):
        at = {} if week is None else {"until": day(week)}
        return deployment(periods={"first": day(0)}, entities={"A": at, "B": {}}, **more)

    before = ends(old)
    after = ends(new, amends={"agreement": before.sha256(), "since": day(2)})
    if old is not None and min(old, new) >= 2:
        refuse_amendment(before, after, "x")
    else:
        with pytest.raises(ConfigError, match="entities.A.until"):
            refuse_amendment(before, after, "x")


@pytest.mark.parametrize("week", [1, 2, 3])
def test_an_amendment_begins_after_the_one_that_it_amends(week):
    def amended(before, since):
        return deployment(periods={"first": day(0)}, amends={"agreement": before, "since": since})

    first = amended("0" * 64, day(2))
    second = amended(first.sha256(), day(week))
    if week > 2:
        refuse_amendment(first, second, "x")
    else:
        with pytest.raises(ConfigError, match="must be after the last amendment"):
            refuse_amendment(first, second, "x")


# ---- what files cost -----------------------------------------------------------------------------


@pytest.mark.parametrize("version", [3.0, True, 2, 4, "3", None])
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
    """The squared mu of a period for each file: agreement, ledger, and rows of entity and day."""
    given = [
        (
            str(number),
            {
                "agreement": made,
                "ledger": {"id": ledger},
                "rows": [[name, f"2021-01-{of:02}", str(number), "9"] for name, of in rows],
            },
        )
        for number, (made, ledger, *rows) in enumerate(files)
    ]
    return [round(it["period_mu"] ** 2, 6) for it in recompute(given, agreements)]


def test_amendments_of_any_length_are_one_agreement():
    """A person is in one of two places of it; three steps lead to the first one."""
    names = ["a", "b", "c", "d"]
    chain = {name: terms(before) for before, name in zip([None, *names], names, strict=False)}
    files = [(name, "L", (f"x{number}", 1)) for number, name in enumerate(names)]
    for one, other in itertools.combinations(files, 2):
        assert cost(chain, one, other) == [1, 1]
    assert cost({"a": terms(), "d": terms()}, files[0], files[3]) == [2, 2]


def test_a_period_in_which_only_another_agreement_released_counts():
    both = {"a": terms(), "b": terms(mu=3)}
    assert cost(both, ("a", "L", ("x", 1)), ("b", "L", ("y", 8))) == [9, 9]
    assert cost(both, ("a", "L", ("x", 1)), ("b", "L", ("y", 1))) == [10, 10]


def test_several_places_of_another_agreement_cost_the_largest_in_each_of_its_periods():
    week = [("x", 1), ("y", 1), ("x", 2), ("y", 3), ("y", 4)]
    files = ("a", "L", ("x", 1)), ("b", "L", *week)
    assert cost({"a": terms(), "b": terms(days=1)}, *files)[0] == 1 + 4
    assert cost({"a": terms(), "b": terms(days=1, counted_by=2)}, *files)[0] == 1 + 2 * 4
    assert cost({"a": terms(counted_by=3), "b": terms(days=1)}, *files)[0] == 3 + 4


def test_two_hospitals_of_two_agreements_are_no_false_alarm():
    """Each pays for both; where one pays for one only, somebody may lose more, and it is said."""
    made = [deployment(name=name, budget_mu=2.1) for name in ("covid", "flu")]
    words = []
    for agreement in made:
        Path(f"{agreement.name}.yaml").write_text(agreement.agreement())
        words += ["--deployment", f"{agreement.name}.yaml"]
    files = {}
    for name, agreement in itertools.product("AB", made):
        place = Path(name, agreement.name)
        put((name, *A1[1:]), made=agreement, to=place, ledger=Path(name, "l.sqlite"), own=of(name))
        files[name, agreement.name] = newest(place)
    code, out, err = run("recompute", *files.values(), *words)
    assert (code, err, "at most mu = 2 for 8 periods" in out) == (0, "", True)
    tight = [deployment(name=it.name, budget_mu=1.5) for it in made]
    for number, (name, agreement) in enumerate(zip("AB", tight, strict=True)):
        Path(f"{agreement.name}.yaml").write_text(agreement.agreement())
        place = Path("tight", name)
        put((name, *A1[1:]), made=agreement, to=place, ledger=place / "l.sqlite", own=of(name))
        files[number] = newest(place)
        assert run("recompute", files[number], *words)[0] == 0
    code, _, err = run("recompute", files[0], files[1], *words)
    assert (code, "for a person who is counted in all these files" in err) == (1, True)


def of(name):
    return {"entities": {name: name}}


# ---- the log -------------------------------------------------------------------------------------


def test_a_key_that_an_amendment_names_takes_the_place_of_the_first_one(tmp_path):
    world = Coordinator(tmp_path)
    world.put(("A", 0, "3"))
    amends = {"agreement": read_deployment(world.deployment).sha256(), "since": day(1)}
    entities = {"A": {"key": public("new")}, "B": {}, "C": {}}
    world.deployment = agreed(tmp_path / "amended", entities, amends=amends)
    rows = ("A", 0, "3"), ("A", 1, "4")
    assert "not signed with the key of A" in world.put(*rows).refused[0]
    assert world.put(*rows, key="new").taken == 1
    # Where no agreement names it, another key is refused.
    other = Coordinator(tmp_path / "other")
    other.put(("A", 0, "3"))
    assert "has another key than the earlier" in other.put(*rows, key="new").refused[0]


def test_a_new_key_is_asked_for_after_all_was_set_aside(tmp_path):
    world = Coordinator(tmp_path)
    world.put(("A", 0, "3"))
    set_aside(world.folder, "A", "another ward")
    told = world.put(("A", 0, "4"), keys={}, ledger="M", output="P")
    assert "it is the first report of A, and nobody has confirmed its key" in told.refused[0]
    assert world.put(("A", 0, "4"), keys={"A": public("M")}, ledger="M", output="P").taken == 1


def test_what_is_reported_after_all_was_set_aside_counts(tmp_path):
    world = Coordinator(tmp_path)
    world.put(("A", 0, "3"), ("B", 0, "4"), ("C", 0, "4"))
    set_aside(world.folder, "A", "another ward")
    world.collect(report(tmp_path / "a.json", world.deployment, [("A", 0, "9")], output="P"))
    decision = decide(world.folder)
    assert decision["reports"] == 3
    assert decision["outlooks"][0]["noisy_count"] == 9
