"""Reading a table of gains: a row per round, a column per expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.data.cells import BadCells, as_numbers, read_dates, refuse_cells
from dpol.data.format import DEFAULT, Format
from dpol.data.settings import GainsSource
from dpol.data.stream import POSITIVE, GainStream
from dpol.data.table import RawTable, read_table, refuse_columns

_MEND_GAINS = (
    "Fix the gains in the table, or change dataset.source.gain_range or dataset.source.experts."
    " Write numbers with the decimal sign of dataset.format.decimal, a point by default."
)
_MEND_SENSITIVITY = "Fix the sensitivities in the table, or dataset.source.sensitivity."


def read_gains(
    source: GainsSource, label: str, provenance: Mapping[str, Any], form: Format = DEFAULT
) -> GainStream:
    """The stream `label` of the table of gains that a config describes.

    Rounds without dates get consecutive days from 2000-01-01, and `undated` in the provenance.

    Raises:
        DataError: no such file, no table, a column is missing, twice there or without a name,
            text or nothing where a number belongs, a gain out of range, a sensitivity that is
            not positive, dates that do not go forward, fewer than two rounds or experts.
    """
    raw = read_table(source.file, form=form)
    experts, top, rounds = _experts(raw, source), source.gain_range, len(raw.cells)
    gains, bad = _numbers(raw, experts, 0.0, top, f"a number in [0, {top:g}]", _MEND_GAINS)
    periods = np.datetime64("2000-01-01") + np.arange(rounds)
    if source.period is not None:
        texts, written = raw.cells[source.period].str.strip(), raw.dates_of(source.period)
        dates, undated = read_dates(texts, "dataset.source.period", written)
        periods, bad = dates.to_numpy().astype("datetime64[D]"), [undated, *bad]
    if isinstance(source.sensitivity, str):
        column, wanted = [source.sensitivity], "a number above 0"
        sensitivity, worse = _numbers(raw, column, *POSITIVE, wanted, _MEND_SENSITIVITY)
        bad += worse
    else:
        sensitivity = np.full((rounds, 1), source.sensitivity)
    refuse_cells(raw, bad)
    if rounds < 2:
        raise DataError(f"{raw.file}: has 1 round, at least 2 are needed; add a row for each round")
    try:
        return GainStream(
            label=label,
            gains=gains,
            capacity=None,
            given_sensitivity=sensitivity[:, 0],
            entities=tuple(experts),
            periods=periods,
            gain_range=top,
            provenance={**provenance, "undated": source.period is None},
        )
    except DataError as error:
        raise DataError(f"{raw.file}: {error}") from None


def _experts(raw: RawTable, source: GainsSource) -> list[str]:
    """The columns of gains."""
    present = list(raw.cells.columns)
    wanted = [*source.others, *(source.experts or ())]
    refuse_columns(raw.file, wanted, present, "dataset.source")
    experts = source.experts or [name for name in present if name not in source.others]
    for number, name in enumerate(present, 1):
        if name in experts and not name.strip():
            raise DataError(
                f"{raw.file}: column {number} has no name; name the expert, or take the column"
                " out if it only numbers the rows"
            )
    if len(experts) < 2:
        raise DataError(
            f"{raw.file}: has {len(experts)} column of gains, at least 2 are needed:"
            " one for each expert"
        )
    return experts


def _numbers(
    raw: RawTable, columns: Sequence[str], low: float, high: float, wanted: str, remedy: str
) -> tuple[Floats, list[BadCells]]:
    """Columns of numbers, and those of their cells that are not a number from `low` to `high`."""
    values, bad = [], []
    for column in columns:
        texts = raw.cells[column].str.strip()
        numbers = as_numbers(texts, raw.format_of(column))
        values.append(numbers)  # NaN is in no range
        bad.append(BadCells(texts[~((numbers >= low) & (numbers <= high))], wanted, remedy))
    return np.column_stack(values), bad
