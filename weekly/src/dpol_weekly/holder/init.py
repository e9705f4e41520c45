"""Write a first `hospital.yaml` from the cells of a table, and leave open what they do not say.

A number or date that could mean two things is never guessed.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import openpyxl

from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol.core.suggestions import nearest
from dpol.core.words import printable
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.readings import date_formats, number_formats, week_examples
from dpol_weekly.holder.settings import KEY_NAME
from dpol_weekly.keys import Key, make_key
from dpol_weekly.tables.files import (
    MOST_TITLES,
    TextTable,
    likely_encoding,
    open_table,
    read_table_file,
)
from dpol_weekly.tables.format import Format
from dpol_weekly.tables.sheets import DamagedError, read_sheet

_LINES = 200
_MOST_SUMS = 2  # rows without a date at the end of a table


@dataclass
class _Draft:
    """A draft of the file.

    Args:
        form: keys of the block `format`.
        names: keys of the block `columns`.
        open: keys that are still to be set, with possible values.
    """

    form: dict[str, Any]
    names: dict[str, str] = field(default_factory=dict)
    open: dict[str, list[str]] = field(default_factory=dict)

    def name(self, key: str, choices: Sequence[str], *, guess: bool = True) -> str:
        """Set a key of the block `columns` as `choose` does; return its column, or ''."""
        if chosen := self.choose(f"columns.{key}", choices, guess=guess):
            self.names[key] = chosen
        return chosen or ""

    def choose(self, key: str, choices: Sequence[str], *, guess: bool = True) -> str | None:
        """Return the only choice; without one the key stays open."""
        if guess and len(choices) == 1:
            return choices[0]
        self.open[key] = list(choices)
        return None


def begin(
    file: Path,
    table: Path,
    agreed: Path,
    deployment: Deployment,
    *,
    entity: str | None = None,
    sheet: str | None = None,
) -> str:
    """Write a holder's file for a table, and a key; return a line with the keys left to set.

    Args:
        file: the file to write.
        table: the table of raw counts.
        agreed: the file of the agreement.
        deployment: the agreement.
        entity: the holder's identifier in it; None: found in the table, or left open.
        sheet: the sheet of a workbook; None: the only one, or left open.

    Raises:
        DataError: the table cannot be read, it has no such sheet, the agreement lacks the entity,
            or the existing key file holds no key.
        OutputError: the file or the key cannot be written.
    """
    if entity is not None and entity not in deployment.entities:
        near = nearest(entity, deployment.entities)
        raise DataError(f"--entity: {deployment.name} has no entity {entity!r}{near}")
    draft = _Draft({})
    if not _set_sheet(draft, table, sheet):  # nothing of the table can be read
        own: dict[str, Any] = {"entity": entity} if entity else {}
        line = _written(file, table, agreed, draft, own)
        return f"{line}; or move it away, and name the sheet with --sheet, which fills in the rest"
    draft.form |= _form_of(table, Format.model_validate(draft.form))
    plain = read_table_file(table, None, Format.model_validate(draft.form))
    columns = {
        name: [row[place].strip() for row in plain.rows] for place, name in enumerate(plain.header)
    }
    period = _period(draft, plain, columns)
    columns, dropped = _without_sums(columns, period)
    ids = [entity] if entity else list(deployment.entities)
    own = _entities(draft, ids, columns, period)
    counts: Collection[str] = own.get("entities", {}).values()
    if "layout" not in draft.form:
        names = own.get("entities") or own.values() or ids
        reported = any(deployment.entities[name].beds is None for name in names)
        counts = _numbers(draft, columns, period, reported=reported)
    _set_signs(draft, {cell for name in counts for cell in columns[name]})
    return _written(file, table, agreed, draft, {**own, "drop_where": dropped or None})


def _written(file: Path, table: Path, agreed: Path, draft: _Draft, own: Mapping[str, Any]) -> str:
    """Write the file and the key; return a line with the keys left to set."""
    folder = file.parent.resolve()
    whole = {
        "deployment": os.path.relpath(agreed.resolve(), folder),
        **own,
        "table": os.path.relpath(table.resolve(), folder),
        "columns": draft.names or None,
        "format": draft.form or None,
        "output": "released",
        "key": KEY_NAME,
    }
    lines = ["# Where this holder's counts are, and how they are written. It is never sent."]
    lines += [f"{key}: {_plain(value)}" for key, value in whole.items() if value is not None]
    for key, choices in draft.open.items():
        may = f": {' or '.join(choices[:9])}" if choices else ""
        lines.append(printable(f"# Still to be set: {key}{may}"))
    secret = file.with_name(KEY_NAME)
    public = Key(secret).public if secret.exists() else make_key(secret)
    lines.append(f"# Public half of the key, for the agreement: {public}")
    write_text(file, "\n".join(lines) + "\n")
    if draft.open:
        return f"{file}: set {', '.join(draft.open)} in it, then run dpol privatize {file}"
    return f"{file}: read it, and run dpol privatize {file}"


def _plain(value: object) -> str:
    """Return a value or a block as one line of YAML."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    keys = {key if key.isidentifier() else _plain(key): it for key, it in value.items()}
    return f"{{{', '.join(f'{key}: {_plain(it)}' for key, it in keys.items())}}}"


