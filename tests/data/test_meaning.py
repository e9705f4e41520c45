"""Tests of meaning stop what is no count of a place, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from data.drawn import Drawn, clean, dataset, refused, week
from dpol.data.question import Gain

RNG = np.random.default_rng(3)
WEEKS = 30


def drawn(numbers: np.ndarray, beds: int = 900) -> Drawn:
    """Draw entities a, b, c and so on, with the columns of (weeks, entities) numbers."""
    each = (" ".join(f"{n:g}" for n in line) for line in numbers.T)
    cells = zip("abcdefgh", each, strict=False)
    return {name: (line, " ".join([str(beds)] * len(numbers))) for name, line in cells}


def counts(n: int = 4) -> np.ndarray:
    return RNG.poisson(40, (WEEKS, n)).astype(float)


@pytest.mark.parametrize("small", ["", "*", "."])
def test_a_total_is_found_also_beside_hidden_counts(small: str) -> None:
    parts = np.random.default_rng(3).poisson(12, (WEEKS, 4)).astype(float)
    table = drawn(np.column_stack([parts, parts.sum(axis=1)]))
    for name, (line, beds) in table.items() if small else ():
        table[name] = (" ".join(small if float(it) < 8 else it for it in line.split()), beds)
    whole = int((parts >= 8).all(axis=1).sum()) if small == "." else WEEKS
    said = refused(table, dataset(checked=[]))
    verb = "can be" if small == "*" else "is"
    assert f"e {verb} the total of all others in {whole} of {whole} periods" in said
    assert 'cleaning:\n    drop_where: {"hospital": ["e"]}' in said
    assert 'checked: ["totals"]' in said
    already = dataset(checked=["rates"], drop_where={"hospital": ["f"]})
    again = refused({**table, "f": table["a"]}, already)
    assert 'drop_where: {"hospital": ["f", "e"]}' in again
    assert 'checked: ["rates", "totals"]' in again
    assert clean(table, dataset(checked=["totals"])).reports[0].entities == 5
    dropped = clean(table, dataset(checked=[], drop_where={"hospital": ["e"]}))
    assert dropped.reports[0].entities == 4


def test_a_total_of_parts_and_their_totals_is_told_as_one() -> None:
    parts = counts()
    halves = parts.reshape(WEEKS, 2, 2).sum(axis=2)
    table = drawn(np.column_stack([parts, halves, parts.sum(axis=1)]))
    told = "g is the total of parts whose totals are there too, in 30 of 30 periods"
    assert told in refused(table, dataset(checked=[]))


@pytest.mark.parametrize(("factor", "unit"), [(1.5, 1), (3.0, 1), (6.0, 1), (1.5, 5)])
def test_a_large_place_is_no_total(factor: float, unit: int) -> None:
    wave = 60 + 50 * np.sin(np.arange(WEEKS) / 5)
    means = wave[:, None] * np.array([factor, 0.5, 0.6, 0.4])
    table = np.round(np.random.default_rng(3).poisson(means) / unit) * unit
    assert clean(drawn(table), dataset(checked=[]))


@pytest.mark.parametrize("unit", [1, 10])
def test_a_place_that_is_one_more_than_all_others_is_no_total(unit: int) -> None:
    parts = unit * counts()
    table = drawn(np.column_stack([parts, parts.sum(axis=1) + unit]), beds=9_000)
    assert clean(table, dataset(checked=[]))
    assert clean(drawn(np.repeat(counts(1), 6, axis=1)), dataset(checked=[])), "all are equal"


def test_totals_to_date_are_found_with_the_line_that_makes_counts() -> None:
    table = drawn(np.cumsum(counts(), axis=0), beds=9_000)
    said = refused(table, dataset(checked=[]))
    assert "counts rise in 116 and fall in 0 of 116 steps, as totals to date do" in said
    assert 'groupby("hospital")["patients"].transform(lambda it: it - ' in said
    assert clean(table, dataset(checked=["cumulative"]))


def test_counts_with_decimals_and_no_capacity_are_asked_about() -> None:
    table, rules = drawn(counts() + 0.25), dataset({"capacity": None}, checked=[])
    said = refused(table, rules)
    assert "120 of 120 counts have decimals" in said
    assert "privacy.count_sensitivity" in said
    assert clean(table, dataset({"capacity": None}, checked=["rates"]))


def test_all_findings_are_in_one_message() -> None:
    parts = np.cumsum(counts() + 0.5, axis=0)
    rules = dataset({"capacity": None}, checked=[])
    said = refused(drawn(np.column_stack([parts, parts.sum(axis=1)])), rules)
    for name in ("totals", "cumulative", "rates"):
        assert f'checked: ["{name}"]' in said


def test_what_was_understood_is_at_most_six_short_lines() -> None:
    table = {**drawn(counts()), "x" * 200: (" ".join(["1"] * WEEKS), " ".join(["0"] * WEEKS))}
    (report,) = clean(table, dataset(capacity_zero="drop", max_carry=0)).reports
    rows, dropped, dates, largest, cells = report.understood
    assert all(len(line) <= 160 for line in report.understood)
    assert rows == "120 of 150 rows play, of 4 entities: a, b, c and d"
    assert dropped.startswith("do not play: 1 (never reports a capacity above 0: xxx")
    assert dates.startswith(f"'{week(0)}' in row 2 is Sun 3 Jan 2021; 30 periods of 7 days from")
    assert largest.startswith("the largest: ")
    assert " beside a capacity of 900, from " in largest
    assert cells == "cells: count: reported 100%; capacity: reported 100%"
    (report,) = clean(drawn(counts(2)), gain=Gain(min_capacity=901)).reports
    small = "of these, 2 entities with a capacity below 901 do not play (gain.min_capacity)"
    assert (len(report.understood), report.understood[-1]) == (5, small)
