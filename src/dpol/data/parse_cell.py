"""Parsing the text of cells as numbers and dates, without pandas."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Collection
from functools import cache

from dpol.data.table_format import DATES, DEFAULT, EITHER, Dates, Format

EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
"""The range of dates; a date outside it is taken for a mistake."""

_ZONE = "(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
_TIME = (
    r"(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?: ?[AaPp][Mm])?"
    f"{_ZONE}?"
)
_AFTER = re.compile(f"[T ]({_TIME})$")
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
    "Mon": f"(?P<name>(?i:{_NAME}))", "Qq": "(?i:q)(?P<quarter>[1-4])",
    "MM": "(?P<month>[0-9]{2})", "DD": "(?P<day>[0-9]{2})",
    "M": "(?P<month>[0-9]{1,2})", "D": "(?P<day>[0-9]{1,2})",
}  # fmt: skip


def parse_number(text: str, form: Format) -> float:
    """Return the number that a text means; NaN if it means none, or is ambiguous."""
    number = parse_decimal(text, form)
    return math.nan if number is None else float(number)


def parse_decimal(text: str, form: Format) -> str | None:
    """Return the number that a text means, with all its digits; None if `parse_number` is NaN."""
    if not form.decided and EITHER.fullmatch(text):
        return None
    if not _number(form).fullmatch(text):
        return None
    between = _between(form)
    return "".join(sign for sign in text if sign not in between).replace(form.decimal_sign, ".")


def parse_date(text: str, form: Format) -> datetime.date | None:
    """Return the date of a text, without its time of day; None if it has none from 1900 to 2100."""
    match = _date(form.date).fullmatch(text)
    if not match:
        return None
    texts = match.groupdict()
    month = _NAMES.index(name[:3].lower()) + 1 if (name := texts.pop("name", None)) else None
    parts = {part: int(text) for part, text in texts.items()} | ({"month": month} if month else {})
    if "short" in parts:
        short = parts.pop("short")
        parts["year"] = short + (2000 if short < _PIVOT else 1900)
    if "quarter" in parts:
        parts["month"] = 3 * parts.pop("quarter") - 2
    try:
        if "week" in parts:
            date = datetime.date.fromisocalendar(parts["year"], parts["week"], 1)
        else:
            date = datetime.date(**{"month": 1, "day": 1, **parts})
    except ValueError:
        return None
    return date if EARLIEST <= date <= LATEST else None


def without_time(text: str) -> tuple[str, str]:
    """Return the text of a date, and its time of day: empty if there is none, or midnight.

    Times of one day sort as their texts do.

    >>> without_time("2024-03-01 9:00"), without_time("1.3.2024T00:00:00.000")
    (('2024-03-01', '09:00'), ('1.3.2024', ''))
    >>> without_time("3/1/2024 12:30 AM"), without_time("3/1/2024 1:00pm")
    (('3/1/2024', '00:30'), ('3/1/2024', '13:00'))
    """
    day, *times = _AFTER.split(text)[:2]
    if not times:
        return day, ""
    half = re.search("[AaPp](?=[Mm])", times[0])
    hour, rest = re.sub(" ?[AaPp][Mm]", "", times[0]).split(":", 1)
    number = int(hour) % 12 + 12 * (half[0] in "Pp") if half else int(hour)
    time = f"{number:02}:{rest}"
    return day, "" if re.fullmatch(f"[0:.]+{_ZONE}?", time) else time


def date_formats(texts: Collection[str]) -> list[Dates]:
    """Return the formats in which every text is a date; none if there is no text.

    >>> date_formats(["2021-01", "2021-02"]), date_formats(["1/2/2021", "3/2/2021"])
    (['YYYY-M'], ['D/M/YYYY', 'M/D/YYYY'])
    >>> date_formats(["01/03/22"]), date_formats(["Jan 2019", "February 2019"])
    (['D/M/YY', 'M/D/YY', 'YY/M/D'], ['Mon YYYY'])
    """
    forms = {like: DEFAULT.model_copy(update={"date": like}) for like in DATES} if texts else {}
    return [like for like, form in forms.items() if all(parse_date(text, form) for text in texts)]


@cache
def _date(pattern: str) -> re.Pattern[str]:
    parts = re.sub("YYYY|YY|Mon|MM?|DD?|ww|Qq", lambda part: _PARTS[part[0]], re.escape(pattern))
    if "Mon" in pattern or "Qq" in pattern:  # people write 2018 Q1, 2018Q1 and 03-Jan-2019 too
        parts = re.sub(r"\\[ -]", "[ -]?" if "Qq" in pattern else "[ -]", parts)
    return re.compile(f"{parts}(?:[T ]{_TIME})?")


def _between(form: Format) -> str:
    """Return the characters that may separate thousands."""
    return _SIGNS.get(form.thousands or "", form.thousands or "")


@cache
def _number(form: Format) -> re.Pattern[str]:
    between, sign = _between(form), form.decimal_sign
    groups = rf"[1-9][0-9]{{0,2}}(?:[{between}][0-9]{{3}})+|" if between else ""
    number = rf"(?:{groups}[0-9]+)(?:[{sign}][0-9]*)?|[{sign}][0-9]+"
    return re.compile(rf"[+-]?(?:{number})(?:[eE][+-]?[0-9]+)?")
