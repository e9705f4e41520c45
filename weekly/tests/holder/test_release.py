from __future__ import annotations

import functools
import math
import threading
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from dpol.privacy.guarantee import ONE_PERSON, UNIT
from dpol_weekly.holder.release import release
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.text import describe
from dpol_weekly.released import Cells, checksum
from dpol_weekly.sampler import SeededNoise
from faults import in_child
from releases import (
    A1,
    A2,
    B1,
    HALF,
    USUAL,
    Halted,
    ask,
    deployment,
    files,
    hospital,
    output,
    put,
    record,
    refuse,
    table,
)


def test_the_output_holds_every_row_with_its_own_noise():
    done = put(A1, A2, B1)
    draws = SeededNoise(np.random.default_rng(1)).discrete_gaussian(HALF.scale, 3)
    rows = output()
    assert list(rows[0]) == [*Cells._fields]
    for row, (*key, count), draw in zip(rows, (A1, B1, A2), draws, strict=True):
        noisy = float(count) + draw / 10**6
        assert float(row["noisy_count"]) == pytest.approx(noisy, abs=1e-12)
        assert float(row["noisy_share"]) == pytest.approx(noisy / 20, rel=1e-8)
        assert [row[name] for name in ("entity", "period", "mu", "capacity")] == [*key, "0.5", "20"]
    assert done.added == 3


def test_the_record_says_what_is_guaranteed():
    made = deployment(count_sensitivity=3)
    put(A1, B1, made=made)
    assert record() == {
        "adjacency": ONE_PERSON,
        "unit": UNIT,
        "sensitivity": pytest.approx(3 * math.sqrt(2)),
        "sensitivity_unit": "L2, persons",
        "mechanism": "discrete Gaussian noise on every count, capacity calibration",
        "model": "local",
        "sampler": "seeded",
        "taken_as_public": "",
        "epsilon_delta": None,
        "mu": 0.5,
        "stays": [pytest.approx(0.5 * math.sqrt(stay)) for stay in (1, 2, 4, 8)],
        "dp_event": {
            "module_name": "dp_accounting.dp_event",
            "class_name": "GaussianDpEvent",
            "noise_multiplier": 2.0,
        },
        "mu_of_one_entity_alone": pytest.approx(0.5 / math.sqrt(2)),
        "sha256": checksum(table(), record()),
        "rows": 2,
        "mu_over_all_outputs": 0.5,
        "guarantee": ANY,
        "releases": [{"run": 1, "date": ANY, "rows": 2, "imported": False, "head": ANY}],
        "ledger": {
            **{"id": ANY, "output": ANY, "run": 1, "token": ANY},
            **{"head": ANY, "previous": None, "ended": None},
        },
        "deployment": {"name": "d", "sha256": made.sha256()},
    }


def test_further_periods_are_added_and_do_not_add_up():
    put(A1)
    first = table()
    done = put(A1, A2, B1)
    assert table().startswith(first)
    assert (done.added, done.skipped, len(output()), record()["mu"]) == (2, 1, 3, 0.5)


def test_a_period_is_not_released_twice():
    put(A1, B1)
    before = files()
    assert put(A1, B1, sampler=Halted()).skipped == 2
    refuse(
        r"counts\.csv, line 3: this entity and period was released for the deployment d in another"
        " output; go on with the entities and the output of then",
        A2,
        A1,
        to="b.csv",
    )
    assert files() == before
    # Nor as a correction.
    refuse("in another output", A1, to="b.csv", correct=[A1[1]])


def test_a_correction_is_released_once_though_its_run_was_killed():
    """Killed wherever it changes a file, and run again with the same options."""
    put(A1)
    for k in range(1, 16):
        corrected = {"correct": [A1[1]], "gap": True}
        row = ("A", A1[1], str(k))
        act = functools.partial(put, row, seed=k, **corrected)
        in_child(lambda act=act: act() and None, "kill", k)
        put(row, seed=100 + k, **corrected)
        assert len(output()) == 1 + k


