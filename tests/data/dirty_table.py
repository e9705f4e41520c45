"""A table of six states and 67 weeks in the HHS columns, with a known number of each kind of dirt.

Four states are played, in three streams. The dirt is put into cells that are far enough apart for
each missing one to be carried from the week before it.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

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

# What is written into a cell of a column, by the rule that counts it.
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


@dataclass
class DirtyTable:
    """The table, and what was put into it."""

    rows: dict[tuple[str, str, int], Row] = field(default_factory=dict)  # state, hospital, week
    before: list[Row] = field(default_factory=list)
    after: list[Row] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {s: Counter() for s in STREAMS})
    dropped: dict[str, dict[str, str]] = field(default_factory=lambda: {s: {} for s in STREAMS})
    outside: int = 0

    def frame(self, rng: np.random.Generator) -> pd.DataFrame:
        """All rows; rows that a later one corrects come first, repeated ones last."""
        middle = list(self.rows.values())
        shuffled = [middle[i] for i in rng.permutation(len(middle))]
        return pd.DataFrame([*self.before, *shuffled, *self.after], dtype=str)


def make_dirty_table(seed: int) -> tuple[pd.DataFrame, DirtyTable]:
    """The table as text, and what it should be counted as."""
    rng = np.random.default_rng(seed)
    dirty = DirtyTable()
    regular = {
        state: [_add(dirty, rng, state, f"{state}{i:04}", range(WEEKS)) for i in range(number)]
        for state, number in HOSPITALS.items()
    }
    for stream, (state, *_) in STREAMS.items():
        _drop(dirty, rng, stream, state)
    for state, other, week in MOVES:
        name = f"{state}-moves"
        _add(dirty, rng, state, name, range(week))
        _add(dirty, rng, other, name, range(week, WEEKS))
    for state in ("NM", "PA", "NV"):
        _add(dirty, rng, state, f"{state}-late", range(ABSENT_BEFORE, WEEKS))
        _add(dirty, rng, state, f"{state}-closed", range(ABSENT_FROM))
    for state, week in MISSING_WEEK.items():
        _lose(dirty, state, week, keep=())
    _lose(dirty, "PA", SPARSE_WEEK, keep=regular["PA"][:1])
    _count_absences(dirty)
    for stream, states in STREAMS.items():
        own = [(state, name) for state in states for name in regular[state]]
        _rename(dirty, stream, own)
        _soil(dirty, rng, stream, own)
    _soil_elsewhere(dirty, rng)
    return dirty.frame(rng), dirty


def _add(
    dirty: DirtyTable, rng: np.random.Generator, state: str, hospital: str, weeks: Iterable[int]
) -> str:
    """A hospital of 50 to 200 beds, a tenth of them taken, and 6 suspected cases a week."""
    beds = int(rng.integers(50, 200))
    name = NAMES[sum(hospital.encode()) % len(NAMES)]
    for week in weeks:
        dirty.rows[state, hospital, week] = {
            "hospital_pk": hospital,
            "collection_week": STARTS[week] + ("T00:00:00.000" if week % 2 else ""),
            "state": state,
            "hospital_name": name,
            ALL_COVID: f"{rng.integers(1, beds // 5)}.{week % 10}",
            ALL_BEDS: str(beds),
            ADULT_SUSPECTED: "5",
            CHILD_SUSPECTED: "1.0",
        }
    return hospital


def _drop(dirty: DirtyTable, rng: np.random.Generator, stream: str, state: str) -> None:
    """One hospital without cases, and one without beds, whose other dirt is not counted."""
    few = _add(dirty, rng, state, f"{state}-few", range(WEEKS))
    bedless = _add(dirty, rng, state, f"{state}-bedless", range(WEEKS))
    for week in range(WEEKS):
        dirty.rows[state, few, week] |= {ADULT_SUSPECTED: "0", CHILD_SUSPECTED: "0"}
        dirty.rows[state, bedless, week][ALL_BEDS] = ("0", "NA", "-2.0", "-999999")[week % 4]
    dirty.dropped[stream] = {
        few: "0 cases in all, fewer than 100",
        bedless: "never reports a capacity above 0",
    }


def _lose(dirty: DirtyTable, state: str, week: int, keep: Iterable[str]) -> None:
    """Take the rows of a state in a week out; hospitals that are dropped may keep theirs."""
    for key in [key for key in dirty.rows if key[0] == state and key[2] == week]:
        if key[1] not in keep and key[1] not in dirty.dropped.get(state, {}):
            del dirty.rows[key]


def _count_absences(dirty: DirtyTable) -> None:
    """Plainly, hospital by hospital: which weeks of its stream it lacks, and what fills them."""
    for stream, states in STREAMS.items():
        counts, dropped = dirty.counts[stream], dirty.dropped[stream]
        own = {key for key in dirty.rows if key[0] in states and key[1] not in dropped}
        weeks = sorted({week for *_, week in own})
        for hospital in {name for _, name, _ in own}:
            present = {week for _, name, week in own if name == hospital}
            for week in set(weeks) - present:
                last = max((it for it in present if it < week), default=None)
                recent = last is not None and week - last <= MAX_CARRY
                counts["absent_rows"] += 1
                counts["carried_counts" if recent else "zero_counts"] += 1
                counts["backfilled_capacities" if last is None else "carried_capacities"] += 1
        moved = {name for _, name, _ in own if name.endswith("-moves")}
        counts["moved_entities"] = len(moved)


def _rename(dirty: DirtyTable, stream: str, own: list[tuple[str, str]]) -> None:
    """Some hospitals get another name half-way."""
    for state, hospital in own[: FEWEST[stream]]:
        dirty.counts[stream]["renamed_entities"] += 1
        for week in range(WEEKS // 2, WEEKS):
            if (row := dirty.rows.get((state, hospital, week))) is not None:
                row["hospital_name"] = f"New {row['hospital_name']}"


def _soil(
    dirty: DirtyTable, rng: np.random.Generator, stream: str, own: list[tuple[str, str]]
) -> None:
    """Put each kind of dirt into cells of regular hospitals, at least three weeks apart."""
    closed = {SPARSE_WEEK, *MISSING_WEEK.values()}
    free = [
        dirty.rows[state, hospital, week]
        for state, hospital in own
        for week in range(3, WEEKS, 3)
        if not closed & {week - 1, week, week + 1}
    ]
    places = iter([free[i] for i in rng.permutation(len(free))])
    counts = dirty.counts[stream]
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
        again = {**row, ALL_BEDS: f" {row[ALL_BEDS]}.00"} if i % 2 else dict(row)
        dirty.after.append(again)
        counts["exact_duplicates"] += 1
    for i in range(FEWEST[stream] + 2):
        row = next(places)
        column = (ALL_COVID, ALL_BEDS, CHILD_SUSPECTED)[i % 3]
        dirty.before.append({**row, column: "7.7"})
        counts["conflicting_duplicates"] += 1


def _soil_elsewhere(dirty: DirtyTable, rng: np.random.Generator) -> None:
    """Mistakes in states that are not chosen, and before the first period of the config."""
    bad: list[Row] = [
        {"collection_week": "2023-09-04Tgarbage"},
        {"collection_week": "9999-12-31"},
        {"collection_week": "２０２１-02-05"},
        {"collection_week": ""},
        {"hospital_pk": ""},
        {ALL_COVID: "16,8"},
        {ALL_BEDS: "many"},
    ]
    others = [row for key, row in dirty.rows.items() if key[0] in OTHER_STATES]
    for row, change in zip([others[i] for i in rng.permutation(len(others))], bad, strict=False):
        row |= change
    early = [
        {**row, "collection_week": "2020-08-07", ALL_COVID: "n/a"}
        for key, row in dirty.rows.items()
        if key[0] == "NM" and key[2] == 5
    ]
    dirty.before += early
    dirty.outside = len(others) + len(early)
