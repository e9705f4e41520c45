"""Divisions of help: cases by hand, other solvers, enumeration, and what every division must keep.

A check that judges a division is a function, so that broken divisions are judged by it too.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import integrate, optimize, stats

from dpol_weekly.divide import (
    best_fixed,
    equal_chances,
    expected_unmet,
    level_variance,
    proportional,
    short_chance,
    whole_units,
)

THREE = np.array([10.0, 4.0, 1.0]), np.array([1.0, 2.0, 3.0])


@dataclass(frozen=True, kw_only=True)
class Case:
    """Units to divide among entities: arguments of `equal_chances`."""

    mean: np.ndarray
    deviation: np.ndarray
    units: float
    own: np.ndarray
    guaranteed: float = 0.0

    @property
    def floor(self) -> np.ndarray:
        """Guaranteed units, written out."""
        above = [max(m - b, 0.0) for m, b in zip(self.mean, self.own, strict=True)]
        total = sum(above)
        shares = [w / total if total else 1 / len(above) for w in above]
        return np.array([self.guaranteed * self.units * share for share in shares])

    def divide(self, **changes: object) -> np.ndarray:
        """Return the division under test, or that of other arguments."""
        given = {"own": self.own, "guaranteed": self.guaranteed, **changes}
        of = [given.pop(name, getattr(self, name)) for name in ("mean", "deviation", "units")]
        return equal_chances(*of, **given)

    def loss(self, division: np.ndarray) -> np.ndarray:
        """Return the expected number of people not served."""
        held = self.own + division
        return expected_unmet(self.mean, self.deviation, held).sum(axis=-1)


def eighths(low: int, high: int) -> st.SearchStrategy[float]:
    """Multiples of 1/8: sums are exact, and ties are frequent."""
    return st.integers(8 * low, 8 * high).map(lambda number: number / 8)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    n = draw(st.integers(1, 6))

    def array(values: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=n, max_size=n)))

    return Case(
        mean=array(eighths(-8, 30)),
        deviation=array(eighths(0, 8).map(lambda value: value + 0.125)),
        units=draw(eighths(0, 80)),
        own=array(eighths(0, 8)),
        guaranteed=draw(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])),
    )


# ---- the laws ------------------------------------------------------------------------------------


def test_chance_and_unmet_need_are_those_of_the_normal_law() -> None:
    mean, deviation, held = 3.0, 2.0, np.array([0.0, 2.5, 9.0])
    law = stats.norm(mean, deviation)
    assert_allclose(short_chance(mean, deviation, held), law.sf(held), rtol=1e-12)
    unmet = [integrate.quad(law.sf, value, 40.0, epsabs=1e-12)[0] for value in held]
    assert_allclose(expected_unmet(mean, deviation, held), unmet, rtol=1e-8)


# ---- the optimum ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "guaranteed", "expected", "chance"),
    [
        (6, 0, (6, 0, 0), None),
        (10, 0, (26 / 3, 4 / 3, 0), 0.908789),
        (20, 0, (65 / 6, 17 / 3, 7 / 2), 0.202328),
        (6, 0.75, (4.5, 1.2, 0.3), None),
        (10, 0.75, (7.5, 2, 0.5), None),
        (20, 0.75, (65 / 6, 17 / 3, 7 / 2), 0.202328),
    ],
)
def test_the_optimum_by_hand(
    units: float, guaranteed: float, expected: tuple[float, ...], chance: float | None
) -> None:
    division = equal_chances(*THREE, units, guaranteed=guaranteed)
    assert_allclose(division, expected, rtol=0, atol=1e-12)
    if chance:
        helped = division > 0
        assert_allclose(short_chance(*THREE, division)[helped], chance, rtol=0, atol=5e-7)


def test_own_staff_by_hand() -> None:
    # Above own staff 8, 4, 0. The second begins to get help at z = -2, the third at 0:
    # z = (8 - 12) / 3.
    division = equal_chances(*THREE, 8, own=[2.0, 0.0, 1.0])
    assert_allclose(division, [20 / 3, 4 / 3, 0], rtol=0, atol=1e-12)


def fault(case: Case, division: np.ndarray) -> str:
    """Return the condition of an optimum that a division breaks; empty if it is one."""
    if abs(division.sum() - case.units) > 1e-9:
        return "sum"
    if (division < case.floor - 1e-9).any():
        return "guarantee"
    chance = stats.norm.sf(case.own + division, case.mean, case.deviation)
    helped = division > case.floor + 1e-9
    if helped.any() and chance.max() - chance[helped].min() > 1e-7:
        return "chances"
    return ""


@given(cases())
def test_everyone_helped_falls_short_with_the_same_chance(case: Case) -> None:
    assert fault(case, case.divide()) == ""


FIXED = Case(
    mean=np.array([10.0, 4.0, -1.0]),
    deviation=np.array([1.0, 2.0, 3.0]),
    own=np.array([2.0, 0.0, 1.0]),
    units=8.5,
)
MANY = replace(FIXED, units=16.0)


def without_clipping(case: Case) -> np.ndarray:
    above = case.mean - case.own
    return above + (case.units - above.sum()) / case.deviation.sum() * case.deviation


BROKEN: list[tuple[str, Case, Callable[[Case], np.ndarray], str]] = [
    ("squared", FIXED, lambda case: case.divide(deviation=case.deviation**2), "chances"),
    ("not clipped", FIXED, without_clipping, "guarantee"),
    ("own ignored", FIXED, lambda case: case.divide(own=np.zeros(3)), "chances"),
    ("mean shifted", FIXED, lambda case: case.divide(mean=case.mean + 1), "chances"),
    ("mean clipped", MANY, lambda case: case.divide(mean=np.maximum(case.mean, 0)), "chances"),
    ("rounded down", FIXED, lambda case: np.floor(case.divide()), "sum"),
    ("proportional", FIXED, lambda case: case.divide(guaranteed=1.0), "chances"),
    ("guarantee left out", replace(FIXED, guaranteed=0.75),
     lambda case: case.divide(guaranteed=0.0), "guarantee"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("case", "broken", "condition"), [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN]
)
def test_broken_divisions_are_caught(
    case: Case, broken: Callable[[Case], np.ndarray], condition: str
) -> None:
    assert fault(case, broken(case)) == condition
    assert fault(case, case.divide()) == ""


# ---- censored needs ------------------------------------------------------------------------------


def quantiles(case: Case, number: int) -> np.ndarray:
    """Return needs (number, n), equally probable: normal, censored at 0, above own staff."""
    levels = (np.arange(number)[:, None] + 0.5) / number
    people = np.maximum(stats.norm.ppf(levels, case.mean, case.deviation), 0.0)
    return np.maximum(people - case.own, 0.0)


def test_the_optimum_stays_the_same_if_needs_are_censored() -> None:
    """Neighbouring quantiles near the optimum are at most 0.02 apart."""
    best = best_fixed(quantiles(MANY, 4_000), MANY.units)
    assert_allclose(MANY.divide(), best, rtol=0, atol=0.02)
    clipped = MANY.divide(mean=np.maximum(MANY.mean, 0))
    assert np.abs(clipped - best).max() > 0.3


# ---- properties of all divisions of real units ---------------------------------------------------


@given(cases(), eighths(0, 20))
def test_nobody_loses_if_there_is_more_to_divide(case: Case, more: float) -> None:
    richer = replace(case, units=case.units + more)
    assert (richer.divide() >= case.divide() - 1e-9).all()


@given(cases())
def test_all_guaranteed_is_proportional_to_expected_need(case: Case) -> None:
    division = replace(case, guaranteed=1.0).divide()
    expected = proportional(np.maximum(case.mean - case.own, 0.0), case.units)
    assert_allclose(division, expected, rtol=0, atol=1e-9)


# ---- whole units ---------------------------------------------------------------------------------


def dhondt(weights: np.ndarray, units: int) -> np.ndarray:
    """Divide units by D'Hondt's method: to the largest of all quotients weight / 1, / 2, ..."""
    if not weights.any():
        weights = np.ones(len(weights))
    quotients = [
        (-Fraction(float(weight)) / place, entity)
        for entity, weight in enumerate(weights)
        for place in range(1, units + 1)
    ]
    given = [entity for _, entity in sorted(quotients)[:units]]
    return np.bincount(given, minlength=len(weights))


def whole(case: Case, units: int) -> np.ndarray:
    """Return the division of whole units under test."""
    return whole_units(case.mean, case.deviation, units, own=case.own, guaranteed=case.guaranteed)


def guaranteed_units(case: Case, units: int) -> np.ndarray:
    """Return the guaranteed whole units, written out."""
    number = math.floor(Fraction(case.guaranteed) * units)
    return dhondt(np.maximum(case.mean - case.own, 0), number)


def improvable(case: Case, division: np.ndarray) -> bool:
    """Return whether any division of as many whole units that keeps the guarantee is better."""
    units, n = int(division.sum()), len(division)
    floor = guaranteed_units(case, units)
    assert (division >= floor).all()
    ranges = [range(least, units + 1) for least in floor]
    every = [parts for parts in itertools.product(*ranges) if sum(parts) == units]
    assert len(every) == math.comb(units - floor.sum() + n - 1, n - 1)
    return bool(case.loss(np.array(every)).min() < case.loss(division) - 1e-12)


def largest_remainders(case: Case, units: int) -> np.ndarray:
    """Round the division of real units down, and give the rest to the largest remainders."""
    real = replace(case, units=float(units)).divide() + 1e-9
    down = np.floor(real)
    left = units - int(down.sum())
    down[np.argsort(-(real - down), kind="stable")[:left]] += 1
    return down


LAWS = {
    "three": replace(FIXED, mean=THREE[0], own=np.zeros(3)),
    "own staff": FIXED,
    "wide and narrow": replace(FIXED, mean=np.array([2.0, 2.0, 2.0])),
    "no need expected": replace(FIXED, mean=np.array([-1.0, 0.0, -2.0])),
    "four": Case(
        mean=np.array([1.5, 6.0, 3.25, 0.5]),
        deviation=np.array([2.0, 0.5, 4.0, 1.0]),
        own=np.array([0.0, 1.5, 0.0, 0.5]),
        units=0.0,
    ),
}


@pytest.mark.parametrize("guaranteed", [0.0, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_whole_units_have_the_least_loss_of_all_divisions(law: Case, guaranteed: float) -> None:
    case = replace(law, guaranteed=guaranteed)
    for units in range(9):
        division = whole(case, units)
        assert division.sum() == units
        assert not improvable(case, division)


def test_enumeration_finds_better_divisions_than_largest_remainders() -> None:
    found = [
        improvable(law, largest_remainders(law, units))
        for law in LAWS.values()
        for units in range(1, 9)
    ]
    assert any(found)


def test_a_unit_that_serves_a_little_more_is_no_tie() -> None:
    """It serves 0.8405 of a person at the first, and 0.8369 at the second, whose need is surer."""
    mean, deviation = np.array([4.0, 2.0]), np.array([3.5, 1.5])
    served = expected_unmet(mean, deviation, 0.0) - expected_unmet(mean, deviation, 1.0)
    assert_allclose(served, [0.8405, 0.8369], atol=1e-4)
    assert whole_units(mean, deviation, 1).tolist() == [1, 0]


def test_ties_go_to_the_first_entity() -> None:
    mean, deviation = np.full(3, 3.0), np.full(3, 2.0)
    for guaranteed in (0.0, 1.0):
        for units, expected in ((1, [1, 0, 0]), (5, [2, 2, 1]), (7, [3, 2, 2])):
            division = whole_units(mean, deviation, units, guaranteed=guaranteed)
            assert division.tolist() == expected


@given(cases(), st.integers(0, 20))
def test_dhondt_gives_at_least_the_share_rounded_down(case: Case, units: int) -> None:
    weights = np.maximum(case.mean - case.own, 0)
    division = whole(replace(case, guaranteed=1.0), units)
    assert division.tolist() == dhondt(weights, units).tolist()
    assert (division >= np.floor(proportional(weights, units) - 1e-9)).all()


def somebody_loses(case: Case, divide: Callable[[Case, int], np.ndarray], most: int = 16) -> bool:
    """Return whether an entity has less of one unit more, for any number of units up to `most`."""
    divisions = np.array([divide(case, units) for units in range(most + 1)])
    return bool((np.diff(divisions, axis=0) < 0).any())


@given(cases())
def test_nobody_loses_if_there_is_one_unit_more(case: Case) -> None:
    assert not somebody_loses(case, whole)


@pytest.mark.parametrize(
    ("mean", "deviation", "units"),
    [
        ([200.0, 300.0], [5.0, 5.0], 50),
        ([80.1, 79.3, 83.2], [4.0, 4.0, 4.0], 60),
        ([10.0, 4.0, 1.0], [1.0, 2.0, 3.0], 1000),
    ],
)
def test_units_that_serve_equally_follow_the_optimum(
    mean: list[float], deviation: list[float], units: int
) -> None:
    """All these units are sure to serve, or most are sure not to: only the order tells."""
    division = equal_chances(mean, deviation, units)
    assert np.abs(whole_units(mean, deviation, units) - division).max() < 1


def test_somebody_loses_by_largest_remainders() -> None:
    """The paradox of Alabama: of 10 units the third has 2, of 11 it has 1."""
    case = replace(FIXED, mean=np.array([6.0, 6.0, 2.0]), own=np.zeros(3), guaranteed=1.0)
    assert somebody_loses(case, largest_remainders)
    assert not somebody_loses(case, whole)


# ---- the best fixed division ---------------------------------------------------------------------


def unmet(needs: np.ndarray, division: np.ndarray) -> float:
    """Return the unmet need of all rounds."""
    return float(np.maximum(needs - division, 0).sum())


def least_unmet(needs: np.ndarray, units: float) -> float:
    """Return the least unmet need of a fixed division, by a linear program in (a, unmet)."""
    rounds, n = needs.shape
    cost = np.concatenate([np.zeros(n), np.ones(rounds * n)])
    at_least = -np.hstack([np.tile(np.eye(n), (rounds, 1)), np.eye(rounds * n)])
    all_units = np.concatenate([np.ones(n), np.zeros(rounds * n)])[None]
    solved = optimize.linprog(
        cost, A_ub=at_least, b_ub=-needs.ravel(), A_eq=all_units, b_eq=[units]
    )
    return float(solved.fun)


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 30), st.data())
def test_the_best_fixed_division_agrees_with_a_linear_program(
    rounds: int, n: int, units: int, data: st.DataObject
) -> None:
    flat = st.lists(st.integers(0, 9), min_size=rounds * n, max_size=rounds * n)
    needs = np.array(data.draw(flat), dtype=float).reshape(rounds, n)
    division = best_fixed(needs, units)
    assert division.sum() == pytest.approx(units)
    assert (division >= 0).all()
    assert unmet(needs, division) == pytest.approx(least_unmet(needs, units), abs=1e-7)


def test_the_linear_program_is_better_than_shares_of_the_total_need() -> None:
    needs = np.array([[5.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert unmet(needs, proportional(needs.sum(axis=0), 1)) > least_unmet(needs, 1) + 0.5


# ---- the variance of the level -------------------------------------------------------------------


def test_the_variance_of_the_level_by_hand() -> None:
    assert level_variance([50.0]) == pytest.approx(0.2**2)
    assert level_variance([100.0, 200.0, 100.0]) == pytest.approx((0.04 + 2 * math.log(2) ** 2) / 3)
    # Of three replicates, the last stays where it is.
    totals = [[1.0, math.e], [math.e, 1.0], [5.0, 5.0]]
    assert_allclose(level_variance(totals), [0.52, 0.52, 0.02])


# ---- arguments that are refused ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: equal_chances(*THREE, math.nan), "units must be at least 0 and finite"),
        (lambda: proportional([1.0], -1.0), "units must be at least 0 and finite"),
        (lambda: whole_units(*THREE, 2.5), "units must be a whole number .* got 2"),
        (lambda: proportional([1.0, -1.0], 3), "weights must be at least 0"),
        (lambda: best_fixed([[1.0, math.nan]], 3), "needs must be at least 0"),
        (lambda: level_variance([1.0, 0.0]), "totals must be above 0"),
        (lambda: short_chance(1.0, math.inf, 0.0), "deviation must be above 0"),
        (lambda: whole_units([math.nan, 1.0], [1.0, 1.0], 3), "mean must be finite numbers"),
        (lambda: expected_unmet(1.0, 1.0, -1.0), "held must be at least 0"),
        (lambda: equal_chances(*THREE, 3, own=[0.0, 0.0, -1.0]), "own must be at least 0"),
        (lambda: equal_chances([1.0], [1.0], 3, guaranteed=1.01), "guaranteed must be a number"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_by_name(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