def _set_sheet(draft: _Draft, table: Path, sheet: str | None) -> bool:
    """Set the sheet of a workbook that has several; return True if the table can be read."""
    sheets: list[str] = []
    if table.suffix == ".xlsx" and table.is_file():
        with suppress(OSError, KeyError, ValueError, BadZipFile):
            sheets = openpyxl.load_workbook(table, read_only=True).sheetnames
    if sheet is not None and sheet not in sheets:
        has = f"has the sheets {', '.join(map(repr, sheets))}" if sheets else "has no sheets"
        raise DataError(f"--sheet {sheet}: {table} {has}")
    if len(sheets) < 2:
        return True
    chosen = sheet or draft.choose("format.sheet", sheets)
    if chosen:
        draft.form["sheet"] = chosen
    return chosen is not None


def _form_of(table: Path, form: Format) -> dict[str, Any]:
    """Return the encoding, the delimiter and the number of lines above the header."""
    if table.suffix == ".parquet" or not table.is_file():
        return {}
    if table.suffix == ".xlsx":
        try:
            rows = [(line, row.texts) for line, row in read_sheet(table, form)]
        except DamagedError:
            return {}
        return _below_titles([row for _, row in rows], [line - 1 for line, _ in rows])
    with open_table(table) as stream:
        start = stream.read(1 << 20)
    encoding = likely_encoding(start)
    found: dict[str, Any] = {} if encoding == "utf-8" else {"encoding": encoding}
    text = start.decode(found.get("encoding", "utf-8-sig"), "replace")
    lines = list(itertools.islice(io.StringIO(text), _LINES))

    def cut(mark: str) -> list[list[str]]:
        return [next(csv.reader([line], delimiter=mark), []) for line in lines]

    def fits(mark: str) -> int:
        width, number = Counter(map(len, cut(mark))).most_common(1)[0]
        return number if width > 1 else 0

    best = max((",", ";", "\t", "|"), key=fits) if lines else ","
    if best != ",":
        found["delimiter"] = best
    return found | _below_titles(cut(best), range(len(lines)))


def _below_titles(rows: Sequence[Sequence[str]], skipped: Sequence[int]) -> dict[str, Any]:
    """Return the key that skips titles: the header names every column that the rows below fill."""
    width = max(map(len, rows), default=0)
    for row, above in zip(rows[:MOST_TITLES], skipped, strict=False):
        if len(row) == width and all(cell.strip() for cell in row):
            return {"skip_rows": above} if above else {}
    return {}


