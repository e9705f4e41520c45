"""Words of messages."""

from __future__ import annotations

import re

LONGEST = 100
"""Characters of a cell that a message repeats."""
HOLDS_RAW_COUNTS = "This folder holds your raw counts. Share nothing of it."
"""Warning where the counts of a run are not public."""


def shortened(text: str) -> str:
    """A text, cut where it is too long for a message."""
    return text if len(text) <= LONGEST else text[:LONGEST] + "..."


def printable(text: str) -> str:
    """A text on one line, without control characters.

    >>> printable("a\\x1b[31m b")
    'a?[31m b'
    """
    return "".join(one if one.isprintable() else "?" for one in text)


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "cell"), counted(2000, "entity")
    ('1 cell', '2,000 entities')
    """
    several = f"{what[:-1]}ies" if re.search("[^aeiou]y$", what) else f"{what}s"
    return f"{number:,} {what if number == 1 else several}"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, in a table cell too.

    >>> print(escape_markdown("<b> a|b"))
    \<b\> a\|b
    """
    return re.sub(r"([\\`*_{}\[\]<>&|#~$^])", r"\\\1", text).replace("\n", " ")
