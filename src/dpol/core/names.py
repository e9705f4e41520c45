"""Names of entities: which are allowed, and which are too much alike to be two."""

from __future__ import annotations

import re
import unicodedata

from dpol.core.cells import spreadsheet_text

# Letters of other scripts that look like Latin ones, as small letters; by the shape of the
# capital where that is the likelier one.
_LOOK_ALIKES = str.maketrans(
    dict(zip("абвекмнорстухіјѕһԁԛԝѵ", "abbekmhopctyxijshdqwv", strict=True))
    | dict(zip("αβεζηικμνορτυχϲ", "abezhikmnoptyxc", strict=True))
    | dict(zip("ıɑɡʼ−", "iag--", strict=True))
)
# Printable for Unicode, and yet nothing is seen.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def fault_of(name: str) -> str:
    """The rule that a name breaks, and the remedy; empty if it is plain text and no formula."""
    if not name or not name.isprintable() or _INVISIBLE.search(name):
        return "must be plain text, without line ends and characters that are not seen"
    plain = unicodedata.normalize("NFKC", name)
    if spreadsheet_text(plain) != plain:
        return (
            "begins with = + - or @, which a spreadsheet takes for a formula; write it differently"
        )
    return ""


def folded(name: str) -> str:
    """The name without what people and programs change by accident.

    Unicode form, case, full-width and other digits, spaces, signs that only guide how a text is
    set (soft hyphens, zero-width spaces), punctuation, leading zeros, a `.0` at the end of a
    number, and Greek and Cyrillic letters that look like Latin ones. A sign between
    digits is kept, as a dot or a dash: 1-11 is not 11-1. Names that are folded to the same text
    may be one entity; nobody but their owner can know. Letters that look alike within one script
    (I and l, O and 0) stay different.

    >>> folded("050002") == folded("５0002.0") == folded("5 0\N{SOFT HYPHEN}002")
    True
    >>> folded("САFÉ") == folded("Cafe\N{COMBINING ACUTE ACCENT}")  # The first: C and A Cyrillic.
    True
    >>> folded("St. Mary_1") == folded("'St Mary' -01.") == "stmary1"
    True
    """
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    letters = "".join(map(_plain_character, plain)).translate(_LOOK_ALIKES)
    marks = "".join("-" if _is_mark(it) and it not in ".," else it for it in letters)
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
