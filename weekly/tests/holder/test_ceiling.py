"""No sequence of releases takes a person of the longest stay past the budget of a deployment.

The rule is about pairs of an entity and a period. `plain_spent` computes it once more from what was
released, day by day, and `plain_neighbours` what people lose who stay and move at random.
"""

from __future__ import annotations

import datetime
import functools
import json
import math
import os
import tempfile
from contextlib import chdir
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import releases
from dpol.core.errors import ConfigError, DataError
from dpol.privacy.chains import Chains, designed
from dpol_weekly.deployment import checked_deployment
from dpol_weekly.holder import ceiling
from dpol_weekly.holder.entries import select
from dpol_weekly.holder.history import describe, history
from dpol_weekly.holder.ledger import open_ledger, transaction
from dpol_weekly.memory import Memory
from releases import KEYS, LEDGER, ask, record

SEQUENCES = int(os.environ.get("DPOL_TEST_SEQUENCES", "200"))
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
FIRST = datetime.date(2024, 1, 7)
TWO = {name: {"capacity": 20} for name in "AB"}
# Three plain weeks of mu 1 are all that is allowed.
USUAL = {"periods": {"first": FIRST}, "entities": TWO, "mu": 1, "budget_mu": 1.74}
USUAL |= {"longest_stay": 3}


def deployment(**keys):
    """A deployment of two hospitals."""
    return checked_deployment({**KEYS, **USUAL, **keys}, "the deployment")


def another(name="e", **keys):
    """A deployment about the same hospitals, with a budget that is never reached."""
    return releases.deployment(**{**USUAL, "name": name, "budget_mu": 100, **keys})


def week(number, days=0):
    return (FIRST + datetime.timedelta(days=7 * number + days)).isoformat()


def play(made, *rows, correct=(), gap=True, **options):
    """Release rows (hospital, week, count) for a deployment."""
    return releases.put(*rows, made=made, correct=correct, gap=gap, **options)


def both(*numbers):
    return [(name, week(number), "3") for number in numbers for name in "AB"]


def worst(made, path=LEDGER):
    with open_ledger(Path(path)) as ledger, transaction(ledger):
        return ceiling.worst_stay(ledger, made)


# ---- the rule ------------------------------------------------------------------------------------


def test_plain_periods_add_in_squares_up_to_the_longest_stay():
    made = deployment()
    assert [float(play(made, *both(*range(n))).worst.squared_mu) for n in (1, 2, 3, 4, 9)] == [
        *(1, 2, 3, 3, 3)
    ]
    assert worst(made).start == FIRST


def test_two_hospitals_at_most_count_and_one_counts_half():
    made = deployment(entities={name: {"capacity": 20} for name in "ABC"})
    assert play(made, ("A", week(0), "3")).worst.squared_mu == Fraction(1, 2)
    rows = [(name, week(0), "3") for name in "ABC"]
    assert play(made, *rows).worst.squared_mu == 1


def test_each_period_of_an_entity_is_corrected_as_often_as_its_share_pays():
    made = deployment(budget_mu=2.45)
    play(made, *both(0, 1))
    assert play(made, *both(0, 1), correct=[week(0)]).worst.squared_mu == 3
    before = LEDGER.read_bytes()
    message = (
        rf"line 2: with this row its entity would have mu 1\.733 in the period from {week(0)} on;"
        r" 1\.415 is spent, and the deployment d allows 1\.414, so that 3 periods stay within"
        r" budget_mu 2\.45, over all outputs of dpol-ledger.sqlite \(2 of 2 rows are such\): leave"
        r" such rows out$"
    )
    with pytest.raises(DataError, match=message):
        play(made, *both(0, 1), correct=[week(0)])
    assert LEDGER.read_bytes() == before
    # Periods next to it are free, in any order.
    assert play(made, *both(0, 1, 2), correct=[week(1)]).worst.squared_mu == 5
    assert play(made, *both(2), correct=[week(2)]).worst.squared_mu == 6


def test_a_refusal_names_the_rows_that_do_not_fit_and_the_others_do():
    made = deployment(budget_mu=2.45)
    play(made, ("A", week(0), "3"))
    play(made, ("A", week(0), "3"), correct=[week(0)])
    rows = both(0, 1)
    message = r"line 2: .*\(1 of 4 rows .*leave such rows out"
    with pytest.raises(DataError, match=message):
        play(another(), *rows, to="b.csv")
    assert play(another(), *rows[1:], to="b.csv").added == 3


