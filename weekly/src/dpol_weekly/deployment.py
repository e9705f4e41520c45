"""The agreement of hospitals and a coordinator: `deployment.yaml`, public, the same for all.

It holds everything that the guarantee depends on, and nothing else. All of it is hashed. The
coordinator's own choices are in `dpol_weekly.coordinator.settings`.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from dpol.core.errors import ConfigError
from dpol.core.refusals import refusal
from dpol.core.rounding import at_most
from dpol.core.settings import MISSING, Label, Problem, Settings
from dpol.privacy.account import best_guess
from dpol_weekly.noise import DECIMALS, CountNoise, decimal_text
from dpol_weekly.records import HEX, alike
from dpol_weekly.settings_file import checked, read_keys

MANUAL = "The template that dpol deployment new FILE writes"
MuDecimal = Annotated[float, Field(ge=0.001, le=100)]
Identifier = Annotated[Label, Field(max_length=40)]
"""An identifier of an entity or an agreement."""


class Entity(Settings):
    """An entity that reports, such as a hospital."""

    capacity: float | Literal["reported"] = "reported"
    """The whole of its counts (beds): a public number, or `reported` with every count."""
    since: datetime.date | None = None
    """First date on which it reports and may be chosen; without it the first period."""
    until: datetime.date | None = None
    """Date from which on it does not; its past still counts. Without a date it stays."""

    @property
    def beds(self) -> str | None:
        """The capacity as decimal text; None if it is reported."""
        return None if self.capacity == "reported" else decimal_text(Decimal(str(self.capacity)))

    def takes_part(self, period: datetime.date) -> bool:
        """Return True if the entity takes part in a period that starts at a date."""
        return (self.since or period) <= period and (self.until is None or period < self.until)


class Periods(Settings):
    """The reporting periods."""

    first: Annotated[
        datetime.date, Field(ge=datetime.date(1900, 1, 1), le=datetime.date(2100, 12, 31))
    ]
    """Start of the first period."""
    days: Annotated[int, Field(ge=1, le=366)] = 7
    """Length of a period in days."""


class Amendment(Settings):
    """The agreement that this one supersedes."""

    agreement: Annotated[str, Field(pattern=f"^{HEX}$")]
    """Its hash, as `dpol deployment check` shows it."""
    since: datetime.date
    """First period of the new one; earlier periods stay with the old one."""


class SecondRelease(Settings):
    """The second release of every period, whether its count was changed or not."""

    after: Annotated[int, Field(ge=1, le=52)]
    """Number of periods from the first release on."""


class Deployment(Settings):
    """An agreement of hospitals and a coordinator."""

    name: Identifier
    """Name of the deployment; part of every release and decision."""
    periods: Periods
    """Periods in which counts are taken."""
    entities: Annotated[dict[Identifier, Entity], Field(min_length=1)]
    """Identifier of each entity, and what is public of it."""
    mu: MuDecimal
    """Gaussian-DP parameter of one person in one period."""
    count_sensitivity: Annotated[float, Field(ge=0.001, le=1000)] = 1.0
    """Largest change of one count by one person."""
    longest_stay: Annotated[int, Field(ge=1, le=520)] = 8
    """Number of periods over which the budget protects one person."""
    budget_mu: MuDecimal
    """Ceiling of the mu of a person of the longest stay, over all releases of all holders."""
    second_release: SecondRelease | None = None
    """When every period is released again; without it, never."""
    counted_by: Annotated[int, Field(ge=1, le=20)] = 1
    """Number of full counts to which one person adds in one period, over all entities."""
    affirmed: Literal[True]
    """Must be true: it affirms what `count_sensitivity` and `counted_by` say of one person."""
    amends: Amendment | None = None
    """The agreement whose place this one takes from some period on; only `entities` may differ."""

    def rules(self) -> Iterator[Problem]:
        """Yield the broken rules that involve several keys."""
        if Decimal(str(self.count_sensitivity)) % Decimal(1).scaleb(-DECIMALS):
            allowed = f"must be a number with at most {DECIMALS} decimals"
            yield Problem(("count_sensitivity",), self.count_sensitivity, allowed)
        spelled: dict[str, str] = {}
        for name, entity in self.entities.items():
            if entity.beds is not None and not 0.001 <= float(entity.beds) <= 999_999_999:
                allowed = "must be a number from 0.001 to 999999999, or reported"
                yield Problem(("entities", name, "capacity"), entity.capacity, allowed)
            if (other := spelled.setdefault(alike(name), name)) != name:
                wrong = f"differs from {other!r} in its spelling only; rename or leave out one"
                yield Problem(("entities", name), name, wrong)
            if entity.since and entity.until and entity.until <= entity.since:
                wrong = f"must be after since ({entity.since})"
                yield Problem(("entities", name, "until"), str(entity.until), wrong)
        if self.amends and not self.number_of(self.amends.since):
            allowed = f"must be the start of a period after the first ({self.periods.first})"
            yield Problem(("amends", "since"), str(self.amends.since), allowed)
        if (squared := self.least_budget()) > Fraction(str(self.budget_mu)) ** 2:
            often = "once" if self.scheduled == 1 else "twice, as second_release says"
            yield Problem(
                ("budget_mu",),
                self.budget_mu,
                f"must be at least {at_most(math.sqrt(squared), digits=4)}: it pays for"
                f" {self.longest_stay} periods, each released {often}; take that, a smaller mu or a"
                " shorter longest_stay",
            )

    @property
    def scheduled(self) -> int:
        """Number of releases of each period."""
        return 2 if self.second_release else 1

    @property
    def person_mu(self) -> float:
        """The mu of a person in one period, in all counts to which the person adds."""
        return self.mu * math.sqrt(self.counted_by)

    @property
    def periods_in_a_year(self) -> int:
        """Number of periods in which somebody is counted who is counted all year."""
        return max(1, 365 // self.periods.days)

    @property
    def year_mu(self) -> float:
        """The mu of somebody who is counted in all periods of a year, by scheduled releases."""
        return self.person_mu * math.sqrt(self.periods_in_a_year * self.scheduled)

    def least_budget(self) -> Fraction:
        """The square of the least budget: it pays for the longest stay."""
        return self.longest_stay * self.scheduled * self.counted_by * Fraction(str(self.mu)) ** 2

    def agreement(self) -> str:
        """Return the agreement as JSON with sorted keys; equal agreements give equal texts."""
        plain = self.model_dump(mode="json", exclude_none=True)
        return json.dumps(plain, sort_keys=True, ensure_ascii=False)

    def sha256(self) -> str:
        """Return the hash of the agreement; order, comments and 1 or 1.0 do not matter."""
        return hashlib.sha256(self.agreement().encode()).hexdigest()

    def lasting_sha256(self) -> str:
        """Return the hash of all that amendments keep; they may change the entities only."""
        lasting = self.model_dump(
            mode="json", exclude_none=True, exclude={"entities", "amends", "affirmed"}
        )
        return hashlib.sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()

    def count_noise(self) -> CountNoise:
        """Return the noise on every count."""
        return CountNoise(Decimal(str(self.mu)), Decimal(str(self.count_sensitivity)))

    def guess(self, mu: float) -> float:
        """Return the largest probability of a right guess about a person who is counted in full.

        Such a person moves a count by 1, whatever `count_sensitivity` says, and pays for a move of
        that size at least. `mu` is that of a person who moves it by `count_sensitivity`.
        """
        return best_guess(mu * max(1.0, 1 / self.count_sensitivity))

    @property
    def sensitivity_text(self) -> str:
        """The count sensitivity as decimal text."""
        return decimal_text(Decimal(str(self.count_sensitivity)))

    def period_of(self, number: int) -> datetime.date:
        """Return the start of the period with a number, counted from 0."""
        return self.periods.first + datetime.timedelta(days=number * self.periods.days)

    def second_day(self, period: datetime.date) -> datetime.date | None:
        """Return the first day on which the period that begins at a date is due again, if it is."""
        if self.second_release is None:
            return None
        return period + datetime.timedelta(days=self.periods.days * (self.second_release.after + 1))

    def number_of(self, period: datetime.date) -> int | None:
        """Return the number of the period that begins at a date, from 0; None if none does."""
        number, rest = divmod((period - self.periods.first).days, self.periods.days)
        return None if rest or number < 0 else number

    def number_on(self, day: datetime.date) -> int:
        """Return the number of the period that contains a day; below 0 before the first period."""
        return (day - self.periods.first).days // self.periods.days


def iso_date(text: str) -> datetime.date | None:
    """Return the date of a text if it is written as YYYY-MM-DD."""
    with suppress(ValueError):
        if (day := datetime.date.fromisoformat(text)).isoformat() == text:
            return day
    return None


def read_deployment(path: Path | str) -> Deployment:
    """Read and check a deployment file.

    Raises:
        ConfigError: it cannot be read, or breaks rules; all are listed.
    """
    raw = read_keys(path, "`dpol deployment new` writes a whole file")
    return checked_deployment(raw, str(path))


def checked_deployment(raw: Mapping[str, object], place: str) -> Deployment:
    """Check plain values as an agreement; `place` says in messages where they are from.

    Raises:
        ConfigError: it breaks rules; all are listed.
    """
    return checked(Deployment, raw, place, rules=Deployment.rules, manual=MANUAL)


def refuse_amendment(
    before: Deployment, now: Deployment, released: Iterable[tuple[str, str]], place: str
) -> None:
    """Refuse an agreement that cannot supersede another one.

    Only `entities` may differ, and only from the first period of the new agreement on: holders
    join, close, and get other beds. So mu, unit and budget also hold for a stay across that period.
    Nothing may have been released yet of what it changes: a place that gets another name from a
    released period on would be released twice.

    Args:
        before: the superseded agreement.
        now: the new agreement.
        released: entity and period of rows that were released.
        place: where the new agreement is from, for messages.

    Raises:
        ConfigError: the new agreement does not amend the other, or changes something else.
    """
    if not (now.amends and now.amends.agreement == before.sha256()):
        raise ConfigError(
            f"{place}: is another agreement than {before.name} ({before.sha256()[:12]}), and"
            " does not amend it. Take that one, or the amendments between the two first, or write"
            f' into this one amends: {{agreement: "{before.sha256()}", since: DATE}}'
        )
    since, problems = now.amends.since, []
    if before.amends and before.amends.since >= since:
        allowed = f"must be after the last amendment ({before.amends.since})"
        problems.append(Problem(("amends", "since"), str(since), allowed))
    for key in Deployment.model_fields:
        if key not in ("entities", "amends") and getattr(before, key) != getattr(now, key):
            allowed = "must stay as it was; begin another deployment, with another name"
            problems.append(Problem((key,), MISSING, allowed))
    for name in before.entities.keys() | now.entities.keys():
        old, new = before.entities.get(name), now.entities.get(name)
        if new is None:
            allowed = f"must stay in the file; write until: {since} if it leaves"
            problems.append(Problem(("entities", name), MISSING, allowed))
        elif _before(old, now, since) != _before(new, now, since):
            allowed = f"must take part in the same periods before {since} as it did (since, until)"
            problems.append(Problem(("entities", name), MISSING, allowed))
    late = [
        (period, entity)
        for entity, period in released
        if period >= str(since) and before.entities.get(entity) != now.entities.get(entity)
    ]
    if late:
        period, entity = max(late)
        allowed = f"must be after {period}, which {entity} has released already"
        problems.append(Problem(("amends", "since"), str(since), allowed))
    if problems:
        raise refusal(place, problems, MANUAL)


def _before(
    entity: Entity | None, agreed: Deployment, day: datetime.date
) -> tuple[datetime.date, datetime.date]:
    """Return from when until when an entity takes part before a day."""
    if entity is None:
        return day, day
    return min(entity.since or agreed.periods.first, day), min(entity.until or day, day)
