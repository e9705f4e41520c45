"""No sequence of releases takes a person of the longest stay past the budget of a deployment.

`plain_spent` sums what was released once more, day by day, and `plain_loss` what people lose who
stay and move at random.
"""

from __future__ import annotations

import datetime
import json
import math
import tempfile
from contextlib import chdir
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import releases
from dpol.core.errors import ConfigError, DataError
from dpol_weekly.deployment import checked_deployment
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


def most(made):
    """The largest sum of squares of an entity in a period."""
    with open_ledger(LEDGER) as ledger, transaction(ledger):
        return max(ceiling.spent(ledger, made).values())


# ---- by hand -------------------------------------------------------------------------------------


def test_a_stay_costs_as_much_as_the_longest_one_at_its_fullest_period():
    made = deployment()
    for weeks, rows in ((1, both(0)), (9, both(*range(9)))):
        done = play(made, *rows)
        assert (done.mu_of_stay, done.kept) == (pytest.approx(math.sqrt(3)), True), weeks
    assert play(made, *both(8), correct=[week(8)]).mu_of_stay == pytest.approx(math.sqrt(6))


def test_a_period_of_an_entity_is_corrected_as_often_as_its_share_pays():
    made = deployment()
    play(made, *both(0, 1))
    play(made, *both(0, 1), correct=[week(0)])
    assert most(made) == 2
    before = ask("SELECT * FROM release")
    message = (
        rf"line 2: with this row its entity would have mu 1\.733 in the period from {week(0)} on;"
        r" 1\.415 is spent, and the deployment d allows 1\.414, so that 3 periods stay within"
        r" budget_mu 2\.45, over all outputs of dpol-ledger.sqlite; leave such rows out$"
    )
    releases.refuse(message, *both(0, 1), made=made, to=Path("d"), correct=[week(0)])
    assert ask("SELECT * FROM release") == before
    # Periods next to it are free, in any order.
    assert play(made, *both(0, 1, 2), correct=[week(1)]).kept


def test_other_deployments_count_and_rows_that_fit_are_released():
    made = deployment()
    play(made, *both(0, 1, 2, 3))
    play(another("e"), *both(0, 1, 2))
    assert most(made) == 2
    with pytest.raises(DataError, match=r"line 2: .*deployment d allows 1\.414"):
        play(another("f"), *both(0, 3))
    assert play(another("f"), *both(3)).added == 2
    assert most(made) == 2


def test_periods_of_other_lengths_count_in_every_period_that_they_overlap():
    made = deployment()
    play(made, *both(0, 1, 2))
    long = another("q", periods={"first": FIRST - datetime.timedelta(days=3), "days": 14})
    assert play(long, ("A", str(FIRST - datetime.timedelta(days=3)), "3")).added == 1
    assert [most(made), most(long)] == [2, 3]
    odd = another("o", periods={"first": FIRST, "days": 1})
    with pytest.raises(DataError, match="the deployment d allows"):
        play(odd, ("A", week(1, 3), "3"))
    play(odd, ("B", week(1, 3), "3"))


@pytest.mark.parametrize(("corrections", "times"), [(False, 1), (True, 2)])
def test_the_least_budget_pays_for_each_period_and_no_more(corrections, times):
    least = math.ceil(math.sqrt(3 * times) * 1e9) / 1e9
    with pytest.raises(ConfigError, match="it pays for 3 periods, each released"):
        deployment(corrections=corrections, budget_mu=least - 2e-9)
    made = deployment(corrections=corrections, budget_mu=least)
    assert play(made, *both(*range(5))).kept
    if corrections:
        assert play(made, *both(*range(5)), correct=[week(k) for k in range(5)]).kept
    with pytest.raises(DataError, match="leave such rows out"):
        play(another(mu=0.05), ("A", week(3), "3"))


# ---- many sequences ------------------------------------------------------------------------------


