"""Noise with memory on counts: its law, its privacy in integers, and the state in the ledger."""

from __future__ import annotations

import hashlib
import itertools
import math
import sqlite3
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import SelfComposedDpEvent
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, special

from dpol.core.errors import DataError
from dpol.privacy.chains import designed, squared_norm
from dpol.privacy.dp_events import dp_event, mu_of_dp_event
from dpol.privacy.stays import STAYS
from dpol_weekly.holder.text import describe
from dpol_weekly.memory import Chain, Memory, released, terms_of
from dpol_weekly.noise import CountNoise
from releases import (
    A1,
    A2,
    B1,
    HALF,
    LEDGER,
    USUAL,
    ask,
    deployment,
    newest,
    output,
    parts,
    put,
    record,
    refuse,
    table,
)

A3, A4 = ("A", "2021-01-15", "4"), ("A", "2021-01-22", "6")
FIFTHS = Decimal("0.2"), Decimal("0.6")
SOME = deployment(Memory(FIFTHS))
EARLIER = deployment(Memory(FIFTHS), periods={"first": "2020-12-25"})
cents = st.integers(-99, 99).map(lambda n: Decimal(n) / 100)


class Draws:
    """A sampler whose draws are given."""

    name = "seeded"

    def __init__(self, *draws):
        self.draws = list(draws)

    def discrete_gaussian(self, scale, size):
        return [self.draws.pop(0) for _ in range(size)]


def begun(numbers=FIFTHS):
    return Chain(number=1, terms=terms_of(HALF, numbers, Memory(numbers)))


def steps(*counts):
    """The noise of the output, in steps."""
    noisy = [Fraction(row["noisy_count"]) for row in output()]
    return [int((y - Fraction(x)) * 10**6) for y, x in zip(noisy, counts, strict=True)]


def chains():
    """Number of rows that each chain released, in the order of their beginnings."""
    return [(part["entity"], part["releases"]) for part in record()["chains"]]


# ---- the noise -----------------------------------------------------------------------------------


def test_noise_by_hand():
    """u: 0, -2/5, .6 (-2/5) - .4 n_2, ...; a half is rounded up."""
    put(A1, A2, A3, made=SOME, sampler=Draws(1, 4, -7))
    assert steps("3", "7.5", "4") == [1, 4, -9]  # u_2 = -.4 is rounded to 0, u_3 = -1.84 to -2
    assert ask("SELECT u FROM chain") == [("312/125",)]  # .6 (-1.84) - .4 (-9)
    _, chain = released(begun((Decimal(0), Decimal("0.5"))), "", 3)
    assert (chain.u, released(chain, "", 0)[0]) == (Fraction(-3, 2), -1)


def whitened(noise, scale, a, b):
    """Standard normals, if the noise (chains, weeks) has the autocovariance scale^2 (C'C)^-1."""
    weeks = noise.shape[1]
    first = np.array([1.0, *((b - a) * b**k for k in range(weeks - 1))])
    return noise @ linalg.toeplitz(first, np.zeros(weeks)).T / scale


def test_the_deviation_of_a_row_is_that_of_its_place_in_the_chain():
    """Covariance (C'C)^-1: in the first week of a chain it is that of the fresh noise alone."""
    a, b = numbers = Decimal("0.4"), Decimal("0.7")
    put(A1, A2, A3, A4, B1, made=deployment(Memory(numbers, chain_periods=3)))
    response = np.array([1, b - a, (b - a) * b], dtype=float)
    first, second, third = np.linalg.norm(
        np.linalg.inv(linalg.toeplitz(response, np.zeros(3))), axis=1
    )
    assert 1 == first < second < third
    terms = terms_of(HALF, numbers, Memory(numbers, chain_periods=3))
    found = [float(row["noise_sd"]) * 20 * 10**6 / terms.scale for row in output()]
    assert found == pytest.approx([1, 1, second, third, 1], rel=1e-5)  # A1, B1, A2, A3, A4
    assert terms.standard_deviation * 10**6 / terms.scale == (
        pytest.approx(math.sqrt(1 + 0.3**2 / (1 - 0.4**2)))
    )


