"""Text helpers for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 100
"""Number of characters of a cell that a message repeats."""
HOLDS_RAW_COUNTS = "This folder holds your raw counts. Share nothing of it."
"""Warning in runs whose counts are not public."""


def shortened(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def printable(text: str) -> str:
    """Replace control characters and line breaks of a text by question marks.

    >>> printable("a\\x1b[31m b")
    'a?[31m b'
    """
    return "".join(one if one.isprintable() else "?" for one in text)


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


def escape_markdown(text: str) -> str:
    r"""Escape a text so that Markdown shows it as it is, in table cells too.

    >>> print(escape_markdown("<b> a|b"))
    \<b\> a\|b
    """
    return re.sub(r"([\\`*_{}\[\]<>&|#~$^])", r"\\\1", text).replace("\n", " ")


def short_repr(value: object, *parts: str) -> str:
    """Return a `repr` of an object from its parts, on one line."""
    inner = ", ".join(parts)
    return f"{type(value).__name__}({inner if len(inner) <= 130 else inner[:127] + '...'})"


def unmeasured_in_words(periods: int, share: float, of: int, period: str = "period") -> str:
    """Say in how many periods nobody measured the best number.

    Args:
        periods: number of these periods.
        share: their share of the possible gain.
        of: number of all periods.
        period: what a period is called.

    >>> unmeasured_in_words(13, 0.0893, of=67, period="week")
    'in 13 of 67 weeks, with 9% of the possible gain, nobody measured the best number'
    """
    return (
        f"in {periods} of {of} {period}s, with {100 * share:.0f}% of the possible gain, nobody"
        " measured the best number"
    )
