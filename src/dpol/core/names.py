"""Names of entities that look too alike to be two entities."""

from __future__ import annotations

import re
import unicodedata

# Letters of other scripts that look like Latin ones, in lower case; some look alike only as
# capitals.
_LOOK_ALIKES = str.maketrans(
    dict(zip("абвекмнорстухіјѕһԁԛԝѵ", "abbekmhopctyxijshdqwv", strict=True))
    | dict(zip("αβεζηικμνορτυχϲ", "abezhikmnoptyxc", strict=True))
    | dict(zip("ıɑɡʼ−", "iag--", strict=True))
)


def folded(name: str) -> str:
    """Strip from a name the details that people and programs change by accident.

    These are Unicode form, case, full-width and other digits, spaces, formatting characters (soft
    hyphens, zero-width spaces), punctuation, leading zeros, a `.0` after a number, and Greek and
    Cyrillic letters that look like Latin ones. Punctuation between digits becomes a dot or dash, so
    1-11 is not 11-1. Characters that look alike within one script (I and l, O and 0) stay
    different. Names that fold to the same text may be one entity; only their owner can know.

    >>> folded("050002") == folded("５0002.0") == folded("5 0\N{SOFT HYPHEN}002")
    True
    >>> folded("САFÉ") == folded("Cafe\N{COMBINING ACUTE ACCENT}")  # The first: C and A Cyrillic.
    True
    >>> folded("St. Mary_1") == folded("'St Mary' -01.") == "stmary1"
    True
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = "".join(map(_plain_character, plain)).translate(_LOOK_ALIKES)
    marks = "".join(
        "-" if _is_mark(letter) and letter not in ".," else letter for letter in letters
    )
    marks = re.sub(r"[.,]*-[-.,]*", "-", re.sub("[.,]+", ".", marks))
    between_digits = re.sub(r"(?<![0-9])[-.]|[-.](?![0-9])", "", marks)
    number = re.sub(r"^([0-9]+)\.0+$", r"\1", between_digits)
    return re.sub(r"^0+(?=\w)|(?<![0-9.])0+(?=[0-9])", "", number)


def _plain_character(character: str) -> str:
    if character.isspace() or unicodedata.category(character) == "Cf":
        return ""
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _is_mark(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind[0] == "P" or kind == "Sk"
