"""Settings of the format of a table: layout, numbers, dates and encoding."""

from __future__ import annotations

import codecs
import datetime
import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from dpol.core.settings import Settings

EARLIEST, LATEST = datetime.date(1900, 1, 1), datetime.date(2100, 12, 31)
"""The range of dates; a date outside it is taken for a mistake."""

EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
"""A text that may be a number with decimals or with a thousands separator."""
DATES = (
    "YYYY-MM-DD", "YYYYMMDD", "YYYY/M/D", "D.M.YYYY", "D/M/YYYY", "D-M-YYYY", "M/D/YYYY",
    "M-D-YYYY", "D.M.YY", "D/M/YY", "M/D/YY", "YY/M/D", "YY.M.D", "D Mon YYYY", "D Mon YY",
    "YYYY-Www", "YYYY-M", "Mon YYYY", "YYYY-Qq", "Qq YYYY", "YYYY", "YYYY.M.D", "YYYY-ww", "YYYYMM",
    "M/YYYY", "Mon YY", "YYYY'M'MM", "YYYY-Wee", "YYYY-ee", "Excel",
)  # fmt: skip
"""The formats of dates that dpol looks for."""
RANGES = tuple(f"{like}*" for like in DATES if "D" in like)
"""The formats of ranges of dates that it looks for then."""
FORMATS = (
    "such as D.M.YYYY, D Mon YY, YYYY-M, YYYY-Qq or YYYY-Www; signs that no date is made of stand"
    " between apostrophes ('KW' ww/YYYY), and * for the rest of a range"
)
"""How a format of dates is written, for messages."""
NUMBERS = "YYYY", "Excel"
"""The formats in which a number from 1900 to 2100, or from 30000 to 59999, is a date."""


def _pattern(date: str) -> str:
    signs = re.sub("'[^']*'", "", date.replace("Mon", "M"))
    parts = re.findall("YY(?:YY)?|M+|D+|ww|ee|Qq|Excel", signs)
    of = {part[0] for part in parts}
    if len(of) < len(parts) or of not in map(set, ("Y", "YM", "YMD", "Yw", "Ye", "YQ", "E")):
        raise ValueError(f"must be a format of dates, {FORMATS}")
    return date


Dates = Annotated[str, AfterValidator(_pattern)]


def months_of(date: Dates) -> int:
    """Return the number of months that a date of a format names; 0 if it is a day or a week.

    >>> months_of("YYYY-M"), months_of("Qq YYYY"), months_of("YYYY"), months_of("YYYY-Www")
    (1, 3, 12, 0)
    """
    day = re.search("D|ww|ee|Excel", date)
    return 0 if day else 1 if "M" in date else 3 if "Q" in date else 12


_DECIMALS = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")


def _encoding(name: str) -> str:
    try:
        "".encode(name)  # refuses codecs that are not of texts
    except LookupError:
        raise ValueError("must be an encoding such as utf-8, utf-16 or cp1252") from None
    known = codecs.lookup(name).name.removesuffix("-sig")
    return "cp1252" if known == "iso8859-1" else known  # which has more characters, and is meant


class Format(Settings):
    """Format of the table.

    Numbers and dates that a Parquet table or an Excel sheet stores as such are read as they are.
    """

    layout: Literal["long", "wide", "wide-periods"] = "long"
    """`long`: a row per entity and period. `wide`: a row per period, a column per entity.
    `wide-periods`: a row per entity, a column per date."""
    sheet: str | None = None
    """Sheet of an `.xlsx` file; required if there are several."""
    skip_rows: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Lines or rows above the header, such as titles."""
    skip_last: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Rows at the end that are no part of the table, such as notes; blank ones do not count."""
    delimiter: Literal[",", ";", "\t", "|"] = ","
    """Separator of CSV cells; Excel writes `";"` where the decimal sign is a comma."""
    decimal: Literal[".", ","] | None = None
    """Decimal sign; default: a point, but a number such as 1.230 is refused.

    It may be 1.23 or 1230. It is read as 1.23 if `decimal` or `thousands` says so, or if its column
    also holds a number such as 1.25 or 0.125."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """Sign between thousands; `"."` implies a decimal comma.

    A blank includes non-breaking blanks, and `'` includes the curly apostrophe."""
    strip: list[str] = Field(default_factory=list)
    """Signs to remove from the ends of numbers, such as `%`, or `*` for a revised one."""
    date: Dates = "YYYY-MM-DD"
    """Format of dates, such as `D.M.YYYY`, `YYYYMMDD`, `M/YYYY`, `D Mon YY`, `YYYY-Qq`, `YYYY-Www`.

    YY is a year from 1969 to 2068, Mon is `Jan` or `January`, Qq a quarter such as Q1, ww a week
    from Monday (ISO 8601), and ee one from Sunday of US surveillance (MMWR). M, D, ww and ee have
    one or two digits, MM and DD two. Other letters stand between apostrophes: `'KW' ww/YYYY`.
    `YYYY-MM-DD*` reads the start of a range, `*D Mon YYYY` its end, and `Excel` the number of a day
    since 1900 that spreadsheets write. A month starts on its first day. Between the parts of
    `Mon` and `Qq` a blank or a hyphen may stand. A time of day may follow: 13:00, 9:00 or 1:00
    PM."""
    encoding: Annotated[str, AfterValidator(_encoding)] = "utf-8"
    """Encoding of a CSV table, by a name that Python knows, such as `utf-16`, `cp1250` or
    `shift_jis`; from Excel mostly `cp1252`, as which `latin-1` is read too."""

    @property
    def decimal_sign(self) -> str:
        """The decimal sign, given or implied by `thousands`."""
        return self.decimal or ("," if self.thousands == "." else ".")

    @property
    def decided(self) -> bool:
        """Whether the format decides how to read a number such as 1.230."""
        return bool(self.decimal or self.thousands)

    def of_column(self, cells: Iterable[str]) -> Format:
        """Return the format of a column; its cells may show that the point is a decimal sign."""
        if self.decided or not any(
            _DECIMALS.fullmatch(cell) and not EITHER.fullmatch(cell) for cell in cells
        ):
            return self
        return self.model_copy(update={"decimal": "."})

    @model_validator(mode="after")
    def _signs_differ(self) -> Format:
        if self.thousands == self.decimal_sign:
            raise ValueError(
                f"thousands ({self.thousands!r}) must not be the decimal sign too; set decimal to"
                " the other one"
            )
        return self


DEFAULT = Format()
