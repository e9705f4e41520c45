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
NAMES = (
    'St. Mary, "Old" House',
    "A | B",
    "<img src=x onerror=alert(1)>",
    "=cmd|'/C calc'!A0",
    "[free](https://evil.example)",
    "Hôpital Ñ",
    "-",
)

# The text written into a cell, by the cleaning rule that counts it and the column.
DIRT = {
    "missing_counts": (ALL_COVID, ("", "NA", "NaN", "null")),
    "negative_counts": (ALL_COVID, ("-2.0", "-3", "-0.5")),
    "suppressed_counts": (ALL_COVID, ("-999999", "-999999.0")),
    "missing_capacities": (ALL_BEDS, ("NA", "", " ")),
    "negative_capacities": (ALL_BEDS, ("-2.0", "-1.3", "-0.1", "-2.6")),
    "suppressed_capacities": (ALL_BEDS, ("-999999.0", "-999999")),
    "zero_capacities": (ALL_BEDS, ("0", "0.0")),
    "clipped_densities": (ALL_COVID, ("999.9",)),
    "suppressed_cases": (ADULT_SUSPECTED, ("-999999", "-999999.0")),
    "missing_cases": (CHILD_SUSPECTED, ("", "NA")),
    "negative_cases": (ADULT_SUSPECTED, ("-1", "-2.0")),
}
FEWEST = {"NM": 2, "PA": 5, "west": 3}  # of each kind; the number grows from kind to kind
CLIPPED = {"NM": 4, "PA": 9, "west": 7}  # below 1% of the cells

Row = dict[str, str]
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
        """Add a hospital: 50 to 200 beds, a tenth of them taken, 6 suspected cases a week."""
        beds = int(self.rng.integers(50, 200))
        for week in weeks:
            self.rows[state, name, week] = {
                "hospital_pk": name,
                "collection_week": STARTS[week] + ("T00:00:00.000" if week % 2 else ""),
                "state": state,
                "hospital_name": NAMES[sum(name.encode()) % len(NAMES)],
                ALL_COVID: f"{self.rng.integers(1, beds // 5)}.{week % 10}",
                ALL_BEDS: str(beds),
                ADULT_SUSPECTED: "5",
                CHILD_SUSPECTED: "1.0",
            }
        return state, name

    def _drop(self, stream: str, state: str) -> None:
        """Add a hospital without cases and one without beds; their other dirt is not counted."""
        few, bedless = self._add(state, f"{state}-few"), self._add(state, f"{state}-bedless")
        for week in range(WEEKS):
            self.rows[*few, week] |= {ADULT_SUSPECTED: "0", CHILD_SUSPECTED: "0"}
            self.rows[*bedless, week][ALL_BEDS] = ("0", "NA", "-2.0", "-999999")[week % 4]
        self.dropped[stream] = {
            few[1]: "0 cases in all, fewer than 100",
            bedless[1]: "never reports a capacity above 0",
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
        for kind, (rule, (column, texts)) in enumerate(DIRT.items()):
            number = CLIPPED[stream] if rule == "clipped_densities" else FEWEST[stream] + kind
            for i in range(number):
                next(places)[column] = texts[i % len(texts)]
            counts[rule] += number
            if rule in ("missing_counts", "negative_counts"):
                counts["carried_counts"] += number
            elif rule.endswith("_capacities"):
                counts["carried_capacities"] += number
        for i in range(FEWEST[stream] + 1):
            row = next(places)
            self.after.append({**row, ALL_BEDS: f" {row[ALL_BEDS]}.00"} if i % 2 else dict(row))
            counts["exact_duplicates"] += 1
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
