"""A table of six states and 67 weeks in the HHS columns, with a known number of each kind of dirt.

Four states are played, in three streams. The dirt is put into cells that are far enough apart for
each missing one to be carried from the week before it.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable

import numpy as np
import pandas as pd

from dpol.data.simulator import (
    ADULT_SUSPECTED,
    ALL_BEDS,
    ALL_COVID,
    CHILD_SUSPECTED,
    week_starts,
)

WEEKS = 67
FIRST = datetime.date(2020, 8, 14)
STARTS = week_starts(WEEKS, FIRST)  # Fridays, then Sundays
STREAMS = {"NM": ["NM"], "PA": ["PA"], "west": ["CA", "NV"]}
HOSPITALS = {"NM": 7, "PA": 24, "CA": 10, "NV": 8, "UT": 5, "AZ": 5}
OTHER_STATES = ("UT", "AZ")
ELSEWHERE = (  # mistakes in states that are not chosen
    {"collection_week": "2023-09-04Tgarbage"},
    {"collection_week": "9999-12-31"},
    {"collection_week": "２０２１-02-05"},
    {"collection_week": ""},
    {"hospital_pk": ""},
    {ALL_COVID: "16,8"},
    {ALL_BEDS: "many"},
)
MAX_CARRY = 4
MISSING_WEEK = {"NM": 31, "CA": 21}  # a week in which a whole state has no row
SPARSE_WEEK = 11  # in PA, with one row
MOVES = (("NM", "PA", 40), ("CA", "NV", 30))  # a hospital moves in that week
ABSENT_BEFORE, ABSENT_FROM = 10, 50  # a late joiner and a closed hospital of each stream
IDLE_WEEKS = {"NM": 3, "PA": 18, "west": 5}  # in which a hospital has patients and no beds
NAMES = (
    'St. Mary, "Old" House',
    "A | B",
    "<img src=x onerror=alert(1)>",
    "=cmd|'/C calc'!A0",
    "[free](https://evil.example)",
    "Hôpital Ñ",
    "-",
)

Row = dict[str, str]


def texts(column: str, *cells: str, **others: str) -> list[Row]:
    """Return the cells of a kind of dirt, each with the same cells in other columns."""
    return [{**others, column: cell} for cell in cells]


def hidden(average: str, *told: tuple[str, str], **others: str) -> list[Row]:
    """Return cells of hidden averages, each with a sum and a number of days reported."""
    return [
        {**others, average: HIDDEN[i % 2], sum_of(average): total, days_of(average): days}
        for i, (total, days) in enumerate(told)
    ]


def sum_of(average: str) -> str:
    return average.replace("_avg", "_sum")


def days_of(average: str) -> str:
    return average.replace("_avg", "_coverage")


HIDDEN = ("-999999", "-999999.0")
NO_PATIENTS = {ALL_COVID: "0.0"}  # hospitals without beds have none, and small ones are not full
# What is written into a row, by the cleaning rule that counts it.
DIRT = {
    "missing_counts": texts(ALL_COVID, "", "NA", "NaN", "null"),
    "negative_counts": texts(ALL_COVID, "-2.0", "-3", "-0.5"),
    "hidden_sum_counts": hidden(ALL_COVID, (HIDDEN[0], "7"), (HIDDEN[1], "1"), ("", "6")),
    "missing_capacities": texts(ALL_BEDS, "NA", "", " "),
    "negative_capacities": texts(ALL_BEDS, "-2.0", "-1.3", "-0.1", "-2.6", **NO_PATIENTS),
    "hidden_sum_capacities": hidden(ALL_BEDS, (HIDDEN[0], "7"), (HIDDEN[1], "1"), ("NA", "6")),
    "zero_capacities": texts(ALL_BEDS, "0", "0.0", **NO_PATIENTS),
    "clipped_densities": texts(ALL_COVID, "999.9"),
    "suppressed_cases": texts(ADULT_SUSPECTED, *HIDDEN),
    "missing_cases": texts(CHILD_SUSPECTED, "", "NA"),
    "negative_cases": texts(ADULT_SUSPECTED, "-1", "-2.0"),
}
# More kinds, of hidden averages beside other sums and numbers of days.
TOLD = {
    "summed_counts": hidden(ALL_COVID, ("20", "7"), ("4", "7.0"), ("5", "2")),
    "uncovered_counts": hidden(ALL_COVID, ("20", ""), ("20", "0"), (HIDDEN[0], "8"), ("", "NA")),
    "summed_capacities": hidden(ALL_BEDS, ("27", "7"), ("11", "3.0"), **NO_PATIENTS),
    "uncovered_capacities": hidden(ALL_BEDS, ("27", "0"), (HIDDEN[0], "NA"), ("27", "70")),
}
FEWEST = {"NM": 2, "PA": 5, "west": 3}  # of each kind; the number grows from kind to kind
CLIPPED = {"NM": 4, "PA": 9, "west": 7}  # below 1% of the cells

Hospital = tuple[str, str]
"""State and identifier."""


class DirtyTable:
    """Rows of hospitals by state, identifier and week, with a count of the dirt in them."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.rows: dict[tuple[str, str, int], Row] = {}
        self.before: list[Row] = []  # rows that a later one corrects
        self.after: list[Row] = []  # repeated rows
        self.counts = {label: Counter[str]() for label in STREAMS}
        self.dropped: dict[str, dict[str, str]] = {}
        regular = {
            state: [self._add(state, f"{state}{i:04}") for i in range(number)]
            for state, number in HOSPITALS.items()
        }
        for stream, (state, *_) in STREAMS.items():
            self._drop(stream, state)
        for state, other, week in MOVES:
            self._add(state, f"{state}-moves", range(week))
            self._add(other, f"{state}-moves", range(week, WEEKS))
        for state in ("NM", "PA", "NV"):
            self._add(state, f"{state}-late", range(ABSENT_BEFORE, WEEKS))
            self._add(state, f"{state}-closed", range(ABSENT_FROM))
        for state, week in MISSING_WEEK.items():
            self._lose(state, week)
        self._lose("PA", SPARSE_WEEK, keep=regular["PA"][0][1])
        for stream, states in STREAMS.items():
            own = [hospital for state in states for hospital in regular[state]]
            self._count_absences(stream)
            self._rename(stream, own)
            self._soil(stream, own)
        self.outside = self._soil_elsewhere()

    def frame(self) -> pd.DataFrame:
        """Return all rows as text: corrected rows first, repeated ones last."""
        middle = self._shuffled(self.rows.values())
        return pd.DataFrame([*self.before, *middle, *self.after], dtype=str)

    def _shuffled(self, rows: Iterable[Row]) -> list[Row]:
        rows = list(rows)
        return [rows[i] for i in self.rng.permutation(len(rows))]

    def _add(self, state: str, name: str, weeks: Iterable[int] = range(WEEKS)) -> Hospital:
        """Add a hospital: 50 to 200 beds, a tenth of them taken, 6 suspected cases a week.

        Each week it reports on 5 to 7 days, with at least 4 patients a day.
        """
        beds = int(self.rng.integers(50, 200))
        for week in weeks:
            days = 7 - week % 3
            patients = int(self.rng.integers(4 * days, days * beds // 5))
            self.rows[state, name, week] = {
                "hospital_pk": name,
                "collection_week": STARTS[week] + ("T00:00:00.000" if week % 2 else ""),
                "state": state,
                "hospital_name": NAMES[sum(name.encode()) % len(NAMES)],
                ALL_COVID: f"{patients / days:.1f}",
                sum_of(ALL_COVID): str(patients),
                days_of(ALL_COVID): str(days),
                ALL_BEDS: str(beds),
                sum_of(ALL_BEDS): f"{7 * beds}.0",
                days_of(ALL_BEDS): "7",
                ADULT_SUSPECTED: "5",
                CHILD_SUSPECTED: "1.0",
            }
        return state, name

    def _drop(self, stream: str, state: str) -> None:
        """Add hospitals that do not play; their other dirt is not counted.

        One has no cases, one never any beds, and one some weeks with patients and no beds.
        """
        few, bedless, idle = (
            self._add(state, f"{state}-{why}") for why in ("few", "bedless", "idle")
        )
        for i in range(IDLE_WEEKS[stream]):
            self.rows[*idle, 2 * i][ALL_BEDS] = ("0", "0.0", "-1.5")[i % 3]
        for week in range(WEEKS):
            self.rows[*few, week] |= {ADULT_SUSPECTED: "0", CHILD_SUSPECTED: "0"}
            beds = ("0", "NA", "-2.0", HIDDEN[0])[week % 4]
            self.rows[*bedless, week] |= {ALL_BEDS: beds, sum_of(ALL_BEDS): HIDDEN[0]}
        self.dropped[stream] = {
            few[1]: "0 cases in all, fewer than 100",
            bedless[1]: "never reports a capacity above 0",
            idle[1]: "a count above 0 beside a capacity of 0 or less in"
            f" {IDLE_WEEKS[stream]} periods",
        }

    def _lose(self, state: str, week: int, keep: str = "") -> None:
        """Remove the rows of a state in a week; dropped hospitals may keep theirs."""
        kept = {keep, *self.dropped.get(state, {})}
        for key in [row for row in self.rows if row[0] == state and row[2] == week]:
            if key[1] not in kept:
                del self.rows[key]

    def _count_absences(self, stream: str) -> None:
        """Count, hospital by hospital, the missing weeks and what fills them."""
        counts, weeks_of = self.counts[stream], dict[str, set[int]]()
        for state, name, week in self.rows:
            if state in STREAMS[stream] and name not in self.dropped[stream]:
                weeks_of.setdefault(name, set()).add(week)
        weeks = set().union(*weeks_of.values())
        for present in weeks_of.values():
            for week in weeks - present:
                last = max((earlier for earlier in present if earlier < week), default=None)
                recent = last is not None and week - last <= MAX_CARRY
                counts["absent_rows"] += 1
                counts["carried_counts" if recent else "zero_counts"] += 1
                counts["backfilled_capacities" if last is None else "carried_capacities"] += 1
        counts["moved_entities"] = sum(name.endswith("-moves") for name in weeks_of)

    def _rename(self, stream: str, own: list[Hospital]) -> None:
        """Rename some hospitals half-way."""
        for hospital in own[: FEWEST[stream]]:
            self.counts[stream]["renamed_entities"] += 1
            for week in range(WEEKS // 2, WEEKS):
                if row := self.rows.get((*hospital, week)):
                    row["hospital_name"] = f"New {row['hospital_name']}"

    def _soil(self, stream: str, own: list[Hospital]) -> None:
        """Put each kind of dirt into cells of regular hospitals, at least three weeks apart."""
        closed, counts = {SPARSE_WEEK, *MISSING_WEEK.values()}, self.counts[stream]
        weeks = [week for week in range(3, WEEKS, 3) if not closed & {week - 1, week, week + 1}]
        places = iter(
            self._shuffled(self.rows[*hospital, week] for hospital in own for week in weeks)
        )
        for kind, (rule, cells) in (*enumerate(DIRT.items()), *enumerate(TOLD.items())):
            number = CLIPPED[stream] if rule == "clipped_densities" else FEWEST[stream] + kind
            for i in range(number):
                next(places).update(cells[i % len(cells)])
            counts[rule] += number
            if rule in ("missing_counts", "negative_counts"):
                counts["carried_counts"] += number
            elif rule.endswith("_capacities") and rule != "summed_capacities":
                counts["carried_capacities"] += number
        for i in range(FEWEST[stream] + 1):
            row = next(places)
            self.after.append({**row, ALL_BEDS: f" {row[ALL_BEDS]}.00"} if i % 2 else dict(row))
            counts["merged_rows" if i % 2 else "exact_duplicates"] += 1  # written otherwise
        for i in range(FEWEST[stream] + 2):
            column = (ALL_COVID, ALL_BEDS, CHILD_SUSPECTED)[i % 3]
            self.before.append({**next(places), column: "7.7"})
            counts["merged_rows"] += 1

    def _soil_elsewhere(self) -> int:
        """Return rows with mistakes in other states, and before the first period of the config."""
        others = self._shuffled(row for key, row in self.rows.items() if key[0] in OTHER_STATES)
        for row, change in zip(others, ELSEWHERE, strict=False):
            row |= change
        early = [row for key, row in self.rows.items() if key[0] == "NM" and key[2] == 5]
        self.before += [{**row, "collection_week": "2020-08-07", ALL_COVID: "n/a"} for row in early]
        return len(others) + len(early)
