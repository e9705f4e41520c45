"""Write a first `hospital.yaml` for a table: a person or a script says how it is written.

Nothing is read off the cells: a decimal sign that is taken wrong releases a thousandfold count.
The whole table is read once with the answers, so one that does not fit is found at once.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from dpol.core.files import write_text
from dpol.noise.keyed import make_secret
from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder.counts import read_counts
from dpol_weekly.holder.memory import files_in
from dpol_weekly.holder.settings import Hospital, hospital_of
from dpol_weekly.keys import Key, make_key
from dpol_weekly.released.read import find_release
from dpol_weekly.tables import DATES, Format

QUESTIONS = {
    "entity": "Which column names the place? Nothing if all rows are of one place.",
    "period": "Which column holds the period? (period)",
    "count": "Which column holds the count? (count)",
    "capacity": "Which column holds the capacity? Nothing if the agreement has the capacities.",
    "zero": "How does it write that nobody was there: missing (no row), blank, written (0), or"
    " another text, such as NULL?",
    "covers": "Up to which day does it go: today, yesterday, or nothing if the job says --through?",
    "reaches": "How far back does it reach: all, or a number of periods? (all)",
    "decimal": "Which is the decimal sign: . or ,",
    "thousands": "Which sign is between thousands: none . , ' or space?",
    "delimiter": "Which sign is between cells: , ; | or tab? (,)",
    "header": "Which line names the columns? (1)",
    "date": f"How are dates written: {', '.join(DATES)}? (YYYY-MM-DD)",
    "day": "Which day of a period does its date name: first or last? (first)",
    "encoding": "How is its text encoded: utf-8, cp1252 or utf-16? (utf-8)",
}
"""What `hospital.yaml` says of a table, by its keys; what is taken without an answer."""
_SIGNS = {"tab": "\t", "space": " "}


def begin(
    file: Path,
    table: Path,
    agreed: Path,
    *,
    entity: str | None = None,
    named: Mapping[str, str] | None = None,
    copy_to: Path | None = None,
    through: datetime.date | None = None,
    ask: Callable[[str], str] | None = None,
) -> None:
    """Write a holder's file for a table, a key and a secret; those that are there stay.

    Args:
        file: the file to write.
        table: the table of raw counts.
        agreed: the file of the agreement.
        entity: the holder's identifier in it; None: a column names several, with their identifiers.
            `ID=TEXT` says what the table writes for it.
        named: answers by the keys of `QUESTIONS`.
        copy_to: the folder that gets copies of releases.
        through: last day that the table covers.
        ask: asks a person for what is not named; None in a script.

    Raises:
        ConfigError: the agreement breaks a rule; or an answer is missing, or none of those
            allowed. All are listed.
        DataError: the agreement lacks the entity, the table does not fit the answers or has no row
            of a place, or a file of the key holds none.
        OutputError: a file cannot be written.
    """
    deployment, answers = read_deployment(agreed), dict(named or {})
    for key, question in QUESTIONS.items():
        if ask and key not in answers and (said := ask(question)):
            answers[key] = said
    folder = file.parent.resolve()
    name, _, text = (entity or "").partition("=")
    whole: dict[str, Any] = {
        "deployment": os.path.relpath(agreed.resolve(), folder),
        "entities": ({name: text} if text else [name]) if name else list(deployment.entities),
        "table": os.path.relpath(table.resolve(), folder),
        "columns": {},
        "format": {},
        **({"copy_to": os.path.relpath(copy_to.resolve(), folder)} if copy_to else {}),
    }
    for key, answer in answers.items():
        if key in Format.model_fields:
            whole["format"][key] = _SIGNS.get(answer, answer)
        else:
            (whole if key in Hospital.model_fields else whole["columns"])[key] = answer
    hospital = hospital_of(file, whole)
    read_counts(hospital, deployment, today=datetime.date.today(), through=through, first=True)
    text = yaml.safe_dump(whole, default_flow_style=None, sort_keys=False, allow_unicode=True)
    _, public = renew(hospital)
    write_text(
        file,
        "# Where this holder's counts are, and how they are written. It is never sent.\n"
        f"{text}# Public half of the key, to be read out: {public}\n",
    )


def renew(hospital: Hospital) -> tuple[list[str], str]:
    """Make the key or the secret of a holder if it is not there.

    Returns what is to be done next, and the public half of the key.

    Raises:
        DataError: a file that is there is no key.
        OutputError: a file cannot be written.
    """
    told = list[str]()
    if hospital.key.exists():
        public = Key(hospital.key).public
    else:
        public = make_key(hospital.key)
        told.append(f"{hospital.key} is new: read {public} out to the coordinator")
        found = map(find_release, files_in(hospital.output))
        if lost := sorted({it.key for it in found if it}):
            told.append(f"Write former_keys: [{', '.join(lost)}] into your file")
    if not hospital.secret.exists():
        make_secret(hospital.secret)
        told.append(f"{hospital.secret} is new: back it up as you back up patient data")
    return told, public
