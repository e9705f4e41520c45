"""What the cells of a column look like: numbers, numbers with marks, identifiers."""

from __future__ import annotations

import re

from dpol.data.tables.bad_cells import Texts

LEAST_NUMBERS, MOST_MARKERS = 0.2, 5
"""The distinct cells of a column of numbers: the least share of numbers, and most other texts."""
NUMBER = re.compile(r"[+-]?(?=.*[0-9])[0-9.,'\u2019\u00a0\u202f\s]+(?:[eE][+-]?[0-9]+)?")
_MARKED = re.compile(
    r"([^\w\s<>≤≥.,+-]{1,3}|[^\W\d_]{1,3}\.)?\s*([0-9](?:[0-9.,'\u2019\u00a0\u202f]*[0-9])?)"
    r"(\s\S.{0,11}|[^\w\s.,:/<≤–-][^0-9]{0,11}|[^\W\d_]{1,12})?"
)
"""A number with a sign or word before or after it: 45%, 53*, 105 beds, (53), ~53, € 53, 33 1)."""
IDENTIFIES = re.compile("(^|[^a-z]|(?<=[a-z])(?=[A-Z]))(?i:id|pk|nr|no|code|key|ik|ccn)$")


def is_number(column: Texts) -> bool:
    """Return whether the cells are numbers, except for empty cells and a few markers."""
    held = column[column != ""].drop_duplicates()
    match, marks = held.str.fullmatch(NUMBER), held.map(lambda text: "".join(marks_of(text)))
    if marks.nunique() <= MOST_MARKERS:
        match |= marks != ""
    return bool(match.mean() >= LEAST_NUMBERS and (~match).sum() <= MOST_MARKERS)


def marks_of(text: str) -> list[str]:
    """Return the signs or words at a number, if it has any.

    >>> marks_of("33 1)"), marks_of("(53)"), marks_of("€ 53,00"), marks_of("10-19"), marks_of("53")
    (['1)'], ['(', ')'], ['€'], [], [])
    """
    match = _MARKED.fullmatch(text)
    return [it.strip() for it in (match[1], match[3]) if it and it.strip()] if match else []
