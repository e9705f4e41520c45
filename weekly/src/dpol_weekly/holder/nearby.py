"""Judge the release files near a ledger: do they show that it is an older copy?

Anybody may have put a file there. So only a file signed by a key of the holder can stop a run, or,
for a new ledger, a release of the same entities. Everything else is ignored.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from dpol.core.errors import DataError
from dpol_weekly.holder.entries import heads_of, outputs, path_of
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request
from dpol_weekly.records import alike
from dpol_weekly.released.read import Report, find_release

_PUT_BACK = (
    "Put the newest copy of the ledger back, or name the right one in ledger. If it is lost, move"
    " this one away, and begin one with --begin-after and the last period that was released, or"
    " today's date"
)


def check_nearby(ledger: Ledger, request: Request, base: Path, key: str) -> None:
    """Check that the ledger knows the releases near it, of whatever agreement they are.

    Args:
        ledger: the ledger.
        request: the holder's request.
        base: path of the releases.
        key: public half of the holder's key; earlier keys are in the ledger.

    Raises:
        DataError: a release is newer than the ledger; or another ledger has released periods that
            this one may release.
    """
    heads, begin_after = heads_of(ledger), ledger.begin_after
    keys = {key, *(it for (it,) in ledger.execute("SELECT key FROM run"))}
    own, unknown = {*map(alike, request.hospital.entities)}, list[tuple[str, Path]]()
    for report in releases_near(ledger, base, request.copy_to):
        if report.ledger == ledger.id and report.key in keys:
            if report.head not in heads:
                raise DataError(
                    f"{report.file}: knows of releases that the ledger {ledger.path} does not know"
                    f" as they were. {_PUT_BACK}"
                )
        elif report.ledger != ledger.id and (report.key in keys or not heads):
            unknown += [
                (row.period, report.file)
                for row in report.rows
                if row.period > begin_after and (report.key in keys or alike(row.entity) in own)
            ]
    if unknown:
        last, file = max(unknown)
        raise DataError(
            f"{file}: was released from another ledger than {ledger.path}, which does not know of"
            f" it; it holds {last}. {_PUT_BACK}"
        )


def releases_near(ledger: Ledger, base: Path, copies: Path | None) -> Iterator[Report]:
    """Yield the releases in the folders of all outputs, of the ledger and of copies.

    A receipt, which `dpol collect` writes, is a release of the holder: it is found here too.
    """
    folders = {base.parent, ledger.path.parent, *filter(None, [copies])}
    folders |= {path_of(ledger, output).parent for output in outputs(ledger)}
    # Each folder once, however its path is written.
    for folder in sorted({near.resolve(): near for near in folders}.values()):
        for file in sorted(folder.glob("[!.]*.json")):
            try:
                if report := find_release(file):
                    yield report
            except DataError:
                continue
