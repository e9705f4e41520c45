"""How a table is written: its signs, dates and encoding."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, model_validator

from dpol.core.settings import Settings

_PART = re.compile("(YYYY|MM?|DD?|ww?)")
_DIGITS = {"YYYY": "[0-9]{4}", **dict.fromkeys(("MM", "DD", "ww"), "[0-9]{2}")}


def date_pattern(dates: str) -> re.Pattern[str]:
    """The pattern of dates like DD.MM.YYYY or YYYY-Www; its groups are Y, M and D, or Y and w.

    Raises:
        ValueError: a part is missing or there twice, or nothing says where a part ends.
    """
    texts = _PART.split(dates)
    signs, parts = texts[::2], texts[1::2]
    if sorted(part[0] for part in parts) not in (["D", "M", "Y"], ["Y", "w"]):
        raise ValueError("must hold YYYY, MM and DD, or YYYY and ww, each once: DD.MM.YYYY")
    if re.search("[^-./ W]", "".join(signs)):
        raise ValueError("must have nothing but - . / W and blanks between its parts: YYYY-Www")
    if not all(signs[1:-1]) and {"M", "D", "w"} & {*parts}:
        raise ValueError("must have signs between its parts, or MM, DD and ww: a part ends nowhere")
    groups = [f"(?P<{part[0]}>{_DIGITS.get(part, '[0-9]{1,2}')})" for part in parts]
    pieces = [re.escape(sign) + group for sign, group in zip(signs, [*groups, ""], strict=True)]
    return re.compile("".join(pieces))


def _dates(dates: str) -> str:
    date_pattern(dates)
    return dates


def _encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise ValueError("must be an encoding, such as utf-8, cp1252 or utf-16") from None
    return name


class Format(Settings):
    """How the table is written. Columns of numbers and of dates in a Parquet table are read as they
    are."""

    delimiter: Literal[",", ";", "\t", "|"] = ","
    """What separates the cells of a CSV table; `";"` where Excel's decimal sign is a comma."""
    decimal: Literal[".", ","] | None = None
    """The decimal sign. Without it a point, but where `thousands` is not given either, a number
    such as 1.230 or 1,230 is refused: it may be 1.23 or 1230."""
    thousands: Literal[".", ",", " ", "'"] | None = None
    """The sign between thousands; with `"."` the decimal sign is a comma. A blank also stands for
    those that do not break, `'` also for the curly one."""
    date: Annotated[str, AfterValidator(_dates)] = "YYYY-MM-DD"
    """How dates are written: YYYY, MM, DD and signs, such as `DD.MM.YYYY`; M and D where there may
    be one digit, such as `M/D/YYYY`; `YYYY-Www` for weeks such as 2021-W05, from their Monday. A
    time of day may follow."""
    encoding: Annotated[str, AfterValidator(_encoding)] = "utf-8"
    """The encoding of a CSV table: `cp1252` for most of Excel's that are not UTF-8."""

    @property
    def decimal_sign(self) -> str:
        """What separates decimals, given or not."""
        return self.decimal or ("," if self.thousands == "." else ".")

    @model_validator(mode="after")
    def _signs_differ(self) -> Format:
        if self.thousands == self.decimal_sign:
            raise ValueError(
                f"thousands ({self.thousands!r}) must not be the decimal sign too; set decimal to"
                " the other sign"
            )
        return self


PLAIN = Format(decimal=".")
"""How Python writes numbers and dates."""
