"""Formats that can read all cells of a column."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from dpol_weekly.tables.cells import parse_date, parse_decimal
from dpol_weekly.tables.format import DATES, Format

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


_YEAR, _WEEK = "((?:19|20)[0-9]{2})", "(0?[1-9]|[1-4][0-9]|5[0-3])"
_UNREAD = {
    f"{_WEEK}[/-]{_YEAR}": "{1}-W{0:0>2}",
    f"(?:KW|W|S) ?{_WEEK}[ /-]{_YEAR}": "{1}-W{0:0>2}",
    f"{_YEAR}[ /-]?(?:KW|W|S)? ?{_WEEK}": "{0}-W{1:0>2}",
}
"""Weeks that are not read, and how to write them."""


def week_examples(columns: Mapping[str, Collection[str]]) -> list[str]:
    """Return how to write the weeks of a table that are not read as they are."""
    told = []
    for name, cells in columns.items():
        for pattern, good in _UNREAD.items():
            every = [re.fullmatch(pattern, cell.strip()) for cell in cells]
            if every and every[0] and all(every):
                week = good.format(*every[0].groups())
                told.append(f"in {name}, write {every[0][0]} as {week}")
    whole = {
        part: [
            name for name, cells in columns.items() if all(re.fullmatch(part, it) for it in cells)
        ]
        for part in (_YEAR, _WEEK)
    }
    if whole[_YEAR] and whole[_WEEK]:
        names = f"{whole[_YEAR][0]} and {whole[_WEEK][0]}"
        told.append(f"write {names} as one column, such as 2024-W05")
    return told


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
