"""The public file that says what is run every week: `deployment.yaml`, the same for all.

Hospitals noise their counts as it says, and the coordinator decides as it says. It holds no secret.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from dpol.core.errors import DataError
from dpol.core.names import fault_of, folded
from dpol.core.refusals import nearest
from dpol.core.rounding import rounded_up
from dpol.core.settings import MISSING, AlgorithmSpec, Label, Problem, Settings
from dpol_weekly.holder.agreed import Agreed, AgreedTerms, Member
from dpol_weekly.holder.agreement import canonical_text, checksum
from dpol_weekly.holder.ceiling import budget_of_period, row_weight
from dpol_weekly.holder.memory import Memory, numbers_of
from dpol_weekly.holder.noise import CountNoise
from dpol_weekly.holder.request import CountColumns

_LEAST_BEDS, _MOST_BEDS = 0.001, 999_999_999  # As `dpol privatize` and `dpol collect` take them.
_LOUDEST = 100.0  # Noise on a share, from which on a designed memory is the longest.
MuDecimal = Annotated[float, Field(ge=0.001, le=100)]


def _capacity(value: object) -> object:
    """A number in range, or `reported`. Raises ValueError for anything else."""
    with suppress(TypeError, ValueError):
        if value == "reported" or _LEAST_BEDS <= float(str(value)) <= _MOST_BEDS:
            return value
    raise ValueError(f"must be a number from {_LEAST_BEDS:g} to {_MOST_BEDS}, or reported")


def _affirmed(value: object) -> object:
    """True. Raises ValueError for anything else."""
    if value is not True:
        raise ValueError(
            "must be true: no person is counted by two entities in one period, as by a hospital"
            " and its ward; leave out the entities that overlap with others"
        )
    return value


class Entity(Settings):
    """An entity that reports, such as a hospital."""

    title: str = ""
    """A name to show; without it the identifier is shown."""
    capacity: Annotated[float | Literal["reported"], BeforeValidator(_capacity)] = "reported"
    """The whole of its counts (beds): a public number, or `reported` with every count."""
    since: datetime.date | None = None
    """First date on which it reports and may be chosen; without it the first period."""
    until: datetime.date | None = None
    """Date from which on it does not; its past still counts. Without a date it stays."""

    def member(self) -> Member:
        """The facts that its holder needs."""
        reported = self.capacity == "reported"
        beds = None if reported else f"{Decimal(str(self.capacity)).normalize():f}"
        return Member(beds, self.since, self.until)

    def takes_part(self, period: datetime.date) -> bool:
        """True if it reports, and may be chosen, in a period that starts at a date."""
        return self.member().takes_part(period)


class Columns(Settings):
    """The names that the holders' tables use; the same for all, and for what they release."""

    entity: str = "entity"
    """Identifier of the entity."""
    period: str = "period"
    """Start of the period, a date such as 2021-01-31."""
    count: str = "count"
    """Number of people counted."""
    capacity: str = "capacity"
    """Capacity of the entity in the period; read where it is `reported`."""


class Periods(Settings):
    """The periods in which counts are taken."""

    first: Annotated[
        datetime.date, Field(ge=datetime.date(1900, 1, 1), le=datetime.date(2100, 12, 31))
    ]
    """Start of the first period."""
    days: Annotated[int, Field(ge=1, le=366)] = 7
    """Length of a period in days."""


class Noise(Settings):
    """The noise on counts."""

    memory: Literal["none", "designed"] = "none"
    """`none`: independent noise. `designed`: noise that takes back part of its past."""
    chain_periods: Annotated[int, Field(ge=1, le=2000)] = 520
    """The most releases of one chain of noise with memory; then a new one begins."""


