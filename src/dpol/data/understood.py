"""What was understood of a table: six lines that its owner confirms at a glance.

Arithmetic can only guess what a table means. The lines have a fixed meaning, say numbers and never
stop a run; `dpol.show.heat_map` draws the picture beside them. They are computed from the panel, so
they tell what plays.

>>> whole = {"a": [1.0, 5, 2, 3], "b": [2.0, 3, 3, 9], "all": [4.0, 9, 6, 13]}
>>> alike(pd.DataFrame(whole)).split("; ")[1]
'follows the others most: all (correlation 1.00, 1.14 times their sum)'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from dpol.core.words import counted, listed, one_line, shortened
from dpol.data.second_look import telling
from dpol.data.settings import Dataset
from dpol.data.tables.parse import parse_date
from dpol.data.tables.raw_table import RawTable, period_texts
from dpol.data.typed_rows import PAIR, repeats

PLACES, DATES, PAIRS = 40, 6, 3
"""Largest number of places, of periods and of pairs in a line."""
LIKE, LARGE = 0.3, 0.1
"""Smallest correlation of places that are alike, and ratio of the largest place to all others."""
_NUMBER = re.compile("^[0-9.e+]+ | in [0-9,]+ periods?$")  # of a place, in the reason
FAR = 2.0
"""A period is far from its neighbours if its total is so many times theirs, or the reverse."""
Dropped: TypeAlias = Sequence[Mapping[str, str]]
"""The entity, name and reason of each that does not play."""


def understand(
    raw: RawTable, rows: pd.DataFrame, table: pd.DataFrame, dropped: Dropped, dataset: Dataset
) -> dict[str, str]:
    """Return the text of each of `dpol.data.panel.LINES` for a stream.

    Args:
        raw: the whole table.
        rows: the stream's rows from `read_rows`.
        table: its part of the panel.
        dropped: its entities that do not play.
        dataset: how the table is read.
    """
    counts = table.pivot(index="period", columns="entity", values="count").rename(columns=one_line)
    shares = table.pivot(index="period", columns="entity", values="density")
    gains = shares.rename(columns=one_line) if dataset.needed_columns.capacity else counts
    return {
        "rows": "; ".join(_rows(raw, rows, table, dropped, dataset)),
        "dates": _dates(raw, counts.index, dataset),
        "largest": _largest(raw, rows, table, dataset),
        "fullest": _fullest(counts, gains),
        "alike": alike(counts),
        "scale": "; ".join(_scale(counts, gains)),
    }


def _rows(
    raw: RawTable, rows: pd.DataFrame, table: pd.DataFrame, dropped: Dropped, dataset: Dataset
) -> Iterator[str]:
    ours, merges = rows[rows["entity"].isin(table["entity"])], dataset.rules.merges_rows
    held = ours[ours.duplicated(PAIR, keep=False)] if merges else ours[:0]
    equal = int(repeats(ours, dataset.rules).sum())
    merged = len(ours) - equal - len(ours.drop_duplicates(PAIR))
    yield f"{len(raw.cells):,} in the file, {len(ours) - equal - merged * (not merges):,} play"
    if other := len(raw.cells) - len(rows):
        yield f"{other:,} left out, of other groups, periods or texts"
    sizes, why = rows["entity"].value_counts(), dict[str, list[str]]()
    for one in dropped:
        named = f"{one_line(one['entity'])} ({sizes[one['entity']]:,})"
        why.setdefault(_NUMBER.sub("", one["reason"]), []).append(named)
    for reason, names in why.items():
        does = f"{counted(len(names), 'place')} {'does' if len(names) == 1 else 'do'} not play"
        yield f"{does}, {reason}: {listed(names, PLACES)}"
    if merged:
        yield f"{merged:,} {'added to' if merges else 'give way to'} another of their period"
    for name in telling(held, raw.cells, dataset):
        parts = held.groupby(raw.cells.loc[held["row"], name].to_numpy())["count"].sum()
        each = [f"{shortened(str(text))} {part / parts.sum():.0%}" for text, part in parts.items()]
        yield f"of column {name} are added: {listed(each, PLACES)}"
    if equal:
        yield f"{equal:,} equal to another and not added"


def _dates(raw: RawTable, periods: pd.Index[Any], dataset: Dataset) -> str:
    texts, form = period_texts(raw, dataset.needed_columns.period)
    text, day = next((text, day) for text in texts if (day := parse_date(text, form)))
    return (
        f"{shortened(text)!r} is read as {_day(day)}; {counted(len(periods), 'period')} of"
        f" {counted(*dataset.periods.length)}, from {_day(periods[0])} to {_day(periods[-1])}"
    )


def _largest(raw: RawTable, rows: pd.DataFrame, table: pd.DataFrame, dataset: Dataset) -> str:
    one = table.sort_values("count").to_dict("records")[-1]
    made = rows[(rows["entity"] == one["entity"]) & (rows["period"] == one["period"])]
    made = made[~repeats(made, dataset.rules)]
    numbers, capacity = [f"{number:g}" for number in made["count"]], one["capacity"]
    if raw.cells.index.is_unique:
        numbers = [repr(it) for it in raw.cells.loc[made["row"], dataset.needed_columns.count]]
    beside = f" beside a capacity of {capacity:g}" if np.isfinite(capacity) else ""
    of = "another period"
    if numbers:
        of = f"{listed(numbers, PLACES)} in row {listed(map(str, made['row']), PLACES)}"
    return f"{one_line(one['entity'])}, {_day(one['period'])}: {one['count']:g}{beside}, from {of}"


def _fullest(counts: pd.DataFrame, gains: pd.DataFrame) -> str:
    often = gains.idxmax(axis=1).value_counts(normalize=True)[:2]
    total = counts.sum().sort_values(ascending=False)
    each = (f"{name} in {share:.0%} of the periods" for name, share in often.items())
    rest = total[1:].sum()
    others = f", {_ratio(total.iloc[0], rest)} times all others together"
    return (
        f"{', then '.join(each)}; the largest is {total.index[0]}, {_ratio(*total[:2])} times the"
        f" next{others * bool(total.iloc[0] > LARGE * rest)}"
    )


def alike(counts: pd.DataFrame) -> str:
    """Say which places rise and fall together, and which with the sum of all others.

    The numbers are the correlation of the steps from period to period, and the ratio of the totals.

    Args:
        counts: a row for each period, a column for each place.
    """
    names, total, steps = [*map(str, counts)], counts.sum().to_numpy(), counts.diff()[1:].to_numpy()
    apart = steps - steps.mean(axis=0) if len(steps) else steps
    inner = apart.T @ apart  # products of two places; then of a place and of all others
    rest = inner.sum(axis=1) - inner.diagonal()
    size = np.fmax(inner.diagonal(), 1e-12)
    both = inner / np.sqrt(np.outer(size, size))
    with_rest = rest / np.sqrt(size * np.fmax(inner.sum() - 2 * rest - size, 1e-12))
    first, second = np.triu_indices(len(names), 1)
    unlike = np.abs(np.diff(np.log(np.fmax(total, 1e-9))[[first, second]], axis=0))[0]
    nearest = np.lexsort((unlike, -both[first, second].round(3)))[:PAIRS]
    nearest = nearest[both[first, second][nearest] >= LIKE]
    found = [
        f"{names[i]} and {names[k]} (correlation {_short(both[i, k])}, {_ratio(total[i], total[k])}"
        " times as large)"
        for i, k in zip(first[nearest], second[nearest], strict=True)
    ]
    said, most = [", ".join(found)] if found else [], int(with_rest.argmax())
    if with_rest[most] >= LIKE:
        ratio = _ratio(total[most], total.sum() - total[most])
        how = f"correlation {_short(with_rest[most])}, {ratio} times their sum"
        said.append(f"follows the others most: {names[most]} ({how})")
    return "; ".join(said)


def _scale(counts: pd.DataFrame, gains: pd.DataFrame) -> Iterator[str]:
    usual = gains.median().sort_values()
    ends = usual if len(usual) < 5 else pd.concat([usual[:2], usual[-2:]])
    named = listed((f"{name} {_short(number)}" for name, number in ends.items()), PLACES)
    yield f"the median of a place is {_short(usual.median())}, at the ends {named}"
    total = counts.sum(axis=1)
    around = (total.shift() + total.shift(-1).fillna(total.shift())) / 2
    low, high = (total.index[far] for far in (total < around / FAR, total > around * FAR))
    for words, found in (
        ("periods below half of their neighbours", map(_day, low)),
        ("periods above twice their neighbours", map(_day, high)),
        ("two values only", map(str, counts.columns[counts.nunique() < 3])),
    ):
        if far := [*found]:
            yield f"{words} {listed(far, DATES)}"
    if (zeros := (counts.to_numpy() == 0).mean()) > 0:
        yield f"zeros {zeros:.0%}"


def _ratio(one: float, other: float) -> str:
    return _short(one / other) if other else "more than"


def _short(number: float) -> str:
    """Return a number with two digits behind its point, more for a small one, and no 0 before."""
    return (f"{number:,.2f}" if abs(number) >= 0.1 else f"{number:.2g}").removeprefix("0") or "0"


def _day(day: Any) -> str:
    return f"{day:%a} {day.day} {day:%b %Y}"
