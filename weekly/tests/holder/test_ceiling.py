"""No sequence of releases takes a person of the longest stay past the budget of a deployment.

`plain_spent` sums what was released once more, day by day, and `plain_loss` what people lose who
stay and move at random.
"""

from __future__ import annotations

import datetime
import json
import math
import tempfile
from collections import Counter
from contextlib import chdir
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import releases
from dpol.core.errors import DataError
from dpol_weekly.deployment import SecondRelease, checked_deployment
from dpol_weekly.holder import ceiling
from dpol_weekly.holder.ledger import open_ledger, transaction
from releases import KEYS, LEDGER, ask

FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
FIRST = datetime.date(2024, 1, 7)
RELEASED = "SELECT name FROM deployment WHERE number IN (SELECT deployment FROM run)"
TWO = {name: {"capacity": 20} for name in "AB"}
# Three weeks of mu 1, each released twice, are all that is allowed.
USUAL = {"periods": {"first": FIRST}, "entities": TWO, "mu": 1, "budget_mu": 2.45}
USUAL |= {"longest_stay": 3}


def deployment(**keys):
    """A deployment of two hospitals."""
    return checked_deployment({**KEYS, **USUAL, **keys}, "the deployment")


def another(name="e", **keys):
    """A deployment about the same hospitals, with a budget that is never reached."""
    return releases.deployment(**{**USUAL, "name": name, "budget_mu": 100, **keys})


def week(number, days=0):
    return (FIRST + datetime.timedelta(days=7 * number + days)).isoformat()


def play(made, *rows, **options):
    """Release rows (hospital, week, count) for a deployment, each one in a folder of its own."""
    return releases.put(*rows, made=made, to=Path(made.name), **options)


def both(*numbers):
    return [(name, week(number), str(3 + (name == "B"))) for number in numbers for name in "AB"]


def one(*numbers):
    return [("A", week(number), "3") for number in numbers]


def most(made):
    """The largest sum of squares of an entity in a period."""
    with open_ledger(LEDGER) as ledger, transaction(ledger):
        return max(ceiling.spent(ledger, made).values())


# ---- by hand -------------------------------------------------------------------------------------


def test_a_share_that_is_spent_by_two_agreements_pays_for_no_third():
    made, others = deployment(), [another(name, mu=1) for name in "ef"]
    play(made, *both(0, 1))
    play(others[0], *both(0, 1))
    assert most(made) == 2
    before = ask("SELECT * FROM release")
    message = (
        r"line 2: with this row, a person under the deployment d would have mu 1\.733 in the"
        rf" period from {week(0)} on; 1\.415 is spent, and 1\.414 is allowed, so that budget_mu"
        r" 2\.45 holds; leave such rows out$"
    )
    releases.refuse(message, *both(0, 1), made=others[1], to=Path("f"))
    assert ask("SELECT * FROM release") == before
    # Periods next to it are free, in any order.
    assert play(made, *both(0, 1, 2)).kept


def test_a_fine_sensitivity_costs_the_people_of_a_coarse_one_in_proportion():
    """Noise made for 1/1000 of a person would show counts that another agreement protects."""
    made, fine = deployment(budget_mu=20), another("fine", mu=0.01, count_sensitivity=0.001)
    play(made, *one(0))
    assert play(fine, *one(0)).mu_of_stay == pytest.approx(math.sqrt(3 * (1 + 0.01**2)))
    assert most(made) == 1 + (0.01 / 0.001) ** 2
    less = another("less", mu=0.5, count_sensitivity=0.001)
    message = r"line 2: .* deployment d would have mu 500\.2 .*; 10\.05 is spent"
    releases.refuse(message, *one(0), made=less, to=Path("less"))
    releases.refuse("deployment d would have mu 500 ", *one(2), made=less, to=Path("less"))
    LEDGER.unlink()
    Path("d").rename("old")
    Path("fine").rename("older")
    play(less, *one(0))
    message = r"deployment d would have mu 500\.1 .*; 500 is spent, and 11\.54 is allowed"
    releases.refuse(message, *one(0), made=made, to=Path("d"))
    assert play(made, *one(1)).added == 1


