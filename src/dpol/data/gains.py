"""Reading tables of gains: a row per round, a column per expert.

They are a source of their own because nobody knows how many gains one person moves: the owner gives
the sensitivity, round by round if need be, and the record says that the unit is one round.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dpol.core.errors import DataError, Key, keyed
from dpol.core.randomness import Floats
from dpol.core.words import counted
from dpol.data.sources import GainsSource
from dpol.data.stream import POSITIVE, GainStream
from dpol.data.tables.bad_cells import BadCells, refuse_cells
from dpol.data.tables.parse import bad_dates, parse_dates, parse_numbers, sign_remedies
from dpol.data.tables.raw_table import read_raw_table, refuse_columns, refuse_unnamed
from dpol.data.tables.table_format import DEFAULT, Format

_MEND_GAINS = keyed(
    "Fix the gains in the table, or change {dataset.source.gain_range}. Write numbers with the"
    " decimal sign of {dataset.format.decimal}, a point by default."
)
_MEND_SENSITIVITY = keyed("Fix the sensitivities in the table, or {dataset.source.sensitivity}.")


def read_gains(
    source: GainsSource, label: str, provenance: Mapping[str, Any], form: Format = DEFAULT
) -> GainStream:
    """Read the table of gains that a config describes as the stream `label`.

    Rounds without dates get consecutive days from 2000-01-01, and `undated` in the provenance.

    Raises:
        DataError: the file is missing or no table; a column is missing, repeated or has no name;
            a cell is empty, not a number or out of range; dates are not increasing; or there are
            fewer than two rounds or experts.
    """
    raw = read_raw_table(source.file, form=form)
    present, top, rounds = list(raw.cells.columns), source.gain_range, len(raw.cells)
    refuse_columns(raw.file, source.others, present, Key(("dataset", "source")))
    experts = [name for name in present if name not in source.others]
    refuse_unnamed(raw.file, present)
    if len(experts) < 2 or rounds < 2:
        raise DataError(
            f"{raw.file}: has {counted(rounds, 'round')} and {counted(len(experts), 'column')} of"
            " gains; give at least 2 of each, with a row per round and a column per expert"
        )
    periods, bad = np.datetime64("2000-01-01") + np.arange(rounds), []
    if source.period is not None:
        texts, written = raw.cells[source.period], raw.formats[source.period]
        bad.append(bad_dates(texts, Key(("dataset", "source", "period")), written))
        periods = parse_dates(texts, written).to_numpy().astype("datetime64[D]")
    columns = [(name, 0.0, top, f"a number in [0, {top:g}]", _MEND_GAINS) for name in experts]
    if isinstance(of_rounds := source.sensitivity, str):
        columns.append((of_rounds, *POSITIVE, "a number above 0", _MEND_SENSITIVITY))
    values = dict[str, Floats]()
    for name, low, high, wanted, remedy in columns:
        texts, written = raw.cells[name], raw.formats[name]
        values[name] = parse_numbers(texts, written)
        wrong = texts[~((values[name] >= low) & (values[name] <= high))]  # NaN is in no range
        bad.append(BadCells(wrong, wanted, (*sign_remedies(wrong, written), remedy)))
    refuse_cells(raw.file, bad)
    given = values[of_rounds] if isinstance(of_rounds, str) else np.full(rounds, of_rounds)
    try:
        return GainStream(
            label=label,
            gains=np.column_stack([values[name] for name in experts]),
            capacity=None,
            given_sensitivity=given,
            entities=tuple(experts),
            periods=periods,
            gain_range=top,
            provenance={**provenance, "undated": source.period is None},
        )
    except DataError as error:
        raise DataError(f"{raw.file}: ", *error.args) from None
