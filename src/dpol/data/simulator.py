"""Simulated hospitals, in the columns of the HHS table and with the errors that cleaning handles.

Each group (state) has a wave of patients twice a year. Each hospital's share of it drifts, so the
fullest hospital changes and can partly be predicted. The hospitals are invented, and their numbers
are not fitted to real ones.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from dpol.core.randomness import Floats, seed_sequence

if TYPE_CHECKING:
    import pandas as pd

ADULT_BEDS = "all_adult_hospital_inpatient_beds_7_day_avg"
ALL_BEDS = "inpatient_beds_7_day_avg"
ALL_COVID = "inpatient_beds_used_covid_7_day_avg"
ADULT_CONFIRMED = "total_adult_patients_hospitalized_confirmed_covid_7_day_avg"
ADULT_SUSPECTED = "previous_day_admission_adult_covid_suspected_7_day_sum"
CHILD_SUSPECTED = "previous_day_admission_pediatric_covid_suspected_7_day_sum"
BEDS = (ALL_BEDS, ADULT_BEDS)

HIDDEN, MISSING = "-999999", ("", "NA")
HIDDEN_BELOW = 4
"""HHS hides averages and sums that are above 0 and below this."""


def simulate_hospitals(
    hospitals: Mapping[str, int], weeks: int, first_week: datetime.date, seed: int
) -> pd.DataFrame:
    """Simulate the raw table of weekly hospital reports.

    A group's numbers depend on its label, its size, `weeks` and `seed`, not on other groups.

    Args:
        hospitals: number of regular hospitals in each group, 2 or more. Each reports at least 100
            suspected cases over 52 weeks or more (a hidden number counts as 2), or 2 per week over
            fewer. Each group also gets a hospital with almost no cases and one that never reports
            a bed.
        weeks: number of weeks, 2 or more.
        first_week: start of the first week; two thirds in (from 3 weeks on), weeks start on a
            weekday two days later.
        seed: root seed.

    Returns:
        One row per hospital and week, sorted by week, state and hospital; one row appears twice.
        All cells are strings.
    """
    import pandas as pd

    switch = round(2 / 3 * weeks) if weeks > 2 else weeks
    days = (7 * week + 2 * (week >= switch) for week in range(weeks))
    starts = np.array([(first_week + datetime.timedelta(days=day)).isoformat() for day in days])
    frames = []
    for label, number in sorted(hospitals.items()):
        rng = np.random.default_rng(seed_sequence(seed, ("simulated group", label)))
        texts = _dirty(_clean(number, weeks, rng), rng)
        week, which = np.indices((weeks, number + 2)).reshape(2, -1)
        names = np.array([f"{i:0{max(3, len(str(number + 2)))}}" for i in range(1, number + 3)])
        columns = {
            "hospital_pk": [f"SIM-{label}-{name}" for name in names[which]],
            "collection_week": starts[week],
            "state": label,
            "hospital_name": [f"Simulated Hospital {label} {name}" for name in names[which]],
            **{name: cells.ravel() for name, cells in texts.items()},
        }
        frame = pd.DataFrame(columns, dtype="str")
        if weeks >= 20 and number >= 8:  # the first hospital joins late, the second closes
            absent = (which == 0) & (week < weeks // 4) | (which == 1) & (week >= 3 * weeks // 4)
            frame = frame[~absent]
        frames.append(frame)
    table = pd.concat(frames).sort_values("collection_week", kind="stable", ignore_index=True)
    rng = np.random.default_rng(seed_sequence(seed, ("simulated duplicate",)))
    rows = np.sort(np.append(np.arange(len(table)), rng.integers(len(table))))
    return table.take(rows).reset_index(drop=True)


def _clean(number: int, weeks: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Return a group's numbers, (weeks, number + 2) each, before any is hidden or lost."""
    shape = weeks, number + 2
    phase = np.arange(weeks)[:, None] / 26 + rng.random()
    wave = 0.02 + 0.08 * (1 - np.cos(2 * np.pi * phase))
    share = 0.7 * rng.standard_normal(shape)  # noise, then log shares: an AR(1)
    for week in range(1, weeks):
        share[week] = 0.9 * share[week - 1] + np.sqrt(1 - 0.9**2) * share[week]
    density = np.minimum(wave * np.exp(share - 0.7**2 / 2), 0.8)
    adult_beds = np.clip(np.rint(100 * np.exp(0.85 * rng.standard_normal(shape[1]))), 5, 1200)
    child_beds = np.rint(0.2 * adult_beds * (rng.random(shape[1]) < 0.3))
    counted = 1 + 0.02 * rng.standard_normal(shape)  # open beds / all beds
    confirmed = rng.binomial(7 * adult_beds.astype(int), density) / 7  # mean of seven daily counts
    children = rng.binomial(7 * child_beds.astype(int), density / 2) / 7
    least_cases = np.where(np.arange(weeks) % 4 == 3, 3, 6)[:, None]  # some of them hidden
    return {
        ALL_BEDS: (adult_beds + child_beds) * counted,
        ADULT_BEDS: adult_beds * counted,
        ALL_COVID: confirmed + children,
        ADULT_CONFIRMED: confirmed,
        ADULT_SUSPECTED: least_cases + rng.poisson(0.2 * density * adult_beds),
        CHILD_SUSPECTED: rng.poisson(0.2 * density * child_beds),
    }


def _dirty(numbers: Mapping[str, Floats], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the cells as text, with small numbers hidden and some cells lost.

    One cell in 97 is lost, in different weeks for each hospital, so every hospital keeps at least
    half of its cells in each column. The third hospital once sends seven empty rows, more than
    cleaning carries a count forward. The last but one has almost no cases, the last has no beds.
    """
    weeks, every = numbers[ALL_BEDS].shape
    week, which = np.indices((weeks, every))
    cells = {}
    for place, (name, values) in enumerate(numbers.items()):
        rounded = np.round(values, 1)
        text = np.char.mod("%g", rounded).astype(object)
        if name not in BEDS:
            text[(rounded > 0) & (rounded < HIDDEN_BELOW)] = HIDDEN
        lost = (7 * week + which + 11 * place) % 97 == 0
        if weeks >= 20 and every >= 10:
            lost |= (which == 2) & (week >= weeks // 2) & (week < weeks // 2 + 7)
        text[lost] = rng.choice(MISSING, int(lost.sum()))
        if name in BEDS:
            text[:, -1] = rng.choice(("0", *MISSING), weeks)
        else:
            text[:, -2] = "0"
        if name == ADULT_SUSPECTED:
            text[9:200:10, -2] = HIDDEN
        cells[name] = text
    return cells