def test_drawn_noise_has_the_autocovariance_of_its_memory(checks):
    """Error probability 1e-6; a wrong a, and a state that is never updated, are rejected."""
    weeks = [f"2021-01-{day:02d}" for day in (1, 8, 15, 22)]
    rows = [(f"h{i}x", week, "9") for i in range(4000) for week in weeks]
    names = {f"h{i}x": {} for i in range(4000)}
    put(*rows, made=deployment(Memory(FIFTHS), entities=names))
    noise = np.reshape(
        sorted((r["entity"], r["period"], r["noisy_count"]) for r in output()), (-1, 4, 3)
    )
    noise = noise[:, :, 2].astype(float) - 9
    scale = record()["chains"][0]["scale"] / 10**6
    assert checks.columns_are_unit_normals(whitened(noise, scale, 0.2, 0.6))
    for a, b in ((0.1, 0.6), (0.2, 0.7), (0.0, 0.0)):
        assert not checks.columns_are_unit_normals(whitened(noise, scale, a, b))
    never_updated = whitened(noise, scale, 0.2, 0.6) * scale
    assert not checks.columns_are_unit_normals(whitened(never_updated, scale, 0.2, 0.6))


@given(
    *(st.decimals("0.001", "100", places=4), st.decimals("0.001", "1000", places=6)),
    *(cents, cents, st.integers(1, 9), st.integers(1, 2000)),
)
def test_the_scale_is_never_below_its_bound_and_hardly_above(mu, s, a, b, weeks, periods):
    """k >= sqrt(2) (S N + sqrt(W T)) / mu + 1, squared until no root is left."""
    a, b = (a, b) if weeks == 1 else sorted((abs(a), abs(b)))
    noise = CountNoise(mu, s)
    terms = terms_of(noise, (a, b), Memory((a, b), weeks, periods))
    shift = (Fraction(s) * 10**noise.decimals) ** 2 * squared_norm(Fraction(a), Fraction(b), weeks)
    errors = weeks * periods if a != b else 0

    def enough(scale):
        more = ((scale - 1) * Fraction(mu)) ** 2 / 2 - shift - errors
        return more >= 0 and more**2 >= 4 * shift * errors

    assert enough(terms.scale)
    assert not enough(terms.scale - 2)
    assert terms.decimals == noise.decimals
    assert terms.scale > 2**20


# ---- privacy in integers: one hospital, one person is one step in the first week -----------------


def probabilities(noise, scale, feed):
    """Probabilities of noise (weeks, n) in a chain (.2, .6), fed with noise or draw alone."""
    u, denominator, exponent = np.zeros(noise.shape[1], dtype=np.int64), 1, 0.0
    for own in noise:
        draw = own - (2 * u + denominator) // (2 * denominator)
        exponent = exponent - draw**2 / (2 * scale**2)
        fed = 3 * u - 2 * denominator * own, u - 2 * denominator * draw
        u, denominator = fed[feed == "draw"], 5 * denominator
    whole = np.exp(-(np.arange(-200, 201) ** 2) / (2 * scale**2)).sum()
    return np.exp(exponent) / whole ** len(noise)


def mu_of(scale, weeks, reach, feed="noise"):
    """Gaussian-DP parameter by the best tests of all outputs that are near; others are too rare."""
    noise = np.array(list(itertools.product(range(-reach, reach + 1), repeat=weeks))).T
    moved = noise - np.eye(weeks, 1, dtype=int)
    absent, present = (probabilities(it, scale, feed) for it in (noise, moved))
    assert min(absent.sum(), present.sum()) > 1 - 2e-5
    order = np.argsort(absent / present)
    alarms, power = absent[order].cumsum(), present[order].cumsum()
    usual = (alarms > 1e-4) & (power < 1 - 1e-4)
    return (special.ndtri(power) - special.ndtri(alarms))[usual].max()


NORM = math.sqrt(squared_norm(Fraction("0.2"), Fraction("0.6"), 1))


@pytest.mark.parametrize(("scale", "weeks", "reach"), [(1.5, 4, 8), (2, 4, 10), (6, 3, 30)])
def test_mu_by_enumeration_is_below_the_claim(scale, weeks, reach):
    mu = mu_of(scale, weeks, reach)
    assert mu <= (NORM + math.sqrt(weeks)) / (scale - 1)
    # To feed the draw alone, which does not say what rounding did, is worse.
    assert mu_of(scale, weeks, reach, "draw") > 1.06 * mu


