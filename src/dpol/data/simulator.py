"""Simulated hospitals, written exactly as the HHS table would carry them.

A group (state) has epidemic waves; a hospital takes a share of them that is
partly permanent and partly drifts, so that the hospital with the highest
density changes over time and can partly be foreseen. The constants were set
against real weeks of NM, PA and CA (2021-01-01 to 2022-07-29); the hospitals
are invented.

Arrays are (weeks, hospitals) or (hospitals,). A cell is an integer until the
end: tenths of a number, or a negative code for a cell without a number.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from dpol.core.randomness import Floats, seed_sequence

if TYPE_CHECKING:
    import pandas as pd

Ints = npt.NDArray[np.int64]
Cells = dict[str, Ints]

ADULT_BEDS = "all_adult_hospital_inpatient_beds_7_day_avg"
ALL_BEDS = "inpatient_beds_7_day_avg"
ALL_COVID = "inpatient_beds_used_covid_7_day_avg"
ADULT_COVID = "total_adult_patients_hospitalized_confirmed_and_suspected_covid_7_day_avg"
CHILD_COVID = "total_pediatric_patients_hospitalized_confirmed_and_suspected_covid_7_day_avg"
ADULT_CONFIRMED = "total_adult_patients_hospitalized_confirmed_covid_7_day_avg"
ADULT_SUSPECTED = "previous_day_admission_adult_covid_suspected_7_day_sum"
CHILD_SUSPECTED = "previous_day_admission_pediatric_covid_suspected_7_day_sum"
BEDS = (ALL_BEDS, ADULT_BEDS)
COUNTS = (ALL_COVID, ADULT_COVID, CHILD_COVID, ADULT_CONFIRMED)
CASES = (ADULT_SUSPECTED, CHILD_SUSPECTED)
NUMBERS = BEDS + COUNTS + CASES

MARKERS = ("NA", "", "-999999")  # MARKERS[code] is what a negative code is written as
SUPPRESSED, EMPTY, NOT_AVAILABLE = -1, -2, -3
SUPPRESSED_BELOW = 4  # HHS hides averages and sums above 0 and below 4
SUPPRESSED_COUNTS_AS = 2  # what the promise on suspected cases takes a hidden sum for

# Waves: week of the peak, its height (group density), weeks per factor e before and after it.
# A steep rise is a new variant.
WAVES = np.array([
    (-2.0, 0.070, 3.0, 5.0),  # summer 2020, when the default period starts
    (22.0, 0.250, 4.0, 3.0),  # winter 2020/21
    (36.0, 0.045, 3.0, 3.0),
    (55.0, 0.105, 2.0, 8.0),  # delta
    (69.0, 0.070, 4.0, 5.0),
    (76.0, 0.180, 1.7, 2.7),  # omicron
    (102.0, 0.075, 5.0, 6.0),
    (123.0, 0.070, 4.0, 6.0),
])  # fmt: skip
RIPPLE, RIPPLE_EVERY = (0.055, 4.0, 6.0), 24.0  # every later wave, and weeks between them
BASELINE = 0.010  # group density between waves
WAVE_SHIFT, WAVE_SPREAD = 1.5, 0.15  # how groups differ: sd of the week and of the log height

MEDIAN_BEDS, BEDS_SPREAD, MOST_BEDS = 100.0, 0.85, 1200.0  # log-normal, cut
TINY_BEDS, TINY_SHARE = (4.5, 15.0), 0.04  # the few very small hospitals
CHILD_BEDS_SHARE, CHILD_BEDS = 0.3, (0.05, 0.15)  # hospitals with children; beds for them
BEDS_STEP, BEDS_STEP_SPREAD, BEDS_JITTER = 0.08, 0.10, 0.02  # weekly chance; log sds
ODD_BEDS, CRITICAL_ACCESS_BEDS = 30.0, 25.0  # hospitals to be dropped; US limit of that type

# Permanent log share: a normal (sd) minus an exponential (mean), because few hospitals stay far
# above the others for long and more stay far below.
PERMANENT_SPREAD, PERMANENT_TAIL = 0.20, 0.40
# Drift of the log share: sd at 100 beds, its power of the beds, largest sd, weekly persistence;
# degrees of freedom of its steps, heavy-tailed because outbreaks are sudden.
DRIFT_SPREAD, DRIFT_POWER, DRIFT_MOST, DRIFT_PERSISTENCE, DRIFT_TAIL = 0.44, -0.25, 0.70, 0.87, 4
SCATTER_BEDS = 15.0  # a week scatters like one draw for each of 15 times the beds
FULLEST = 0.80  # expected density can come near this and not above
TRANSFER_BELOW, TRANSFER_SPREAD = 2.0, 0.5  # fewer expected patients are sent elsewhere; log sd
SUSPECTED_SHARE = 0.2  # suspected per confirmed patient, mean over hospitals
CHILD_SHARE = 0.5  # density of children relative to adults

CASES_RATE, CASES_SPREAD, CASES_MOST = 0.02, 1.5, 0.4  # suspected a week and bed; log sd; largest
LEAST_CASES, LEAST_CASES_WEEKS = 130.0, 52  # what regular hospitals report; fewer weeks, fewer
CASES_AIM = 1.6  # least expected cases, as a multiple of what must be reported

LATE_SHARE, LATE_BETWEEN = 0.03, (0.05, 0.35)  # late joiners; when, as a share of the period
CLOSED_SHARE, CLOSED_BETWEEN, CLOSED_FROM = 0.006, (0.6, 0.9), 8  # closing needs 8 hospitals
COUNT_MISSING, BEDS_MISSING = 0.008, 0.004  # shares of single missing cells
OUTAGE_SHARE, OUTAGE_WEEKS = 0.06, 7  # hospitals that once send empty rows, and how many
SWITCH_AT, SWITCH_DAYS = 2 / 3, 2  # Fridays become Sundays
SILENT_EVERY, SILENT_MOST = 10, 20  # the silent hospital has a case in every 10th week, 20 times


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """The fixed part of a group: regular hospitals, then the silent one, then the bedless one."""

    beds: Floats
    child_beds: Floats
    reported: npt.NDArray[np.bool_]  # the row is there; (weeks, hospitals)
    subtypes: list[str]
    least_cases: float  # suspected cases that a regular hospital reports in all


def simulate_hospitals(
    hospitals: Mapping[str, int], weeks: int, first_week: datetime.date, seed: int
) -> pd.DataFrame:
    """Simulate the raw table of weekly hospital reports.

    `hospitals[group]` is the number of regular hospitals; on top come one that reports almost no
    case and one that never reports a bed. Over 52 weeks or more every regular hospital reports at
    least 100 suspected cases (adults and children, a hidden sum taken as 2); over shorter periods
    proportionally fewer. Weeks start on the weekday of `first_week`, from two thirds of the period
    on two days later. The numbers of a group depend on its label and size, `weeks` and `seed`,
    not on other groups.

    Returns one row per hospital and week, by week, state and hospital, one of them twice; all
    cells are strings.
    Raises ValueError for no group, fewer than 2 hospitals in a group, or fewer than 2 weeks.
    """
    import pandas as pd

    if weeks < 2 or min(hospitals.values(), default=0) < 2:
        given = f"not {weeks=} and hospitals={dict(hospitals)}"
        raise ValueError(f"needed: 2 weeks or more, and groups of 2 hospitals or more, {given}")
    starts = week_starts(weeks, first_week)
    frames = []
    for label in sorted(hospitals):
        rng = np.random.default_rng(seed_sequence(seed, ("simulated group", label)))
        plan = _plan(hospitals[label], weeks, rng)
        frames.append(_frame(label, plan, _cells(plan, rng), starts))
    table = pd.concat(frames).sort_values("collection_week", kind="stable", ignore_index=True)
    rng = np.random.default_rng(seed_sequence(seed, ("simulated duplicate",)))
    rows = np.sort(np.append(np.arange(len(table)), rng.integers(len(table))))
    return table.take(rows).reset_index(drop=True)


def week_starts(weeks: int, first_week: datetime.date) -> list[str]:
    """ISO dates of the weeks; two thirds in (from 3 weeks on) their weekday moves by two days."""
    switch = round(SWITCH_AT * weeks) if weeks > 2 else weeks
    days = (7 * week + SWITCH_DAYS * (week >= switch) for week in range(weeks))
    return [(first_week + datetime.timedelta(days=day)).isoformat() for day in days]


def _frame(label: str, plan: _Plan, cells: Cells, starts: list[str]) -> pd.DataFrame:
    """The rows of a group as strings."""
    import pandas as pd

    week, which = np.nonzero(plan.reported)
    width = max(3, len(str(len(plan.beds))))
    numbers = [f"{i:0{width}}" for i in range(1, len(plan.beds) + 1)]
    most = max(int(values.max()) for values in cells.values())
    written = [f"{tenths // 10}.{tenths % 10}".removesuffix(".0") for tenths in range(most + 1)]
    columns = {
        "hospital_pk": ([f"SIM-{label}-{i}" for i in numbers], which),
        "collection_week": (starts, week),
        "state": ([label], np.zeros_like(week)),
        "hospital_name": ([f"Simulated Hospital {label} {i}" for i in numbers], which),
        "hospital_subtype": (plan.subtypes, which),
    }
    for name in NUMBERS:
        columns[name] = ([*written, *MARKERS], cells[name][week, which])
    return pd.DataFrame(
        {name: pd.Series(texts, dtype="str").array.take(i) for name, (texts, i) in columns.items()}
    )


def _plan(number: int, weeks: int, rng: np.random.Generator) -> _Plan:
    # One draw from each of `number` strata, so that small groups have large and small ones too.
    quantiles = ((np.arange(number) + rng.uniform(0.01, 0.99, number)) / number).tolist()
    normal = np.array([NormalDist().inv_cdf(quantile) for quantile in quantiles])
    beds = np.clip(MEDIAN_BEDS * np.exp(BEDS_SPREAD * normal), TINY_BEDS[1], MOST_BEDS)
    tiny = max(round(TINY_SHARE * number), int(number >= CLOSED_FROM))
    beds[:tiny] = np.exp(rng.uniform(np.log(TINY_BEDS[0]), np.log(TINY_BEDS[1]), tiny))
    beds = np.append(rng.permutation(beds), [ODD_BEDS, ODD_BEDS])
    every = len(beds)
    child_share = rng.uniform(*CHILD_BEDS, every) * (rng.random(every) < CHILD_BEDS_SHARE)
    first, stop = np.zeros(every, np.int64), np.full(every, weeks)
    late = round(LATE_SHARE * number)
    closed = max(round(CLOSED_SHARE * number), int(number >= CLOSED_FROM))
    odd = rng.permutation(number)[: late + closed]
    first[odd[:late]] = (weeks * rng.uniform(*LATE_BETWEEN, late)).clip(1, weeks - 1)
    stop[odd[late:]] = (weeks * rng.uniform(*CLOSED_BETWEEN, closed)).clip(1, weeks - 1)
    types = np.where(beds <= CRITICAL_ACCESS_BEDS, "Critical Access Hospitals", "Short Term")
    names = [*types[:-1].tolist(), "Childrens Hospitals"]  # those often have no adult beds
    week = np.arange(weeks)[:, None]
    least = LEAST_CASES * min(1.0, weeks / LEAST_CASES_WEEKS)
    return _Plan(
        beds=beds,
        child_beds=beds * child_share,
        reported=(week >= first) & (week < stop),
        subtypes=names,
        least_cases=least,
    )


def _cells(plan: _Plan, rng: np.random.Generator) -> Cells:
    """Everything the hospitals report, as codes; rows that are not there have numbers too."""
    weeks = len(plan.reported)
    density = epidemic(weeks, rng)[:, None] * np.exp(_log_shares(plan, rng))
    density /= (1 + (density / FULLEST) ** 4) ** 0.25  # small ones stay, large ones bend
    cells = _beds(plan, rng)
    cells |= _census(density, cells, rng)
    cells |= _admissions(density, plan, rng)
    for name in COUNTS + CASES:
        cells[name][(cells[name] > 0) & (cells[name] < 10 * SUPPRESSED_BELOW)] = SUPPRESSED
    _lose(cells, plan, rng)
    _raise_cases(cells, plan)
    for name in COUNTS + CASES:  # the silent one
        cells[name][:, -2] = 0
    cells[ADULT_SUSPECTED][SILENT_EVERY - 1 :: SILENT_EVERY, -2][:SILENT_MOST] = SUPPRESSED
    for name in COUNTS:  # the bedless one
        cells[name][:, -1] = 0
    for name in BEDS:
        cells[name][:, -1] = rng.choice([0, EMPTY, NOT_AVAILABLE], weeks)
    return cells


def epidemic(weeks: int, rng: np.random.Generator) -> Floats:
    """Density of a group, (weeks,): a sum of waves, each exponential up and down."""
    later = np.arange(WAVES[-1, 0] + RIPPLE_EVERY, weeks + RIPPLE_EVERY, RIPPLE_EVERY)
    waves = np.array([*WAVES, *((peak, *RIPPLE) for peak in later)])
    peak = waves[:, 0] + WAVE_SHIFT * rng.standard_normal(len(waves))
    height = waves[:, 1] * np.exp(WAVE_SPREAD * rng.standard_normal(len(waves)))
    after = np.arange(weeks)[:, None] - peak
    shape = 2 * np.exp(-np.logaddexp(-after / waves[:, 2], after / waves[:, 3]))
    return np.asarray(BASELINE + shape @ height)


def _log_shares(plan: _Plan, rng: np.random.Generator) -> Floats:
    """Permanent effects plus a stationary AR(1) each."""
    weeks, number = plan.reported.shape
    spread = np.minimum(DRIFT_SPREAD * (plan.beds / 100) ** DRIFT_POWER, DRIFT_MOST)
    unit = np.sqrt(DRIFT_TAIL / (DRIFT_TAIL - 2))  # sd of Student's t
    drift = spread * rng.standard_t(DRIFT_TAIL, (weeks, number)) / unit
    drift[1:] *= np.sqrt(1 - DRIFT_PERSISTENCE**2)
    for week in range(1, weeks):
        drift[week] += DRIFT_PERSISTENCE * drift[week - 1]
    tail = PERMANENT_TAIL * (1 - rng.standard_exponential(number))
    return np.asarray(drift + PERMANENT_SPREAD * rng.standard_normal(number) + tail)


def _beds(plan: _Plan, rng: np.random.Generator) -> Cells:
    """Beds in tenths: constant between steps, and for half of the hospitals counted daily."""
    shape = plan.reported.shape
    since = np.where(rng.random(shape) < BEDS_STEP, np.arange(shape[0])[:, None], 0)
    levels = BEDS_STEP_SPREAD * rng.standard_normal(shape)
    levels = np.take_along_axis(levels, np.maximum.accumulate(since), axis=0)
    daily = rng.integers(0, 2, shape[1])
    beds = plan.beds * np.exp(levels + BEDS_JITTER * daily * rng.standard_normal(shape))
    beds = np.where(daily, np.rint(10 * beds), 10 * np.rint(beds))
    adult = np.maximum(beds, 10 * SUPPRESSED_BELOW).astype(np.int64)
    child = 10 * np.rint(plan.child_beds).astype(np.int64)
    return {ADULT_BEDS: adult, ALL_BEDS: adult + child}


def _census(density: Floats, cells: Cells, rng: np.random.Generator) -> Cells:
    """Patients in tenths, averages of seven daily counts; never more than beds."""

    def week_sum(share: Floats, beds: Ints) -> Ints:
        draws = SCATTER_BEDS * np.maximum(beds, 1)
        return rng.binomial(7 * beds, rng.beta(share * draws, (1 - share) * draws))

    beds, child_beds = cells[ADULT_BEDS] // 10, (cells[ALL_BEDS] - cells[ADULT_BEDS]) // 10
    kept = density * beds >= rng.lognormal(np.log(TRANSFER_BELOW), TRANSFER_SPREAD, beds.shape[1])
    confirmed = kept * week_sum(density, beds)
    habit = SUSPECTED_SHARE * rng.standard_exponential(beds.shape[1])
    adults = confirmed + kept * rng.binomial(7 * beds - confirmed, np.minimum(habit * density, 1))
    children = week_sum(CHILD_SHARE * density, child_beds)
    sums = np.stack([adults + children, adults, children, confirmed])  # as in COUNTS
    return dict(zip(COUNTS, np.rint(10 * sums / 7).astype(np.int64), strict=True))


def _admissions(density: Floats, plan: _Plan, rng: np.random.Generator) -> Cells:
    """Suspected admissions in tenths; the smallest hospitals are given enough of them."""
    habit = CASES_RATE * np.exp(CASES_SPREAD * rng.standard_normal(len(plan.beds)))
    rate = np.minimum(habit, CASES_MOST) * plan.beds * np.sqrt(density / 0.1)
    expected = (rate * plan.reported).sum(axis=0)
    rate *= np.maximum(1, CASES_AIM * plan.least_cases / expected)
    adult = rng.poisson(rate * rng.standard_exponential(rate.shape))
    child = rng.poisson(rate * plan.child_beds / plan.beds)
    return {ADULT_SUSPECTED: 10 * adult, CHILD_SUSPECTED: 10 * child}


def _lose(cells: Cells, plan: _Plan, rng: np.random.Generator) -> None:
    """Make cells missing, but none of a last row that keeps its hospital from being dropped."""
    weeks, number = plan.reported.shape
    after = np.arange(weeks)[:, None] - rng.integers(0, weeks, number)
    outage = (after >= 0) & (after < OUTAGE_WEEKS) & (rng.random(number) < OUTAGE_SHARE)
    outage &= weeks >= LEAST_CASES_WEEKS
    last = weeks - 1 - plan.reported[::-1].argmax(axis=0)
    for name in NUMBERS:
        share = COUNT_MISSING if name in COUNTS + CASES else BEDS_MISSING
        lost = outage | (rng.random(outage.shape) < share)
        lost[last, np.arange(number)] &= name in COUNTS
        cells[name][lost] = rng.choice([EMPTY, NOT_AVAILABLE], int(lost.sum()))


def _raise_cases(cells: Cells, plan: _Plan) -> None:
    """Raise the weekly sums of each hospital that chance left with too few suspected cases."""
    total = np.zeros(len(plan.beds))
    for name in CASES:
        hidden = SUPPRESSED_COUNTS_AS * (cells[name] == SUPPRESSED)
        total += (plan.reported * (hidden + np.maximum(cells[name], 0) / 10)).sum(axis=0)
    adult = cells[ADULT_SUSPECTED]
    there = plan.reported & (adult >= SUPPRESSED)
    floor = np.ceil(plan.least_cases / there.sum(axis=0)).clip(SUPPRESSED_BELOW)
    raised = np.maximum(adult, 10 * floor.astype(np.int64))
    cells[ADULT_SUSPECTED] = np.where(there & (total < plan.least_cases), raised, adult)
