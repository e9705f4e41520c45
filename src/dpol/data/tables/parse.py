"""Parsing columns of text as numbers and dates, by the formats and rules of a config."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import Key, Text, keyed
from dpol.core.randomness import Floats
from dpol.data.tables.bad_cells import BadCells, Texts
from dpol.data.tables.settings import Cleaning
from dpol.data.tables.table_format import (
    DATES,
    DEFAULT,
    EARLIEST,
    EITHER,
    FORMATS,
    LATEST,
    RANGES,
    Dates,
    Format,
    months_of,
)

Flags = NDArray[np.bool_]

LARGEST = 999_999_999
"""Largest valid number; a larger one is taken for a mistake."""
SMALLEST_CAPACITY = 1e-6
"""Smallest capacity above 0: the noise of a whole stream grows with 1 / capacity."""
LOOK = "let dpol look at the table: dpol new dataset TABLE"
"""Remedy that finds the whole format at once."""
CELL_KINDS = ("suppressed", "missing", "negative")
"""Kinds of cells without a number."""
OF_SUMS = ("summed", "hidden_sum", "uncovered")
"""Kinds of suppressed cells beside sums: told by the sum; without a sum either; without a number of
days."""

_MEND_NUMBERS = keyed(
    "Fix these cells in the table, or describe them: in {dataset.format}, numbers not written like"
    " 1234.5; in {dataset.cleaning}, texts that mean a missing number (missing_markers) or one too"
    " small to publish (suppressed_markers), and negative counts (negative_counts: missing)."
)

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
_FORMS = {like: DEFAULT.model_copy(update={"date": like}) for like in (*DATES, *RANGES)}
_BEFORE_1900 = datetime.date(1899, 12, 30)
"""Day 0 of spreadsheets, which count a 29 February 1900."""
_NAMES = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_PARTS = {
    "YYYY": "(?P<year>[0-9]{4})", "YY": "(?P<short>[0-9]{2})", "ww": "(?P<week>[0-9]{1,2})",
    "ee": "(?P<epi>[0-9]{1,2})",
    "Mon": f"(?P<name>(?i:(?:{'|'.join(_NAMES)})[a-z]{{0,6}}))", "Qq": "(?i:q)(?P<quarter>[1-4])",
    "MM": "(?P<month>[0-9]{2})", "DD": "(?P<day>[0-9]{2})",
    "M": "(?P<month>[0-9]{1,2})", "D": "(?P<day>[0-9]{1,2})",
    "Excel": r"(?P<serial>[345][0-9]{4})(?:\.[0-9]*)?",
}  # fmt: skip


# ---- numbers ------------------------------------------------------------------------------------


def parse_numbers(texts: Texts, form: Format) -> Floats:
    """Return the number of each text; NaN if it means none, is ambiguous, or rounds to 0."""
    texts = strip_marks(texts, form.strip)
    between, sign = _SIGNS.get(form.thousands or "", form.thousands or ""), form.decimal_sign
    groups = rf"[1-9][0-9]{{0,2}}(?:[{between}][0-9]{{3}})+|" if between else ""
    digits = rf"(?:{groups}[0-9]+)(?:[{sign}][0-9]*)?|[{sign}][0-9]+"
    known = texts.str.fullmatch(rf"[+-]?(?:{digits})(?:[eE][+-]?[0-9]+)?")
    if not form.decided:
        known &= ~texts.str.fullmatch(EITHER)
    plain = texts.where(known, "nan")
    if between:
        plain = plain.str.replace(f"[{between}]", "", regex=True)
    plain = plain.str.replace(sign, ".", regex=False)
    values = plain.to_numpy(object).astype(float)
    rounded = (values == 0) & plain.str.match("[^eE]*[1-9]").to_numpy(bool)
    return np.where(rounded, np.nan, values)


def strip_marks(texts: Texts, marks: Iterable[str]) -> Texts:
    """Return texts without some marks at their ends."""
    for mark in marks:
        texts = texts.str.removesuffix(mark).str.removeprefix(mark).str.strip()
    return texts


def sign_remedies(texts: Texts, form: Format) -> tuple[Text, ...]:
    """Return remedies for ambiguous numbers, one paragraph for each sign."""
    either = "" if form.decided else "".join(text for text in texts if EITHER.fullmatch(text))
    return tuple(
        keyed(
            "1{sign}230 may mean 1.23 or 1230. Set {dataset.format.decimal}: '{sign}' to read 1.23,"
            " or {dataset.format.thousands}: '{sign}' to read 1230.",
            sign=sign,
        )
        for sign in ".,"
        if sign in either
    )


@dataclass(frozen=True)
class Numbers:
    """A column of a table of counts, as numbers.

    Args:
        values: (rows,) the numbers; NaN where the kind is another than `number` or of `OF_SUMS`.
        kinds: (rows,) `number`, `missing`, `suppressed`, `negative` (read as missing), `bad`, or
            one of `OF_SUMS`.
        bad: the cells of the kind `bad`.
    """

    values: Floats
    kinds: NDArray[np.str_]
    bad: BadCells

    def counters(self, column: str) -> dict[str, Flags]:
        """Return for each kind which cells are of it, by rule: `missing_counts`."""
        return {f"{kind}_{column}": self.kinds == kind for kind in (*CELL_KINDS, *OF_SUMS)}

    def from_sums(self, sums: Numbers, days: Floats, hidden_sum: float) -> Numbers:
        """Return averages, the suppressed ones told by their sums over the days reported.

        Args:
            sums: the sums.
            days: (rows,) number of days reported; NaN where it is unknown.
            hidden_sum: what a sum without a number is read as.
        """
        hidden, reported = self.kinds == "suppressed", days > 0
        kinds = np.select(
            [hidden & ~reported, hidden & (sums.kinds == "number"), hidden & reported],
            ["uncovered", "summed", "hidden_sum"],
            self.kinds,
        )
        known = np.where(kinds == "summed", sums.values, hidden_sum) / np.where(reported, days, 1)
        values = np.where(np.isin(kinds, ["summed", "hidden_sum"]), known, self.values)
        return Numbers(values, kinds, self.bad)


def parse_cells(texts: Texts, rules: Cleaning, form: Format, *, counts: bool) -> Numbers:
    """Parse a column of counts, or of capacities, without refusing any.

    A negative capacity is missing, and a negative count if `negative_counts` says so.
    """
    least = 0.0 if counts else SMALLEST_CAPACITY
    wanted = "a number from 0" if counts else f"0 or a number from {least:f}"
    negative_is_missing = not counts or rules.negative_counts == "missing"
    values = parse_numbers(texts, form)

    def marked(markers: Sequence[str]) -> Flags:
        """Return which cells are markers, as texts or as numbers: -2 is also -2.0."""
        numbers = parse_numbers(pd.Series(markers, dtype=str), form)
        return texts.isin(markers).to_numpy() | np.isin(values, numbers[~np.isnan(numbers)])

    kinds = {
        "suppressed": marked(rules.suppressed_markers),
        "missing": marked(rules.missing_markers),
        "number": (values == 0) | ((values >= least) & (values <= LARGEST)),
        "negative": (values < 0) & np.isfinite(values) & negative_is_missing,
    }
    kind = np.select([*kinds.values()], [*kinds], "bad")
    bad = texts[kind == "bad"]
    refused = BadCells(bad, f"{wanted} to {LARGEST:,}", (*sign_remedies(bad, form), _MEND_NUMBERS))
    return Numbers(np.where(kind == "number", values, np.nan), kind, refused)


# ---- dates --------------------------------------------------------------------------------------


def parse_dates(texts: Texts, form: Format) -> Texts:
    """Apply `parse_date` to each cell; NaT where it is no date."""
    dates = {text: parse_date(text, form) for text in texts.unique()}
    return texts.map(dates).astype("datetime64[us]")


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
    if "serial" in parts:
        return _BEFORE_1900 + datetime.timedelta(days=parts["serial"])
    try:
        if "week" in parts:
            date = datetime.date.fromisocalendar(parts["year"], parts["week"], 1)
        elif "epi" in parts:
            first, after = (_first_sunday(parts["year"] + k) for k in (0, 1))
            date = first + datetime.timedelta(days=7 * (parts["epi"] - 1))
            return date if first <= date < after else None
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


def date_formats(texts: Iterable[str], least: float = 1.0) -> list[Dates]:
    """Return the formats in which the most texts are dates.

    Args:
        texts: the texts; empty ones are left out.
        least: the smallest share of texts that are dates.

    >>> date_formats(["2021-01", "2021-02"]), date_formats(["1/2/2021", "3/2/2021"])
    (['YYYY-M', 'YYYY-ww'], ['D/M/YYYY', 'M/D/YYYY'])
    >>> date_formats(["01/03/22"]), date_formats(["Jan 2019", "February 2019"])
    (['D/M/YY', 'M/D/YY', 'YY/M/D'], ['Mon YYYY'])
    >>> date_formats(["2021-W01", "Total"]), date_formats(["2021-W01", "Total"], least=0.5)
    ([], ['YYYY-Www'])
    """
    held = [text for text in texts if text]
    ranges = RANGES if all(text[-1].isdigit() for text in held) else ()
    return _fitting(held, DATES, least) or _fitting(held, ranges, least)


def _fitting(held: Sequence[str], forms: Sequence[Dates], least: float) -> list[Dates]:
    likely = [it for it in forms if any(parse_date(text, _FORMS[it]) for text in held[:50])]
    dated = {like: sum(bool(parse_date(text, _FORMS[like])) for text in held) for like in likely}
    most = max(dated.values(), default=0)
    found = [like for like, n in dated.items() if n == most >= least * len(held)]
    twins = {like.replace("ww", "ee") for like in found if "ww" in like}
    return [like for like in found if like not in twins]  # most weeks begin on Mondays


@cache
def _date(pattern: str) -> re.Pattern[str]:
    signs = re.split("'([^']*)'", pattern)  # every second one stood between apostrophes
    signs[::2] = [
        re.sub("YYYY|YY|Mon|MM?|DD?|ww|ee|Qq|Excel", lambda part: _PARTS[part[0]], re.escape(text))
        for text in signs[::2]
    ]
    parts = re.sub(r"\\\*$", r"(?:[^0-9].*)?", "".join(signs)).replace(r"\*", ".*?")
    if "Mon" in pattern or "Qq" in pattern:  # people write 2018 Q1, 2018Q1 and 03-Jan-2019 too
        parts = re.sub(r"\\[ -]", "[ -]?" if "Qq" in pattern else "[ -]", parts)
    if "W" in pattern:
        parts = parts.replace(r"\-", "-?")
    return re.compile(f"{parts}(?:[T ]{_TIME})?")


def _first_sunday(year: int) -> datetime.date:
    """Return the first day of the first MMWR week of a year, which has at least four of its days.

    Source: CDC, "MMWR weeks".
    """
    fourth = datetime.date(year, 1, 4)
    return fourth - datetime.timedelta(days=fourth.isoweekday() % 7)


def starts_of_months(days: Texts, months: int) -> Texts:
    """Return the first day of each period if all days are the last of a month, and so end periods.

    >>> quarters = pd.Series(pd.to_datetime(["2021-03-31", "2021-06-30"]))
    >>> starts_of_months(quarters, 3).dt.month.tolist()
    [1, 4]
    """
    if not days.dt.is_month_end.where(days.notna(), True).all():
        return days
    return days + pd.Timedelta(days=1) - pd.DateOffset(months=months)


def starts_of_periods(days: Texts, length: int) -> Texts:
    """Return the first day of the period of each day.

    Periods begin on the first day there is, and every `length` days; or on another day, if twice as
    many rows have that.

    >>> weekly = pd.Series(pd.to_datetime(["2023-01-03", "2023-01-09", "2023-01-09", "2023-01-16"]))
    >>> starts_of_periods(weekly, 7).dt.day.tolist()
    [2, 9, 9, 16]
    """
    if days.isna().all():
        return days
    number = days.dropna().map(pd.Timestamp.toordinal).astype(int)
    places = number % length
    counts, first = places.value_counts(), int(number.min()) % length
    begin = int(counts.index[0]) if counts.max() >= 2 * counts[first] else first
    after = (number - begin) % length
    return days - after.reindex(days.index).astype("timedelta64[D]")


def bad_dates(texts: Texts, key: Key, form: Format) -> BadCells:
    """Return the cells of a column that hold no date; `key` of the config names the column."""
    like = "2021-01-31" if form.date == DEFAULT.date else form.date
    bad = texts[parse_dates(texts, form).isna()]
    remedy = keyed(
        "Write dates like {like}, set {dataset.format.date} to their format, {formats}, or"
        " name another column under {key}. Or {look}.",
        like=like, formats=FORMATS, key=key, look=LOOK,
    )  # fmt: skip
    if known := date_formats(bad.unique()) if len(bad) == len(texts) else []:
        length = months_of(known[0])
        months = keyed(f", and {{dataset.periods}}: {{{{months: {length}}}}}") if length else ""
        said = f": {' or '.join(known)}", months, f". Or {LOOK}."
        remedy = keyed("To read them, set {dataset.format.date}"), said
    wanted = f"a date like {like}, from {EARLIEST.year} to {LATEST.year}"
    return BadCells(bad, wanted, (remedy,))
