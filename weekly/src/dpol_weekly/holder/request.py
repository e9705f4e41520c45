"""Request of a holder to release counts."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.settings import Hospital


@dataclass(frozen=True, kw_only=True)
class Request:
    """The counts to release, where to, and what is meant where a release would stop and ask.

    Args:
        hospital: the table, and where releases go.
        deployment: says with which noise.
        correct: the periods to release again, or later than their turn, YYYY-MM-DD.
        agree: the first 8 hex digits or more of the hash of the deployment's agreement, by which
            the holder confirms it; None: it was confirmed before.
        gap: nothing was counted in the many periods before a row.
        over_capacity: counts above the capacity are right.
        no_final_newline: the table is complete although its last line has no line end.
        write_again: the ledger is the newest; write again what is gone of the output.
        continue_from: the newest copy of the ledger is lost; the table that the coordinator of the
            deployment exported says what was released.
        today: the date; None: that of the machine.

    Raises:
        DataError: what is confirmed is not what the deployment says.
    """

    hospital: Hospital
    deployment: Deployment
    correct: frozenset[str] = frozenset()
    agree: str | None = None
    gap: bool = False
    over_capacity: bool = False
    no_final_newline: bool = False
    write_again: bool = False
    continue_from: Path | None = None
    today: datetime.date | None = None

    def __post_init__(self) -> None:
        agree, sha256 = self.agree, self.deployment.sha256()
        if agree is not None and not (len(agree) >= 8 and sha256.startswith(agree.lower())):
            raise DataError(
                f"--agree {agree}: is not the hash of the agreement {self.deployment.name}, or too"
                " few digits of it; leave it out to read the agreement"
            )