def _period(draft: _Draft, plain: TextTable, columns: Mapping[str, list[str]]) -> str:
    """Return the column of periods, or ''; the format gets its dates."""
    dates = {name: _dates(cells) for name, cells in columns.items()}
    dated = [name for name, formats in dates.items() if formats]
    period = draft.name("period", dated)
    if not dated:
        draft.open["columns.period"] = [
            "a column of days (2021-01-31, 31.1.2021)",
            "weeks (2021-W05)",
            *week_examples(columns),
        ]
    if not period or period in plain.typed or "YYYY-MM-DD" in dates[period]:
        return period
    if date := draft.choose("format.date", dates[period]):
        draft.form["date"] = date
    return period


def _dates(cells: Sequence[str]) -> list[str]:
    """Return the formats that read all cells as dates, except empty cells and sums at the end."""
    body = cells
    for _ in range(_MOST_SUMS + 1):
        if any(body) and (formats := date_formats({*filter(None, body)})):
            return formats
        body = body[:-1]
    return []


def _without_sums(
    columns: dict[str, list[str]], period: str
) -> tuple[dict[str, list[str]], dict[str, object]]:
    """Return the columns without undated rows at the end, and what marks such rows.

    No text that begins with a digit is used: it might be a count.
    """
    if not period:
        return columns, {}
    dates = columns[period]
    rows = len(dates)
    while rows and rows > len(dates) - _MOST_SUMS and not date_formats({dates[rows - 1]}):
        rows -= 1
    kept = {name: cells[:rows] for name, cells in columns.items()}
    for name in (period, *columns):
        texts = list(dict.fromkeys(columns[name][rows:]))
        named = all(text and not text[0].isdigit() for text in texts)
        if texts and named and {*texts}.isdisjoint(kept[name]):
            return kept, {name: texts[0] if len(texts) == 1 else texts}
    return kept, {}


def _entities(
    draft: _Draft, ids: Sequence[str], columns: Mapping[str, list[str]], period: str
) -> dict[str, Any]:
    """Return the key that assigns rows to entities, from the cells.

    A table is wide if each entity has a column, and long if a column names the entity of a row;
    otherwise all rows belong to one entity.
    """
    if own := [name for name in ids if name in columns]:
        draft.form["layout"] = "wide"
        return {"entities": {name: name for name in own}}
    texts = {
        name: list(dict.fromkeys(cells))
        for name, cells in columns.items()
        if not (name == period or number_formats({*cells}) or _dates(cells))
    }
    for name, held in texts.items():
        if own := [identifier for identifier in ids if identifier in held]:
            draft.names["entity"] = name
            return {"entities": {identifier: identifier for identifier in own}}
    several = [name for name, held in texts.items() if len(held) > 1]
    dates = columns.get(period, [])
    if not several or len({*dates}) == len(dates) > 1:  # no date twice: rows of one entity
        only = draft.choose("entity", ids)
        return {"entity": only} if only else {}
    column = draft.name("entity", several)
    block = ", ".join(f"{name}: TEXT" for name in ids)
    there = f" with the TEXT of the table: {', '.join(texts[column][:9])}" if column else ""
    draft.open["entities"] = [f"{{{block}}}{there}"]
    return {}


def _set_signs(draft: _Draft, cells: Collection[str]) -> None:
    """Set the decimal and thousands signs if only one reading is possible."""
    signs = number_formats(cells)
    shown = [_plain(keys) for keys in signs]
    if chosen := draft.choose("format.decimal or format.thousands", shown):
        draft.form |= signs[shown.index(chosen)]


def _numbers(
    draft: _Draft, columns: Mapping[str, list[str]], period: str, *, reported: bool
) -> Collection[str]:
    """Return the possible columns of counts, and of reported capacities."""
    numbers = [name for name, it in columns.items() if name != period and number_formats({*it})]
    counts = ["count"] if "count" in numbers else numbers
    found = [draft.name("count", counts)]
    if reported:  # Its cells are published, so that nothing is guessed.
        beds = [name for name in numbers if name != found[0]]
        named = "capacity" in beds
        found.append(draft.name("capacity", ["capacity"] if named else beds, guess=named))
    return [*filter(None, found)] if found[0] else numbers
