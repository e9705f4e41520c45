"""Parsing the text of a cell as a number or a date."""

from __future__ import annotations

import datetime
import re
from functools import cache

from dpol_weekly.tables.format import EITHER, Format

_FIRST, _LAST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
_MIDNIGHT = r"(?:[T ]00:00(?::00(?:\.0+)?)?)?"
_PIVOT = 69
"""The first year of two digits that is of the last century, as in POSIX."""
_SIGNS = {" ": " \u00a0\u202f", "'": "'\u2019"}
"""Characters that look like a thousands separator, by that separator."""
_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_NAME = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_PARTS = {
    "YYYY": "(?P<year>[0-9]{4})", "YY": "(?P<short>[0-9]{2})", "ww": "(?P<week>[0-9]{2})",
    "Mon": f"(?P<name>(?i:{_NAME}))", "MM": "(?P<month>[0-9]{2})", "DD": "(?P<day>[0-9]{2})",
    "M": "(?P<month>[0-9]{1,2})", "D": "(?P<day>[0-9]{1,2})",
}  # fmt: skip


def parse_decimal(text: str, form: Format) -> str | None:
    """Return the number of a text with all its digits; None if it means none, or is ambiguous."""
    if not form.decided and EITHER.fullmatch(text):
        return None
    between = _SIGNS.get(form.thousands or "", form.thousands or "")
    if not _number(between, form.decimal_sign).fullmatch(text):
        return None
    return "".join(sign for sign in text if sign not in between).replace(form.decimal_sign, ".")


@cache
def _number(between: str, sign: str) -> re.Pattern[str]:
    groups = rf"[1-9][0-9]{{0,2}}(?:[{between}][0-9]{{3}})+|" if between else ""
    number = rf"(?:{groups}[0-9]+)(?:[{sign}][0-9]*)?|[{sign}][0-9]+"
    return re.compile(rf"[+-]?(?:{number})(?:[eE][+-]?[0-9]+)?")


def parse_date(text: str, form: Format) -> datetime.date | None:
    """Return the date of a text, alone or with midnight; None if it has none from 1900 to 2100.

    Another time of day, and one with an offset, may be another day elsewhere.
    """
    match = _date(form.date).fullmatch(text)
    if not match:
        return None
    texts = match.groupdict()
    month = _NAMES.index(name[:3].lower()) + 1 if (name := texts.pop("name", None)) else None
    parts = {part: int(text) for part, text in texts.items()} | ({"month": month} if month else {})
    if "short" in parts:
        short = parts.pop("short")
        parts["year"] = short + (2000 if short < _PIVOT else 1900)
    try:
        if "week" in parts:
            date = datetime.date.fromisocalendar(parts["year"], parts["week"], 1)
        else:
            date = datetime.date(**parts)
    except ValueError:
        return None
    return date if _FIRST <= date <= _LAST else None


@cache
def _date(pattern: str) -> re.Pattern[str]:
    parts = re.sub("YYYY|YY|Mon|MM?|DD?|ww", lambda part: _PARTS[part[0]], re.escape(pattern))
    if "Mon" in pattern:  # people write 03-Jan-2019 too
        parts = re.sub(r"\\ ", "[ -]", parts)
    return re.compile(parts + _MIDNIGHT)