def test_without_the_errors_of_rounding_the_claim_would_be_false():
    assert mu_of(6, 3, 30) > 1.05 * NORM / (6 - 1)
    assert mu_of(1.5, 4, 8) == pytest.approx(1.02, abs=0.005)
    assert mu_of(1.5, 4, 8, "draw") == pytest.approx(1.13, abs=0.005)


def test_the_law_that_is_enumerated_is_that_of_the_code():
    draws = np.random.default_rng(3).integers(-4, 5, size=(50, 4)).tolist()
    for path in draws:
        chain, noise = begun(), []
        for draw in path:
            value, chain = released(chain, "", draw)
            noise.append(value)
        exponent = -sum(draw**2 for draw in path) / 8
        whole = np.exp(-(np.arange(-200, 201) ** 2) / 8).sum()
        found = probabilities(np.array([noise]).T, 2, "noise")
        assert found == pytest.approx(math.exp(exponent) / whole**4)


def fed_with_the_draw(chain, period, draw):
    a, b = Fraction(chain.terms.a), Fraction(chain.terms.b)
    value = math.floor(chain.u + Fraction(1, 2)) + draw
    return value, replace(chain, u=a * chain.u + (a - b) * draw)


def furthest(step, numbers, weeks):
    """Distance that the centres of a chain move together, on a path that is greedily made bad."""
    here = there = begun(numbers)
    squares = 1  # the count itself
    for week in range(weeks - 1):
        found = []
        for value in range(-10, 11):  # the noise here; where the person is absent it is one more
            _, one = step(here, "", value - centre(here))
            _, two = step(there, "", value + (week == 0) - centre(there))
            found.append((abs(centre(one) - centre(two)), value, one, two))
        moved, _, here, there = max(found, key=lambda it: it[:2])
        squares += moved**2
    return math.sqrt(squares)


def centre(chain):
    return math.floor(chain.u + Fraction(1, 2))


@pytest.mark.parametrize("numbers", [("-0.9", "0.9"), ("0", "0.9"), ("0.2", "0.6")])
def test_no_path_moves_the_centres_further_than_the_proof_says(numbers):
    """Fed with the draw alone, errors of earlier weeks would add up, and some path does."""
    a, b = map(Decimal, numbers)
    norm = math.sqrt(squared_norm(Fraction(a), Fraction(b), 1))
    assert norm < furthest(released, (a, b), 40) <= norm + math.sqrt(40)
    if numbers == ("-0.9", "0.9"):
        assert furthest(fed_with_the_draw, (a, b), 40) > norm + math.sqrt(40)


# ---- chains in the ledger ------------------------------------------------------------------------


def test_rows_in_any_order_give_chains_in_the_order_of_their_periods():
    rows = [A1, A2, A3, B1]
    put(*rows, made=SOME)
    first = table()
    for file in (newest(), LEDGER):
        file.unlink()
    put(A3, A1, B1, A2, made=SOME)
    assert table() == first
    assert [row["period"] for row in output()] == sorted(row["period"] for row in output())
    assert chains() == [("A", 3), ("B", 1)]


def test_a_chain_goes_on_as_if_its_weeks_had_come_at_once():
    """The chain passes over a week without a release, whatever other outputs and entities do."""
    put(A1, made=SOME, sampler=Draws(5))
    put(B1, made=SOME, sampler=Draws(-11))
    put(A2, made=SOME, sampler=Draws(99), to="b.csv")
    put(A3, made=SOME, sampler=Draws(1))
    put(A4, made=SOME, sampler=Draws(0))
    assert chains() == [("A", 3), ("B", 1)]
    assert steps("3", "0", "4", "6") == [5, -11, -1, -1]  # A's u: 0, -2, .6 (-2) - .4 (-1) = -.8


@pytest.mark.parametrize(
    ("row", "made", "rows"),
    [
        (A3, EARLIER, [3]),
        (A3, deployment(Memory((Decimal("0.2"), Decimal("0.5")))), [2, 1]),
        (A3, deployment(Memory(FIFTHS, unit_weeks=2)), [2, 1]),
        (A3, deployment(Memory(FIFTHS, chain_periods=519)), [2, 1]),
        (A3, deployment(Memory(FIFTHS), mu=0.6), [2, 1]),
        (A2, EARLIER, [2, 1]),
        (("A", "2020-12-25", "4"), EARLIER, [2, 1]),
    ],
)
def test_other_terms_or_an_earlier_period_begin_a_new_chain(row, made, rows):
    put(A1, A2, made=EARLIER if made is EARLIER else SOME, sampler=Draws(500, 500))
    correct = [row[1]] if row[1] < A3[1] else ()
    put(row, sampler=Draws(7), made=made, correct=correct)
    assert [n for _, n in chains()] == rows
    if len(rows) == 2:
        assert steps("3", "7.5", row[2])[2] == 7  # nothing is remembered
        assert ask("SELECT u IS NULL FROM chain") == [(1,), (0,)]
        assert record()["chains"][1]["first_row"] == 3


