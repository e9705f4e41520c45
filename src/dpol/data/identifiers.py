"""Identifiers and names of entities: spellings that may be one entity, and garbled text.

Spreadsheets strip leading zeros, write `.0` after numbers and turn `true` into `TRUE`. An entity
with two spellings would play as two entities, both with gaps. Only the owner of a table can know
whether two spellings are one entity, so dpol asks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection

import pandas as pd

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol.core.words import counted, shortened
from dpol.data.bad_cells import BadCells, Texts
from dpol.data.settings import Cleaning

SHOWN = 10
"""Number of identifiers that a message shows."""
_BROKEN = re.compile("[\ufffd\x80-\x9f]")


def identified(texts: Texts, rules: Cleaning) -> Texts:
    """Return the identifier of each cell: from `cleaning.identifiers`, or else its own text."""
    return texts if rules.identifiers == "exact" else texts.replace(dict(rules.identifiers))


def refuse_alike(file: str, entities: Texts, rules: Cleaning) -> None:
    """Refuse identifiers that differ only in details that people and programs change by accident.

    Args:
        file: path of the table, for messages.
        entities: cells from `identified`.
        rules: cleaning rules; their `identifiers` settle spellings.

    Raises:
        DataError: there are such identifiers; the text lists each with its first row, and the
            lines of the config to paste.
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
        # The longest spelling has most likely lost nothing.
        whole = max(names, key=len)
        stands_for |= {name: whole for name in names if name != whole}
    if len(alike) > SHOWN:
        lines.append(f"  and {len(alike) - SHOWN} more")
    raise DataError(
        f"{file}: column {entities.name}: {counted(len(alike), 'entity')} may have several"
        " spellings, which differ in case, leading zeros, a final .0 or the like:\n"
        + "\n".join(lines)
        + "\nWrite each entity in one way, or map each spelling to its entity in the config (to"
        " itself if it is a separate entity; identifiers: exact keeps all spellings separate):\n"
        f"dataset:\n  cleaning:\n    identifiers: {json.dumps(stands_for, ensure_ascii=False)}"
    )


def refuse_look_alikes(
    file: str, texts: Texts, wanted: Collection[str], key: str, rules: Cleaning
) -> None:
    """Refuse texts that the config does not name, but which look like a text that it names.

    Args:
        file: path of the table, for messages.
        texts: the cells of a column.
        wanted: the texts of this column that the config names.
        key: the key of the config that names them.
        rules: cleaning rules; their `identifiers` settle spellings.

    Raises:
        DataError: there are such texts; the message lists each with its rows and the named text.
    """
    if rules.identifiers == "exact":
        return
    named = {form: text for text in wanted if (form := folded(text))}
    settled = {"", *wanted, *rules.identifiers.values()}
    others = texts[~texts.isin(settled)]  # a row of a wide table occurs several times
    rows = pd.Series(others.index).groupby(others.to_numpy(), sort=False)
    alike = {
        text: f"  {shortened(text)!r} ({counted(size, 'row')}, first {row}) and {same!r}"
        for text, size, row in rows.agg(["size", "min"]).itertuples()
        if (same := named.get(folded(text)))
    }
    if alike:
        itself = json.dumps({text: text for text in alike}, ensure_ascii=False)
        raise DataError(
            f"{file}: column {texts.name} holds texts that look like texts in {key}:\n"
            + "\n".join([*alike.values()][:SHOWN])
            + f"\nWrite each in one way, or name the other spelling in {key} too. If it means"
            " something else, map it to itself in the config:\n"
            f"dataset:\n  cleaning:\n    identifiers: {itself}"
        )


def garbled(texts: Texts, encoding: str) -> BadCells:
    """Return the cells that are garbled: the table was read, or once saved, in a wrong encoding.

    A garbled cell holds a replacement character, a control character, or UTF-8 that was read as
    another encoding (`Ã¼` for `ü`).

    Args:
        texts: the cells.
        encoding: the encoding in which the table was read.
    """
    values = [text for text in texts.unique() if not text.isascii()]
    misread = {text for text in values if _utf_8_read_as(text, encoding)}
    # In another encoding a single text may look like UTF-8 by chance.
    if encoding != "utf-8" and len(misread) < len(values):
        misread = set()
    bad = texts[texts.isin({*misread, *(text for text in values if _BROKEN.search(text))})]
    remedy = (
        "The text is garbled: it was read, or once saved, in a wrong encoding. Set the right"
        " dataset.format.encoding (usually utf-8), or get an intact copy of the table."
    )
    return BadCells(bad, "text that is not garbled", (remedy,))


def _utf_8_read_as(text: str, encoding: str) -> bool:
    """Return whether a text beyond ASCII is UTF-8 that was read in another encoding."""
    try:
        letters = text.encode("cp1252" if encoding == "utf-8" else encoding).decode("utf-8")
    except UnicodeError:
        return False
    # A capital letter before a blank or quote decodes to a phonetic sign, which is rare in names.
    return not any("\u0250" <= letter <= "\u036f" for letter in letters)
