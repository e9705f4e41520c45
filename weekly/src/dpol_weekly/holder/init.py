"""Write a first `hospital.yaml` for a table: a person or a script says how it is written.

Nothing is read off the cells: a decimal sign that is taken wrong releases a thousandfold count.
The whole table is read once with the answers, so one that does not fit is found at once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from dpol.core.files import write_text
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.settings import KEY_NAME, SECRET_NAME, hospital_of
from dpol_weekly.keys import Key, make_key, make_secret
from dpol_weekly.tables import DATES, Format

QUESTIONS = {
    "entity": "Which column names the place? Nothing if all rows are of one place.",
    "period": "Which column holds the period? (period)",
    "count": "Which column holds the count? (count)",
    "capacity": "Which column holds the capacity? Nothing if the agreement has the capacities.",
    "zero": "How does it write that nobody was there: missing (no row), blank or written (0)?",
    "covers": "How far back does it reach: all, a number of periods, or its first date?",
    "decimal": "Which is the decimal sign: . or ,",
    "thousands": "Which sign is between thousands: none . , ' or space?",
    "delimiter": "Which sign is between cells: , ; or tab? (,)",
    "date": f"How are dates written: {', '.join(DATES)}? (YYYY-MM-DD)",
    "day": "Which day of a period does its date name: first or last? (first)",
    "encoding": "How is its text encoded: utf-8, cp1252 or utf-16? (utf-8)",
}
"""What `hospital.yaml` says of a table, by its keys; what is taken without an answer."""
_SIGNS = {"tab": "\t", "space": " "}
_MANUAL = "Say it with --column KEY=ANSWER. The page For a hospital, in the documentation,"


def begin(
    file: Path,
    table: Path,
    agreed: Path,
    deployment: Deployment,
    *,
    entity: str | None = None,
    named: Mapping[str, str] | None = None,
    copy_to: Path | None = None,
    ask: Callable[[str], str] | None = None,
) -> list[str]:
    """Write a holder's file for a table, a key and a secret; those that are there stay.

    Returns what is to be done next.

    Args:
        file: the file to write.
        table: the table of raw counts.
        agreed: the file of the agreement.
        deployment: the agreement.
        entity: the holder's identifier in it; None: a column names several, with their identifiers.
        named: answers by the keys of `QUESTIONS`.
        copy_to: the folder that gets copies of releases.
        ask: asks a person for what is not named; None in a script.

    Raises:
        ConfigError: an answer is missing, or none of those allowed; all are listed.
        DataError: the agreement lacks the entity, the table does not fit the answers, or a file of
            the key holds none.
        OutputError: a file cannot be written.
    """
    answers = dict(named or {})
    for key, question in QUESTIONS.items():
        if ask and key not in answers and (said := ask(question)):
            answers[key] = said
    folder = file.parent.resolve()
    whole: dict[str, Any] = {
        "deployment": os.path.relpath(agreed.resolve(), folder),
        "entities": [entity] if entity else list(deployment.entities),
        "table": os.path.relpath(table.resolve(), folder),
        "columns": {},
        "format": {},
        "output": "released",
        **({"copy_to": os.path.relpath(copy_to.resolve(), folder)} if copy_to else {}),
        "key": KEY_NAME,
        "secret": SECRET_NAME,
    }
    for key, answer in answers.items():
        if key in Format.model_fields:
            whole["format"][key] = _SIGNS.get(answer, answer)
        elif key in ("zero", "covers"):
            whole[key] = answer
        else:
            whole["columns"][key] = answer
    hospital = hospital_of(file, whole, _MANUAL)
    hospital.published(deployment)
    read_counts(Request(hospital=hospital, deployment=deployment))
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
