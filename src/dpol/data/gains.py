"""Reading a table of gains: a row per round, a column per expert."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.data.cells import BadCells, as_numbers, date_remedy, read_dates, refuse_cells
from dpol.data.settings import GainsSource
from dpol.data.stream import GainStream
from dpol.data.table import RawTable, read_table

Days: TypeAlias = "NDArray[np.datetime64]"


def read_gains(source: GainsSource, label: str, provenance: Mapping[str, Any]) -> GainStream:
    """The stream `label` of the table of gains that a config describes.

    Rounds without dates get consecutive days from 2000-01-01, and `undated` in the provenance.

    Raises:
        DataError: no such file, no table, a column is missing, twice there or without a name,
            text or nothing where a number belongs, a gain out of range, a sensitivity that is
            not positive, dates that do not go forward, fewer than two rounds or experts.
    """
    raw = read_table(source.file)
    experts = _experts(raw, source)
    top, remedies = source.gain_range, []
    gains, bad = _numbers(raw, experts, 0.0, top, f"a number in [0, {top:g}]")
    if bad:
        remedies.append(
            "Fix the gains in the table, or change dataset.source.gain_range or"
            " dataset.source.experts. Write numbers with a decimal point."
        )
    sensitivity, worse = _sensitivity(raw, source)
    if worse:
        remedies.append("Fix the sensitivities in the table, or dataset.source.sensitivity.")
    periods, undated = _dates(raw, source)
    if undated:
        remedies.append(date_remedy("dataset.source.period"))
    refuse_cells(raw, [*undated, *bad, *worse], remedies)
    if len(gains) < 2:
        raise DataError(f"{raw.file}: has 1 round, at least 2 are needed; add a row for each round")
    if periods is not None:
        _refuse_backwards(raw, str(source.period), periods)
    return GainStream(
        label=label,
        gains=gains,
        capacity=None,
        given_sensitivity=sensitivity,
        entities=tuple(experts),
        periods=np.datetime64("2000-01-01") + np.arange(len(gains)) if periods is None else periods,
        gain_range=top,
        provenance={**provenance, "undated": periods is None},
    )


def _experts(raw: RawTable, source: GainsSource) -> list[str]:
    present = list(raw.cells.columns)
    wanted = [*source.others, *(source.experts or ())]
    if missing := [name for name in wanted if name not in present]:
        raise DataError(
            f"{raw.file}: no column named {', '.join(missing)}; it has {', '.join(present)}."
            " Name the right ones under dataset.source in the config"
        )
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
    raw: RawTable, columns: Sequence[str], low: float, high: float, wanted: str
) -> tuple[Floats, list[BadCells]]:
    """Columns of numbers, and those of their cells that are no number from `low` to `high`."""
    values, bad = [], []
    for column in columns:
        texts = raw.cells[column].str.strip()
        numbers = as_numbers(texts)
        wrong = ~((numbers >= low) & (numbers <= high))  # NaN is in no range
        values.append(numbers)
        if wrong.any():
            bad.append(BadCells(column, wanted, texts[wrong]))
    return np.column_stack(values), bad


def _sensitivity(raw: RawTable, source: GainsSource) -> tuple[Floats, list[BadCells]]:
    if not isinstance(source.sensitivity, str):
        return np.full(len(raw.cells), source.sensitivity), []
    least, most = float(np.nextafter(0.0, 1.0)), float(np.finfo(float).max)
    values, bad = _numbers(raw, [source.sensitivity], least, most, "a number above 0")
    return values[:, 0], bad


def _dates(raw: RawTable, source: GainsSource) -> tuple[Days | None, list[BadCells]]:
    if source.period is None:
        return None, []
    dates, bad = read_dates(raw.cells[source.period].str.strip())
    return dates.to_numpy().astype("datetime64[D]"), bad


def _refuse_backwards(raw: RawTable, column: str, periods: Days) -> None:
    wrong = np.flatnonzero(np.diff(periods) <= np.timedelta64(0, "D"))
    if len(wrong):
        row = int(wrong[0]) + 1
        raise DataError(
            f"{raw.place(row)}: column {column} holds {periods[row]}, which does not come after"
            f" {periods[row - 1]} in the row before; sort the table by date and keep one row per"
            " round"
        )
