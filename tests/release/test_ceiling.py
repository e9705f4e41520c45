"""No sequence of releases takes a person of the longest stay past the budget of a deployment.

`worst` here computes it once more from what was released, in the plainest way.
"""

from __future__ import annotations

import datetime
import json
import math
import os
import shutil
import tempfile
from contextlib import chdir
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import yaml

from dpol.core.errors import DataError
from dpol.live.collect import Collected, collect
from dpol.privacy.chains import Chains, designed
from dpol.privacy.noise import SeededNoise
from dpol.release import ceiling
from dpol.release.deployment import Deployment
from dpol.release.ledger import open_ledger, transaction
from dpol.release.release import release
from dpol.release.request import Choices, Request
from releases import LEDGER, NOISY, RECORD, ask, put

SEQUENCES = int(os.environ.get("DPOL_TEST_SEQUENCES", "200"))
FAST = "/dev/shm" if Path("/dev/shm").is_dir() else None
FIRST = datetime.date(2024, 1, 7)
COLUMNS = {"entity": "hospital", "period": "week", "count": "covid", "capacity": "beds"}


def deployment(**keys):
    """A deployment of two hospitals in which three plain weeks of mu 1 are all that is allowed."""
    entities = {name: {"capacity": 20} for name in "AB"}
    usual = {"name": "d", "periods": {"first": FIRST}, "columns": COLUMNS, "entities": entities}
    return Deployment.model_validate(
        {**usual, "mu": 1, "budget_mu": 1.74, "longest_stay": 3, **keys}
    )


def week(number, days=0):
    return (FIRST + datetime.timedelta(days=7 * number + days)).isoformat()


def play(made, *rows, to="noisy.csv", seed=1, correct=(), entity=None, **choices):
    """Release rows (hospital, week, count) for a deployment."""
    Path("counts.csv").write_text(
        "hospital,week,covid\n" + "".join(f"{','.join(row)}\n" for row in rows)
    )
    request = Request(
        Path("counts.csv"),
        Path(to),
        made.count_columns(),
        made.count_noise(),
        None,
        Choices(**choices),
        made.memory(),
        made.agreed(entity, correct),
    )
    return release(request, SeededNoise(np.random.default_rng(seed)))


def both(*numbers):
    return [(name, week(number), "3") for number in numbers for name in "AB"]


def worst(made, path=LEDGER):
    with open_ledger(path) as ledger, transaction(ledger):
        return ceiling.worst_stay(ledger, made.agreed().terms)


def test_plain_periods_add_in_squares_up_to_the_longest_stay():
    made = deployment()
    assert [float(play(made, *both(*range(n))).worst.squared_mu) for n in (1, 2, 3, 4, 9)] == [
        *(1, 2, 3, 3, 3)
    ]


def test_two_hospitals_at_most_count_and_one_counts_half():
    made = deployment(entities={name: {"capacity": 20} for name in "ABC"})
    assert play(made, ("A", week(0), "3")).worst.squared_mu == Fraction(1, 2)
    rows = [(name, week(0), "3") for name in "ABC"]
    assert play(made, *rows).worst.squared_mu == 1


def test_corrections_count_again_and_are_refused_above_the_ceiling():
    made = deployment(corrections=True, budget_mu=2)
    play(made, *both(0, 1))
    assert play(made, *both(0, 1), correct=[week(0)]).worst.squared_mu == 3
    assert play(made, *both(0, 1, 2)).worst.squared_mu == 4
    with pytest.raises(DataError, match=f"3 periods from {week(0)} on would have mu 2.237 over"):
        play(made, *both(0, 1, 2), correct=[week(2)])
    assert worst(made).squared_mu == 4
    # Who begins to stay later is not touched by the correction.
    play(made, *both(3, 4, 5))
    assert play(made, *both(5), correct=[week(5)]).worst.squared_mu == 4


def test_other_outputs_count_by_hand_or_for_another_deployment():
    """Weeks 0 to 2 of two outputs, and the week of the other one that may reach into the stay."""
    made, other = deployment(budget_mu=3), deployment(name="e", budget_mu=3)
    play(made, *both(0, 1, 2, 3))
    play(other, *both(0, 1, 2), to="other.csv", again=True)
    assert worst(made).squared_mu == 3 + 3
    rows = [(name, week(number), "3") for number in (3, 4) for name in "AB"]
    put(*rows, to="third.csv", noise=made.count_noise(), again=True)
    # Weeks 1 to 3: their own, of the second 1 and 2 and the week before, of the third week 3.
    assert worst(made).squared_mu == 3 + 3 + 1
    with pytest.raises(DataError, match="the budget of the deployment d is 3"):
        put(*rows, to="fourth.csv", noise=deployment(mu=2).count_noise(), again=True,
            change_noise=True)  # fmt: skip


