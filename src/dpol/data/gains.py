"""Reading a table of gains: a row per round, a column per expert."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.config import GainsSource
from dpol.data.table import RawTable, read_dates, read_table
from dpol.errors import DataError
from dpol.randomness import Floats


@dataclass(frozen=True)
class GainTable:
    """Gains of n experts over T rounds, as they are in the table.

    Args:
        gains: (T, n), each in [0, gain range].
        experts: n names.
        sensitivity: (T,) how far a round's gains can move, as an L2 norm.
        periods: (T,) dates, strictly increasing; None if rounds have numbers only.
    """

    gains: Floats
    experts: tuple[str, ...]
    sensitivity: Floats
    periods: NDArray[np.datetime64] | None


def read_gains(source: GainsSource) -> GainTable:
    """Read the table of gains that a config describes.

    Raises:
        DataError: no such file, no table, a column is missing, twice there or without a name,
            text or nothing where a number belongs, a gain out of range, a sensitivity that is
            not positive, dates that do not go forward, fewer than two rounds or experts.
    """
    raw = read_table(source.file)
    experts = _experts(raw, source)
    top = source.gain_range
    remedy = "mend the table, or change dataset.source.gain_range or dataset.source.experts"
    gains = np.column_stack(
        [_numbers(raw, name, 0.0, top, f"a number in [0, {top:g}]", remedy) for name in experts]
    )
    if len(gains) < 2:
        raise DataError(f"{raw.file}: has 1 round, at least 2 are needed; add a row for each round")
    return GainTable(gains, tuple(experts), _sensitivity(raw, source), _periods(raw, source))


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
    raw: RawTable, column: str, low: float, high: float, allowed: str, remedy: str
) -> Floats:
    """A column of numbers from `low` to `high`."""
    texts = raw.cells[column].str.strip()
    values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(~((values >= low) & (values <= high)))  # NaN is in no range
    if len(wrong):
        row = int(wrong[0])
        held = repr(texts.iloc[row]) if texts.iloc[row] else "nothing"
        raise DataError(
            f"{raw.place(row)}: column {column} holds {held}, not {allowed}"
            f" ({len(wrong)} such cells in this column); {remedy}"
        )
    return values


def _sensitivity(raw: RawTable, source: GainsSource) -> Floats:
    if not isinstance(source.sensitivity, str):
        return np.full(len(raw.cells), source.sensitivity)
    least, most = float(np.nextafter(0.0, 1.0)), float(np.finfo(float).max)
    remedy = "mend the table or dataset.source.sensitivity"
    return _numbers(raw, source.sensitivity, least, most, "a number above 0", remedy)


def _periods(raw: RawTable, source: GainsSource) -> NDArray[np.datetime64] | None:
    if source.period is None:
        return None
    dates = read_dates(raw, source.period, "dataset.source.period")
    periods = dates.to_numpy().astype("datetime64[D]")
    wrong = np.flatnonzero(np.diff(periods) <= np.timedelta64(0, "D"))
    if len(wrong):
        row = int(wrong[0]) + 1
        raise DataError(
            f"{raw.place(row)}: column {source.period} holds {periods[row]}, which does not come"
            f" after {periods[row - 1]} in the row before; sort the table by date and keep one row"
            " per round"
        )
    return np.asarray(periods)
