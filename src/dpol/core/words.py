"""Words of messages: numbers with their nouns, lists of names, and texts cut to a length."""

from __future__ import annotations

import re
from collections.abc import Iterable

LONGEST = 100
"""Number of characters of a cell that a message repeats."""


def shortened(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


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


def short_repr(value: object, *parts: str) -> str:
    """Return a `repr` of an object from its parts, on one line."""
    inner = ", ".join(parts)
    return f"{type(value).__name__}({inner if len(inner) <= 130 else inner[:127] + '...'})"
