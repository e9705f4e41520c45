"""Capacities from a second table: the latest one that starts in a row's period or before."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dpol.core.errors import DataError
from dpol.core.near import did_you_mean
from dpol.core.words import counted, shortened
from dpol.data.bad_cells import BadCells, Texts, refuse_cells
from dpol.data.identifiers import identified
from dpol.data.parse import Numbers, bad_dates, parse_capacities, parse_dates
from dpol.data.raw_table import RawTable, period_texts
from dpol.data.settings import CapacityTable, Cleaning
from dpol.data.table_format import EARLIEST

SHOWN = 20
"""Number of entities that a message shows."""


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
    known, name = identified(second.cells[columns.entity], rules), columns.capacity
    numbers = parse_capacities(second.cells[name], rules, second.formats[name])
    nameless = BadCells(known[known == ""], "the name of an entity", ("Name each row's entity.",))
    bad, since = [nameless, numbers.bad], pd.Series(pd.Timestamp(EARLIEST), known.index)
    if columns.period:
        days, written = period_texts(second, columns.period)
        bad.append(bad_dates(days, "dataset.columns.capacity.period", written))
        since = parse_dates(days, written)
    refuse_cells(second.file, bad)
    pair = ["entity", "period"]
    table = pd.DataFrame({"entity": known, "period": since.astype("datetime64[us]")})
    table = table.assign(value=numbers.values, kind=numbers.kinds, row=known.index)
    table = table.drop_duplicates([*pair, "value", "kind"])
    twice = table[table.duplicated(pair, keep=False)]
    if len(twice):
        same = twice[(twice[pair] == twice[pair].iloc[0]).all(axis=1)]
        rows = " and ".join(map(str, same["row"][:2]))
        raise DataError(
            f"{second.file}, rows {rows}: {shortened(same['entity'].iloc[0])} has different"
            " capacities. Keep one row per entity, or set dataset.columns.capacity.period to the"
            " column of the day from which each capacity holds"
        )
    playing = {*rules.entities} if isinstance(rules.entities, list) else {*entity}
    if lost := sorted({*entity} & playing - {*known}):
        there = known.unique().tolist()
        lines = "".join(f"\n  {name!r}{did_you_mean(name, there)}" for name in lost[:SHOWN])
        raise DataError(
            f"{second.file}: column {known.name} lacks {counted(len(lost), 'entity')} of the"
            f" counts:{lines}\nAdd their capacities, map spellings of one entity to each other in"
            " dataset.cleaning.identifiers, or leave their rows out with"
            " dataset.cleaning.drop_where"
        )
    wanted = pd.DataFrame({"entity": entity, "period": period.astype("datetime64[us]")})
    wanted["place"] = np.arange(len(wanted))
    joined = pd.merge_asof(
        wanted.sort_values("period"), table.sort_values("period"), on="period", by="entity"
    ).sort_values("place")
    return Numbers(
        joined["value"].to_numpy(float), joined["kind"].fillna("missing").to_numpy(), numbers.bad
    )
