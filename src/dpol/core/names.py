"""Names of entities that look too alike to be two entities."""

from __future__ import annotations

import re
import unicodedata


def folded(name: str) -> str:
    """Strip from a name the details that people and programs change by accident.

    These are Unicode form, case, full-width characters, spaces, formatting characters (soft
    hyphens, zero-width spaces), punctuation, leading zeros, and a `.0` after a number. Punctuation
    between digits becomes a dot or dash, so 1-11 is not 11-1. Characters that look alike (I and l,
    O and 0, a Latin and a Cyrillic A) stay different. Names that fold to the same text may be one
    entity; only their owner can know.

    >>> folded("050002") == folded("５0002.0") == folded("5 0\N{SOFT HYPHEN}002")
    True
    >>> folded("CAFÉ") == folded("Cafe\N{COMBINING ACUTE ACCENT}")
    True
    >>> folded("St. Mary_1") == folded("'St Mary' -01.") == "stmary1"
    True
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = "".join(letter for letter in plain if not _is_blank(letter))
    marks = "".join(
        "-" if _is_mark(letter) and letter not in ".," else letter for letter in letters
    )
    marks = re.sub(r"[.,]*-[-.,]*", "-", re.sub("[.,]+", ".", marks))
    between_digits = re.sub(r"(?<![0-9])[-.]|[-.](?![0-9])", "", marks)
    number = re.sub(r"^([0-9]+)\.0+$", r"\1", between_digits)
    return re.sub(r"^0+(?=\w)|(?<![0-9.])0+(?=[0-9])", "", number)


def _is_blank(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) == "Cf"


def _is_mark(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind[0] == "P" or kind == "Sk"
