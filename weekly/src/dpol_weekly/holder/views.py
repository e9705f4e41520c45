"""The views of a ledger: the release files that are sent, each with all rows of an output so far.

Rows are added in the order of their release, and leave only where `--continue-from` withdraws them.
All that an output ever held stays in the ledger. So what is missing can be written at any time.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpol.core.errors import DataError
from dpol.core.files import atomic_path
from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess
from dpol.privacy.dp_events import dp_event_facts
from dpol.privacy.guarantee import ONE_PERSON, STAY, STAY_UNIT, UNIT, Guarantee
from dpol.privacy.stays import STAYS
from dpol.show.pages import load_template
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.ceiling import most_in_a_period, most_spent
from dpol_weekly.holder.claims import claim
from dpol_weekly.holder.draws import end_all, memories, parts_of
from dpol_weekly.holder.entries import (
    Output,
    deployment_of,
    heads_of,
    knows_run,
    last_period,
    move_output,
    output_at,
    outputs,
    registered,
    runs_of,
    select,
    spent,
    table_rows,
    weighed_rows,
)
from dpol_weekly.holder.ledger import Ledger, new_token
from dpol_weekly.keys import Key
from dpol_weekly.memory import growth
from dpol_weekly.released import Cells, checksum, origin_of, pack, read_facts

TABLE, RECORD, STATEMENT = "table.csv", "record.json", "statement.txt"
"""The files in a release."""
_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


def check_newest(ledger: Ledger, path: Path, *, write_again: bool) -> None:
    """Make sure that the ledger knows all that an output and the releases nearby do.

    Args:
        ledger: the ledger.
        path: of the output; one that was moved is known again by its releases.
        write_again: the ledger is the newest, and what is gone of the output is to be written
            again. Then all chains of all outputs end, as each may have gone on in what is lost.

    Raises:
        DataError: a release of the output, or another one nearby, knows of releases that the ledger
            does not know; or the last release of the output is gone.
    """
    if write_again:
        end_all(ledger)
        ledger.execute("INSERT INTO ended VALUES (?)", new_token())
    known, home = outputs(ledger), ledger.path.parent
    folders = {path.parent, home, *((home / it.path).parent for it in known)}
    for file in sorted(it for folder in folders for it in folder.glob("[!.]*.zip")):
        if not (origin := _origin(file)):
            continue
        # A ledger without outputs may stand in for any that is lost.
        ours = origin["id"] == ledger.id or not known or _is_of(file, path)
        if ours and not all(knows_run(ledger, it) for it in _tokens(origin)):
            raise DataError(
                f"{file}: knows of releases that the ledger {ledger.path} does not know; name the"
                " right ledger in ledger, or put its newest copy back. If it is lost, go on"
                " from what the coordinator has collected, with --continue-from and the table that"
                " dpol export writes"
            )
        if ours and _is_of(file, path) and output_at(ledger, path) is None:
            move_output(ledger, origin["output"], path)
    at = output_at(ledger, path)
    last = release_file(ledger, at, path, at.written) if at and at.written else None
    if last and not (write_again or _origin(last)):
        raise DataError(
            f"{last}: was written once, and is gone or damaged; put it back, or"
            f" the newest ledger, if {ledger.path} is an older copy; if it is the newest, add"
            " --write-again, which writes it as the ledger has it"
        )


def releases_of(path: Path) -> list[Path]:
    """The files that have the name of a release of an output."""
    return sorted(file for file in path.parent.glob("*.zip") if _is_of(file, path))


def take_as_lost(ledger: Ledger, path: Path) -> None:
    """Let the ledger know the releases of an output that a lost copy of it has made.

    Raises:
        DataError: one of them holds rows that did not come from the coordinator.
    """
    ever = _lines_ever(ledger, registered(ledger, path))
    for file in releases_of(path):
        if origin := _origin(file):
            if not {*(_table_in(file) or b"").splitlines()} <= ever:
                raise DataError(
                    f"{file}: holds rows that the coordinator's table lacks, and that would be"
                    " released twice; have the coordinator collect this file and export again. If"
                    " the coordinator refuses it, move the file away and run again"
                )
            for token in _tokens(origin):
                if not knows_run(ledger, token):
                    ledger.execute("INSERT INTO ended VALUES (?)", token)


def write_views(ledger: Ledger, output: Output, path: Path, key: Key | None = None) -> Path:
    """Write the last release of an output if it is not what the ledger says, and remember that.

    What killed runs left of it goes.

    Args:
        ledger: the ledger.
        output: it has rows.
        path: of the output.
        key: that signs it; None: nobody signs it.

    Returns:
        Its file.

    Raises:
        DataError: another file is in its place, or it was changed after its release.
        OutputError: it cannot be written.
    """
    left = re.compile(rf"\.{re.escape(path.name)}-{_DATE}-[a-z0-9_]{{8}}\.zip")
    for temporary in path.parent.glob(".*"):  # as `atomic_path` names them
        if left.fullmatch(temporary.name):
            with suppress(OSError):
                temporary.unlink()
    deployment = deployment_of(ledger, output)
    (*_, last), rows = runs_of(ledger, output), table_rows(ledger, output)
    file = release_file(ledger, output, path, last.number)
    table, there = _table(rows), _table_in(file)
    if there is None or not (
        table.startswith(there) or {*there.splitlines()} <= _lines_ever(ledger, output)
    ):
        raise DataError(
            f"{file}: is not what {ledger.path} says was released: it was changed, or the ledger is"
            " an older copy; in the first case move the file away and run again with"
            " --write-again, which writes it as it was; in the second put the newer ledger back"
        )
    facts = _facts(ledger, output, deployment, rows)
    if key:
        facts["key"] = key.public
    facts["sha256"] = checksum(table, facts)
    if key:
        facts["signature"] = key.sign(facts["sha256"])
    record = json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    statement = _statement(facts, rows, deployment)
    if output.written != last.number:
        written = "UPDATE output SET written = ? WHERE number = ?"
        ledger.execute(written, last.number, output.number)
    parts = {TABLE: table, RECORD: record.encode(), STATEMENT: statement.encode()}
    content = pack(parts)
    with suppress(OSError):
        if file.read_bytes() == content:
            return file
    with atomic_path(file) as new:
        new.write_bytes(content)
    return file


def release_file(ledger: Ledger, output: Output, path: Path, run: int) -> Path:
    """The file of the release by a run of an output, such as `north-2024-03-31.zip`."""
    return path.with_name(f"{path.name}-{last_period(ledger, output, run)}.zip")


def guarantee_of(ledger: Ledger, output: Output, count_sensitivity: float) -> Guarantee:
    """The guarantee of an output: an entity's period that was released twice counts twice."""
    samplers = {run.sampler for run in runs_of(ledger, output)}
    mu, held = spent(ledger, output), set(memories(ledger, output).values())
    stay = min(weeks for *_, weeks in held)
    memory = "with memory " if any(a != b for a, b, _ in held) else ""
    return Guarantee(
        mechanism=f"discrete Gaussian noise {memory}on every count, capacity calibration",
        adjacency=STAY.format(stay) if stay > 1 else ONE_PERSON,
        unit=STAY_UNIT.format(stay) if stay > 1 else UNIT,
        sensitivity=math.sqrt(2.0) * count_sensitivity,
        sensitivity_unit="L2, persons",
        mu=mu,
        model="local",
        sampler="secure" if samplers == {"secure"} else "seeded",
        stays=tuple(mu * growth(held, periods) for periods in STAYS),
    )