def test_five_wards_of_two_agreements_cost_a_person_what_one_ward_does():
    """Not the square root of 8 (1/4 + 5/4), which the sum over all wards would be."""
    wards = {name: {"capacity": 20} for name in "abcde"}
    keys = {"mu": 0.5, "longest_stay": 8, "budget_mu": 2.9, "entities": wards}
    two = deployment(name="covid", **keys), deployment(name="flu", **keys)
    for made in two:
        play(made, *((name, week(0), "3") for name in wards))
    assert play(two[1], *((name, week(1), "3") for name in wards)).mu_of_stay == pytest.approx(2)


def test_a_second_release_is_spent_from_the_first_one_on():
    """So another agreement cannot take what it will need."""
    made = deployment(second_release={"after": 2})
    assert play(made, *both(0)).mu_of_stay == pytest.approx(math.sqrt(6))
    releases.refuse("1.415 is spent", *one(0), made=another("e", mu=0.1), to=Path("e"))


# ---- many sequences ------------------------------------------------------------------------------


def plain_rows(made):
    """What is released or scheduled: agreement, entity, first day, periods that share a day, mu.

    The mu is that of a person who moves a count as far as either agreement says, in as many counts
    as its own one says.
    """
    found = ask(
        "SELECT deployment.name, entity, period, agreement, COUNT(*) FROM release"
        " JOIN run ON run.number = release.run"
        " JOIN deployment ON deployment.number = run.deployment GROUP BY 1, 2, 3"
    )
    rows = []
    for name, entity, period, agreement, times in found:
        agreed, day = json.loads(agreement), datetime.date.fromisoformat(period).toordinal()
        days = range(day, day + agreed["periods"].get("days", 7))
        length, first = made.periods.days, made.periods.first.toordinal()
        s = float(agreed.get("count_sensitivity", 1))
        mu = float(agreed["mu"]) / s * max(s, made.count_sensitivity)
        mu *= math.sqrt(agreed.get("counted_by", 1))
        times = max(times, 2 if "second_release" in agreed else 1)
        rows += [(name, entity, day, {(of - first) // length for of in days}, mu)] * times
    return rows


def plain_spent(made):
    """What was spent on each entity of an agreement in each period.

    A period of another agreement costs its largest sum of one entity.
    """
    rows, spent = plain_rows(made), {}
    for entity in {row[1] for row in rows if row[0] == made.name} | {""}:
        for name, day in {(row[0], row[2]) for row in rows}:
            of = Counter()
            for row in rows:
                if (row[0], row[2]) == (name, day):
                    of[row[1]] += row[4] ** 2
                    numbers = row[3]
            cost = of[entity] if name == made.name else max(of.values())
            for number in numbers if cost else ():
                spent[entity, number] = spent.get((entity, number), 0) + cost
    return spent


def plain_loss(made, rng, tries=20):
    """The most squared mu between two histories of a person who may move in every period.

    In each history the person is in one entity of each agreement on each of its first days.
    """
    rows, most = plain_rows(made), 0.0
    entities = {name: sorted({it[1] for it in rows if it[0] == name}) for name, *_ in rows}
    numbers = sorted({it for *_, of, _ in rows for it in of})
    times = Counter(row[:3] for row in rows)
    for number in range(tries):
        start = int(rng.choice(numbers))
        stay = set(range(start, start + made.longest_stay))
        moved = 0.0
        for name, day in {(name, day) for name, _, day, *_ in rows}:
            of = {it for row in rows if (row[0], row[2]) == (name, day) for it in row[3]}
            if of & stay:
                fullest = sorted(entities[name], key=lambda it: -times[name, it, day])
                pair = fullest[:2] if number % 2 else rng.choice(entities[name], size=2)
                moved += sum(
                    row[4] ** 2 / 2 for row in rows if row[:3] in {(name, it, day) for it in pair}
                )
        most = max(most, moved)
    return most


def random_sequence(rng):
    """Runs of all kinds on one ledger; after each, no budget is passed."""
    budget = round(math.sqrt(6) * rng.choice([1.001, 1.2, 1.7]) + 1e-3, 3)
    made = deployment(budget_mu=budget)
    days, shift = int(rng.choice([1, 7, 14])), int(rng.integers(-3, 4))
    grid = {"first": FIRST + datetime.timedelta(days=shift), "days": days}
    other = another("e", mu=0.4, longest_stay=4, periods=grid)
    other = other.model_copy(update={"budget_mu": math.sqrt(4 * rng.choice([0.33, 1.4, 2.5]))})
    spelt = another("spelt", mu=0.5, entities={"a.": {}, "b": {}}, counted_by=2)
    fine = another("fine", mu=0.25, count_sensitivity=0.4, entities={"x": {}, "y": {}})
    fine = fine.model_copy(update={"second_release": SecondRelease(after=4)})
    for _ in range(8):
        last, judged = int(rng.integers(5)), [made, other]
        one = [made, made, other, spelt, fine][rng.integers(5)]
        starts = [one.period_of(number).isoformat() for number in range(last + 1)]
        names = list(one.entities)[: int(rng.integers(1, 3))]
        before = ask("SELECT COUNT(*) FROM release") if LEDGER.exists() else [(0,)]
        spent = {it.name: plain_spent(it) for it in judged if LEDGER.exists()}
        rows = [(name, start, str(3 + at)) for start in starts for at, name in enumerate(names)]
        try:
            play(one, *rows)
        except DataError:
            assert before == (ask("SELECT COUNT(*) FROM release") if LEDGER.exists() else [(0,)])
            continue
        known = {name for (name,) in ask(RELEASED)}
        for agreed in judged:
            if agreed.name in known:
                check(agreed, spent.get(agreed.name, {}), rng)


def check(agreed, before, rng):
    """No run raises a period above its share; earlier runs of other deployments may have."""
    stay, spent = agreed.longest_stay, plain_spent(agreed)
    share = agreed.budget_mu**2 / stay * (1 + 1e-9)
    for (entity, number), it in spent.items():
        was = before.get((entity, number), before.get(("", number), 0))
        assert it <= share or it <= was + 1e-9
    if max(spent.values()) <= share:
        assert plain_loss(agreed, rng) <= agreed.budget_mu**2 * (1 + 1e-9)
    assert float(most(agreed)) == pytest.approx(max(spent.values()))
    assert plain_loss(agreed, rng) <= stay * max(spent.values()) * (1 + 1e-9)


def run_sequences(count):
    for number in range(count):
        with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
            random_sequence(np.random.default_rng(number))


def test_no_sequence_of_runs_passes_the_ceiling():
    run_sequences(25)


def one_day_long(*given, right=ceiling._overlapped):
    return right(*given)[:1]


def without_second_releases(released, judged, right=ceiling._sums):
    plain = {"second_release": None}
    return right([it._replace(made=it.made.model_copy(update=plain)) for it in released], judged)


def counted_once(released, judged, right=ceiling._sums):
    plain = {"counted_by": 1}
    return right([it._replace(made=it.made.model_copy(update=plain)) for it in released], judged)


def without_others(released, judged, right=ceiling._sums):
    own = right([row for row in released if row.made.name == judged.name], judged)
    return {key: own.get(key, Fraction(0)) for key in right(released, judged)}


def by_name(released, judged, right=ceiling._sums):
    own = {row.entity for row in released if row.made.name == judged.name}
    same = right([row for row in released if row.entity in own], judged)
    return {key: same.get(key, Fraction(0)) for key in right(released, judged)}


def without_sensitivity(mu, **_):
    return mu


@pytest.mark.parametrize(
    ("broken", "by"),
    [
        ("holder.release.refuse_above", lambda *_: None),
        ("holder.ceiling._overlapped", one_day_long),
        ("holder.ceiling._sums", without_others),
        ("holder.ceiling._sums", by_name),
        ("holder.ceiling._sums", without_second_releases),
        ("holder.ceiling._sums", counted_once),
        ("holder.ceiling.mu_of_move", without_sensitivity),
        ("holder.ceiling.most_in_a_period", lambda budget, stay: 2 * budget**2 / stay),
        ("holder.ceiling.agreements", lambda ledger, released: []),
    ],
)
def test_the_sequences_notice_a_broken_rule(monkeypatch, broken, by):
    monkeypatch.setattr(f"dpol_weekly.{broken}", by)
    with pytest.raises(AssertionError):
        run_sequences(25)