def test_a_period_released_again_adds_up():
    """mu 0.5 twice is 0.7071, and with 1 as well 1.2247; another period does not change that."""
    put(A1, B1)
    put(A1, correct=["2021-01-01"])
    assert record()["mu"] == pytest.approx(math.sqrt(0.5))
    one = deployment(mu=1)
    put(A1, made=one, correct=["2021-01-01"])
    put(A2, made=one)
    assert record()["mu"] == pytest.approx(math.sqrt(1.5))
    assert record()["mu_of_one_entity_alone"] == pytest.approx(math.sqrt(0.75))
    levels = [(it["mu"], it["rows"]) for it in record()["guarantee"]["noise"]]
    assert levels == [("0.5", 3), ("1", 2)]
    assert [row["mu"] for row in output()] == ["0.5", "0.5", "0.5", "1", "1"]


@pytest.mark.parametrize(("name", "other"), [("Café", "CAFÉ"), ("050002", "50002")])
def test_names_that_are_spelt_alike_are_one_entity(name, other):
    """The second spelling comes in a later version of the file, and in another deployment."""
    week = "2021-01-01"
    put((name, week, "3"), made=deployment(entities={name: {}, "B": {}}))
    assert put((other, week, "3"), made=deployment(entities={other: {}, "B": {}})).skipped == 1
    put((other, week, "3"), made=deployment(entities={other: {}}, name="e"), to="b.csv")
    assert ask("SELECT entity, version FROM release") == [(1, 1), (1, 2)]
    assert record("b.csv")["mu_over_all_outputs"] == pytest.approx(0.5**0.5)


def test_of_two_releases_at_the_same_moment_none_is_lost():
    """The second begins while the first draws its noise."""

    def add(week, sampler):
        raw = Path(f"{week}.csv")
        raw.write_text(f"hospital,week,covid,beds\nA,{week},3,20\n")
        own = hospital(USUAL, raw)
        release(Request(hospital=own, deployment=USUAL, agree=USUAL.sha256()), sampler)

    seeded = SeededNoise(np.random.default_rng(1))
    second = threading.Thread(target=add, args=("2021-01-08", seeded))

    class Interrupted:
        name = "seeded"

        def discrete_gaussian(self, scale, size):
            if size:
                second.start()
                second.join(0.3)
            return seeded.discrete_gaussian(scale, size)

    add("2021-01-01", Interrupted())
    second.join()
    assert [row["period"] for row in output()] == ["2021-01-01", "2021-01-08"]
    assert record()["rows"] == 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"count_sensitivity": 2}, "was released with another count sensitivity"),
        ({"name": "e"}, "was released for the deployment d; give its file again"),
        ({"periods": {"first": "2021-01-02"}}, "knows the deployment d with periods of 7 days"),
        ({"periods": {"first": "2021-01-01", "days": 14}}, "knows the deployment d with periods"),
    ],
)
def test_an_output_keeps_its_sensitivity_and_periods(keys, message):
    own = {"entity": "A"}  # whose name the output has, not that of the deployment
    put(A1, own=own)
    made = deployment(**keys)
    day = made.period_of(2).isoformat()
    refuse(message, ("A", day, "3"), made=made, own=own)


def test_an_output_that_cannot_be_is_refused_before_noise_is_drawn():
    refuse("is a file, not a folder", A1, to="counts.csv")


def test_a_lone_hospital_releases():
    alone = deployment(entities={"A": {"capacity": 20}}, budget_mu=1.42)
    assert not list(alone.rules())
    assert put(A1, A2, made=alone).worst.kept


def test_plain_words():
    done = put(B1, to="x", ledger="x/new")
    text = describe(done, USUAL)
    assert text[0] == "x/d-2021-01-01.zip: 1 row released for 2021-01-01, mu = 0.5 each."
    assert "a person who stays 8 periods has a mu of at most 0.3536" in text[2]
    assert text[3].startswith("x/new is new. It remembers every release")
    assert len(describe(put(B1, to="x", ledger="x/new"), USUAL)) == 2
