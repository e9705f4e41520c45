"""Cells of a raw table as numbers and dates, and one message for all that are neither."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpol.core.errors import DataError
from dpol.core.randomness import Floats
from dpol.core.words import LONGEST, counted, shortened
from dpol.data.format import DEFAULT, EITHER, Format
from dpol.data.periods import EARLIEST, LATEST
from dpol.data.settings import Cleaning
from dpol.data.table import RawTable

Flags = NDArray[np.bool_]
Texts: TypeAlias = "pd.Series[Any]"

MOST_VALUES = 20
"""Number of different values that a message shows."""
LARGEST = 999_999_999
"""Largest number that is not taken for a mistake."""
SMALLEST_CAPACITY = 1e-6
"""Smallest capacity above 0: the noise of a whole stream grows with 1 / capacity."""

_HOUR = "(?:[01][0-9]|2[0-3])"
_TIME = rf"{_HOUR}:[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{{1,9}})?)?(?:Z|[+-]{_HOUR}:?[0-5][0-9])?"
_SIGNS = {" ": " \u00a0\u202f", "'": "'\u2019"}
"""Signs that look like a sign between thousands, for those that have such."""
_PARTS = {
    "YYYY": "(?P<Y>[0-9]{4})", "ww": "(?P<w>[0-9]{2})",
    "MM": "(?P<M>[0-9]{2})", "DD": "(?P<D>[0-9]{2})",
    "M": "(?P<M>[0-9]{1,2})", "D": "(?P<D>[0-9]{1,2})",
}  # fmt: skip
_HIDDEN = re.compile(r"[<≤].*|[0-9]+ ?(-|\u2013|to) ?[0-9]+")


@dataclass(frozen=True)
class BadCells:
    """Cells of a column that do not hold what they should.

    Args:
        texts: what they hold, perhaps none; named as the column, indexed by the row of the table.
        wanted: what the cells should hold.
        remedy: what the user can do, a paragraph.
    """

    texts: Texts
    wanted: str
    remedy: str = ""


def refuse_cells(raw: RawTable, found: Sequence[BadCells], remedies: Sequence[str] = ()) -> None:
    """Refuse a table for all its bad cells at once; without bad cells, do nothing.

    Args:
        raw: the table.
        found: the bad cells, column by column.
        remedies: more that the user can do, a paragraph each.

    Raises:
        DataError: the columns, each different value with its number of cells and its first row; at
            most about `MOST_VALUES` of both.
    """
    found = [bad for bad in found if len(bad.texts)]
    if not found:
        return
    shown = found[:MOST_VALUES]
    each = max(1, MOST_VALUES // len(shown))
    values = [
        bad.texts.index.to_series().groupby(bad.texts.to_numpy(), sort=False).agg(["size", "min"])
        for bad in shown
    ]
    line_of = raw.lines([row for of in values for row in of["min"][:each]])
    lines = [f"{raw.file}: {counted(sum(len(bad.texts) for bad in found), 'cell')} cannot be used"]
    for bad, of in zip(shown, values, strict=True):
        lines.append(f"  column {bad.texts.name}, which needs {bad.wanted}:")
        for text, number, row in of[:each].itertuples():
            held = repr(shortened(text)) if text else "nothing"
            lines.append(f"    {held}: {counted(number, 'cell')}, first in row {line_of[row]}")
        if len(of) > each:
            lines.append(f"    and {counted(len(of) - each, 'other value')}")
    if len(found) > len(shown):
        lines.append(f"  and {counted(len(found) - len(shown), 'other column')}")
    own = dict.fromkeys(bad.remedy for bad in found if bad.remedy)
    raise DataError("\n".join([*lines, *_which_sign(raw, found), *own, *remedies]))


def _which_sign(raw: RawTable, found: Sequence[BadCells]) -> list[str]:
    """Ways to decide the texts that may be two numbers, a paragraph for each sign."""
    undecided = [bad.texts for bad in found if not raw.format_of(str(bad.texts.name)).decided]
    either = "".join(text for texts in undecided for text in texts[texts.str.fullmatch(EITHER)])
    return [
        f"1{sign}230 may be 1.23 or 1230. In the config, dataset.format.decimal: {sign!r} reads"
        f" 1.23, dataset.format.thousands: {sign!r} reads 1230."
        for sign in ".,"
        if sign in either
    ]


def as_numbers(texts: Texts, form: Format) -> Floats:
    """Texts as numbers, NaN where they hold none, or perhaps another one."""
    if form.decided:
        between, sign = _SIGNS.get(form.thousands or "", form.thousands or ""), form.decimal_sign
        groups = rf"[1-9][0-9]{{0,2}}(?:[{between}][0-9]{{3}})+|" if between else ""
        number = rf"(?:{groups}[0-9]+)(?:[{sign}][0-9]*)?|[{sign}][0-9]+"
        plain = str.maketrans({sign: ".", **dict.fromkeys(between)})
        good = texts.str.fullmatch(rf"[+-]?(?:{number})(?:[eE][+-]?[0-9]+)?")
        texts = texts.where(good, "").str.translate(plain)
    else:
        texts = texts.mask(texts.str.fullmatch(EITHER), "")
    return pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)


def parse_dates(texts: Texts, form: Format) -> Texts:
    """Dates of texts, NaT where there is none from 1900 to 2100; a time of day is left out."""
    pattern = re.sub("YYYY|MM?|DD?|ww", lambda part: _PARTS[part[0]], re.escape(form.date))
    of = texts.str.extract(f"^{pattern}(?:[T ]{_TIME})?$")
    if "w" in of:
        days, code = of["Y"] + "-" + of["w"] + "-1", "%G-%V-%u"
    else:
        days = of["Y"] + "-" + of["M"].str.zfill(2) + "-" + of["D"].str.zfill(2)
        code = "%Y-%m-%d"
    parsed = pd.to_datetime(days, format=code, errors="coerce")
    return parsed.where(parsed.between(pd.Timestamp(EARLIEST), pd.Timestamp(LATEST)))


def read_dates(texts: Texts, key: str, form: Format) -> tuple[Texts, BadCells]:
    """`parse_dates` of a column, and its cells that are not dates.

    Args:
        texts: stripped cells, indexed by the row of the raw table; named as the column.
        key: of the config, which names the column.
        form: how they are written.
    """
    dates = parse_dates(texts, form)
    like = "2021-01-31" if form.date == DEFAULT.date else form.date
    wanted = f"a date like {like}, from {EARLIEST.year} to {LATEST.year}"
    remedy = (
        f"Write dates like {like}, say how they are written with dataset.format.date"
        f" (D.M.YYYY, YYYY-Www, ...), or name another column under {key}."
    )
    return dates, BadCells(texts[dates.isna()], wanted, remedy)


@dataclass(frozen=True)
class Numbers:
    """A column of a table of counts as numbers.

    Args:
        values: NaN where the cell is missing, suppressed or negative.
        flags: where it is `missing`, `suppressed`, or `negative` and taken as missing.
        bad: the cells that hold none of these.
        negative_key: of the cleaning rules; it says what happens to negative numbers.
        format: how they are written.
    """

    values: Floats
    flags: Mapping[str, Flags]
    bad: BadCells
    negative_key: str
    format: Format


def parse_numbers(
    texts: Texts, rules: Cleaning, form: Format, *, capacity: bool = False
) -> Numbers:
    """The numbers of a column; nothing is refused here.

    Args:
        texts: its stripped cells, indexed by the row of the raw table; named as the column.
        rules: markers, and what happens to negative numbers.
        form: how they are written.
        capacity: whether they are capacities, which are not tiny.
    """
    key = "negative_capacities" if capacity else "negative_counts"
    least = SMALLEST_CAPACITY if capacity else 0.0
    wanted = f"0 or a number from {least:f}" if capacity else "a number from 0"
    values = as_numbers(texts, form)
    suppressed = _matches(texts, values, rules.suppressed_markers, form)
    missing = _matches(texts, values, rules.missing_markers, form) & ~suppressed
    unmarked = ~missing & ~suppressed
    known = unmarked & ((values == 0) | ((values >= least) & (values <= LARGEST)))
    negative = unmarked & np.isfinite(values) & (values < 0) & (getattr(rules, key) == "missing")
    bad = BadCells(texts[unmarked & ~known & ~negative], f"{wanted} to {LARGEST:,}")
    flags = {"missing": missing, "suppressed": suppressed, "negative": negative}
    return Numbers(np.where(known, values, np.nan), flags, bad, key, form)


def _matches(texts: Texts, values: Floats, markers: Sequence[str], form: Format) -> Flags:
    """Flags of the cells that hold a marker, as a text or as a number: -2 is also -2.0."""
    numbers = as_numbers(pd.Series(list(markers), dtype=str), form)
    found: Flags = texts.isin(list(markers)).to_numpy()
    return found | np.isin(values, numbers[~np.isnan(numbers)])


def remedies(columns: Sequence[Numbers], rules: Cleaning) -> list[str]:
    """Remedies for the bad cells of columns, with the lines of the config to paste."""
    found: dict[str, list[str]] = {}
    for column in columns:
        texts = column.bad.texts.drop_duplicates()
        for text, value in zip(texts, as_numbers(texts, column.format), strict=True):
            found.setdefault(_key(text, value, column.negative_key), []).append(text)
    markers = {key: found[key] for key in ("missing_markers", "suppressed_markers") if key in found}
    many = len({text for texts in markers.values() for text in texts}) > MOST_VALUES
    to_paste = {key: "missing" for key in found if key.startswith("negative")}
    negative = ", ".join(to_paste)
    for key, more in ({} if many else markers).items():
        named = list(dict.fromkeys([*getattr(rules, key), *more]))
        to_paste[key] = json.dumps(named, ensure_ascii=False)  # YAML too: they are printable
    sign = columns[0].format.decimal_sign
    advice = {
        f"Write numbers like 1234{sign}5 in the table, without thousands separator or unit; or say"
        " how they are written with dataset.format.decimal and thousands.": "" in found,
        f"Fix the negative numbers in the table, or take them as missing ({negative}). One that"
        " stands for a hidden number belongs under suppressed_markers.": negative,
        "So many different texts: do dataset.columns name the right columns?": many,
        "Fix the texts in the table, or name them as markers of missing numbers or of suppressed"
        " ones.": markers and not many,
        "In the config:\ndataset:\n  cleaning:": to_paste,
    }
    lines = [f"    {key}: {value}" for key, value in to_paste.items()]
    return [words for words, applies in advice.items() if applies] + lines


def _key(text: str, value: float, negative_key: str) -> str:
    """The cleaning rule that may take a bad cell, if any; a text with a digit is not a marker."""
    if -np.inf < value < 0:
        return negative_key
    if not np.isnan(value) or len(text) > LONGEST or not text.isprintable():
        return ""
    if _HIDDEN.fullmatch(text):
        return "suppressed_markers"
    return "" if any(character.isdigit() for character in text) else "missing_markers"
