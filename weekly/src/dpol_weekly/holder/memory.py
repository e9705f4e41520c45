"""What a hospital released: all that its own key has signed, whatever the files are called.

There is no ledger. The releases in its folder, and their copies, are the memory of a holder, and
the agreements under which they were made lie beside them.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import ConfigError, DataError
from dpol_weekly.deployment import Deployment, checked_deployment, read_deployment
from dpol_weekly.holder.settings import Hospital
from dpol_weekly.keys import Key
from dpol_weekly.records import versions
from dpol_weekly.released.read import Report, find_release, read_release
from dpol_weekly.released.row import Released

Rows = dict[tuple[str, str, int], Released]
"""Rows by entity, period and version."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What a hospital has released.

    Args:
        reports: its own releases.
        agreements: the agreements that are known here, by their hash.
        begin_after: no period that begins up to this day is released for the first time, or "".
    """

    reports: tuple[Report, ...]
    agreements: Mapping[str, Deployment]
    begin_after: str

    def rows(self, name: str) -> Rows:
        """Return the rows of agreements of a name, each as it left.

        Raises:
            DataError: two releases differ in a row.
        """
        found, files = Rows(), dict[tuple[str, str, int], Path]()
        for report in self.reports:
            if self.agreements[report.agreement].name != name:
                continue
            for row, version in versions(report.rows):
                place = (row[0], row[1], version)
                file = files.setdefault(place, report.file)
                if found.setdefault(place, Released._make(row)) != row:
                    raise DataError(
                        f"{report.file}: holds another row of {row[0]} for {row[1]} than {file}:"
                        " two machines have released it. Ask the coordinator which of the two was"
                        " collected (dpol export), and move the other file away, from all folders"
                    )
        return found


def recall(hospital: Hospital, deployment: Deployment, key: Key) -> Memory:
    """Return what a hospital has released.

    Args:
        hospital: its folders, and public halves of keys that it has lost.
        deployment: the agreement of this run.
        key: its key.

    Raises:
        DataError: a file in its folder cannot be read, or is signed by an unknown key; a release
            was made under an agreement that is not here; or a ledger of an earlier version has rows
            that no release has.
    """
    keys, reports = {key.public, *hospital.former_keys}, list[Report]()
    agreements = {deployment.sha256(): deployment}
    for file in files_in(hospital.output):
        if report := find_release(file):
            if report.key not in keys:
                raise DataError(
                    f"{file}: is signed by another key than yours. If that key was yours, add"
                    f" former_keys: [{report.key}] to hospital.yaml; otherwise move the file away"
                )
            reports.append(report)
        elif file.suffix in (".json", ".yaml"):
            try:
                agreed = read_deployment(file)
            except ConfigError:
                raise DataError(
                    f"{file}: cannot be read as a release or an agreement, and may be a release"
                    " that was damaged; put it back from a copy, for instance the coordinator's, or"
                    " move it away if it is something else"
                ) from None
            agreements[agreed.sha256()] = agreed
    for file in files_in(hospital.copy_to):
        only = f"-{key.public[:8]}-" in file.name and not (hospital.output / file.name).exists()
        with nullcontext() if only else suppress(DataError):  # of somebody else, or a damaged copy
            report = read_release(file) if only else find_release(file, keys)
            reports += [report] if report and report.key in keys else []
    begin_after = str(hospital.begin_after or "")
    if hospital.ledger.exists():
        texts, rows, begun = _ledger(hospital.ledger)
        made = [checked_deployment(json.loads(it), str(hospital.ledger)) for it in texts]
        agreements = {it.sha256(): it for it in made} | agreements
        if lost := rows - {row for report in reports for row in report.rows}:
            raise DataError(
                f"{hospital.ledger}: the ledger of an earlier version of dpol knows"
                f" {len(lost)} released rows that are in no release in {hospital.output}; put the"
                " newest releases back into that folder, for instance from the coordinator"
            )
        begin_after = max(begin_after, begun)
    for report in reports:
        if report.agreement not in agreements:
            raise DataError(
                f"{report.file}: was released under an agreement ({report.agreement}) whose file is"
                f" not here; copy that file into {hospital.output}"
            )
    return Memory(reports=tuple(reports), agreements=agreements, begin_after=begin_after)


def files_in(folder: Path | None) -> list[Path]:
    """Return the files in a folder that are not hidden; none if it is not there."""
    return sorted(it for it in folder.glob("[!.]*") if it.is_file()) if folder else []


def _ledger(file: Path) -> tuple[list[str], set[Released], str]:
    """Return the agreements, the rows and the beginning of a ledger of an earlier version."""
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as base:
            texts = [text for (text,) in base.execute("SELECT agreement FROM deployment")]
            cells = "SELECT name, period, noisy_count, capacity FROM release"
            rows = {*map(Released._make, base.execute(cells))}
            ((begun,),) = base.execute("SELECT begin_after FROM ledger").fetchall() or [("",)]
            return texts, rows, begun
    except sqlite3.Error as error:
        raise DataError(
            f"{file}: the ledger of an earlier version of dpol cannot be read ({error}); put its"
            " last backup back, or, if all releases are in place, move it away"
        ) from None
