"""Reading the table of counts of a dataset, of any layout, as a long table of text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from dpol.core.errors import DataError, keyed
from dpol.core.files import sha256
from dpol.core.shipped import way_back
from dpol.data.settings import Dataset
from dpol.data.sources import LocalSource
from dpol.data.tables.raw_table import AGAIN, RawTable, read_raw_table, to_long, without_notes
from dpol.data.tables.setting_types import columns_of

_SMALL = 50 * 10**6
"""Size of a file, in bytes, below which dpol also reads columns that a config does not name."""


def read_counts(file: Path | str, dataset: Dataset) -> RawTable:
    """Read a table of counts of any layout as a long table; see `read_raw_table`.

    Raises:
        DataError: the table cannot be read, or is not the one whose SHA-256 the source gives.
    """
    source, form, columns = dataset.source, dataset.format, dataset.needed_columns
    pinned = source.sha256 if isinstance(source, LocalSource) and Path(file).exists() else None
    if pinned and (digest := sha256(file)) != pinned:
        raise DataError(
            f"{file}: has SHA-256 {digest} instead of {pinned}, so it was changed;"
            f" {way_back(str(file)) or AGAIN}; or, if the change is meant, remove ",
            keyed("{dataset.source.sha256}"),
        )
    large = Path(file).exists() and Path(file).stat().st_size >= _SMALL
    others = columns.of_days() if large else None  # any column may tell rows apart
    raw = without_notes(read_raw_table(file, dataset.read_columns, form, others=others), form)
    read = {
        "counts": f"read as {dataset.cleaning.suppressed_value:g} (cleaning.suppressed_value)",
        "capacities": "taken as missing",
    }
    costs = [
        f"no column {', '.join(lacks)}: suppressed {what}, whose sums would tell most of them, are"
        f" {read[what]}"
        for what, days in (("counts", columns.count_days), ("capacities", columns.capacity_days))
        if days and (lacks := [x for x in (days.sum, days.coverage) if x not in raw.cells])
    ]
    raw = replace(raw, changed=(*raw.changed, *(["; ".join(costs)] if costs else [])))
    if large and dataset.read_columns is not None:  # unread columns may tell rows apart
        raw = replace(raw, repeated=frozenset())
    if columns.count_rows:
        raw = replace(raw, cells=raw.cells.assign(**{columns.count: "1"}))
        raw = replace(raw, formats={**raw.formats, columns.count: form})
    if columns.entity_with:
        names = raw.cells[[columns.entity, *columns.entity_with]].agg(", ".join, axis=1)
        raw = replace(raw, cells=raw.cells.assign(**{columns.entity: names}))
    if form.layout == "long":
        return raw
    if form.layout == "wide":
        made, kept = columns.entity, columns_of(columns.period)
    else:
        made = str(columns.period)
        kept = [name for name in columns.needed() if name not in (made, columns.count)]
    named = [*dataset.cleaning.drop_where, *dataset.cleaning.keep]
    dropped = [name for name in named if name not in (made, columns.count)]
    kept = [*dict.fromkeys([*kept, *dropped])]
    return to_long(raw, form, kept, name=made, number=columns.count)
