"""Three tests of what the numbers of a table mean.

A table may be read without a fault and still mean something else. Each test looks at a stream's
rows as they were read, before anything is cut or filled, and yields its evidence and the key that
settles it. What they find stops a run before it plays.

>>> parts = np.array([[2.0, 3], [4, 4], [7, 2], [1, 6], [1, 3], [5, 5]])
>>> whole = np.column_stack([parts, parts.sum(axis=1)])
>>> find_total(whole, whole, unit=1.0)
(2, 6, 6, 2)
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain

import numpy as np
import pandas as pd

from dpol.core.errors import DataError, Key, Text, in_lines, keyed
from dpol.core.randomness import Floats
from dpol.core.words import listed, one_line
from dpol.data.panel import HIDDEN
from dpol.data.settings import CheckName, Dataset, lacks_weekday
from dpol.data.tidy import told

NEARLY_ALL, LEAST_PERIODS = 0.95, 6
"""A total equals the sum of the others in this share of the periods, of which there are so many."""
FALLS, RISES, LONG = 0.02, 0.3, 12
"""Totals to date fall in at most the first share of their steps, rise in at least the second, and
have at least so many periods."""
UNPLACED, BLURRED = 0.01, 0.05  # shares of a total, and of a region, that nobody could place
ENOUGH = 1_000  # groups of rows that tell whether one of each is a total
SOME = 0.1
"""Counts have decimals if more than this share does."""


def refuse_other_meanings(
    file: str, label: str, rows: pd.DataFrame, read: pd.DataFrame, dataset: Dataset, *, moved: bool
) -> None:
    """Refuse a stream whose numbers may mean something else than they seem to.

    Args:
        file: path of the table.
        label: label of the stream.
        rows: its rows, at most one for each entity and period.
        read: the rows that `cleaning.several_rows` made into these.
        dataset: how the table is read.
        moved: whether it is said how far one person changes one count.

    Raises:
        DataError: a test finds something that `cleaning.checked` does not settle; the text has the
            evidence of all tests.
    """
    found: list[Text] = []
    of_rows = totals(rows, dataset), cumulative(rows, dataset), rates(rows, dataset, moved=moved)
    for name, text in chain(*of_rows, added_totals(read, dataset)):
        if name not in dataset.cleaning.checked:
            checked = json.dumps([*dataset.cleaning.checked, name])
            fine = Key(("dataset", "cleaning", "checked"), checked)
            found += [("  ", text), ("    if it is as it should be, ", fine)]
    if found:
        start = f"{file}: the numbers of stream {label} may mean something else:"
        raise DataError(in_lines([start, *found]))


def totals(rows: pd.DataFrame, dataset: Dataset) -> Iterator[tuple[CheckName, Text]]:
    """Yield which entities are the sum of all others."""
    of, rules = dataset.needed_columns.entity, dataset.cleaning
    least, most, unit = _bounds(rows.set_index(["period", "entity"]))
    verb = "is" if unit == 1 and not rows[HIDDEN].any(axis=None) else "can be"
    evidence = dict[str, str]()
    while total := find_total(least.to_numpy(), most.to_numpy(), unit):
        place, holds, periods, times = total
        name = str(least.columns[place])
        if not isinstance(rules.entities, list) or name in rules.entities:
            others = "all others" if times == 2 else "parts whose totals are there too,"
            what = f"{one_line(name)} {verb} the total of {others}"
            evidence[name] = f"{what} in {holds} of {periods} periods"
        least, most = least.drop(columns=name), most.drop(columns=name)
    if evidence:
        out = rules.drop_where | {of: [*rules.drop_where.get(of, ()), *evidence]}
        drop = Key(("dataset", "cleaning", "drop_where"), json.dumps(out, ensure_ascii=False))
        remedy = f" (within {UNPLACED:.0%}). Leave out such a total, which is no {of}: "
        yield "totals", (listed(evidence.values()), remedy, drop)


def added_totals(read: pd.DataFrame, dataset: Dataset) -> Iterator[tuple[CheckName, Text]]:
    """Yield that of several rows which are added, one is the sum of the others."""
    if dataset.rules.several_rows != "sum":
        return
    ordered = read.sort_values("count", ascending=False)
    groups = ordered.groupby(["entity", "moment"])
    number, some = groups.ngroup(), groups.ngroups // ENOUGH + 1
    sample = ordered.set_index([number, groups.cumcount()])[(number % some == 0).to_numpy()]
    least, most, unit = _bounds(sample)
    if total := find_total(least.to_numpy(), most.to_numpy(), unit):
        text = f"in {total[1]} of {total[2]} cases one of the rows that are added is the total of"
        text += f" the others, such as row {sample['row'].iloc[0]}. Leave out such totals with "
        yield "totals", (text, Key(("dataset", "cleaning", "drop_where")))


def _bounds(counts: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame, float]:
    """Return the least and the largest counts by both levels of the index, and their `_unit`.

    A hidden count lies between 0 and the smallest number that was published.
    """
    hides, count = counts[HIDDEN].any(axis=1), counts["count"]
    published, hidden = count[~hides].dropna(), count[hides]
    small = published[published > hidden.max()].min() if len(hidden) else 0.0
    return count.mask(hides, 0.0).unstack(), count.mask(hides, small).unstack(), _unit(published)


def find_total(least: Floats, most: Floats, unit: float) -> tuple[int, int, int, int] | None:
    """Return the place of the largest column if it is the sum of the others, or else None.

    The sum of all columns over a total is a whole number: 2, or 3 for a nation beside its regions
    and its towns (two of each at least), and so on. It is one less without a region that stands
    alone beside a nation and its towns. What nobody could place is missing in the parts. Where
    small numbers are hidden, the least and the largest sum enclose the total, which must not be far
    apart. If they do not, the same is tried for the periods in which each column has a published
    number.

    Args:
        least: (periods, names) the smallest values that the cells may have; NaN where there is
            none.
        most: (periods, names) the largest ones, equal to `least` where a number is published.
        unit: what the numbers are rounded to, such as 0.1 or 5; 1 for exact counts.

    Returns:
        The place, the number of periods in which it is the sum, that of all periods in which it and
        at least two others, or the only other, have numbers above 0, and the whole number.
    """
    number = least.shape[1]
    largest = int(np.nansum(least, axis=0).argmax())
    published = (least == most).all(axis=1)
    total = np.where(least == most, least, np.nan)[:, [largest]]
    use = (total[:, 0] > 0) & ((np.nan_to_num(most) > 0).sum(axis=1) > min(2, number - 1))
    if use.sum() < LEAST_PERIODS:
        return None
    lows, highs, total = np.nan_to_num(least[use]), np.nan_to_num(most[use]), total[use]
    regions = np.arange(number) != largest
    # A column has the sum of all columns but this region; that of the largest has the sum of all.
    low, high = (it.sum(axis=1, keepdims=True) - it * regions for it in (lows, highs))
    times = np.rint(np.median((low + high) / 2 / total, axis=0))
    unplaced = UNPLACED * (times - 1) * total
    unplaced = np.where(regions, np.minimum(unplaced, BLURRED * lows), unplaced)
    apart = np.maximum(np.maximum(low - times * total, times * total - high) - unplaced, 0.0)
    # A whole number is within half of one; of other units, those of all columns add up.
    rounding = unit * 0.8 * np.sqrt(number) if unit != 1 else 0.5
    inside = apart <= rounding + 1e-9 * total
    nested = (times >= 2) & (times <= np.where(regions, number / 2, max(2, (number + 1) / 2)))
    narrow = np.median(high - low, axis=0) + 2 * rounding <= np.median(total) / 2
    varies = len(np.unique(lows, axis=0)) >= LEAST_PERIODS
    # A place that only happens to be about as large lies anywhere within the rounding.
    share = inside.mean(axis=0)
    close = (unit == 1) | (np.mean(apart**2 * inside, axis=0) <= share * (rounding / 2) ** 2)
    found = nested & narrow & varies & close & (share >= NEARLY_ALL)
    place = largest if found[largest] else int(found.argmax())
    if found[place]:
        return largest, int(inside[:, place].sum()), len(inside), int(times[place] + regions[place])
    return None if published.all() else find_total(least[published], most[published], unit)


def cumulative(rows: pd.DataFrame, dataset: Dataset) -> Iterator[tuple[CheckName, Text]]:
    """Yield that counts hardly ever fall within a year, as totals to date do."""
    of, form = dataset.needed_columns, dataset.periods.format or "ISO8601"
    known = rows[~rows[HIDDEN].any(axis=1) & rows["count"].notna()]
    ordered = known.sort_values(["entity", "period"])
    steps = ordered.groupby(["entity", ordered["period"].dt.year])["count"].diff().dropna()
    falls, rises = int((steps < 0).sum()), int((steps > 0).sum())
    seldom = falls <= FALLS * len(steps) and rises >= RISES * len(steps)
    if len(steps) and seldom and known["period"].nunique() >= LONG:
        names = {"place": of.entity, "week": of.period, "count": of.count, "form": form}
        if lacks_weekday(form):
            names |= {"day": 'day + " 1"', "form": f"{form} %u"}
        yield (
            "cumulative",
            f"counts rise in {rises:,} and fall in {falls:,} of {len(steps):,} steps, as totals to"
            " date do." + told("steps", **names),
        )


def rates(rows: pd.DataFrame, dataset: Dataset, *, moved: bool) -> Iterator[tuple[CheckName, Text]]:
    """Yield that numbers may be cut at signs between thousands, shares already, or rates."""
    of = dataset.needed_columns
    counts = rows.loc[~rows[HIDDEN].any(axis=1), "count"].dropna()
    capacities = rows["capacity"].dropna() * of.capacity_per
    for name, numbers in ((of.count, counts), (of.capacity, capacities)):
        if name and _unit(numbers) == 0.001:
            text = f"{name} has three decimals; if their sign stands between thousands, set "
            sign = json.dumps(dataset.read.decimal)
            yield "rates", (text, Key(("dataset", "read", "thousands"), sign))
    broken = counts[(counts - counts.round()).abs() > 1e-9]
    if len(broken) <= SOME * len(counts):
        return
    some = f"{len(broken):,} of {len(counts):,} counts have decimals ({broken.iloc[0]:g}), and"
    if of.capacity and counts.max() <= 1:
        line = f'table["{of.count}"] *= table["{of.capacity}"]'
        yield "rates", f"{some} none is above 1: if they are shares already, make counts: {line}"
    if not of.capacity and not moved:
        text = f"{some} there is no capacity: they may be percentages or rates. Say how far one"
        text += " person moves one of them: {privacy.count_sensitivity}; or, if these signs stand"
        text += " between thousands, set {dataset.read.thousands}"
        yield "rates", keyed(text)


def _unit(numbers: pd.Series[float]) -> float:
    """Return what all numbers are rounded to: a whole number such as 5, or 0.1, to 10^-6."""
    values = numbers.to_numpy()
    fits = (k for k in range(6) if np.allclose(values, values.round(k), rtol=0, atol=1e-9))
    digits = next(fits, 6)
    return 10.0**-digits if digits else float(max(np.gcd.reduce(values.astype(int)), 1))
