"""Terms that a holder takes from the file of a deployment."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from dpol.core.errors import DataError


@dataclass(frozen=True)
class AgreedTerms:
    """The terms of a deployment that a ledger keeps.

    Args:
        name: of the deployment.
        sha256: of its agreement.
        first: start of its first period.
        days: length of a period.
        longest_stay: in how many periods in a row the budget protects a person.
        budget_mu: the ceiling of that person's mu, over all outputs of all holders.
    """

    name: str
    sha256: str
    first: datetime.date
    days: int
    longest_stay: int
    budget_mu: Decimal

    def has_hash(self, digits: str) -> bool:
        """True if these are the first digits of the agreement's hash, and at least 8."""
        return len(digits) >= 8 and self.sha256.startswith(digits.lower())

    def number_of(self, period: str) -> tuple[int, int]:
        """The period of the grid that holds a date, counted from 0, and the days into it."""
        return divmod((datetime.date.fromisoformat(period) - self.first).days, self.days)

    def number_on(self, day: int) -> int:
        """The period of the grid that holds a day, an ordinal."""
        return (day - self.first.toordinal()) // self.days

    def start_of(self, number: int) -> datetime.date:
        """The start of a period of the grid."""
        return self.first + datetime.timedelta(days=number * self.days)


class Member(NamedTuple):
    """An entity that a holder reports for.

    Args:
        capacity: decimal text; None where it is reported.
        since: first date on which it takes part; None: from the first period on.
        until: date from which on it does not; None: it stays.
    """

    capacity: str | None
    since: datetime.date | None = None
    until: datetime.date | None = None

    def takes_part(self, period: datetime.date) -> bool:
        """True if it takes part in a period that starts at a date."""
        return (self.since or period) <= period and (self.until is None or period < self.until)


@dataclass(frozen=True)
class Agreed:
    """The agreement of a deployment on the rows of a holder.

    Args:
        terms: what the ledger keeps.
        agreement: all of it that touches the guarantee, see `dpol_weekly.holder.agreement`.
        entities: identifiers of all entities of the deployment.
        members: those of them to release.
        corrections: whether periods may be released late, or again.
        correct: the periods to release again, YYYY-MM-DD.

    Raises:
        DataError: a correction is asked for and not allowed.
    """

    terms: AgreedTerms
    agreement: str
    entities: frozenset[str]
    members: Mapping[str, Member]
    corrections: bool = False
    correct: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if self.correct and not self.corrections:
            raise DataError(
                f"the deployment {self.terms.name} allows no corrections; leave out --correct, or"
                " agree on corrections: true"
            )

    @property
    def reads_capacity(self) -> bool:
        """True if a column of capacities is needed."""
        return any(member.capacity is None for member in self.members.values())

    def cells(self, where: str, cells: list[str]) -> list[str] | None:
        """Cells of a row, with the capacity agreed on; None if others release the row.

        Raises:
            DataError: the entity is not of the deployment.
        """
        entity = cells[0]
        if entity not in self.entities:
            raise DataError(
                f"{where}: its entity is not in the deployment {self.terms.name}; write the"
                " identifier as its file does, or leave the row out"
            )
        if entity not in self.members:
            return None
        return [*cells[:3], self.members[entity].capacity or cells[3]]

    def check_period(self, where: str, period: str) -> None:
        """Refuse a date that is not a period of the deployment."""
        number, rest = self.terms.number_of(period)
        if rest or number < 0:
            first, days = self.terms.first, self.terms.days
            raise DataError(
                f"{where}: no period begins on its date in the deployment {self.terms.name}, whose"
                f" periods begin on {first} and every {days} days from then on; write the start of"
                " the period, or leave the row out"
            )
