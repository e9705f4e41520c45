"""A first `hospital.yaml` for a table: what its cells prove; the rest is asked, or left to be set.

A number or date that could mean two things is never guessed.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol.core.near import nearest
from dpol.core.words import printable
from dpol.data.format import Format
from dpol.data.plain import MOST_TITLES, PlainTable, open_table, read_plain
from dpol.data.sheets import BadWorkbookError, read_sheet
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import KEYS
from dpol_weekly.holder.readings import date_formats, number_formats
from dpol_weekly.keys import Key, make_key

Ask = Callable[[str, Sequence[str]], str | None]
"""Asks a person to choose; None for no answer."""
_KEY = "dpol.key"
_LINES = 200


@dataclass
class _Draft:
    """The keys of the file so far, and those that are still to be set, with what may be right."""

    ask: Ask | None
    keys: dict[str, Any] = field(default_factory=dict)
    open: dict[str, list[str]] = field(default_factory=dict)

    def choose(
        self, key: str, choices: Sequence[str], question: str, *, guess: bool = True
    ) -> str | None:
        """The only choice, or the one that a person takes; without any the key stays open."""
        if guess and len(choices) == 1:
            return choices[0]
        chosen = self.ask(question, choices) if self.ask and choices else None
        if chosen is None:
            self.open[key] = list(choices)
        return chosen


def begin(
    file: Path,
    table: Path,
    agreed: Path,
    deployment: Deployment,
    *,
    entity: str | None = None,
    ask: Ask | None = None,
) -> str:
    """Write a holder's file for a table, and a key; a line that says what is still to be set.

    Args:
        file: to be written.
        table: the raw counts.
        agreed: the file of the deployment.
        deployment: the deployment.
        entity: the holder's identifier in it; None: it is found, or asked for.
        ask: asks a person; None: nobody is there.

    Raises:
        DataError: the table cannot be read, the deployment lacks the entity, or a key is there
            already that is none.
        OutputError: the file or the key cannot be written.
    """
    if entity is not None and entity not in deployment.entities:
        near = nearest(entity, deployment.entities)
        raise DataError(f"--entity: {deployment.name} has no entity {entity!r}{near}")
    draft = _Draft(ask)
    form = _form_of(table)
    plain = read_plain(table, None, Format.model_validate(form), KEYS)
    columns = {
        name: [row[place].strip() for row in plain.rows] for place, name in enumerate(plain.header)
    }
    period = _period(draft, plain, columns, form)
    dropped = _sums(columns, period)
    columns = {
        name: [cell for cell, day in zip(cells, columns[period], strict=True) if day]
        for name, cells in columns.items()
        if period
    } or columns
    ids = [entity] if entity else list(deployment.entities)
    named, column = _entities(draft, ids, columns, period)
    if column == "":
        form["layout"] = "wide"
    own = [deployment.entities[name] for name in named or ids if name in deployment.entities]
    reported = any(it.beds is None for it in own)
    counts = (
        [*named.values()] if column == "" else _numbers(draft, columns, period, reported=reported)
    )
    signs = number_formats({cell for name in counts for cell in columns[name]})
    if counts and len(signs) == 1:
        form |= signs[0]
    elif counts:
        shown = [_plain(keys) for keys in signs]
        if chosen := draft.choose(
            "format.decimal or format.thousands", shown, "How are its numbers written?"
        ):
            form |= signs[shown.index(chosen)]
    names = {"entity": column or None, "period": period, **draft.keys}
    folder = file.parent.resolve()
    whole = {
        "deployment": os.path.relpath(agreed.resolve(), folder),
        "entity": next(iter(named)) if len(named) == 1 and column is None else None,
        "entities": named or None if column is not None else None,
        "table": os.path.relpath(table.resolve(), folder),
        "columns": {key: name for key, name in names.items() if name},
        "format": form or None,
        "drop_where": dropped or None,
        "output": "released",
        "key": _KEY,
    }
    lines = ["# Where this holder's counts are, and how they are written. It is never sent."]
    for key, value in whole.items():
        if value is not None:
            lines.append(f"{key}: {_plain(value)}")
    for key, choices in draft.open.items():
        may = f": {' or '.join(choices[:9])}" if choices else ""
        lines.append(printable(f"# Still to be set: {key}{may}"))
    secret = file.with_name(_KEY)
    public = Key(secret).public if secret.exists() else make_key(secret)
    lines.append(f"# Public half of the key, for the agreement: {public}")
    write_text(file, "\n".join(lines) + "\n")
    if draft.open:
        return f"{file}: set {', '.join(draft.open)} in it, then run dpol privatize {file}"
    return f"{file}: read it, and run dpol privatize {file}"


def _plain(value: object) -> str:
    """A value, or a block, in one line of YAML."""
    if not isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False)
    keys = {key if key.isidentifier() else _plain(key): it for key, it in value.items()}
    return f"{{{', '.join(f'{key}: {_plain(it)}' for key, it in keys.items())}}}"


def _form_of(table: Path) -> dict[str, Any]:
    """The encoding, the delimiter and the lines above the header, as far as a file shows them."""
    if table.suffix == ".parquet" or not table.is_file():
        return {}
    if table.suffix == ".xlsx":
        try:
            rows = [(line, row.texts) for line, row in read_sheet(table, Format(), KEYS.format)]
        except BadWorkbookError:
            return {}
        return _below_titles([row for _, row in rows], [line - 1 for line, _ in rows])
    with open_table(table) as stream:
        start = stream.read(1 << 20)
    form: dict[str, Any] = {}
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        form["encoding"] = "utf-16"
    else:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(start)
        except UnicodeDecodeError:
            form["encoding"] = "cp1252"
    text = start.decode(form.get("encoding", "utf-8-sig"), "replace")
    lines = list(itertools.islice(io.StringIO(text), _LINES))

    def cut(mark: str) -> list[list[str]]:
        return [next(csv.reader([line], delimiter=mark), []) for line in lines]

    def fits(mark: str) -> int:
        width, number = Counter(map(len, cut(mark))).most_common(1)[0]
        return number if width > 1 else 0

    best = max((",", ";", "\t", "|"), key=fits) if lines else ","
    if best != ",":
        form["delimiter"] = best
    return form | _below_titles(cut(best), range(len(lines)))


def _below_titles(rows: Sequence[Sequence[str]], skipped: Sequence[int]) -> dict[str, Any]:
    """The key that skips titles: the header has a name in every column that the rows below fill."""
    width = max(map(len, rows), default=0)
    for row, above in zip(rows[:MOST_TITLES], skipped, strict=False):
        if len(row) == width and all(cell.strip() for cell in row):
            return {"skip_rows": above} if above else {}
    return {}


def _period(
    draft: _Draft, plain: PlainTable, columns: Mapping[str, list[str]], form: dict[str, Any]
) -> str:
    """The column of periods, or ''; the form gets its dates."""
    dates = {name: date_formats({*filter(None, cells)}) for name, cells in columns.items()}
    dated = [name for name, formats in dates.items() if formats and any(columns[name])]
    period = draft.choose("columns.period", dated, "Which column holds the start of the period?")
    if not dated:
        draft.open["columns.period"] = [
            "a column of days (2021-01-31, 31.1.2021)",
            "weeks (2021-W05)",
        ]
    if period is None:
        return ""
    if period not in plain.typed and "YYYY-MM-DD" not in dates[period]:
        date = draft.choose("format.date", dates[period], "How are its dates written?")
        form |= {"date": date} if date else {}
    return period


def _sums(columns: Mapping[str, list[str]], period: str) -> dict[str, str]:
    """The rows without a period, such as sums, by a text that only they have."""
    for name, cells in columns.items() if period else ():
        without = {cell for cell, day in zip(cells, columns[period], strict=True) if not day}
        others = {cell for cell, day in zip(cells, columns[period], strict=True) if day}
        if len(without) == 1 and without.isdisjoint({*others, ""}):
            (text,) = without
            return {name: text} if not text[:1].isdigit() else {}
    return {}


def _entities(
    draft: _Draft, ids: Sequence[str], columns: Mapping[str, list[str]], period: str
) -> tuple[dict[str, str], str | None]:
    """The holder's entities, with their texts, and the column that has them.

    Its name is '' where each has a column of its own, None where all rows are of one.
    """
    if own := [name for name in ids if name in columns]:
        return {name: name for name in own}, ""
    texts = {
        name: list(dict.fromkeys(cells))
        for name, cells in columns.items()
        if name != period and not number_formats({*cells})
    }
    for name, held in texts.items():
        if own := [it for it in ids if it in held]:
            return {it: it for it in own}, name
    several = [name for name, held in texts.items() if len(held) > 1]
    if not several:
        only = draft.choose("entity", ids, "Which of these are you?")
        return ({only: only} if only else {}), None
    column = draft.choose("columns.entity", several, "Which column holds the entities?")
    if column is None or draft.ask is None:
        block = ", ".join(f"{name}: TEXT" for name in ids)
        there = f" with the TEXT of the table: {', '.join(texts[column][:9])}" if column else ""
        draft.open["entities"] = [f"{{{block}}}{there}"]
        return {}, column
    chosen = {name: draft.ask(f"Which of these is {name}?", texts[column]) for name in ids}
    return {name: text for name, text in chosen.items() if text}, column


def _numbers(
    draft: _Draft, columns: Mapping[str, list[str]], period: str, *, reported: bool
) -> Collection[str]:
    """The columns of counts, and of capacities where they are reported; they become keys."""
    numbers = [name for name, it in columns.items() if name != period and number_formats({*it})]
    counts = ["count"] if "count" in numbers else numbers
    draft.keys["count"] = draft.choose(
        "columns.count", counts, "Which column holds the counts of people?"
    )
    if reported:  # Its cells are published, so that nothing is guessed.
        beds = [name for name in numbers if name != draft.keys["count"]]
        question = "Which holds the capacity (published as it is)?"
        draft.keys["capacity"] = (
            "capacity"
            if "capacity" in beds
            else draft.choose("columns.capacity", beds, question, guess=False)
        )
    return [name for name in draft.keys.values() if name] if draft.keys["count"] else numbers
