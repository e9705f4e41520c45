"""Words of messages about files and entities that others have named."""

from __future__ import annotations

from collections.abc import Sequence

LISTED = 20
"""Number of names that a sentence lists."""


def escaped(text: str) -> str:
    r"""A text that can be stored and shown: bytes of file names that are no UTF-8 as their codes.

    >>> escaped("\udcfcbersicht.zip")
    '\\udcfcbersicht.zip'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def listed(names: Sequence[str]) -> str:
    """The first names, and how many more there are.

    >>> listed(["a", "b"]), listed([str(number) for number in range(22)])[-17:]
    ('a, b', '18, 19 and 2 more')
    """
    more = len(names) - LISTED
    return ", ".join(names[:LISTED]) + (f" and {more:,} more" if more > 0 else "")