def test_other_deployments_count():
    made = deployment(budget_mu=3)
    play(made, *both(0, 1, 2, 3))
    play(another("e"), *both(0, 1, 2), to="e.csv")
    assert worst(made).squared_mu == 3 + 3
    play(another("f"), *both(3, 4), to="f.csv")
    # Weeks 1 to 3: twice each.
    assert worst(made).squared_mu == 3 + 3
    play(another("g"), *both(3), to="g.csv")
    with pytest.raises(DataError, match=r"d allows 1\.732"):
        play(another("h"), *both(3), to="h.csv")


def test_the_terms_of_the_last_agreement_count():
    play(deployment(budget_mu=9), *both(0))
    play(another("e"), *both(0), to="e.csv")
    play(deployment(budget_mu=2.4), *both(0, 1))
    with pytest.raises(DataError, match=r"budget_mu 2\.4"):
        play(another("f"), *both(0), to="f.csv")
    play(deployment(budget_mu=9), *both(0, 1, 2))
    play(another("f"), *both(0), to="f.csv")


# ---- periods of other lengths, and any order -----------------------------------------------------

EIGHT = {"mu": 0.25, "longest_stay": 8, "budget_mu": 0.71}


def quarter(first, mu):
    return another("q", mu=mu, periods={"first": first, "days": 91})


def test_a_row_that_began_long_before_is_refused_whatever_its_turn():
    made, began = deployment(**EIGHT), quarter("2023-12-03", 0.25)
    row = ("A", "2023-12-03", "3")
    play(made, *both(*range(8)))
    with pytest.raises(DataError, match=rf"in the period from {week(0)} on; 0\.25 is spent"):
        play(began, row, to="q.csv")
    # All that is agreed on can still be released.
    for number in (8, 9, 29):
        play(made, *both(number))
    assert worst(made).squared_mu == Fraction(1, 2)
    # The other way round, the weeks of the quarter are refused, and the one after it is not.
    play(quarter("2023-12-03", 0.7), row, to="new/q.csv", ledger="new/ledger")
    for number in (0, 7):
        with pytest.raises(DataError, match=r"0\.7 is spent"):
            play(made, *both(number), to="new/d.csv", ledger="new/ledger")
    play(made, *both(8), to="new/d.csv", ledger="new/ledger")
    assert not worst(made, "new/ledger").kept
    assert "does not hold" in "\n".join(describe(history(Path("new/ledger"))))


def test_a_quarter_that_touches_a_week_counts_in_it():
    made = deployment(**EIGHT)
    play(made, *both(*range(8)))
    with pytest.raises(DataError, match=rf"in the period from {week(0)} on; 0\.25 is spent"):
        play(quarter("2023-10-09", 0.25), ("A", "2023-10-09", "3"), to="late.csv")
    # Its last day is the one before.
    play(quarter("2023-10-08", 0.25), ("A", "2023-10-08", "3"), to="early.csv")
    assert worst(made).squared_mu == Fraction(1, 2)


def test_a_weekly_and_a_daily_deployment_of_the_same_hospital_add_up():
    """One row of a week and six of its days: mu 0.25 sqrt(7) for a person of that week."""
    weekly = deployment(mu=0.25, longest_stay=8, budget_mu=1.9)
    daily = deployment(
        name="e", mu=0.25, longest_stay=56, budget_mu=3, periods={"first": FIRST, "days": 1}
    )
    play(weekly, ("A", week(0), "3"))
    days = [("A", week(0, day), "3") for day in range(8)]
    play(daily, *days[:6], to="daily.csv")
    stated = record("daily.csv")
    assert (stated["mu"], stated["mu_over_all_outputs"]) == (0.25, pytest.approx(0.25 * 7**0.5))
    assert "One entity has at most mu = 0.6615 in one period" in "\n".join(
        describe(history(LEDGER))
    )
    # Seven rows fit, 0.25 sqrt(8) = 0.7072 does not; the day after is of the next week.
    message = r"line 8: .* mu 0\.7072 .*; 0\.6615 is spent, and the deployment d allows 0\.6717"
    with pytest.raises(DataError, match=message):
        play(daily, *days[:7], to="daily.csv")
    play(daily, *days[:6], days[7], to="daily.csv")
    # The other way round: in that day a weekly and a daily row are spent.
    play(weekly, ("A", week(0), "3"), ("A", week(1), "3"))
    with pytest.raises(DataError, match="0.3536 is spent, and the deployment e allows 0.4008"):
        play(another("f", mu=0.2), ("A", week(1), "3"), to="f.csv")