TWO = deployment(Memory(FIFTHS, chain_periods=2))


def test_a_complete_chain_is_followed_by_a_new_one():
    put(A1, A2, A3, made=TWO, sampler=Draws(500, 500, 7))
    put(A4, made=TWO, sampler=Draws(0))
    assert chains() == [("A", 2), ("A", 2)]
    assert steps("3", "7.5", "4", "6")[2:] == [7, -3]


def test_rows_without_memory_end_a_chain():
    put(A1, made=SOME, sampler=Draws(500))
    put(A2)
    put(A3, made=SOME, sampler=Draws(7))
    assert chains() == [("A", 1), ("A", 1)]
    assert steps("3", "7.5", "4")[2] == 7


OTHER = "b.csv"
C1, C2, C3 = (("C", week, "4") for _, week, _ in (A1, A2, A3))


def contents(tables):
    """Everything in a ledger, as bytes: damaged texts need not be UTF-8."""
    with closing(sqlite3.connect(LEDGER)) as base:
        base.text_factory = bytes
        return [base.execute(f"SELECT rowid, * FROM {table}").fetchall() for table in tables]


def test_what_was_changed_in_a_ledger_is_noticed():
    """Anything in any row of it: a state u above all; also rows that are gone, or change places."""
    put(A1, B1, A2, made=SOME)
    put(A3, made=SOME)
    put(C1, to=OTHER, made=SOME)
    whole = LEDGER.read_bytes()
    tables = [name for (name,) in ask("SELECT name FROM sqlite_master WHERE type = 'table'")]
    changes = [
        f"UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT MAX(rowid) FROM {table})"
        for table in tables
        for _, column, kind, *_ in ask(f"PRAGMA table_info({table})")
        for value in ("7" if kind == "INTEGER" else "'312/126'",)
    ]
    changes += [f"DELETE FROM {it} WHERE rowid = {n}" for it in tables for n in (1, 2)]
    changes += [
        "UPDATE chain SET u = '0'",
        "UPDATE chain SET u = NULL WHERE number = 1",
        "DELETE FROM release",
        "DELETE FROM run",
        "UPDATE release SET number = number + 100 WHERE number = 1",
        "INSERT INTO withdrawn VALUES (1)",
        "UPDATE run SET head = NULL WHERE number = 3",
        "UPDATE chain SET u = CAST(x'ff' AS TEXT) WHERE number = 1",
    ]
    before, noticed = contents(tables), 0
    for change in changes:
        LEDGER.write_bytes(whole)
        ask(change)
        if contents(tables) != before:
            refuse("^dpol-ledger.sqlite: the ledger is damaged", A4, made=SOME)
            noticed += 1
    assert noticed > 40
    LEDGER.write_bytes(whole)
    put(A4, made=SOME)


# ---- what is asked, recorded and said ------------------------------------------------------------


def test_a_designed_memory_is_made_for_the_first_capacity():
    made = deployment(noise={"memory": "designed"}, unit_weeks=2)
    put((*A1, "12"), (*A2, "500"), (*B1, "500"), made=made)
    put((*A3, "90"), made=made)
    level = math.sqrt(2) / 0.5 / np.array([12.0, 500.0])
    expected = designed(level, 2).b.tolist()
    assert expected[0] > expected[1]
    assert [(part["a"], part["b"]) for part in record()["chains"]] == [(0, b) for b in expected]
    assert chains() == [("A", 3), ("B", 1)]


