"""Periods that overlap: the days of a row's period, and what an entity spends in one of them."""

from __future__ import annotations

import datetime
import itertools
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

from dpol_weekly.holder.entries import Weighed


def intervals(rows: Sequence[Weighed]) -> list[tuple[int, int | None]]:
    """The first day of each row's period and the day after its last, as ordinals.

    A period without a stated length ends where the entity's next one in the same output begins.
    Without a next one it is open, and has None.
    """
    ordinal = {
        period: datetime.date.fromisoformat(period).toordinal()
        for period in {row.period for row in rows}
    }
    days: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    begun = [(row, ordinal[row.period]) for row in rows]
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
    mus = {text: Fraction(text) for text in {row.mu for row in rows}}
    unit = math.lcm(*(mu.denominator for mu in mus.values()))
    squares = {text: int(mu * unit) ** 2 for text, mu in mus.items()}
    entities: defaultdict[int, list[tuple[int, int | None, int]]] = defaultdict(list)
    for row, (first, after) in zip(rows, intervals(rows), strict=True):
        entities[row.entity].append((first, after, squares[row.mu]))
    return math.sqrt(Fraction(max(map(_most, entities.values()), default=0), unit**2))


def _most(rows: list[tuple[int, int | None, int]]) -> int:
    begun = sorted((first, square) for first, _, square in rows)
    ended = sorted((after, square) for _, after, square in rows if after is not None)
    sums_begun, sums_ended = (
        [0, *itertools.accumulate(square for _, square in of)] for of in (begun, ended)
    )
    return max(
        sums_begun[bisect_left(begun, (first + 1 if after is None else after,))]
        - sums_ended[bisect_left(ended, (first + 1,))]
        for first, after, _ in rows
    )
