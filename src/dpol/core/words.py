"""Words of messages."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection
from typing import Any

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


def one_line(value: Any) -> str:
    """The `repr` of a dataclass that holds arrays: their shapes, and no default.

    >>> import numpy as np
    >>> from dpol.experts.interface import Observation
    >>> Observation(np.zeros((4, 3)), np.ones(3))
    Observation(gains: 4 x 3, noise_scale: 3)
    """
    parts = []
    for field in dataclasses.fields(value):
        found = getattr(value, field.name)
        if hasattr(found, "shape"):
            parts.append(f"{field.name}: {' x '.join(map(str, found.shape))}")
        elif dataclasses.is_dataclass(found):
            parts.append(f"{field.name}: {type(found).__name__}")
        elif isinstance(found, Collection) and not isinstance(found, str):
            parts.append(f"{field.name}: {counted(len(found), 'item')}")
        elif found != field.default:
            shown = f"{found:g}" if isinstance(found, float) else repr(found)
            parts.append(f"{field.name}={shown}")
    return called(value, *parts)


def called(value: object, *parts: str) -> str:
    """The `repr` of an object on one line, of its parts."""
    inner = ", ".join(parts)
    return f"{type(value).__name__}({inner if len(inner) <= 130 else inner[:127] + '...'})"
