"""Words of messages: numbers with nouns, lists of names, names probably meant, and texts cut."""

from __future__ import annotations

import difflib
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