class Deployment(Settings):
    """An agreement of hospitals and a coordinator."""

    name: Label
    """Name of the deployment; part of every release and decision."""
    periods: Periods
    """Periods in which counts are taken."""
    columns: Columns = Columns()
    """The names that the holders' tables use."""
    entities: Annotated[dict[str, Entity], Field(min_length=2)]
    """Identifier of each entity, and what is public of it."""
    mu: MuDecimal
    """Gaussian-DP parameter of one person of the unit."""
    unit_weeks: Annotated[int, Field(ge=1, le=52)] = 1
    """The unit: one person in at most so many periods in a row."""
    count_sensitivity: Annotated[float, Field(ge=0.001, le=1000)] = 1.0
    """Largest change of one count by one person."""
    noise: Noise = Noise()
    """Noise on counts."""
    algorithm: AlgorithmSpec = "empirical-bayes"
    """A local algorithm that decides from the noisy shares, as in a suite of a config."""
    names: Annotated[int, Field(ge=1, le=1000)] = 1
    """Number of entities that a decision names."""
    longest_stay: Annotated[int, Field(ge=1, le=520)] = 8
    """Number of periods in which the budget has to protect one person."""
    budget_mu: MuDecimal
    """Ceiling of the mu of a person of the longest stay, over all outputs of all holders."""
    corrections: bool = False
    """True if a period may be released again; it then counts again."""
    disjoint: Annotated[bool, BeforeValidator(_affirmed)]
    """Must be true: it affirms that no person is counted by two entities in one period."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Root of the random numbers of a randomised algorithm; public."""

    def rules(self) -> Iterator[Problem]:
        """The rules across keys that are broken."""
        alike: dict[str, str] = {}
        for name, entity in self.entities.items():
            if fault := fault_of(name):
                yield Problem(("entities", name), name, f"is a name that {fault}")
            if name != name.strip():
                blank = "begins or ends with a blank, which no cell of a table does; take it out"
                yield Problem(("entities", name), name, blank)
            if (other := alike.setdefault(folded(name), name)) != name:
                wrong = f"differs from {other!r} in its spelling only; rename or leave out one"
                yield Problem(("entities", name), name, wrong)
            if entity.title and (fault := fault_of(entity.title)):
                yield Problem(("entities", name, "title"), entity.title, fault)
            if entity.since and entity.until and entity.until <= entity.since:
                wrong = f"must be after since ({entity.since})"
                yield Problem(("entities", name, "until"), str(entity.until), wrong)
        if self.names >= len(self.entities):
            allowed = f"must be below the number of entities ({len(self.entities)})"
            yield Problem(("names",), self.names, allowed)
        if self.longest_stay < self.unit_weeks:
            allowed = f"must be at least unit_weeks ({self.unit_weeks})"
            yield Problem(("longest_stay",), self.longest_stay, allowed)
        unfit = []
        for key, make in (("columns", self.count_columns), ("count_sensitivity", self.count_noise)):
            try:
                make()
            except DataError as error:
                unfit.append(Problem((key,), MISSING, str(error)))
        yield from unfit or self._dear_period()

    def _dear_period(self) -> Iterator[Problem]:
        squared = self.squared_budget()
        if squared > Fraction(str(self.budget_mu)) ** 2:
            yield Problem(
                ("budget_mu",),
                self.budget_mu,
                f"must be at least {rounded_up(math.sqrt(squared), 4)}: {self.longest_stay} periods"
                f" of two entities, each released {'twice' if self.corrections else 'once'}; take"
                " that, a smaller mu or a shorter longest_stay"
                + (", or leave out corrections" if self.corrections else ""),
            )

    def squared_budget(self) -> Fraction:
        """The square of the least budget_mu with which the deployment can be run.

        It pays for one release of each entity and period, and with corrections for a second one,
        see `budget_of_period`. Where capacities are reported, it is that of the worst memory.
        """
        noise, memory = self.count_noise(), self.memory() or Memory((Decimal(0), Decimal(0)))
        # Less capacity means more memory, and a heavier row.
        beds = (it.capacity for it in self.entities.values())
        least = noise.standard_deviation / _LOUDEST
        fewest = min(least if isinstance(it, str) else max(it, least) for it in beds)
        ((a, b),) = numbers_of(noise, memory, [fewest])
        terms = Fraction(a), Fraction(b), memory.unit_weeks
        weight = row_weight(Fraction(noise.mu), terms, self.longest_stay)
        return (
            weight
            * (2 if self.corrections else 1)
            / budget_of_period(Fraction(1), self.longest_stay)
        )

    def agreement(self) -> str:
        """The agreement, which is what touches the guarantee, as `dpol_weekly.holder.agreement`
        reads it.

        The rest is the coordinator's and may change at any time: titles, algorithm, how many
        entities a decision names, and the seed.
        """
        titles = {"entities": {"__all__": {"title"}}}
        plain = self.model_dump(
            mode="json",
            exclude_none=True,
            exclude={"names": True, "algorithm": True, "seed": True, **titles},
        )
        return canonical_text(plain)

    def sha256(self) -> str:
        """Checksum of the agreement: nothing else in the file, and no spelling, matters."""
        return checksum(self.agreement())

    def agreed(self, entity: str | None = None, correct: Iterable[str] = ()) -> Agreed:
        """The agreement of the deployment on the rows of one entity, or of all.

        Args:
            entity: its identifier.
            correct: periods to release again, YYYY-MM-DD.

        Raises:
            DataError: there is no such entity, or corrections are not allowed.
        """
        if entity is not None and entity not in self.entities:
            told = nearest(entity, self.entities)
            raise DataError(f"the deployment {self.name} has no entity {entity!r}{told}")
        terms = AgreedTerms(
            name=self.name,
            sha256=self.sha256(),
            first=self.periods.first,
            days=self.periods.days,
            longest_stay=self.longest_stay,
            budget_mu=Decimal(str(self.budget_mu)),
        )
        members = {
            name: it.member() for name, it in self.entities.items() if entity in (None, name)
        }
        return Agreed(
            terms=terms,
            agreement=self.agreement(),
            entities=frozenset(self.entities),
            members=members,
            corrections=self.corrections,
            correct=frozenset(correct),
        )

    def count_noise(self) -> CountNoise:
        """The noise of every count."""
        return CountNoise(Decimal(str(self.mu)), Decimal(str(self.count_sensitivity)))

    def memory(self) -> Memory | None:
        """The noise's memory of earlier noise; None without any, for a unit of one period."""
        designed = self.noise.memory == "designed"
        if not designed and self.unit_weeks == 1:
            return None
        numbers = None if designed else (Decimal(0), Decimal(0))
        return Memory(numbers, self.unit_weeks, self.noise.chain_periods)

    def count_columns(self) -> CountColumns:
        """The columns of a holder's table, and of what is released."""
        it = self.columns
        return CountColumns(it.entity, it.period, it.count, it.capacity)

    def period_of(self, number: int) -> datetime.date:
        """The start of a period, counted from 0."""
        return self.periods.first + datetime.timedelta(days=number * self.periods.days)

    def number_of(self, period: datetime.date) -> int | None:
        """Number of the period that begins at a date, counted from 0; None if none does."""
        number, rest = divmod((period - self.periods.first).days, self.periods.days)
        return None if rest or number < 0 else number
