"""Write a first `hospital.yaml` for a table whose columns the holder names, or a form for one."""

from __future__ import annotations

import csv
import datetime
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import yaml

from dpol.core.errors import DataError
from dpol.core.files import atomic_path, write_text
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.settings import KEY_NAME, SECRET_NAME, Columns
from dpol_weekly.keys import Key, make_key, make_secret
from dpol_weekly.tables import DATES, DELIMITERS, Format, parse_date, read_table

Ask = Callable[[str, Sequence[str]], str]
_FORM_PERIODS = 8


def begin(
    file: Path,
    table: Path,
    agreed: Path,
    deployment: Deployment,
    *,
    entity: str | None = None,
    named: Mapping[str, str] | None = None,
    copy_to: Path | None = None,
    ask: Ask | None = None,
    today: datetime.date | None = None,
) -> tuple[list[str], list[str]]:
    """Write a holder's file for a table, a key and a secret; those that are there stay.

    Returns what was written, and warnings for the holder alone, who sees the cells.

    Args:
        file: the file to write.
        table: the table of raw counts; if it is missing, a form to fill in is written there.
        agreed: the file of the agreement.
        deployment: the agreement.
        entity: the holder's identifier in it; None: a column names several, with their identifiers.
        named: the columns of the table by their keys in `Columns`, and keys of `Format`.
        copy_to: the folder that gets copies of releases.
        ask: asks for a column, by its key and the header; None in a script.
        today: a form begins with the period of this date; None: the computer's.

    Raises:
        DataError: the agreement lacks the entity, the table cannot be read, a column is not named
            or not there, its dates have no form or several, or the key file holds no key.
        OutputError: a file cannot be written.
    """
    if entity is not None and entity not in deployment.entities:
        raise DataError(f"--entity: {deployment.name} has no entity {entity!r}; write it as there")
    ids = [entity] if entity else list(deployment.entities)
    keys = ["period", "count"] if entity else ["entity", "period", "count"]
    if any(deployment.entities[name].beds is None for name in ids):
        keys.append("capacity")
    told, warned = list[str](), list[str]()
    if not table.exists():
        _write_form(table, keys, deployment, ids, today or datetime.date.today())
        told.append(f"{table}: a form to fill in, with a row for each place and period")
    names = {key: it for key, it in (named or {}).items() if key in Columns.model_fields}
    form = {key: it for key, it in (named or {}).items() if key in Format.model_fields}
    rows, form = _read(table, form)
    header = list(rows[0])
    for key in keys:
        names.setdefault(key, key if key in header else "")
        if not names[key] and ask:
            names[key] = ask(key, header)
        if names[key] not in header:
            raise DataError(
                f"{table}: no column is named for columns.{key}; add --column {key}=NAME, where"
                f" NAME is one of {', '.join(map(repr, header))}"
            )
    cells = {key: [row[names[key]] for row in rows] for key in keys}
    dates = [
        date
        for date in ([form["date"]] if "date" in form else DATES)
        if all(parse_date(cell, Format(date=date)) for cell in cells["period"] if cell)
    ]
    if len(dates) != 1 and "YYYY-MM-DD" not in dates:
        raise DataError(
            f"{table}: the dates of column {names['period']} fit"
            f" {' and '.join(dates) or 'no form'}; write them as 2021-01-31, or add --column"
            f" date=FORM, where FORM is one of {', '.join(DATES)}"
        )
    form["date"] = "YYYY-MM-DD" if "YYYY-MM-DD" in dates else dates[0]
    numbers = [*cells["count"], *cells.get("capacity", [])]
    form.setdefault("decimal", _decimal_sign(numbers) or ("," if form["delimiter"] == ";" else "."))
    if not _decimal_sign(numbers) and any(re.search("[.,]", cell) for cell in numbers):
        warned.append(
            f"{file}: every . or , in the numbers of {table} has three digits behind it."
            f" {form['decimal']!r} is taken for the decimal sign, and the other one for the sign"
            " between thousands; if that is wrong, change format.decimal before the first release"
        )
    folder = file.parent.resolve()
    whole = {
        "deployment": os.path.relpath(agreed.resolve(), folder),
        "entities": ids,
        "table": os.path.relpath(table.resolve(), folder),
        "columns": {key: names[key] for key in keys},
        "format": form,
        "output": "released",
        **({"copy_to": os.path.relpath(copy_to.resolve(), folder)} if copy_to else {}),
        "key": KEY_NAME,
        "secret": SECRET_NAME,
    }
    signing, secret = file.with_name(KEY_NAME), file.with_name(SECRET_NAME)
    public = Key(signing).public if signing.exists() else make_key(signing)
    if not secret.exists():
        make_secret(secret)
    text = yaml.safe_dump(whole, default_flow_style=None, sort_keys=False, allow_unicode=True)
    write_text(
        file,
        "# Where this holder's counts are, and how they are written. It is never sent.\n"
        f"{text}# Public half of the key, for the agreement: {public}\n",
    )
    return [*told, f"{file}: read it, and run dpol privatize {file}"], warned


def _read(table: Path, form: dict[str, Any]) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """Return the rows of a table, and how it is written: its encoding and delimiter too."""
    start = table.read_bytes() if table.is_file() and table.suffix != ".xlsx" else b""
    try:
        start.decode()
    except UnicodeDecodeError:
        form = {"encoding": "utf-16" if start[:1] in (b"\xff", b"\xfe") else "cp1252", **form}
    head = start.decode(form.get("encoding", "utf-8"), "replace").partition("\n")[0]
    form = {"delimiter": max(DELIMITERS, key=head.count), **form}
    return [cells for _, cells in read_table(table, None, Format.model_validate(form))], form


def _decimal_sign(cells: Sequence[str]) -> str:
    """Return the sign that has other than three digits behind it in some cell; "" if none has."""
    found = {
        it[1] for it in (re.search(r"([.,])(?![0-9]{3}(?![0-9]))", cell) for cell in cells) if it
    }
    return found.pop() if len(found) == 1 else ""


def _write_form(
    table: Path, keys: Sequence[str], deployment: Deployment, ids: Sequence[str], day: datetime.date
) -> None:
    """Write a form: a header, and the next periods of each place with empty cells."""
    first = max(0, deployment.number_on(day))
    starts = [deployment.period_of(first + number) for number in range(_FORM_PERIODS)]
    cells = [
        {"entity": name, "period": start.isoformat()}
        for start in starts
        for name in ids
        if deployment.entities[name].takes_part(start)
    ]
    rows = [[*keys], *([row.get(key, "") for key in keys] for row in cells)]
    with atomic_path(table) as new:
        if table.suffix == ".xlsx":
            book = openpyxl.Workbook(write_only=True)
            sheet = book.create_sheet("counts")
            for row in rows:
                sheet.append(row)
            book.save(new)
            return
        with new.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows(rows)