# ---- several ledgers -----------------------------------------------------------------------------


def test_corrections_of_two_ledgers_stay_within_the_budget_of_a_person_who_moves():
    """Mu 0.25, 8 weeks, two hospitals, all corrected: a person who moves has mu 1."""
    made = deployment(mu=0.25, longest_stay=8, budget_mu=1)
    for name in "AB":
        rows = [(name, week(number), "3") for number in range(8)]
        to = {"to": f"{name}/noisy", "ledger": f"{name}/{LEDGER}", "own": {"entity": name}}
        Path(name).mkdir()
        play(made, *rows, **to)
        for number in range(8):
            play(made, *rows, correct=[week(number)], **to)
            with pytest.raises(
                DataError, match="0.3536 is spent, and the deployment d allows 0.35"
            ):
                play(made, *rows, correct=[week(number)], **to)
    ledgers = [plain_rows(made, f"{name}/{LEDGER}") for name in "AB"]
    assert sum(row.mu**2 / 2 for rows in ledgers for row in rows) == pytest.approx(1)
    assert plain_neighbours(made, ledgers, np.random.default_rng(1)) == pytest.approx(1)


# ---- the least budget ----------------------------------------------------------------------------


@pytest.mark.parametrize("capacity", [3, 20, 300, "reported"])
@pytest.mark.parametrize("memory", ["none", "designed"])
@pytest.mark.parametrize("keys", [{}, {"unit_weeks": 2}, {"mu": 0.3}, {"longest_stay": 8}])
def test_the_least_budget_pays_for_each_period_once_and_no_more(capacity, memory, keys):
    entities = {"A": {"capacity": capacity}, "B": {"capacity": 40}}
    keys = {"noise": {"memory": memory}, "entities": entities, **keys}
    squared = deployment(**keys, budget_mu=100).squared_budget()
    least = math.ceil(math.sqrt(squared) * 1e9) / 1e9
    made = deployment(**keys, budget_mu=least)
    with pytest.raises(ConfigError, match="each released once"):
        deployment(**keys, budget_mu=least - 2e-9)
    rows = [(*row, "0.01" if row[0] == "A" else "40") for row in both(*range(12))]
    done = play(made, *rows, over_capacity=True)
    assert done.worst.kept
    assert done.worst.squared_mu <= Fraction(least) ** 2
    heavier = "B" if capacity == 300 else "A"
    with pytest.raises(DataError, match="leave such rows out$"):
        play(another(mu=0.05), (heavier, week(3), "3"), to="b.csv")


def test_the_smaller_entity_needs_the_larger_budget():
    """Less capacity means more memory, and heavier rows; where it is reported, the heaviest."""
    budgets = [
        deployment(noise={"memory": "designed"}, budget_mu=100,
                   entities={"A": {"capacity": one}, "B": {"capacity": two}}).squared_budget()
        for one, two in [(300, 300), (300, 20), (20, 20), (0.01, 20), ("reported", 20)]
    ]  # fmt: skip
    assert budgets == sorted(budgets)
    assert budgets[1] == budgets[2] < budgets[3] == budgets[4]
    levels = np.geomspace(1e-3, 1e4, 300)
    for unit in (1, 2, 4, 8):
        b = designed(np.array([*levels, 100.0]), unit).b
        assert (np.diff(b[:-1]) >= 0).all()
        assert b.max() == b[-1]


def test_corrections_need_a_budget_for_two_releases():
    """The least budget has room for none; sqrt(2) times it has room for one of each period."""
    for folder, budget, fit in (("once", 1.733, 0), ("twice", 2.45, 1)):
        made, to = deployment(budget_mu=budget), {"to": f"{folder}/noisy"}
        to["ledger"] = f"{folder}/{LEDGER}"
        play(made, *both(0, 1), **to)
        for number in (0, 1):
            for _ in range(fit):
                play(made, *both(number), correct=[week(number)], **to)
            with pytest.raises(DataError, match="is spent, and the deployment d allows"):
                play(made, *both(number), correct=[week(number)], **to)
    assert deployment().squared_budget() == 3


