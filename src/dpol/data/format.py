"""Format of a table: its signs, dates and encoding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field, model_validator

from dpol.core.settings import Settings

EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")
"""A number with decimals, or one with thousands."""
_DECIMALS = re.compile(r"[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?")


class Format(Settings):
    """Format of the table. Numbers and dates that a Parquet table or an Excel sheet holds as such
    are read as they are."""

    layout: Literal["long", "wide"] = "long"
    """`long`: a row per entity and period. `wide`: a row per period, a column per entity, named
    after it, with its counts."""
    sheet: str | None = None
    """Sheet of an `.xlsx` file; required if it has several."""
    skip_rows: Annotated[int, Field(ge=0, le=10_000)] = 0
    """Lines above the header of a CSV table, or rows above that of a sheet, such as titles."""
    delimiter: Literal[",", ";", "\t", "|"] = ","
    """The separator of the cells of a CSV table; `";"` where Excel's decimal sign is a comma."""
    decimal: Literal[".", ","] | None = None
    """The decimal sign. Without it and `thousands` a point; but a number such as 1.230 is refused,
    since it may be 1.23 or 1230, unless its column also holds one such as 1.25 or 0.125."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """The sign between thousands; with `"."` the decimal sign is a comma. A blank also stands for
    those that do not break, `'` also for the curly one."""
    date: Literal[
        "YYYY-MM-DD", "YYYYMMDD", "YYYY/M/D", "D.M.YYYY", "D/M/YYYY", "D-M-YYYY", "M/D/YYYY",
        "YYYY-Www", "YYYY-M",
    ] = "YYYY-MM-DD"  # fmt: skip
    """Format of dates; D and M are one digit or two. `YYYYMMDD` also reads whole numbers.
    `YYYY-Www` is a week such as 2021-W05, from its Monday; `YYYY-M` is a month, from its
    first day. A time of day may follow."""
    encoding: Literal["utf-8", "utf-16", "cp1250", "cp1251", "cp1252", "gb18030", "shift_jis"] = (
        "utf-8"
    )
    """The encoding of a CSV table: `cp1252` for most of Excel's that are not UTF-8."""

    @property
    def decimal_sign(self) -> str:
        """The decimal sign, given or implied by `thousands`."""
        return self.decimal or ("," if self.thousands == "." else ".")

    @property
    def decided(self) -> bool:
        """True if the format decides how to read a number such as 1.230."""
        return bool(self.decimal or self.thousands)

    def of_column(self, cells: Iterable[str]) -> Format:
        """The format of a column, whose own cells may show that the point is its decimal sign."""
        if self.decided or not any(
            _DECIMALS.fullmatch(it) and not EITHER.fullmatch(it) for it in cells
        ):
            return self
        return self.model_copy(update={"decimal": "."})

    @model_validator(mode="after")
    def _signs_differ(self) -> Format:
        if self.thousands == self.decimal_sign:
            raise ValueError(
                f"thousands ({self.thousands!r}) must not be the decimal sign too; set decimal to"
                " the other sign"
            )
        return self


DEFAULT = Format()
PLAIN = Format(decimal=".")
"""Python's own format of numbers and dates."""
