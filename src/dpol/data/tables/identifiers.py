"""Spellings of one entity, group or text of `drop_where`.

Spreadsheets strip leading zeros, write `.0` after numbers and turn `true` into `TRUE`. An entity
with two spellings would play as two entities, both with gaps. Only the owner of a table can know
whether two spellings are one entity, so dpol asks.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection

from dpol.core.errors import DataError, Key, Text, in_lines
from dpol.core.words import shortened
from dpol.data.tables.bad_cells import Texts
from dpol.data.tables.settings import Cleaning

MOST_SPELLINGS = 10
"""Number of names that a message lists with their spellings."""


def refuse_alike(
    file: str, texts: Texts, rules: Cleaning, named: Collection[str] = (), key: Text = ""
) -> None:
    """Refuse texts that differ only in details that people and programs change by accident.

    Args:
        file: path of the table, for messages.
        texts: the cells of a column.
        rules: cleaning rules; their `identifiers` settle spellings.
        named: the texts of this column that the config names; if any, only other texts that look
            like one of them are refused.
        key: the key of the config that names them.

    Raises:
        DataError: there are such texts; the message lists each with its first row, and the lines
            of the config to paste.
    """
    first = texts.drop_duplicates()
    settled = {*rules.identifiers.values(), *named}
    alike = [
        same
        for _, same in first.groupby(first.map(folded), sort=False)
        if not settled.issuperset(same) and (same.isin([*named]).any() if named else len(same) > 1)
    ]
    if not alike:
        return
    lines, stands_for = [], dict[str, str]()
    for same in alike:
        each = [f"{shortened(name)!r} (row {row})" for row, name in same.items()]
        lines.append(f"  {' and '.join(each)}")
        # The longest has most likely lost nothing; of equally long ones, most rows have it.
        whole = max(same, key=lambda text: (len(text), (texts == text).sum()))
        kept = settled if named else {whole}
        stands_for |= {name: name if named else whole for name in same if name not in kept}
    if len(alike) > MOST_SPELLINGS:
        lines[MOST_SPELLINGS:] = [f"  and {len(alike) - MOST_SPELLINGS} more"]
    remedy: Text = (
        ("name the other spelling in ", key, " too; if it means something else, map it to itself ")
        if named
        else "map each spelling to its entity (to itself if it is a separate entity) "
    )
    paste = json.dumps(stands_for, ensure_ascii=False)
    start = (
        f"{file}: column {texts.name} holds texts that may be several spellings of one, which"
        " differ in case, leading zeros, a final .0 or the like:"
    )
    last = "Write each in one way, or ", remedy, Key(("dataset", "cleaning", "identifiers"), paste)
    raise DataError(in_lines([start, *lines, last]))


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
    letters = [(it, unicodedata.category(it)) for it in plain if not it.isspace()]
    marks = "".join(
        "-" if it not in ".," and (kind[0] == "P" or kind == "Sk") else it
        for it, kind in letters
        if kind != "Cf"
    )
    marks = re.sub(r"[.,]*-[-.,]*", "-", re.sub("[.,]+", ".", marks))
    between_digits = re.sub(r"(?<![0-9])[-.]|[-.](?![0-9])", "", marks)
    number = re.sub(r"^([0-9]+)\.0+$", r"\1", between_digits)
    return re.sub(r"^0+(?=\w)|(?<![0-9.])0+(?=[0-9])", "", number)