# ---- memory --------------------------------------------------------------------------------------


def test_noise_with_memory_costs_what_a_stay_of_it_costs():
    """The plain norm of a stay in a long chain, over that of a single release."""
    made = deployment(noise={"memory": "designed"}, longest_stay=4, budget_mu=9)
    done = play(made, *both(*range(8)))
    b = record()["chains"][0]["b"]
    assert b > 0.2
    response = Chains(np.zeros(1), np.array([b])).response(400)[:, 0]
    moved = sum(np.concatenate([np.zeros(k), response[: 400 - k]]) for k in range(4))
    assert float(done.worst.squared_mu) == pytest.approx((moved**2).sum() / (response**2).sum())
    assert done.worst.squared_mu > 4  # more than independent noise


def test_a_person_of_a_unit_of_several_weeks_has_mu_in_all_of_them():
    assert play(deployment(unit_weeks=3), *both(0, 1, 2)).worst.squared_mu == 1
    made = deployment(name="e", unit_weeks=3, longest_stay=6, budget_mu=2)
    assert play(made, *both(*range(9)), to="e.csv").added == 18


# ---- many sequences ------------------------------------------------------------------------------


class Plain(NamedTuple):
    """A released row: its entity, the periods that one of its days is in, and its place."""

    entity: int
    periods: frozenset
    mu: float
    chain: tuple | None
    place: int


@functools.cache
def plain_norm(a, b, count):
    """The squared norm of a stay of some releases in a row."""
    return moved(a, b, range(count))


def moved(a, b, places):
    response = Chains(np.array([a]), np.array([b])).response(100)[:, 0]
    shifted = [np.concatenate([np.zeros(place), response])[:100] for place in places]
    return (sum(shifted) ** 2).sum()


