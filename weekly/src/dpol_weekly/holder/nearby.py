"""Judge the release files near a ledger: do they show that it is an older copy?

Anybody may have put a file there. So only a file signed by a key of the holder can stop a run, or,
for a new ledger, a release of the same entities. Everything else is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.holder.entries import heads_of, outputs, path_of
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request
from dpol_weekly.holder.restored import marked_for
from dpol_weekly.released.find import read_parts
from dpol_weekly.released.read import Report, read_report


def check_nearby(ledger: Ledger, request: Request, base: Path, key: str) -> None:
    """Check that the ledger knows the releases near it.

    Args:
        ledger: the ledger.
        request: the holder's request.
        base: path of the releases.
        key: public half of the holder's key; earlier keys are in the ledger.

    Raises:
        DataError: a release is newer than the ledger, or another ledger released the same entities
            and periods.
    """
    heads, name = heads_of(ledger), request.deployment.name
    keys = {key, *(it for (it,) in ledger.execute("SELECT key FROM run"))}
    own = {*map(folded, request.hospital.texts)}
    marked = {(row["folded"], row["period"]) for row in marked_for(ledger, name)}
    for report in releases_near(ledger, base):
        if report.ledger == ledger.id and report.key in keys:
            if any(heads.get(number) != head for number, head in report.heads.items()):
                raise DataError(
                    f"{report.file}: knows of releases that the ledger {ledger.path} does not know"
                    " as they were; put its newest copy back, or name the right ledger in ledger."
                    " If it is lost, move its older copy away, and go on from what the coordinator"
                    " has collected, with --continue-from"
                )
        elif report.deployment == name and report.ledger != ledger.id:
            pairs = {(folded(row.cells.entity), row.cells.period) for row in report.rows}
            unknown = {pair for pair in pairs - marked if pair[0] in own}
            if unknown and (report.key in keys or not heads):
                raise DataError(_unknown(report, request, ledger, anything_marked=bool(marked)))


def releases_near(ledger: Ledger, base: Path) -> Iterator[Report]:
    """Yield the releases in the folders of all outputs and of the ledger."""
    folders = {base.parent, ledger.path.parent}
    folders |= {path_of(ledger, output).parent for output in outputs(ledger)}
    # Each folder once, however its path is written.
    for folder in sorted({near.resolve(): near for near in folders}.values()):
        for file in sorted(folder.glob("[!.]*.zip")):
            try:
                if parts := read_parts(file):
                    yield read_report(parts)
            except DataError:
                continue


def _unknown(report: Report, request: Request, ledger: Ledger, *, anything_marked: bool) -> str:
    """Return the message about a release with rows that the ledger lacks."""
    if anything_marked:
        return (
            f"{report.file}: holds periods of your entities that the coordinator's table lacks, and"
            " that would be released twice; have the coordinator collect this file and export"
            " again, or move it away if the coordinator refused it"
        )
    return (
        f"{report.file}: was released from another ledger than {ledger.path}, which does not know"
        " of it; name the right ledger in ledger, or put its newest copy back. If it is lost, go on"
        " from what the coordinator has collected, with --continue-from and the table that dpol"
        " export writes"
    )