def test_noise_with_memory_costs_what_a_stay_of_it_costs():
    """The plain norm of a stay in a long chain, over that of a single release."""
    made = deployment(noise={"memory": "designed"}, longest_stay=4, budget_mu=9)
    done = play(made, *both(*range(8)))
    b = float(done.parts[0].terms.b)
    assert b > 0.2
    response = Chains(np.zeros(1), np.array([b])).response(400)[:, 0]
    moved = sum(np.concatenate([np.zeros(k), response[: 400 - k]]) for k in range(4))
    assert float(done.worst.squared_mu) == pytest.approx((moved**2).sum() / (response**2).sum())
    assert done.worst.squared_mu > 4  # more than independent noise


@pytest.mark.parametrize("capacity", [3, 20, 300])
@pytest.mark.parametrize("memory", ["none", "designed"])
@pytest.mark.parametrize("keys", [{}, {"unit_weeks": 2}, {"mu": 0.3}, {"longest_stay": 8}])
def test_what_a_stay_costs_beforehand_is_what_an_ordinary_year_costs(capacity, memory, keys):
    entities = {"A": {"capacity": capacity}, "B": {"capacity": 40}}
    made = deployment(noise={"memory": memory}, entities=entities, budget_mu=100, **keys)
    assert play(made, *both(*range(12))).worst.squared_mu == made.squared_mu_of_stay()


def test_a_deployment_that_ends_costs_what_it_releases():
    """Two weeks of the three that somebody stays; a year of long periods has few of them."""
    ended = {name: {"until": week(2)} for name in "AB"}
    assert deployment(entities=ended).squared_mu_of_stay() == 2
    assert deployment(periods={"first": FIRST, "days": 200}).squared_mu_of_stay() == 2
    # Where capacities are reported, memory may be as long as that of the smallest entity.
    long = {"noise": {"memory": "designed"}, "budget_mu": 9}
    small = {name: {"capacity": 0.01} for name in "AB"}
    reported = deployment(entities={"A": {}, "B": {}}, **long).squared_mu_of_stay()
    assert reported == deployment(entities=small, **long).squared_mu_of_stay() > 3
    levels = np.geomspace(1e-3, 1e4, 300)
    for unit in (1, 2, 4, 8):
        b = designed(np.array([*levels, 100.0]), unit).b
        assert (np.diff(b[:-1]) >= 0).all()
        assert b.max() == b[-1]


def test_a_person_of_a_unit_of_several_weeks_has_mu_in_all_of_them():
    assert play(deployment(unit_weeks=3), *both(0, 1, 2)).worst.squared_mu == 1
    made = deployment(name="e", unit_weeks=3, longest_stay=6, budget_mu=2)
    assert play(made, *both(*range(9)), to="e.csv", again=True, change_noise=True)


def test_rows_of_a_lost_ledger_keep_the_memory_that_their_record_states():
    made = deployment(noise={"memory": "designed"}, budget_mu=9)
    first = play(made, *both(0, 1, 2))
    stated = json.loads(RECORD.read_text())["chains"]
    LEDGER.unlink()
    done = play(made, *both(0, 1, 2), forget_ledger=True)
    assert (done.skipped, done.guarantee, list(done.parts)) == (6, first.guarantee, first.parts)
    assert worst(made).squared_mu == first.worst.squared_mu < 9
    # What is released next begins new chains, for the states of the old ones are lost.
    play(made, *both(0, 1, 2, 3))
    record = json.loads(RECORD.read_text())
    assert record["chains"][:2] == stated
    assert [part["first_row"] for part in record["chains"]] == [1, 2, 7, 8]
    assert "memory_unknown" not in record


def test_a_chain_goes_on_where_an_older_ledger_knows_its_beginning():
    made = deployment(noise={"memory": "designed"}, budget_mu=9)
    play(made, *both(0, 1))
    shutil.copy(LEDGER, "older")
    last = play(made, *both(0, 1, 2))
    shutil.copy("older", LEDGER)
    done = play(made, *both(0, 1, 2), forget_ledger=True)
    assert (done.guarantee, list(done.parts)) == (last.guarantee, last.parts)


