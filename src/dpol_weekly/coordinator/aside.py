"""Setting aside what should never have been collected: an act in the log, in plain sight."""

from __future__ import annotations

import datetime
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.refusals import nearest
from dpol_weekly.coordinator.log import Released, open_log

_LONGEST = 200  # Characters of a reason.


def set_aside(
    folder: Path, entity: str, reason: str, period: datetime.date | None = None
) -> list[Released]:
    """Let nothing count that the log holds of an entity, or of one period of it; the rows.

    They stay in the log, with the reason, and what they cost is still counted. The same rows stay
    set aside if they are collected again; other ones may be reported for these periods.

    Args:
        folder: of the coordinator.
        entity: its identifier.
        reason: for the log, the decisions and the page.
        period: its start; None: all that was collected so far.

    Raises:
        DataError: as `open_log`; no such row counts, or the reason is not a line of text.
        OutputError: the log cannot be written.
    """
    if not (reason.strip() and reason.isprintable() and len(reason) <= _LONGEST):
        raise DataError(f"the reason must be one line of text, of {_LONGEST} characters at most")
    with open_log(folder, write=True) as log:
        if entity not in log.deployment.entities:
            told = nearest(entity, log.deployment.entities)
            raise DataError(f"the deployment has no entity {entity!r}{told}")
        wanted = "" if period is None else period.isoformat()
        rows = [
            entry.row
            for entry in log.releases("entity = ?", entity)
            if entry.set_aside is None and wanted in ("", entry.row.period)
        ]
        if not rows:
            when = f" for {wanted}" if wanted else ""
            raise DataError(f"{log.path}: holds nothing of {entity}{when} that counts")
        log.set_aside(entity, wanted, reason)
    return rows