def plain_rows(made, path=LEDGER):
    """The rows of a ledger, seen from a deployment."""
    chains = {
        row[0]: (row[0], float(row[1]), float(row[2]), row[3])
        for row in ask("SELECT number, a, b, unit_weeks FROM chain", path)
    }
    found = ask(
        "SELECT entity, period, agreement, spent_mu, chain FROM release JOIN run"
        " ON run.number = release.run JOIN deployment ON deployment.number = run.deployment"
        " ORDER BY release.number",
        path,
    )
    first, rows, places = made.periods.first.toordinal(), [], {}
    for entity, period, agreement, mu, chain in found:
        day = datetime.date.fromisoformat(period).toordinal()
        days = range(day, day + json.loads(agreement)["periods"]["days"])
        places[chain] = places.get(chain, -1) + 1
        periods = frozenset((it - first) // made.periods.days for it in days)
        rows.append(Plain(entity, periods, float(mu), chains.get(chain), places[chain]))
    return rows


def plain_spent(made, rows):
    """The weight of all rows of an entity in each period."""
    stay, spent = made.longest_stay, {}
    most = {}
    for chain in {row.chain for row in rows}:
        spans = [row.periods for row in rows if row.chain == chain]
        starts = {number for span in spans for number in span}
        touched = (
            sum(not span.isdisjoint(range(it, it + stay)) for span in spans) for it in starts
        )
        most[chain] = max(stay, *touched)
    for row in rows:
        weight = row.mu**2 / 2
        if row.chain:
            _, a, b, unit = row.chain
            of_stay = plain_norm(a, b, most[row.chain]) / plain_norm(a, b, unit)
            weight *= max(1 / unit, of_stay / most[row.chain])
        for number in row.periods:
            spent[row.entity, number] = spent.get((row.entity, number), 0) + weight
    return spent


def plain_neighbours(made, ledgers, rng, tries=10):
    """The most squared mu between two histories of a person who may move in every period.

    The first is with the entity, of any ledger, that spent most in each period, the neighbour with
    the next; the others are random.
    """
    spent = [plain_spent(made, rows) for rows in ledgers]
    numbers = sorted({number for one in spent for _, number in one})
    places = [(k, entity) for k, one in enumerate(spent) for entity in {it for it, _ in one}]

    def loss(start, choose):
        touched = set()
        for number in range(start, start + made.longest_stay):
            for ledger, entity in choose(number):
                touched |= {
                    (ledger, k)
                    for k, row in enumerate(ledgers[ledger])
                    if row.entity == entity and number in row.periods
                }
        total, of_chains = 0.0, {}
        for ledger, k in touched:
            row = ledgers[ledger][k]
            if row.chain:
                of_chains.setdefault((ledger, row.chain), []).append(row)
            else:
                total += row.mu**2 / 2
        for (_, (_, a, b, unit)), rows in of_chains.items():
            ratio = moved(a, b, [row.place for row in rows]) / plain_norm(a, b, unit)
            total += rows[0].mu ** 2 / 2 * ratio
        return total

    def fullest(number):
        return sorted(places, key=lambda at: -spent[at[0]].get((at[1], number), 0))[:2]

    def anywhere(_):
        return [places[it] for it in rng.integers(len(places), size=2)]

    losses = [loss(number, fullest) for number in numbers]
    return max(losses + [loss(int(rng.choice(numbers)), anywhere) for _ in range(tries)])


def random_deployment(rng):
    """A random deployment: noise with or without memory, lengths of chains, budget and unit.

    And its amendment: A gets other beds, C joins.
    """
    memory = str(rng.choice(["none", "designed"]))
    periods, unit = int(rng.choice([1, 2, 3, 520])), int(rng.choice([1, 1, 2]))
    keys = {"noise": {"memory": memory, "chain_periods": periods}, "unit_weeks": unit}
    beds, joins = int(rng.choice([5, 20, 60])), {"capacity": 20, "since": week(2)}
    entities = TWO | {"A": {"capacity": beds}, "C": joins}
    least = max(
        deployment(**keys, budget_mu=100, entities=it).squared_budget() for it in (TWO, entities)
    )
    keys["budget_mu"] = round(math.sqrt(least) * rng.choice([1.001, 1.2, 1.7]) + 1e-3, 3)
    made = deployment(**keys)
    amends = {"agreement": made.sha256(), "since": week(2)}
    return made, deployment(**keys, entities=entities, amends=amends)


def other_deployments(rng):
    """Deployments with grids of their own, about the same hospitals; one spells them otherwise."""
    days = int(rng.choice([1, 7, 14]))
    first = FIRST + datetime.timedelta(days=int(rng.integers(-3, 4)))
    stay = {1: 10, 7: 3, 14: 2}[days]
    keys = {"mu": 0.4, "longest_stay": stay, "periods": {"first": first, "days": days}}
    made = deployment(name="e", budget_mu=100, **keys)
    budget = round(math.sqrt(made.squared_budget()) * 1.3, 3)
    long = {"first": FIRST - datetime.timedelta(days=28), "days": int(rng.choice([20, 40]))}
    memory = Memory((Decimal(0), Decimal("0.5"))) if rng.random() < 0.5 else None
    return {
        "other": made.model_copy(update={"budget_mu": budget}),
        "long": another("long", mu=float(rng.choice([0.3, 0.6])), periods=long),
        "spelt": another("spelt", mu=0.5, memory=memory, entities={"a.": {}, "b": {}}),
        "odd": another("odd", mu=0.5, memory=memory, periods={"first": FIRST, "days": 1}),
    }


def random_sequence(rng):
    """Runs of all kinds on one ledger; what was refused must leave it as it was."""
    (first, amended), others = random_deployment(rng), other_deployments(rng)
    kinds = ["grow", "grow", "grow", "correct", "correct", *others]
    for step in range(8):
        kind, last = str(rng.choice(kinds)), int(rng.integers(5))
        # A holder may have the old file still.
        made = amended if rng.random() < step / 8 else first
        rows = [(name, week(it), "3") for it in range(last + 1) for name in made.entities]
        before, pair = released_periods(), (made, others["other"])
        spent = {one.name: plain_spent(one, plain_rows(one)) for one in pair if before}
        meant = {("d", name, week(last)) for name in "ABC"} if kind == "correct" else set()
        try:
            if kind == "grow":
                some = rows if rng.integers(2) else [row for row in rows if row[0] == "A"]
                play(made, *some, seed=step)
            elif kind == "correct":
                play(made, *rows, correct=[week(last)], seed=step)
            else:
                release_other(others[kind], last, rng, to=f"{kind}.csv", seed=step)
        except DataError:
            assert released_periods() == before
        check(pair, before, meant, spent, rng)


def release_other(made, last, rng, **options):
    """All periods so far of a deployment, or the last one of an entity alone."""
    starts = [made.period_of(number).isoformat() for number in range(last + 1)]
    names = list(made.entities)
    if rng.random() < 0.5:
        starts, names = starts[-1:], [str(rng.choice(names))]
    play(made, *((name, start, "3") for start in starts for name in names), **options)


def released_periods():
    """Number of times that each entity's period was released for a deployment."""
    if not LEDGER.exists():
        return {}
    found = ask(
        "SELECT deployment.name, release.name, period, COUNT(*) FROM release JOIN run"
        " ON run.number = release.run JOIN deployment ON deployment.number = run.deployment"
        " GROUP BY 1, 2, 3"
    )
    return {(name, entity, period): count for name, entity, period, count in found}


def check(deployments, before, meant, spent, rng):
    now = released_periods()
    new = {key for key in now if now[key] != before.get(key, 0)}
    assert {key for key in new if now[key] > 1} <= meant
    names = {name for name, *_ in now}
    for one in deployments:
        if one.name not in names or not new:
            continue
        rows, share = plain_rows(one), one.budget_mu**2 / (2 * one.longest_stay) * (1 + 1e-9)
        after, earlier = plain_spent(one, rows), spent.get(one.name, {})
        raised = {key for key in after if after[key] > earlier.get(key, 0) * (1 + 1e-9)}
        assert max((after[key] for key in raised), default=0) <= share
        if max(after.values()) <= share:
            assert plain_neighbours(one, [rows], rng) <= one.budget_mu**2 * (1 + 1e-9)


@pytest.mark.parametrize("part", range(4))
def test_no_sequence_of_runs_passes_the_ceiling(part):
    run_sequences(part, SEQUENCES // 4)


def only_where_runs_begin(deployment, before, loads, right=ceiling._raised_above):
    """The periods in which a row of the newest run begins, and no later ones."""
    newest = max(load.row.run for load in loads)
    begun = {(it.row.entity, it.periods[0]) for it in loads if it.row.run == newest}
    return {
        pair: spent for pair, spent in right(deployment, before, loads).items() if pair in begun
    }


WEIGHED = ceiling.weighed_rows


def lengths_of_the_newest(ledger):
    rows = WEIGHED(ledger)
    newest = max(rows, key=lambda row: row.run, default=None)
    return [replace(row, days=newest.days) for row in rows]


def rows_of_the_last_agreement(ledger):
    newest = "(SELECT deployment FROM run ORDER BY number DESC LIMIT 1)"
    runs = {
        row["number"] for row in select(ledger, f"SELECT * FROM run WHERE deployment = {newest}")
    }
    return [row for row in WEIGHED(ledger) if row.run in runs]


@pytest.mark.parametrize(
    ("broken", "by"),
    [
        ("holder.release.refuse_above", lambda *_: None),
        ("holder.ceiling._raised_above", only_where_runs_begin),
        ("holder.ceiling.weighed_rows", lengths_of_the_newest),
        ("holder.ceiling.weighed_rows", rows_of_the_last_agreement),
        (
            "holder.ceiling.weighed_rows",
            lambda ledger: [replace(row, days=1) for row in WEIGHED(ledger)],
        ),
        ("holder.ceiling.budget_of_period", lambda budget, stay: budget**2 / stay),
        ("holder.ceiling.deployments", lambda ledger, all=ceiling.deployments: all(ledger)[:1]),
        ("holder.release.unreleased", lambda ledger, path, made, rows, **_: rows),
        ("memory.squared_growth", lambda memory, periods: Fraction(1)),
    ],
)
def test_the_sequences_notice_a_broken_rule(monkeypatch, broken, by):
    monkeypatch.setattr(f"dpol_weekly.{broken}", by)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run_sequences(0, 60)


def run_sequences(part, count):
    for number in range(count):
        with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
            random_sequence(np.random.default_rng((part, number)))