@pytest.mark.parametrize(
    "change", [{"b": 0.99}, {"releases": 2}, {"first_row": 99}, {"b": "x"}, {"scale": 1}, None]
)
def test_rows_whose_memory_no_record_states_count_like_the_worst(change):
    """Three rows count as if all noise of a person's stay were the same: 3 x 3."""
    made = deployment(noise={"memory": "designed"}, budget_mu=9)
    play(made, *both(0, 1, 2))
    record = json.loads(RECORD.read_text())
    assert worst(made).squared_mu < 9
    if change is None:
        record["chains"] = "lost"
    else:
        record["chains"][0] |= change
    RECORD.write_text(json.dumps(record))
    for last in (9, 10):  # The record says so itself, for the next ledger that is lost.
        LEDGER.unlink()
        done = play(made, *both(0, 1, 2, *range(9, last + 1)), forget_ledger=True)
        assert worst(made).squared_mu == 9
        assert json.loads(RECORD.read_text())["memory_unknown"] is True
        assert done.guarantee.stays == tuple(done.guarantee.mu * it for it in (1, 2, 4, 8))


# ---- many sequences ------------------------------------------------------------------------------


def bucket_of(period):
    return (datetime.date.fromisoformat(period) - FIRST).days // 7


def chain_cost(a, b, unit, places):
    """Squared ratio of the move by a person in some releases of a chain to what mu stands for."""
    response = Chains(np.array([a]), np.array([b])).response(100)[:, 0]

    def moved(rows):
        shifted = [np.concatenate([np.zeros(row), response])[:100] for row in rows]
        return (sum(shifted) ** 2).sum()

    return moved(places) / moved(range(unit))


def plain_worst(made, touched):
    """The square of the most that a stay which touches some weeks loses, moving both hospitals."""
    chains = {
        row[0]: (float(row[1]), float(row[2]), row[3])
        for row in ask("SELECT number, a, b, unit_weeks FROM chain")
    }
    rows, places = [], {}
    for period, mu, chain in ask("SELECT period, mu, chain FROM release ORDER BY number"):
        places[chain] = places.get(chain, -1) + 1
        rows.append((bucket_of(period), float(mu), chain, places[chain]))

    def squared_mu(first):
        stay = [row for row in rows if first <= row[0] < first + made.longest_stay]
        total = sum(mu**2 / 2 for _, mu, chain, _ in stay if chain is None)
        for number in {chain for *_, chain, _ in stay} - {None}:
            own = [(mu, place) for _, mu, chain, place in stay if chain == number]
            total += own[0][0] ** 2 / 2 * chain_cost(*chains[number], [it for _, it in own])
        return total

    return max(squared_mu(week - back) for week in touched for back in range(made.longest_stay))


def random_deployment(rng):
    """A random deployment: noise with or without memory, lengths of chains, budget and unit."""
    memory = str(rng.choice(["none", "designed"]))
    periods, unit = int(rng.choice([1, 2, 3, 520])), int(rng.choice([1, 1, 2]))
    made = deployment(
        corrections=bool(rng.random() < 0.7),
        noise={"memory": memory, "chain_periods": periods},
        unit_weeks=unit,
    )
    budget = math.sqrt(made.squared_mu_of_stay()) * rng.choice([1.001, 1.2, 1.7])
    return made.model_copy(update={"budget_mu": round(budget + 1e-3, 3)})


def random_sequence(rng):
    """Runs of all kinds on one ledger; what was refused must leave it as it was."""
    made, other = random_deployment(rng), deployment(name="e", mu=0.5, budget_mu=3)
    Path("agreed.yaml").write_text(yaml.safe_dump(made.model_dump(mode="json")))
    kinds = ["grow", "grow", "correct", "correct", "other", "hand", "odd", "spelt", "older"]
    back = int(rng.integers(4, 16))  # at which step the whole folder is put back, if it is
    for step in range(8):
        kind, last = rng.choice(kinds), int(rng.integers(5))
        name, day = str(rng.choice(["A", "B"])), int(kind == "odd")
        again, same = rng.random(2) < 0.7
        options = {"seed": step, "again": again, "same_entity": same, "change_noise": True}
        options["period_days"] = 1 if rng.random() < 0.7 else 7
        rows, before = both(*range(last + 1)), released_periods()
        # What the holder says is to be released again.
        meant = {(each, week(last, day)) for each in "AB"} if again or kind == "correct" else set()
        if kind == "older":
            an_older_ledger_is_noticed(made, rows)
            continue
        try:
            if kind == "grow":
                play(made, *rows, entity=rng.choice([None, "A"]), **options)
            elif kind == "correct":
                play(made, *rows, correct=[week(last)], **options)
            elif kind == "other":
                play(other, *rows, to="e.csv", **options)
            else:
                name = f" {name.lower()}" if kind == "spelt" else name
                put((name, week(last, day), "3"), to=f"{step}.csv", **options)
        except DataError:
            assert released_periods() == before
        if again and kind in ("grow", "correct", "other"):
            meant = {(each, period) for each, period, _ in rows}
        check((made, other), before, meant)
        if step == back and NOISY.exists():
            an_older_folder_is_noticed(made)