def plain_rows(made):
    """The released rows: entity, the periods of a deployment that share a day with it, mu."""
    found = ask(
        "SELECT entity, period, agreement FROM release JOIN run ON run.number = release.run"
        " JOIN deployment ON deployment.number = run.deployment"
    )
    rows = []
    for entity, period, agreement in found:
        agreed, day = json.loads(agreement), datetime.date.fromisoformat(period).toordinal()
        days = range(day, day + agreed["periods"].get("days", 7))
        length, first = made.periods.days, made.periods.first.toordinal()
        rows.append((entity, {(day - first) // length for day in days}, float(agreed["mu"])))
    return rows


def plain_spent(made):
    spent = {}
    for entity, periods, mu in plain_rows(made):
        for number in periods:
            spent[entity, number] = spent.get((entity, number), 0) + mu**2
    return spent


def plain_loss(made, rng, tries=20):
    """The most squared mu between two histories of a person who may move in every period."""
    rows, most = plain_rows(made), 0.0
    entities, numbers = {it for it, *_ in rows}, {it for _, of, _ in rows for it in of}
    spent = plain_spent(made)
    for number in range(tries):
        start, touched = int(rng.choice(sorted(numbers))), set()
        for period in range(start, start + made.longest_stay):
            fullest = sorted(entities, key=lambda it: -spent.get((it, period), 0))
            pair = fullest[:2] if number % 2 else rng.choice(sorted(entities), size=2)
            touched |= {(it, period) for it in pair}
        moved = [mu for entity, of, mu in rows if {(entity, it) for it in of} & touched]
        most = max(most, sum(mu**2 / 2 for mu in moved))
    return most


def random_sequence(rng):
    """Runs of all kinds on one ledger; after each, no budget is passed."""
    budget = round(math.sqrt(6) * rng.choice([1.001, 1.2, 1.7]) + 1e-3, 3)
    made = deployment(budget_mu=budget)
    days, shift = int(rng.choice([1, 7, 14])), int(rng.integers(-3, 4))
    grid = {"first": FIRST + datetime.timedelta(days=shift), "days": days}
    other = another("e", mu=0.4, longest_stay=4, periods=grid)
    other = other.model_copy(update={"budget_mu": math.sqrt(4 * rng.choice([0.33, 1.4, 2.5]))})
    spelt = another("spelt", mu=0.5, entities={"a.": {}, "b": {}})
    for step in range(8):
        last, judged = int(rng.integers(5)), [made, other]
        one = [made, made, other, spelt][rng.integers(4)]
        starts = [one.period_of(number).isoformat() for number in range(last + 1)]
        names = list(one.entities)[: int(rng.integers(1, 3))]
        correct = starts[-1:] if rng.random() < 0.4 else []
        before = ask("SELECT COUNT(*) FROM release") if LEDGER.exists() else [(0,)]
        spent = {it.name: plain_spent(it) for it in judged if LEDGER.exists()}
        rows = [(name, start, str(3 + at)) for start in starts for at, name in enumerate(names)]
        try:
            play(one, *rows, correct=correct, seed=step)
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
    assert all(it <= share for key, it in spent.items() if it > before.get(key, 0) + 1e-9)
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


def one_day_long(deployment, period, made, right=ceiling._overlapped):
    return right(deployment, period, made)[:1]


def without_other_deployments(ledger, deployment, output=None, right=ceiling.spent):
    found = right(ledger, deployment, output)
    return {key: min(it, Fraction(1)) for key, it in found.items()}


@pytest.mark.parametrize(
    ("broken", "by"),
    [
        ("holder.release.refuse_above", lambda *_: None),
        ("holder.ceiling._overlapped", one_day_long),
        ("holder.ceiling.spent", without_other_deployments),
        ("holder.ceiling.most_in_a_period", lambda budget, stay: 2 * budget**2 / stay),
        ("holder.ceiling.deployments", lambda ledger: []),
    ],
)
def test_the_sequences_notice_a_broken_rule(monkeypatch, broken, by):
    monkeypatch.setattr(f"dpol_weekly.{broken}", by)
    with pytest.raises(AssertionError):
        run_sequences(25)
