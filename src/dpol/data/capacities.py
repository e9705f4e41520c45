"""Capacities: what they may be, from which table they come, and how gaps in them are filled.

A capacity of 0 is missing, since no share of it exists.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.near import did_you_mean
from dpol.core.randomness import Floats
from dpol.core.words import counted, shortened
from dpol.data.bad_cells import BadCells, Texts, refuse_cells
from dpol.data.identifiers import identified
from dpol.data.parse import Flags, Numbers, bad_dates, parse_by_rules, parse_dates
from dpol.data.raw_table import RawTable, period_texts
from dpol.data.settings import CapacityTable, Cleaning
from dpol.data.table_format import EARLIEST, Format

SHOWN = 20
"""Number of entities that a message shows."""
SMALLEST = 1e-6
"""Smallest capacity above 0: the noise of a whole stream grows with 1 / capacity."""


def parse_capacities(texts: Texts, rules: Cleaning, form: Format) -> Numbers:
    """Parse a column of capacities, without refusing any; see `parse_by_rules`."""
    return parse_by_rules(texts, rules, form, negative=rules.negative_capacities, least=SMALLEST)


def is_known(capacity: Floats) -> Flags:
    """Return whether each capacity is known: neither missing (NaN) nor 0, which means the same."""
    return capacity > 0


def capacity_counters(capacity: Numbers) -> dict[str, Flags]:
    """Return which cells each rule on capacities touches, by rule."""
    return {**capacity.counters("capacities"), "zero_capacities": capacity.values == 0}


def fill_capacities(capacity: Floats) -> tuple[Floats, Flags, Flags]:
    """Carry (periods, entities) capacities forward, and the first one of an entity backward.

    Returns:
        The capacities, and which of them were carried and backfilled.
    """
    reported = is_known(capacity)
    forward = pd.DataFrame(np.where(reported, capacity, np.nan)).ffill()
    carried = ~reported & forward.notna().to_numpy()
    return forward.bfill().to_numpy(), carried, ~reported & ~carried


def capacities_of(
    entity: Texts, period: Texts, second: RawTable, columns: CapacityTable, rules: Cleaning
) -> Numbers:
    """Return each row's capacity: the latest one that starts in its period or before.

    Args:
        entity: entity of each row of the counts.
        period: period of each row of the counts.
        second: the table of capacities.
        columns: names of its columns.
        rules: cleaning rules: markers, and the spellings of entities.

    Raises:
        DataError: a cell of the second table cannot be used, it gives an entity two capacities for
            one day, or it lacks an entity that may play.
    """
    known = identified(second.cells[columns.entity], rules)
    numbers = parse_capacities(
        second.cells[columns.capacity], rules, second.formats[columns.capacity]
    )
    bad = [BadCells(known[known == ""], "the name of an entity", ("Name the entity of each row.",))]
    bad.append(numbers.bad)
    since = pd.Series(pd.Timestamp(EARLIEST), known.index)
    if columns.period:
        days, written = period_texts(second, columns.period)
        bad.append(bad_dates(days, "dataset.columns.capacity.period", written))
        since = parse_dates(days, written)
    refuse_cells(second.file, bad)
    pair = ["entity", "period"]
    table = pd.DataFrame({"entity": known, "period": since.astype("datetime64[us]")})
    table = table.assign(value=numbers.values, kind=numbers.kinds, row=known.index).drop_duplicates(
        [*pair, "value", "kind"]
    )
    _refuse_twice(second.file, table[table.duplicated(pair, keep=False)])
    _refuse_lost(second.file, entity, known, rules)
    wanted = pd.DataFrame({"entity": entity, "period": period.astype("datetime64[us]")})
    wanted["place"] = np.arange(len(wanted))
    joined = pd.merge_asof(
        wanted.sort_values("period"), table.sort_values("period"), on="period", by="entity"
    ).sort_values("place")
    return Numbers(
        joined["value"].to_numpy(float),
        joined["kind"].fillna("missing").to_numpy(object),
        numbers.bad,  # none
    )


def _refuse_twice(file: str, twice: pd.DataFrame) -> None:
    if not twice.empty:
        (entity, _), same = next(iter(twice.groupby(["entity", "period"], sort=False)))
        rows = " and ".join(map(str, same["row"][:2]))
        raise DataError(
            f"{file}, rows {rows}: {shortened(str(entity))} has different capacities. Keep one row"
            " per entity, or set dataset.columns.capacity.period to the column of the day from"
            " which each capacity holds"
        )


def _refuse_lost(file: str, entity: Texts, there: Texts, rules: Cleaning) -> None:
    lost = {*entity} - {*there}
    if isinstance(rules.entities, list):
        lost &= {*rules.entities}
    if lost:
        known = there.unique().tolist()
        lines = "".join(f"\n  {name!r}{did_you_mean(name, known)}" for name in sorted(lost)[:SHOWN])
        raise DataError(
            f"{file}: column {there.name} lacks {counted(len(lost), 'entity')} of the counts:"
            f"{lines}\nAdd their capacities, map spellings of one entity to each other in"
            " dataset.cleaning.identifiers, or leave their rows out with"
            " dataset.cleaning.drop_where"
        )
