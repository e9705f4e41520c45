"""A second look at a table: what its numbers mean, by arithmetic.

A table may be read without a fault and still mean something else: one row is the sum of the others,
or the counts are totals to date. Each test looks at the table as it was read, before anything is
cut, filled or replaced, and returns its evidence or nothing. No list of words decides. What a test
doubts is asked, all at once, and nothing is played before the answer: the key that mends it, or the
name of the test in `cleaning.checked`.

>>> least = np.array([[2.0, 3, 5], [4, 4, 8], [7, 2, 9], [1, 6, 7], [1, 3, 4], [5, 5, 10]])
>>> column, holds, sure = find_total(least, least, unit=1.0)
>>> column, int(holds.sum()), sure
(2, 6, False)
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from dpol.core.errors import DataError, Key, Text, in_lines, keyed
from dpol.core.randomness import Floats
from dpol.core.words import counted, listed, shortened
from dpol.data.settings import Dataset
from dpol.data.tables.parse import Flags, date_formats
from dpol.data.tables.setting_types import LookName
from dpol.data.typed_rows import HIDDEN, PAIR, repeats

# A total equals the sum of others in this share of the periods, of which there are so many; what
# else could be has a chance of 10^-3, or of 10^-9 where no exception leaves a doubt.
NEARLY_ALL, LEAST_PERIODS, EVIDENCE, SURE = 0.95, 6, 3.0, 9.0
# Subtotals are looked for among at most so many entities, and among so many of the largest.
MOST_PARTS, LARGEST = 100, 8
# Totals to date fall in at most this share of their steps, rise in at least the second, and have at
# least so many periods. They begin again, below half, in at most the last share.
FALLS, RISES, LONG, RESETS = 0.02, 0.3, 12, 0.05
# Capacities differ, or counts have decimals, if more than this share does.
SOME = 0.1
# A count above the bound may be a typing error if it is so many times every other one.
TYPED = 4.0
# The bound may be wrong if more than this share of the counts is above it.
LITTLE = 0.01
# It is asked what no row means if more than this share of the cells have none.
ABSENT = 0.05
EXAMPLES = 5  # entities, columns or cells in a message


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """What a test doubts, and what settles it.

    Args:
        says: the evidence and the question.
        key: the key of a config that mends it.
        value: its value.
        check: the name in `cleaning.checked` that says that all is as it should be; None if the key
            has a value for that.
        sure: whether there is no other answer.
    """

    says: Text
    key: Key
    value: Any = None
    check: LookName | None = None
    sure: bool = False


def rule(name: str) -> Key:
    """Return a key of `dataset.cleaning`."""
    return Key(("dataset", "cleaning", name))


class DoubtError(DataError):
    """A table may mean something else than it seems to: `doubts` holds what its owner is asked."""

    def __init__(self, file: str, doubts: Sequence[Doubt]) -> None:
        lines: list[Text] = [f"{file}: its numbers may mean something else. Answer each question:"]
        for doubt in doubts:
            value = json.dumps(doubt.value, ensure_ascii=False)
            lines += [("  ", doubt.says), ("    set ", doubt.key, f": {value}" * bool(doubt.value))]
            if doubt.check:
                fine = f': ["{doubt.check}"]'
                lines.append(("    if it is as it should be, ", rule("checked"), fine))
        super().__init__(in_lines(lines))
        self.doubts = tuple(doubts)


def second_look(
    rows: pd.DataFrame,
    one_each: pd.DataFrame,
    cells: pd.DataFrame,
    dataset: Dataset,
    above: Flags,
) -> list[Doubt]:
    """Return what is doubtful about a stream.

    Args:
        rows: the stream's rows from `read_rows`.
        one_each: one row for each entity and period, from `one_row_each`.
        cells: the cells of the table, as text, with the places of the rows as index.
        dataset: how the table is read.
        above: whether the count of each row of `one_each` is above its bound.
    """
    tests = (_totals, _cumulative, _rates, _several, _equal)
    doubts = [doubt for test in tests for doubt in test(rows, cells, dataset)]
    doubts = [doubt for doubt in doubts if doubt.check not in dataset.cleaning.checked]
    if dataset.cleaning.absent == "error" and not doubts:
        doubts += _absent(one_each)
    # Unless the doubt is only about a total among the entities, the counts may be something else.
    of = dataset.needed_columns.entity
    totals = [it.value.get(of, []) if it.check == "totals" else [] for it in doubts]
    if dataset.cleaning.above is None and all(totals):
        left_out = one_each["entity"].isin([*chain(*totals)])
        doubts += _too_large(one_each, above & ~left_out.to_numpy())
    return doubts


# ---- totals -------------------------------------------------------------------------------------


def find_total(least: Floats, most: Floats, unit: float) -> tuple[int, Flags, bool] | None:
    """Return the place of the largest column if it is the sum of the others, or else None.

    The sum of all columns over a total is a whole number: 2, or 3 for a nation beside its regions
    and its towns. Where small numbers are hidden, it lies between that of the least and of the
    largest sum, which must not be wide.

    Args:
        least: (periods, names) the smallest values that the cells may have; NaN where there is
            none.
        most: (periods, names) the largest ones, equal to `least` where a number is published.
        unit: the last digit of the numbers, such as 1 or 0.1.

    Returns:
        The place; in which of the periods where it and at least two others have numbers it is the
        sum; and whether there is no doubt: without exception, hidden numbers and rounding of whole
        ones, and not by chance.
    """
    largest = int(np.nansum(least, axis=0).argmax())
    total = np.where(least == most, least, np.nan)[:, largest]
    use = (total > 0) & ((np.nan_to_num(most) > 0).sum(axis=1) > 2)
    if use.sum() < LEAST_PERIODS:
        return None
    least, most, total = least[use], most[use], total[use]
    tops = np.broadcast_to(np.nan_to_num(most).max(axis=0), most.shape)
    rounding = unit * 1.2 * np.sqrt(least.shape[1])
    _, new = np.unique(np.nan_to_num(least), axis=0, return_index=True)
    for slack, gaps in ((0.0, 0.0), (rounding, 0.0), (0.0, tops), (rounding, tops)):
        low = np.nan_to_num(least).sum(axis=1) - slack
        high = np.where(np.isnan(most), gaps, most).sum(axis=1) + slack
        times = np.rint(np.median((low + high) / 2 / total))
        width = (high - low) / max(times, 1)
        inside = (low - 1e-9 * total <= times * total) & (times * total <= high + 1e-9 * total)
        evidence = np.log10((total + unit) / (width + unit))[new][inside[new]].sum()
        if (
            times >= 2
            and inside.mean() >= NEARLY_ALL
            and np.median(width) <= np.median(total) / 2
            and evidence >= EVIDENCE
        ):
            exact = (high - low <= 2 * slack * (unit < 1) + unit / 2).all()
            return largest, inside, bool(exact and inside.all() and evidence > SURE)
    return None


def find_subtotal(numbers: Floats, column: int, unit: float) -> Flags | None:
    """Return in which periods a column is the sum of some of the others, by least squares.

    None if it is not, or only by chance.

    Args:
        numbers: (periods, names) the numbers, 0 where there is none.
        column: the place of the column.
        unit: the last digit of the numbers.
    """
    from scipy.optimize import nnls

    total = numbers[:, column]
    smaller = (numbers <= total[:, None]).mean(axis=0) >= NEARLY_ALL
    smaller &= np.arange(len(smaller)) != column
    if smaller.sum() < 2:
        return None
    try:
        weights = nnls(numbers[:, smaller], total)[0]
    except RuntimeError:  # too many iterations
        return None
    parts = weights > 0.5
    slack = unit * 1.2 * np.sqrt(parts.sum()) * (unit < 1)
    apart = np.abs(numbers[:, smaller][:, parts].sum(axis=1) - total)
    inside: Flags = apart <= slack + 1e-9 * total
    _, new = np.unique(numbers, axis=0, return_index=True)
    chance = np.log10((total + unit) / (2 * slack + unit))[new][inside[new]].sum()
    evidence = chance - len(smaller) * np.log10(2)  # any others may be the parts
    if parts.sum() < 2 or inside.mean() < NEARLY_ALL or evidence < EVIDENCE:
        return None
    return inside


def _totals(rows: pd.DataFrame, cells: pd.DataFrame, dataset: Dataset) -> Iterator[Doubt]:
    """Look for totals among the entities, and among the rows of an entity and period (all ages)."""
    of, rules = dataset.needed_columns.entity, dataset.rules
    looked = [(of, ["period"], rows.assign(part=rows["entity"]))]
    if rules.several_rows != "last":
        held = rows[~repeats(rows, rules)]
        held = held[held.duplicated(PAIR, keep=False)]
        for name in telling(held, cells, dataset):
            parts = cells.loc[held["row"], name].to_numpy()
            looked.append((name, PAIR, held.assign(part=parts)))
    for column, index, parted in looked:
        found = [*_among(parted, index)]
        if column == of and isinstance(rules.entities, list):
            found = [it for it in found if it[0] in rules.entities]
        if found:
            kind = "periods" if column == of else "groups"
            each = listed(
                f"{shortened(name)} {how} others in {holds.sum():,} of {len(holds):,} {kind}"
                for name, how, holds, _ in found
            )
            twice = "" if column == of else " A person stands in it and in another row."
            yield Doubt(
                says=f"{each}.{twice} Leave out such a total, which is no {column}?",
                check="totals", key=rule("drop_where"), value={column: [it[0] for it in found]},
                sure=all(sure for *_, sure in found),
            )  # fmt: skip


def _among(rows: pd.DataFrame, index: Sequence[str]) -> Iterator[tuple[str, str, Flags, bool]]:
    """Yield the parts that are totals, of which parts, in which periods, and whether surely."""
    hides = rows[HIDDEN].any(axis=1)
    published, hidden = rows.loc[~hides, "count"].dropna(), rows.loc[hides, "count"]
    small = published[published > hidden.max()].min() if len(hidden) else 0.0
    unit, counts = _last_digit(published), rows["count"]
    bounds = rows.assign(least=counts.mask(hides, 0.0), most=counts.mask(hides, small))
    wide = bounds.groupby([*index, "part"])[["least", "most"]].sum(min_count=1).unstack("part")
    while total := find_total(wide["least"].to_numpy(), wide["most"].to_numpy(), unit):
        name = wide["least"].columns[total[0]]
        yield name, "equals the sum of all", *total[1:]
        wide = wide.drop(columns=name, level="part")
    plain = wide["least"].fillna(0.0)
    if plain.shape[1] <= MOST_PARTS and hidden.empty:
        for name in [*plain.columns[np.argsort(-plain.to_numpy().sum(axis=0))][:LARGEST]]:
            holds = find_subtotal(plain.to_numpy(), plain.columns.get_loc(name), unit)
            if holds is not None:
                yield name, "equals the sum of some", holds, False
                plain = plain.drop(columns=name)


# ---- rows and periods ---------------------------------------------------------------------------


def telling(rows: pd.DataFrame, cells: pd.DataFrame, dataset: Dataset) -> list[str]:
    """Return the columns of few texts, or of dates, that tell rows of an entity and period apart.

    Args:
        rows: rows of entities and periods with several, with the columns entity, period and row.
        cells: the cells of a table; the rows are in its index.
        dataset: its columns that mean something else.
    """
    if rows.empty or not cells.index.is_unique:
        return []
    mine, known = cells.loc[rows["row"]], {*dataset.needed_columns.needed(), *dataset.cleaning.keep}
    pairs = [rows["entity"].to_numpy(), rows["period"].to_numpy()]
    others = [mine[name] for name in mine if name not in known]
    apart = (it for it in others if it.groupby(pairs).nunique().sum() >= 0.8 * len(mine))
    return [
        str(it.name)
        for it in apart
        if it.nunique() >= 2 and (it.nunique() <= MOST_PARTS or date_formats(it.unique()))
    ]


def _several(rows: pd.DataFrame, cells: pd.DataFrame, dataset: Dataset) -> Iterator[Doubt]:
    """Ask about entities with several rows in a period, about capacities and revisions."""
    rules = dataset.rules
    once = rows[~repeats(rows, rules)]
    held = once[once.duplicated(PAIR, keep=False)]
    if held.empty:
        return
    pairs, sizes = held.groupby(PAIR), once.groupby(PAIR).size()
    columns = telling(held, cells, dataset)
    dates = [it for it in columns if date_formats(cells.loc[held["row"], it].unique())]
    hint, largest = "", _pair(held, sizes)
    for name in columns:
        texts = listed(map(shortened, cells.loc[held["row"], name].unique()))
        hint += f" Column {name} tells them apart ({texts})."
    if rules.several_rows == "error":
        places = ", ".join(map(str, sorted(largest["row"])[:EXAMPLES]))
        yield Doubt(
            says=keyed(
                "{n} of one entity and period ({of}, rows {places}; in all {all} such rows)"
                " are not equal: what is one row?{hint} Parts to be added (sum), measurements"
                " (mean, max or last), or, of revisions, {dataset.cleaning.latest_by}? If some of"
                " them play alone, set {dataset.cleaning.keep} to COLUMN: TEXT; if one name stands"
                " for several entities, name them by two columns under {dataset.columns.entity}.",
                n=counted(len(largest), "row"), of=_named(largest), places=places, hint=hint,
                all=f"{len(held):,}",
            ),
            key=rule("several_rows"),
        )  # fmt: skip
    unlike = pairs["capacity"].nunique() > 1
    if (rules.several_rows, rules.several_capacities) == ("sum", None) and unlike.mean() > SOME:
        one = _pair(held, unlike)
        yield Doubt(
            says=f"{counted(len(one), 'row')} of {_named(one)} have capacities of"
            f" {listed(f'{it:g}' for it in one['capacity'])}, and {unlike.sum():,} of"
            f" {len(unlike):,} entities and periods are like that: does each row have its own"
            " (sum), or all the same (mean)?",
            key=rule("several_capacities"),
        )  # fmt: skip
    if dates and rules.several_rows == "last" and not (rules.latest_by or dataset.periods.of):
        yield Doubt(
            says=f"of several rows of an entity and period the last in the file stays.{hint} Does"
            f" the latest {dates[0]} count?",
            check="rows", key=rule("latest_by"), value=dates[0],
        )  # fmt: skip


def _equal(rows: pd.DataFrame, cells: pd.DataFrame, dataset: Dataset) -> Iterator[Doubt]:
    """Ask about rows that are equal in all columns, unless the whole table stands there twice."""
    rules, again = dataset.rules, rows[rows["repeated"]]
    if rules.several_rows not in ("sum", "mean") or rules.equal_rows or again.empty:
        return
    once = cells[~cells.duplicated()]
    times = len(cells) // len(once)
    if len(cells) != times * len(once) or (cells != np.tile(once, (times, 1))).any(axis=None):
        share = again["count"].sum() / max(rows["count"].sum(), 1)
        yield Doubt(
            says=f"{counted(len(again), 'row')} of {len(rows):,}, with {share:.0%} of all counts,"
            f" equal another in every column ({'; '.join(cells_named(again))}): the same row twice"
            " (drop), or equal parts (add)?",
            key=rule("equal_rows"),
        )  # fmt: skip


def _absent(rows: pd.DataFrame) -> Iterator[Doubt]:
    """Ask what no row means, or whether two entities are one."""
    there = presence(rows)
    if pairs := complements(there, "row"):
        each = "; ".join(pairs[:EXAMPLES])
        yield Doubt(
            says=keyed(
                "one of two has a row in nearly every period, and never both: {each}. One entity"
                " under two names? Give SPELLING=ENTITY. If they are two, say what no row means:"
                " {dataset.cleaning.absent} zero or carry", each=each,
            ),
            key=rule("identifiers"),
        )  # fmt: skip
    elif (share := 1 - there.to_numpy().mean()) > ABSENT:
        most = (~there).mean().nlargest(EXAMPLES)
        named = listed(f"{shortened(str(name))} {part:.0%}" for name, part in most.items())
        yield Doubt(
            says=f"{share:.0%} of the cells of entities and periods have no row (most of all"
            f" {named}): does no row mean none (zero), or that nobody counted (carry)?",
            key=rule("absent"),
        )  # fmt: skip


def presence(rows: pd.DataFrame) -> pd.DataFrame:
    """Return (periods, entities) whether there is a row; each pair has at most one."""
    here = rows[PAIR].assign(here=True).pivot(index="period", columns="entity", values="here")
    return here.notna()


def complements(there: pd.DataFrame, what: str) -> list[str]:
    """Describe pairs of names of which one stands in nearly every period, and never both.

    The first of a pair stands less often. Such names may be spellings of one, or an old and a new
    one.

    Args:
        there: (periods, names) whether a name stands in a period.
        what: by what it stands there.

    >>> weeks = pd.DataFrame({"St Mary": [1, 0, 0, 1], "Saint Mary": [0, 1, 1, 0], "Hope": 1})
    >>> complements(weeks > 0, "row")
    ['St Mary (2 rows) and Saint Mary']
    """
    some = there.loc[:, (there.mean() < NEARLY_ALL) & there.any()]
    held = some.to_numpy(float)
    both, each = held.T @ held, held.sum(axis=0)
    one = (both == 0) & (each[:, None] + each >= NEARLY_ALL * len(held))
    pairs = (sorted((i, k), key=lambda at: each[at]) for i, k in np.argwhere(np.triu(one, 1)))
    named = [shortened(str(name)) for name in some]
    return [f"{named[i]} ({counted(int(each[i]), what)}) and {named[k]}" for i, k in pairs]


# ---- counts -------------------------------------------------------------------------------------


def _cumulative(rows: pd.DataFrame, cells: pd.DataFrame, dataset: Dataset) -> Iterator[Doubt]:
    if dataset.cleaning.cumulative:
        return
    known = rows[~rows[HIDDEN].any(axis=1) & rows["count"].notna()]
    counts = known.sort_values(PAIR).groupby("entity")["count"]
    steps, before = counts.diff().dropna(), counts.shift().dropna()
    again = int((steps < -before / 2).sum())  # as each year
    falls, rises = int((steps < 0).sum()) - again, int((steps > 0).sum())
    most = FALLS * len(steps), RESETS * len(steps)
    seldom = falls <= most[0] and again <= most[1] and rises >= RISES * len(steps)
    if seldom and known["period"].nunique() >= LONG:
        yield Doubt(
            says=f"counts rise in {rises:,}, fall in {falls:,} and begin again in {again:,} of"
            f" {len(steps):,} steps: are they totals to date? Where they fall, a count is missing.",
            check="cumulative", key=rule("cumulative"),
        )  # fmt: skip


def _rates(rows: pd.DataFrame, cells: pd.DataFrame, dataset: Dataset) -> Iterator[Doubt]:
    counts = rows.loc[~rows[HIDDEN].any(axis=1), "count"].dropna()
    broken = counts[_broken(counts)]
    if dataset.needed_columns.capacity is None and len(broken) > SOME * len(counts):
        yield Doubt(
            says=f"{len(broken):,} of {len(counts):,} counts have decimals ({broken.iloc[0]:g}),"
            " and there is no capacity: if they are percentages, rates or averages, how far does"
            " one person move one of them?",
            check="rates", key=Key(("privacy", "count_sensitivity")),
        )  # fmt: skip


def _too_large(rows: pd.DataFrame, above: Flags) -> Iterator[Doubt]:
    """Ask about many counts above the bound, and about those many times all of their entity."""
    cut = rows[above]
    if cut.empty:
        return
    others = rows[~above].groupby("entity")["count"].max()
    wild = cut[cut["count"] >= TYPED * cut["entity"].map(others)]
    if len(wild) or len(cut) > max(1, LITTLE * len(rows)):
        shown, bounded = wild if len(wild) else cut, bool(np.isinf(rows["capacity"]).all())
        either = "; 1.230 may be 1.23 or 1230 ({dataset.format.decimal})"
        times = f", and at least {TYPED:g} times every other count of the same entity"
        yield Doubt(
            says=keyed(
                "{n} of {all} above the {most}{times} ({named}): are they typing errors"
                " (missing), or real (cut, to the bound)? If the bound is wrong, give a public one"
                " that does not come from the counts, as {key}; if the numbers are no counts of a"
                " period, but totals to date, {dataset.cleaning.cumulative}"
                + either * bool(_broken(rows["count"]).any()),
                n=counted(len(shown), "count"), all=f"{len(rows):,}",
                most="bound" if bounded else "capacity", times=times * bool(len(wild)),
                named="; ".join(cells_named(shown)),
                key=Key(("gain", "bound" if bounded else "at_most")),
            ),
            key=rule("above"),
        )  # fmt: skip


def _pair(rows: pd.DataFrame, of_pairs: pd.Series[Any]) -> pd.DataFrame:
    """Return the rows of the entity and period with the largest number."""
    largest: Any = of_pairs.idxmax()
    same: pd.DataFrame = rows[(rows["entity"] == largest[0]) & (rows["period"] == largest[1])]
    return same


def _named(rows: pd.DataFrame) -> str:
    """Return the entity and period of the first row."""
    return next(cells_named(rows)).rpartition(":")[0]


def cells_named(rows: pd.DataFrame) -> Iterator[str]:
    """Yield the entity, period and count of up to five rows, and then how many more there are."""
    shown = rows[[*PAIR, "count"]][:EXAMPLES]
    for entity, period, count in shown.itertuples(index=False):
        yield f"{shortened(entity)}, {period.date()}: {count:g}"
    if more := len(rows) - len(shown):
        yield f"and {more:,} more"


def _broken(numbers: Any) -> Any:
    """Return which numbers of a table or column have decimals."""
    return (numbers - numbers.round()).abs() > 1e-9


def _last_digit(numbers: pd.Series[float]) -> float:
    """Return the largest unit of which all numbers are multiples, from 10^-6, such as 5."""
    values = numbers.to_numpy()
    for digits in range(7):
        if np.allclose(values, values.round(digits), rtol=0, atol=1e-9):
            whole = (values * 10**digits).round().astype(int)
            return max(1.0, float(np.gcd.reduce(whole))) * 10.0**-digits
    return 1e-6
