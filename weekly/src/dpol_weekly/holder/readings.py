"""Formats that can read all cells of a column."""

from __future__ import annotations

from collections.abc import Collection

from dpol.data.parse import parse_date, parse_decimal
from dpol.data.table_format import DATES as READ
from dpol.data.table_format import YEARS, Format

DATES = [date for date in READ if date != YEARS]
"""The formats of dates, without that of years: a count may look like a year."""
_SIGNS = (
    (None, None),
    (".", None),
    (",", None),
    (",", " "),
    (".", " "),
    (None, "."),
    (None, ","),
    (None, "'"),
)
"""Decimal sign and sign between thousands, the plainest first."""


def date_formats(cells: Collection[str]) -> list[str]:
    """Return the values of `date` that read every cell as a date."""
    forms = {date: Format.model_validate({"date": date}) for date in DATES}
    return [
        date
        for date, form in forms.items()
        if all(parse_date(cell, form) is not None for cell in cells)
    ]


def number_formats(cells: Collection[str]) -> list[dict[str, str]]:
    """Return the keys that read every cell as a number, one choice for each meaning."""
    meanings: dict[tuple[str | None, ...], dict[str, str]] = {}
    for decimal, thousands in _SIGNS:
        keys = {"decimal": decimal, "thousands": thousands}
        given = {key: sign for key, sign in keys.items() if sign is not None}
        form = Format.model_validate(given).of_column(cells)
        numbers = tuple(parse_decimal(cell, form) for cell in cells)
        if None not in numbers:
            meanings.setdefault(numbers, given)
    return list(meanings.values())
