"""Identifiers and names of entities: spellings that may be one entity, and texts that are garbled.

Spreadsheets take leading zeros off, write `.0` after numbers and turn `true` into `TRUE`. An entity
with two spellings would play as two, both with gaps. Nobody but the owner of a table can know
whether two spellings are one entity, so it is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol.core.words import counted, shortened
from dpol.data.cells import BadCells, Texts
from dpol.data.settings import Cleaning

SHOWN = 10
"""Identifiers that a message shows."""
_BROKEN = re.compile("[\ufffd\x80-\x9f]")


def identified(texts: Texts, rules: Cleaning) -> Texts:
    """The identifier of each cell: the one that `cleaning.identifiers` gives, or its own text."""
    return texts if rules.identifiers == "exact" else texts.replace(dict(rules.identifiers))


def refuse_alike(file: str, entities: Texts, rules: Cleaning) -> None:
    """Refuse identifiers that differ only in what people and programs change by accident.

    Args:
        file: of the table, for messages.
        entities: `identified` cells.
        rules: whose `identifiers` say which spellings are known to be right.

    Raises:
        DataError: such identifiers, each with its first row, and the lines of the config to paste.
    """
    if rules.identifiers == "exact":
        return
    first = entities.drop_duplicates()
    settled = {*rules.identifiers.values()}
    alike = [
        names
        for _, names in first.groupby(first.map(folded), sort=False)
        if len(names) > 1 and not settled.issuperset(names)
    ]
    if not alike:
        return
    lines, stands_for = [], dict[str, str]()
    for names in alike[:SHOWN]:
        each = [f"{shortened(name)!r} (row {row})" for row, name in names.items()]
        lines.append(f"  {' and '.join(each)}")
        # From the longest most likely nothing was lost.
        whole = max(names, key=len)
        stands_for |= {name: whole for name in names if name != whole}
    if len(alike) > SHOWN:
        lines.append(f"  and {len(alike) - SHOWN} more")
    raise DataError(
        f"{file}: column {entities.name}: {counted(len(alike), 'entity')} may have several"
        " spellings, which differ in case, leading zeros, a final .0 or the like:\n"
        + "\n".join(lines)
        + "\nWrite each entity in one way. Or say in the config for which entity each spelling"
        " stands; a spelling that is an entity of its own stands for itself:\n"
        f"dataset:\n  cleaning:\n    identifiers: {json.dumps(stands_for, ensure_ascii=False)}\n"
        "With identifiers: exact every spelling is an entity of its own."
    )


def refuse_look_alikes(
    file: str, texts: Texts, wanted: Collection[str], key: str, rules: Cleaning
) -> None:
    """Refuse texts that a key of the config does not name, and which look like one that it names.

    Args:
        file: of the table, for messages.
        texts: the cells of a column.
        wanted: what the config names of them.
        key: the key that does.
        rules: whose `identifiers` say which spellings are known to be right.

    Raises:
        DataError: such texts, each with its rows and the text of the config.
    """
    if rules.identifiers == "exact":
        return
    named = {form: text for text in wanted if (form := folded(text))}
    settled = {"", *wanted, *rules.identifiers.values()}
    others = texts[~texts.isin(settled)]  # a row of a wide table is there several times
    rows = pd.Series(others.index).groupby(others.to_numpy(), sort=False)
    alike = {
        text: f"  {shortened(text)!r} ({counted(size, 'row')}, first {row}) and {same!r}"
        for text, size, row in rows.agg(["size", "min"]).itertuples()
        if (same := named.get(folded(text)))
    }
    if alike:
        itself = json.dumps({text: text for text in alike}, ensure_ascii=False)
        raise DataError(
            f"{file}: column {texts.name} holds texts that differ from those of {key} in looks"
            " only:\n" + "\n".join([*alike.values()][:SHOWN]) + "\nWrite each in one way, or name"
            f" the other spelling in {key} too. A text that means something else stands for itself"
            f" in the config:\ndataset:\n  cleaning:\n    identifiers: {itself}"
        )


def garbled(texts: Texts, encoding: str) -> BadCells:
    """Cells whose letters were lost because the table was read, or once saved, in a wrong encoding.

    They hold a sign that stands for a lost letter, a control character, or UTF-8 that was read as
    another encoding (`Ã¼` for `ü`).

    Args:
        texts: the cells.
        encoding: in which the table was read.
    """
    values = [text for text in texts.unique() if not text.isascii()]
    misread = {text for text in values if _utf_8_read_as(text, encoding)}
    # In another encoding than UTF-8 a single text may look like UTF-8 by chance.
    if encoding != "utf-8" and len(misread) < len(values):
        misread = set()
    bad = texts[texts.isin({*misread, *(text for text in values if _BROKEN.search(text))})]
    remedy = (
        "The letters of a name are garbled: it was read, or once saved, in a wrong encoding. Set"
        " the right dataset.format.encoding (most are utf-8), or get a good copy of the table."
    )
    return BadCells(bad, "text whose letters are whole", (remedy,))


def _utf_8_read_as(text: str, encoding: str) -> bool:
    """True if a text that is not ASCII is UTF-8 that was read in another encoding."""
    try:
        letters = text.encode("cp1252" if encoding == "utf-8" else encoding).decode("utf-8")
    except UnicodeError:
        return False
    # Phonetic signs, which are rare in names, stand for a capital letter before a blank or quote.
    return not any("\u0250" <= letter <= "\u036f" for letter in letters)