def an_older_ledger_is_noticed(made, rows):
    """The ledger file alone is put back: no output is written until the newest one is back."""
    if not LEDGER.exists():
        return
    if not Path("older.sqlite").exists():
        shutil.copy(LEDGER, "older.sqlite")
        return
    if ask("SELECT COUNT(*) FROM run", "older.sqlite") < ask("SELECT COUNT(*) FROM run"):
        LEDGER.rename("newest.sqlite")
        shutil.copy("older.sqlite", LEDGER)
        with pytest.raises(DataError, match="knows of releases that the ledger"):
            play(made, *rows, week_of("A", 30), to="new.csv", again=True, change_noise=True)
        Path("newest.sqlite").rename(LEDGER)


def an_older_folder_is_noticed(made):
    """The local files cannot show that, but what was reported has to be released again."""
    before = {path: path.read_bytes() for path in (NOISY, RECORD, LEDGER)}
    far = [week_of(name, number) for number in (20, 21) for name in "AB"]
    (done,) = collect([NOISY], Path("state"), Path("agreed.yaml"))
    assert not done.refused
    rows = [(*row[:2], "3") for row in far[:2]]
    options = {"period_days": 1, "change_noise": True, "same_entity": True}
    try:
        play(made, *rows, seed=100, **options)
        assert not collect([NOISY], Path("state"))[0].refused
        for path, content in before.items():
            path.write_bytes(content)
        play(made, *rows, *far[2:], seed=101, **options)
    except DataError:
        return  # Other outputs have used the budget, so nothing is released a second time.
    (done,) = collect([NOISY], Path("state"))
    assert done.refused or done.corrections


def week_of(name, number):
    return name, week(number), "3"


def released_periods():
    """Number of times that each entity's period is in the ledger."""
    if not LEDGER.exists():
        return {}
    return {
        (entity, period): count
        for entity, period, count in ask(
            "SELECT UPPER(TRIM((SELECT text FROM name WHERE name.entity = release.entity"
            " LIMIT 1))), period, COUNT(*) FROM release GROUP BY entity, period"
        )
    }


def check(deployments, before, meant):
    now = released_periods()
    new = {key for key in now if now[key] != before.get(key, 0)}
    for key, count in now.items():
        assert count <= 1 or key not in new or key in meant, key
    names = ask("SELECT name FROM deployment") if now else []
    for one in deployments:
        if (one.name,) in names and new:
            touched = {bucket_of(period) for _, period in new}
            assert plain_worst(one, touched) <= one.budget_mu**2 * (1 + 1e-9)


@pytest.mark.parametrize("part", range(4))
def test_no_sequence_of_runs_passes_the_ceiling(part):
    run_sequences(part, SEQUENCES // 4)


@pytest.mark.parametrize(
    ("broken", "by"),
    [
        ("release.ceiling.refuse_above", lambda *_: None),
        ("release.repeats._refuse_second_releases", lambda *_: None),
        ("release.chains.squared_growth", lambda memory, periods: Fraction(1)),
        ("release.outputs._check_other_records", lambda *_: None),
        ("live.collect._collect", lambda _, file, *more: Collected(file=file)),
    ],
)
def test_the_sequences_notice_a_broken_rule(monkeypatch, broken, by):
    monkeypatch.setattr(f"dpol.{broken}", by)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run_sequences(0, 60)


def run_sequences(part, count):
    for number in range(count):
        with tempfile.TemporaryDirectory(dir=FAST) as folder, chdir(folder):
            random_sequence(np.random.default_rng((part, number)))
