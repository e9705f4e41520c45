"""Words for files and entities that others have named."""

from __future__ import annotations

from collections.abc import Sequence

LISTED = 20
"""Number of names that a sentence lists."""


def escaped(text: str) -> str:
    r"""Return a text that can be stored and shown: bytes that are not UTF-8 become their codes.

    >>> escaped("\udcfcbersicht.zip")
    '\\udcfcbersicht.zip'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def listed(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others.

    >>> listed(["a", "b"]), listed([str(number) for number in range(22)])[-17:]
    ('a, b', '18, 19 and 2 more')
    """
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more > 0 else "")
