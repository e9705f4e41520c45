"""Texts of messages and tables: names, rounded numbers, and texts made safe for where they stand.

Numbers are rounded to the nearest, and bounds to the safe side.
"""

from __future__ import annotations

import decimal
import difflib
import math
import re
from collections.abc import Iterable, Mapping
from html import escape

LONGEST = 100
"""Number of characters of a cell that a message repeats."""


def shortened(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def one_line(name: str) -> str:
    """Write a name for a line of a message: a line break becomes a space, and the end is cut."""
    return shortened(" ".join(name.split()))


def counted(number: int, what: str) -> str:
    """Return a number with its noun, in the plural if needed.

    >>> counted(1, "cell"), counted(2000, "entity")
    ('1 cell', '2,000 entities')
    """
    several = f"{what[:-1]}ies" if re.search("[^aeiou]y$", what) else f"{what}s"
    return f"{number:,} {what if number == 1 else several}"


def listed(names: Iterable[str], most: int = 3) -> str:
    """Join names, of which at most `most` are shown.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b", "c", "d", "e"])
    ('a', 'a, b and c', 'a, b, c and 2 others')
    """
    names = list(names)
    if len(names) > most:
        names[most:] = [counted(len(names) - most, "other")]
    *some, last = names
    return f"{', '.join(some)} and {last}" if some else last


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """Return `; did you mean X?` if a known name is similar, or else empty text.

    >>> did_you_mean("RW-Meta", ["rw-ftpl", "rw-meta"]), did_you_mean("x", ["rw-ftpl"])
    ('; did you mean rw-meta?', '')
    """
    by_letters = {each.casefold(): each for each in known}
    close = difflib.get_close_matches(str(name).casefold(), by_letters, n=1, cutoff=0.6)
    return f"; did you mean {by_letters[close[0]]}?" if close else ""


def nearest(name: object, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or the list of known names if none is similar."""
    known = list(known)
    return did_you_mean(name, known) or f"; known: {', '.join(known)}"


def short_repr(value: object, *parts: str) -> str:
    """Return a `repr` of an object from its parts, on one line."""
    inner = ", ".join(parts)
    return f"{type(value).__name__}({inner if len(inner) <= 130 else inner[:127] + '...'})"


def html_table(facts: Mapping[str, object]) -> str:
    """Return facts as a table for a notebook, without empty texts and missing numbers.

    >>> html_table({"mu": 0.25, "unit": "one person", "memory": "", "delta": float("nan")})
    '<table><tr><th>mu</th><td>0.25</td></tr><tr><th>unit</th><td>one person</td></tr></table>'
    """
    texts = {name: f"{it:.4g}" if isinstance(it, float) else str(it) for name, it in facts.items()}
    rows = (
        f"<tr><th>{name}</th><td>{escape(text)}</td></tr>"
        for name, text in texts.items()
        if text not in ("", "nan")
    )
    return f"<table>{''.join(rows)}</table>"


# ---- numbers -------------------------------------------------------------------------------------

# Bound on the relative error of floating point.
_FLOAT_ERROR = 1e-12


def fixed(value: float, digits: int = 2, sign: str = "") -> str:
    """Format a number with a fixed number of decimals, without a minus if it rounds to 0.

    Args:
        value: the number.
        digits: number of decimals.
        sign: "+" to write a plus before 0 and positive numbers.

    >>> fixed(-0.004), fixed(-1.005, 1), fixed(1234.5, 1), fixed(-0.001, 2, "+")
    ('0.00', '-1.0', '1234.5', '+0.00')
    """
    return f"{round(value, digits) + 0.0:{sign}.{digits}f}"


def percent(share: float, digits: int = 0) -> str:
    """Format a share in percent with `digits` decimals, without a minus if it rounds to 0.

    >>> percent(-0.004), percent(0.125), percent(-0.2), percent(-0.0004, 1)
    ('0%', '12%', '-20%', '0.0%')
    """
    return f"{fixed(100 * share, digits)}%"


def shortest(value: float) -> str:
    """Return the shortest text that reads back as a number; whole numbers have no decimals.

    >>> shortest(1.0), shortest(0.25), shortest(1e-6), shortest(math.inf)
    ('1', '0.25', '1e-06', 'inf')
    """
    return repr(value if isinstance(value, int) else float(value)).removesuffix(".0")


def at_most(value: float, digits: int = 3) -> str:
    """Return an upper bound as text, rounded up: the printed number is a bound, too.

    Errors of floating point, up to 1e-12 of the number, are ignored.

    Args:
        value: the bound.
        digits: number of significant digits of the text.

    >>> f"at most {at_most(69.146)}%", at_most(0.1 + 0.2), at_most(math.inf)
    ('at most 69.2%', '0.3', 'inf')
    """
    return _rounded(value * (1 - _FLOAT_ERROR), digits, decimal.ROUND_CEILING)


def at_least(value: float, digits: int = 3) -> str:
    """Return a lower bound as text, rounded down; otherwise like `at_most`.

    >>> f"at least {at_least(0.23679, digits=4)}"
    'at least 0.2367'
    """
    return _rounded(value * (1 + _FLOAT_ERROR), digits, decimal.ROUND_FLOOR)


def _rounded(value: float, digits: int, rounding: str) -> str:
    if math.isfinite(value):
        context = decimal.Context(prec=digits, rounding=rounding)
        value = float(context.create_decimal_from_float(value))
    return f"{value:.{digits}g}"


# ---- texts made safe for a terminal, Markdown or a spreadsheet -----------------------------------


def printable(text: str) -> str:
    """Replace control characters and line breaks of a text by question marks.

    >>> printable("a\\x1b[31m b")
    'a?[31m b'
    """
    return "".join(one if one.isprintable() else "?" for one in text)


def escape_markdown(text: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, in table cells too.

    >>> print(escape_markdown("<b> a|b"))
    \<b\> a\|b
    """
    return re.sub(r"([\\`*_{}\[\]<>&|#~$^])", r"\\\1", text).replace("\n", " ")


# Some spreadsheets also split cells at semicolons, skip invisible characters, and read wide signs.
_FORMULA = re.compile(r"(^|;)(?=[\s\x00-\x1f]*[=+\-@＝＋－＠])")


def spreadsheet_text(text: str) -> str:
    """Change a text for a CSV cell so that a spreadsheet shows it instead of computing it.

    Each part that would be a formula gets a leading apostrophe: at the start or after a semicolon,
    if its first visible character is =, +, -, @ or a wide form of these. A carriage return, which
    would start a new row, becomes a space.

    >>> spreadsheet_text("=1+1"), spreadsheet_text("A; @B"), spreadsheet_text("New Mexico - 2")
    ("'=1+1", "A;' @B", 'New Mexico - 2')
    """
    return _FORMULA.sub(r"\1'", text.replace("\r", " "))
