"""Periods that overlap: the days of a row's period, and what an entity spends in one of them."""

from __future__ import annotations

import datetime
import itertools
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpol.release.entries import Weighed


def intervals(rows: Iterable[Weighed]) -> list[tuple[int, int | None]]:
    """The first day of each row's period and the day after its last, as ordinals.

    A period without a stated length ends where the entity's next one in the same output begins.
    Without a next one it is open, and has None.
    """
    begun = [(row, datetime.date.fromisoformat(row.period).toordinal()) for row in rows]
    days: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for row, day in begun:
        days[row.output, row.entity].add(day)
    ordered = {key: sorted(of) for key, of in days.items()}

    def end(row: Weighed, day: int) -> int | None:
        if row.days is not None:
            return day + row.days
        later = ordered[row.output, row.entity]
        place = bisect_right(later, day)
        return later[place] if place < len(later) else None

    return [(day, end(row, day)) for row, day in begun]


def most_in_a_period(rows: Sequence[Weighed]) -> float:
    """The largest mu of one entity in one period, over all rows whose periods overlap it.

    Of a period that is open, see `intervals`, the first day is looked at.
    """
    squares = {mu: Fraction(mu) ** 2 for mu in {row.mu for row in rows}}
    entities: defaultdict[int, list[tuple[int, int | None, Fraction]]] = defaultdict(list)
    for row, (first, after) in zip(rows, intervals(rows), strict=True):
        entities[row.entity].append((first, after, squares[row.mu]))
    return math.sqrt(max(map(_most, entities.values()), default=0))


def _most(rows: list[tuple[int, int | None, Fraction]]) -> Fraction:
    begun = sorted((first, square) for first, _, square in rows)
    ended = sorted((after, square) for _, after, square in rows if after is not None)
    sums_begun, sums_ended = (
        [Fraction(0), *itertools.accumulate(square for _, square in of)] for of in (begun, ended)
    )
    return max(
        sums_begun[bisect_left(begun, (first + 1 if after is None else after,))]
        - sums_ended[bisect_left(ended, (first + 1,))]
        for first, after, _ in rows
    )