def test_the_record_says_what_a_receiver_needs_and_no_state():
    put(A1, A2, made=deployment(Memory(FIFTHS, unit_weeks=2, chain_periods=9)))
    ours = record()
    terms = terms_of(HALF, FIFTHS, Memory(FIFTHS, 2, 9))
    assert ours["chains"] == [
        {
            **{"entity": "A", "first_period": "2021-01-01", "first_row": 1, "releases": 2},
            **{"a": 0.2, "b": 0.6, "unit_weeks": 2, "chain_periods": 9, "mu": 0.5},
            **{"decimals": 6, "scale": terms.scale},
        }
    ]
    assert ours["mechanism"].startswith("discrete Gaussian noise with memory on every count")
    assert ours["unit"] == "one person in at most 2 rounds in a row"
    assert ours["mu"] == 0.5
    (state,) = ask("SELECT u FROM chain")[0]
    assert state.split("/")[0].lstrip("-") not in str(parts(newest()))
    # Who stays 4 periods: N_4 / N_2.
    growth = squared_norm(Fraction("0.2"), Fraction("0.6"), 4) / squared_norm(
        Fraction("0.2"), Fraction("0.6"), 2
    )
    assert ours["stays"][2] == pytest.approx(0.5 * math.sqrt(growth))
    # The unit of a table is the shortest of its rows.
    put(A3)
    assert record()["unit"] == "one person in one round"


@pytest.mark.parametrize(
    "memory",
    [
        None,
        Memory(None),
        Memory((Decimal(0), Decimal("0.8"))),
        Memory(FIFTHS, unit_weeks=2),
        Memory((Decimal(0), Decimal(0)), unit_weeks=4),
    ],
)
def test_the_events_of_a_record_compose_to_its_own_stays(memory):
    """One event for one period is there only if it may be taken several times."""
    put(A1, B1, made=USUAL if memory is None else deployment(memory))
    ours = record()
    if memory is None:
        found = [
            mu_of_dp_event(SelfComposedDpEvent(dp_event(ours["dp_event"]), stay)) for stay in STAYS
        ]
    else:
        assert "dp_event" not in ours
        assert list(ours["dp_events_of_stays"]) == [str(stay) for stay in STAYS]
        found = [mu_of_dp_event(dp_event(it)) for it in ours["dp_events_of_stays"].values()]
        if memory.numbers != (0, 0):  # the first one composed with itself would be too small
            assert ours["stays"][3] > 1.2 * found[0] * math.sqrt(8)
    assert found == pytest.approx(ours["stays"])


def test_it_is_said_once_that_the_ledger_is_secret():
    first, second = ("\n".join(describe(put(row, made=SOME), SOME)) for row in (A1, A2))
    assert "It is as secret as the raw counts" in first
    assert "as secret as" not in second


def test_a_longer_unit_without_memory_takes_the_noise_of_a_stay():
    made = deployment(unit_weeks=4)
    done, ours = put(A1, A2, made=made), record()
    assert ours["mechanism"].startswith("discrete Gaussian noise on every count")
    assert ours["chains"][0]["scale"] == pytest.approx(2 * HALF.scale, rel=1e-6)
    assert ours["stays"][2] == 0.5
    assert ask("SELECT u FROM chain") == [("0",)]
    assert "memor" not in "\n".join(describe(done, made))


def test_noise_without_memory_is_byte_for_byte_what_it_was():
    put(A1, B1, A2)
    known = "50f67b283cd7eaf5b3531418e08381b202e5d62b27f6997ff191623f00838464"
    rows = [line.rsplit(b",", 3)[0] for line in table().splitlines()]
    rows[0] = b"hospital,week,noisy_count,beds,noisy_share,mu,count_sensitivity"
    assert hashlib.sha256(b"\n".join(rows) + b"\n").hexdigest() == known
    assert "chains" not in record()


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("between -1 and 1, with at most 2 decimals", ((Decimal("0.001"), Decimal("0.5")),)),
        ("between -1 and 1, with at most 2 decimals", ((Decimal(0), Decimal(1)),)),
        ("between -1 and 1, with at most 2 decimals", ((Decimal("NaN"), Decimal(0)),)),
        ("must be at least the first one and at least 0", ((Decimal("0.5"), Decimal("0.4")), 2)),
        ("must be at least the first one and at least 0", ((Decimal("-0.5"), Decimal("-0.4")), 2)),
        ("the unit must be 1 to 52 weeks, got 0", (FIFTHS, 0)),
        ("a chain must be of 1 to 2000 periods, got 2001", (FIFTHS, 1, 2001)),
    ],
)
def test_what_is_no_memory_is_refused(message, arguments):
    with pytest.raises(DataError, match=message):
        Memory(*arguments)
