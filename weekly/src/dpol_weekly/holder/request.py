"""A holder's request to release counts."""

from __future__ import annotations

import datetime
from dataclasses import dataclass

from dpol.core.errors import DataError
from dpol_weekly.deployment import Deployment
from dpol_weekly.holder.settings import Hospital


@dataclass(frozen=True, kw_only=True)
class Request:
    """The counts to release, their destination, and the holder's confirmations.

    Args:
        hospital: the table, and the destination of releases.
        deployment: the agreement; it sets the noise.
        agree: whole hash of the agreement, as confirmation; None: it was confirmed before.
        in_person: a person read the agreement on a terminal and confirmed it there.
        begin_after: begin a new ledger, which releases nothing up to this date.
        split: an entity counts other people than another one that was released for its period.
        today: today's date; None: the computer's.

    Raises:
        DataError: `agree` is not the hash of the agreement, or `begin_after` is to come.
    """

    hospital: Hospital
    deployment: Deployment
    agree: str | None = None
    in_person: bool = False
    split: bool = False
    begin_after: datetime.date | None = None
    today: datetime.date | None = None

    def __post_init__(self) -> None:
        if self.begin_after and self.begin_after > self.day:
            raise DataError(
                f"--begin-after {self.begin_after}: is to come; give today's date, or the last date"
                " of which anything was released"
            )
        if self.agree is not None and self.agree.lower() != self.deployment.sha256():
            raise DataError(
                f"--agree {self.agree}: is not the hash of the agreement {self.deployment.name},"
                " which is compared whole, all 64 digits; leave it out to read what the agreement"
                " says now"
            )

    @property
    def day(self) -> datetime.date:
        """Today's date."""
        return self.today or datetime.date.today()
