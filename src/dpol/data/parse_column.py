"""Parsing columns of text as numbers and dates, by the formats and rules of a config."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.randomness import Floats
from dpol.data.bad_cells import BadCells
from dpol.data.parse_cell import EARLIEST, LATEST, date_formats, parse_date, parse_number
from dpol.data.raw_table import RawTable, Texts
from dpol.data.setting_types import Period, columns_of
from dpol.data.settings import Cleaning
from dpol.data.table_format import DEFAULT, EITHER, FORMATS, MONTHS, Format

Flags = NDArray[np.bool_]

LARGEST = 999_999_999
"""Largest valid number; a larger one is taken for a mistake."""
LOOK = " Or let dpol look at the table: dpol new dataset TABLE."
"""Remedy that finds the whole format at once."""
KINDS = ("suppressed", "missing", "negative")
"""Kinds of cells without a number."""

_MEND_NUMBERS = (
    "Fix these cells in the table, or describe them in the config: in dataset.format, numbers not"
    " written like 1234.5; in dataset.cleaning, texts that mean a missing number (missing_markers)"
    " or one too small to publish (suppressed_markers), and negative numbers (negative_counts,"
    " negative_capacities: missing)."
)


def parse_numbers(texts: Texts, form: Format) -> Floats:
    """Apply `parse_number` to each cell."""
    return texts.map({text: parse_number(text, form) for text in texts.unique()}).to_numpy(float)


def sign_remedies(texts: Texts, form: Format) -> tuple[str, ...]:
    """Return remedies for ambiguous numbers, one paragraph for each sign."""
    either = "" if form.decided else "".join(text for text in texts if EITHER.fullmatch(text))
    return tuple(
        f"1{sign}230 may mean 1.23 or 1230. Set dataset.format.decimal: {sign!r} to read 1.23, or"
        f" dataset.format.thousands: {sign!r} to read 1230."
        for sign in ".,"
        if sign in either
    )


def parse_dates(texts: Texts, form: Format) -> Texts:
    """Apply `parse_date` to each cell; NaT where it is no date."""
    dates = {text: parse_date(text, form) for text in texts.unique()}
    return texts.map(dates).astype("datetime64[us]")


def starts_of_months(days: Texts, months: int) -> Texts:
    """Return the first day of each period if all days are the last of a month, and so end periods.

    >>> quarters = pd.Series(pd.to_datetime(["2021-03-31", "2021-06-30"]))
    >>> starts_of_months(quarters, 3).dt.month.tolist()
    [1, 4]
    """
    if not days.dt.is_month_end.where(days.notna(), True).all():
        return days
    return days + pd.Timedelta(days=1) - pd.DateOffset(months=months)


def period_texts(raw: RawTable, period: Period) -> tuple[Texts, Format]:
    """Return the text that names the period of each row, and its format."""
    if isinstance(period, str):
        return raw.cells[period], raw.formats[period]
    # Programs often store whole numbers as 2021.0 if a cell of the column is empty.
    year, month = (raw.cells[name].str.removesuffix(".0") for name in columns_of(period))
    texts = (year + "-" + month).rename(f"{period.year}-{period.month}")
    return texts, DEFAULT.model_copy(update={"date": "YYYY-M"})


def bad_dates(texts: Texts, key: str, form: Format) -> BadCells:
    """Return the cells of a column that hold no date; `key` of the config names the column."""
    like = "2021-01-31" if form.date == DEFAULT.date else form.date
    wanted = f"a date like {like}, from {EARLIEST.year} to {LATEST.year}"
    bad = texts[parse_dates(texts, form).isna()]
    if known := date_formats(bad.unique()) if len(bad) == len(texts) else []:
        length = MONTHS.get(known[0])
        months = f", and dataset.periods: {{months: {length}}}" if length else ""
        remedy = f"To read them, set dataset.format.date: {' or '.join(known)}{months}.{LOOK}"
        return BadCells(bad, wanted, (remedy,), most=2)
    remedy = (
        f"Write dates like {like}, set dataset.format.date to their format ({FORMATS}), or"
        f" name another column under {key}.{LOOK}"
    )
    return BadCells(bad, wanted, (remedy,))


@dataclass(frozen=True)
class Numbers:
    """A column of a table of counts, as numbers.

    Args:
        values: (rows,) the numbers; NaN where the kind is another than `number`.
        kinds: (rows,) `number`, `missing`, `suppressed`, `negative` (read as missing) or `bad`.
        bad: the cells of the kind `bad`.
    """

    values: Floats
    kinds: NDArray[np.object_]
    bad: BadCells

    def counters(self, column: str) -> dict[str, Flags]:
        """Return for each of `KINDS` which cells are of it, by rule: `missing_counts`."""
        return {f"{kind}_{column}": self.kinds == kind for kind in KINDS}


def parse_by_rules(
    texts: Texts,
    rules: Cleaning,
    form: Format,
    *,
    negative: Literal["error", "missing"],
    least: float = 0.0,
) -> Numbers:
    """Parse the numbers of a column, without refusing any.

    Args:
        texts: the cells of the column.
        rules: cleaning rules: markers.
        form: the format of numbers.
        negative: what happens to negative numbers.
        least: the smallest number besides 0.
    """
    wanted = f"0 or a number from {least:f}" if least else "a number from 0"
    values = {text: parse_number(text, form) for text in texts.unique()}
    kinds = {
        text: _kind(text, value, least, rules, form, negative=negative == "missing")
        for text, value in values.items()
    }
    kind = texts.map(kinds).to_numpy(object)
    bad = texts[kind == "bad"]
    return Numbers(
        np.where(kind == "number", texts.map(values).to_numpy(float), np.nan),
        kind,
        BadCells(bad, f"{wanted} to {LARGEST:,}", (*sign_remedies(bad, form), _MEND_NUMBERS)),
    )


def _kind(
    text: str, value: float, least: float, rules: Cleaning, form: Format, *, negative: bool
) -> str:
    """Return the kind of a cell, as in `Numbers`."""
    if _is_marker(text, value, rules.suppressed_markers, form):
        return "suppressed"
    if _is_marker(text, value, rules.missing_markers, form):
        return "missing"
    if value == 0 or least <= value <= LARGEST:
        return "number"
    return "negative" if negative and -math.inf < value < 0 else "bad"


def _is_marker(text: str, value: float, markers: Sequence[str], form: Format) -> bool:
    """Return whether a cell is a marker, as a text or as a number: -2 is also -2.0."""
    return text in markers or any(value == parse_number(marker, form) for marker in markers)
