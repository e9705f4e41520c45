"""Suggestions of the known name that somebody probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