def _is_of(file: Path, path: Path) -> bool:
    """True if a file has the name of a release of an output."""
    name = rf"{re.escape(path.name)}-{_DATE}\.zip"
    return file.parent == path.parent and bool(re.fullmatch(name, file.name))


def _origin(file: Path) -> Mapping[str, Any] | None:
    """The part of a release's record about the ledger; None if it is missing, or is none."""
    with suppress(DataError):
        return origin_of(file, read_facts(file))
    return None


def _tokens(origin: Mapping[str, Any]) -> list[str]:
    """The tokens of the last run that a release states, and of the last end of all chains."""
    return [it for it in (origin.get("token"), origin.get("ended")) if isinstance(it, str)]


def _table_in(file: Path) -> bytes | None:
    """The table of a release, empty if there is none yet; None if the file is something else."""
    if not file.exists():
        return b""
    try:
        with zipfile.ZipFile(file) as archive:
            return archive.read(TABLE)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError):
        return None


def _lines_ever(ledger: Ledger, output: Output) -> set[bytes]:
    """The header and all rows that an output has ever held."""
    return {*_table(table_rows(ledger, output, withdrawn=True)).splitlines()}


def _table(rows: Sequence[Cells]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows([Cells._fields, *rows])
    return text.getvalue().encode()


def _facts(
    ledger: Ledger, output: Output, deployment: Deployment, rows: Sequence[Cells]
) -> dict[str, Any]:
    """All that a record states, without checksum and signature."""
    guarantee = guarantee_of(ledger, output, deployment.count_sensitivity)
    runs = [run for run in runs_of(ledger, output) if run.rows]
    last, heads, parts = runs[-1], heads_of(ledger), parts_of(ledger, output)
    ended = select(ledger, "SELECT token FROM ended ORDER BY rowid DESC LIMIT 1")
    facts: dict[str, Any] = {
        **guarantee.as_dict(),
        "mu_of_one_entity_alone": guarantee.mu / math.sqrt(2),
        "mu_over_all_outputs": most_in_a_period(weighed_rows(ledger)),
        "guarantee": claim(rows, parts, deployment, most_spent(ledger, deployment, output)),
        "releases": [
            {
                "run": it.number,
                "date": it.date,
                "rows": it.rows,
                "imported": bool(it.imported),
                "head": heads[it.number],
            }
            for it in runs
        ],
        "rows": len(rows),
        "ledger": {
            "id": ledger.id,
            "output": output.id,
            "run": last.number,
            "token": last.token,
            "ended": ended[0]["token"] if ended else None,
            "head": heads.get(last.number),
            "previous": heads.get(last.number - 1),
        },
        "deployment": {"name": deployment.name, "sha256": deployment.sha256()},
    }
    if parts:
        # One period's event, taken several times, would not give the mu of a stay.
        stays = zip(STAYS, guarantee.stays or (), strict=True)
        facts["dp_events_of_stays"] = {str(stay): dp_event_facts(mu) for stay, mu in stays}
        facts["chains"] = parts
    else:
        facts["dp_event"] = dp_event_facts(guarantee.mu)
    return facts


def _statement(facts: Mapping[str, Any], rows: Sequence[Cells], deployment: Deployment) -> str:
    """The release in plain words; guarantees rounded to the safe side."""
    return load_template("statement.txt.j2", "dpol_weekly.holder").render(
        facts=facts,
        deployment=deployment,
        entities=sorted({row.entity for row in rows}),
        first=min(row.period for row in rows),
        last=max(row.period for row in rows),
        counted=counted,
        up=lambda mu: rounded_up(mu, 4),
        guess=lambda mu: rounded_up(100 * best_guess(mu), 3),
    )
