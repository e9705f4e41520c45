"""Write a first `hospital.yaml` for a table; what the table does not show is asked.

Nothing is guessed: a decimal sign that is taken wrong releases a thousandfold count.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

import yaml

from dpol.core.errors import DataError
from dpol.core.files import write_text
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.settings import KEY_NAME, MANUAL, SECRET_NAME, Columns, Hospital
from dpol_weekly.keys import Key, make_key, make_secret
from dpol_weekly.settings_file import checked
from dpol_weekly.tables import DATES, DELIMITERS, WEEKS, Format, parse_count, parse_date, read_table

Ask = Callable[[str, Sequence[str]], str]
"""Asks a person about a key, who chooses one of several answers, or types one if none is given."""
_ALLOWED: dict[str, Sequence[str]] = {
    "zero": get_args(Hospital.model_fields["zero"].annotation),
    **{key: get_args(field.annotation) for key, field in Format.model_fields.items()},
}
_REACH = "all, a number of periods, or the first date in it"


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
) -> list[str]:
    """Write a holder's file for a table, a key and a secret; those that are there stay.

    Returns what is to be done next.

    Args:
        file: the file to write.
        table: the table of raw counts.
        agreed: the file of the agreement.
        deployment: the agreement.
        entity: the holder's identifier in it; None: a column names several, with their identifiers.
        named: the columns of the table by their keys in `Columns`, keys of `Format`, and `zero` and
            `covers` of `Hospital`.
        copy_to: the folder that gets copies of releases.
        ask: asks for what is neither named nor shown by the table; None in a script.

    Raises:
        DataError: the agreement lacks the entity, the table cannot be read, something is neither
            named nor shown by the table, its dates have no form or several, or a file of the key
            holds none.
        OutputError: a file cannot be written.
    """
    if entity is not None and entity not in deployment.entities:
        raise DataError(f"--entity: {deployment.name} has no entity {entity!r}; write it as there")
    ids = [entity] if entity else list(deployment.entities)
    keys = ["period", "count"] if entity else ["entity", "period", "count"]
    if any(deployment.entities[name].beds is None for name in ids):
        keys.append("capacity")
    named = dict(named or {})
    if unknown := named.keys() - {*Columns.model_fields, *Format.model_fields, "zero", "covers"}:
        raise DataError(f"--column {min(unknown)}: is neither a column, a key of format, nor zero")
    if wrong := [key for key in named if key in _ALLOWED and named[key] not in _ALLOWED[key]]:
        raise DataError(f"--column {wrong[0]}: must be one of {', '.join(_ALLOWED[wrong[0]])}")
    form: dict[str, Any] = {key: it for key, it in named.items() if key in Format.model_fields}
    header, rows, form = _read(table, form)
    usual = {key: key for key in keys if key in header}
    names = _answers(dict.fromkeys(keys, header), {**usual, **named}, ask, table)
    cells = {key: [row[names[key]] for row in rows] for key in keys}
    form |= _dates(table, [*filter(None, cells["period"])], deployment, form)
    form |= _signs([*cells["count"], *cells.get("capacity", [])], form)
    rest: dict[str, Sequence[str]] = {"zero": _ALLOWED["zero"], "covers": ()}
    rest |= {key: _ALLOWED[key] for key in ("decimal", "thousands") if key not in form}
    answers = _answers(rest, named, ask, table)
    form |= {key: answers.pop(key) for key in ("decimal", "thousands") if key in answers}
    folder = file.parent.resolve()
    whole = {
        "deployment": os.path.relpath(agreed.resolve(), folder),
        "entities": ids,
        "table": os.path.relpath(table.resolve(), folder),
        **{key: int(it) if it.isdecimal() else it for key, it in answers.items()},
        "columns": names,
        "format": form,
        "output": "released",
        **({"copy_to": os.path.relpath(copy_to.resolve(), folder)} if copy_to else {}),
        "key": KEY_NAME,
        "secret": SECRET_NAME,
    }
    checked(Hospital, whole, str(file), rules=Hospital.rules, manual=MANUAL).published(deployment)
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
    return [f"{file}: read it, and run dpol privatize {file}"]


def _answers(
    wanted: Mapping[str, Sequence[str]], named: Mapping[str, str], ask: Ask | None, table: Path
) -> dict[str, str]:
    """Return an answer for each key: named, or asked.

    Raises:
        DataError: an answer is missing, or none of those allowed; all are listed, without a cell.
    """
    found = {key: named.get(key) or (ask(key, it) if ask else "") for key, it in wanted.items()}
    if wrong := [
        key for key, it in wanted.items() if (it and found[key] not in it) or not found[key]
    ]:
        answers = {key: " or ".join(it) for key, it in _ALLOWED.items()} | {"covers": _REACH}
        told = [f"{key}: {answers.get(key, 'the name of a column')}" for key in wrong]
        raise DataError(
            f"{table}: does not show {', '.join(wrong)}; add --column KEY=ANSWER for each"
            f" ({'; '.join(told)})"
        )
    return found


def _dates(
    table: Path, cells: Sequence[str], deployment: Deployment, form: Mapping[str, Any]
) -> dict[str, str]:
    """Return how dates are written, and which day of a period they name.

    The first and the last days of periods, and weeks that begin on Monday and on Sunday, differ by
    the calendar of the agreement.
    """

    first, days = deployment.periods.first, deployment.periods.days

    def on_grid(date: Any, later: int = 0) -> bool:
        found = [parse_date(cell, date) for cell in cells]
        return all(it is not None and ((it - first).days - later) % days == 0 for it in found)

    dates = [form["date"]] if "date" in form else DATES if cells else ()
    fits = [date for date in dates if all(parse_date(cell, date) for cell in cells)]
    if len(fits) > 1 and {*fits} <= {*WEEKS}:
        fits = [date for date in fits if on_grid(date)]
    if "YYYY-MM-DD" in fits:
        fits = ["YYYY-MM-DD"]
    if len(fits) != 1:
        raise DataError(
            f"{table}: its dates fit {' and '.join(fits) or 'no form'}; write them as 2021-01-31,"
            f" or add --column date=FORM, where FORM is one of {', '.join(DATES)}"
        )
    last = "day" not in form and fits[0] not in WEEKS and not on_grid(fits[0])
    if last and not on_grid(fits[0], later=days - 1):
        raise DataError(
            f"{table}: its dates are neither the first nor the last days of periods, which begin"
            f" every {days} days from {first} on"
        )
    return {"date": fits[0]} | ({"day": "last"} if last else {})


def _read(
    table: Path, form: dict[str, Any]
) -> tuple[list[str], list[dict[str, str]], dict[str, Any]]:
    """Return the header and the rows of a table, and its encoding and delimiter.

    Raises:
        DataError: it cannot be read, or its first line holds no names.
    """
    start = table.read_bytes() if table.is_file() else b""
    try:
        start.decode()
    except UnicodeDecodeError:
        form = {"encoding": "utf-16" if start[:1] in (b"\xff", b"\xfe") else "cp1252", **form}
    head = start.decode(form.get("encoding", "utf-8"), "replace").partition("\n")[0]
    form = {"delimiter": max(DELIMITERS, key=head.count), **form}
    signs = {"decimal": ".", "thousands": "none"}
    header, rows = read_table(table, None, Format.model_validate(signs | form))
    if any(re.fullmatch("[0-9][0-9.,:/T -]*", cell) for cell in header):
        raise DataError(f"{table}: its first line holds numbers; write names of columns there")
    return header, [cells for _, cells in rows], form


def _signs(cells: Sequence[str], form: Mapping[str, Any]) -> dict[str, str]:
    """Return the decimal sign and the one between thousands, where one only fits all numbers."""
    numbers = [it for it in cells if re.match("[0-9]", it)]
    told = {key: [form[key]] if key in form else _ALLOWED[key] for key in ("decimal", "thousands")}
    fits = [
        (sign, between)
        for sign, between in itertools.product(*told.values())
        if sign != between and _all_fit(numbers, sign, between)
    ]
    found = {key: {it[place] for it in fits} for place, key in enumerate(told)}
    return {key: min(signs) for key, signs in found.items() if len(signs) == 1}


def _all_fit(numbers: Sequence[str], sign: str, between: str) -> bool:
    form = Format.model_validate({"decimal": sign, "thousands": between})
    return all(parse_count(it, form) for it in numbers)
