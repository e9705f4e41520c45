"""The public file that says what is run every week: `deployment.yaml`, the same for all.

Hospitals noise their counts as it says, and the coordinator decides as it says. It holds no secret.
"""

from __future__ import annotations

import datetime
import hashlib
import math
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from dpol.core.errors import DataError
from dpol.core.names import fault_of
from dpol.core.refusals import nearest
from dpol.core.rounding import rounded_up
from dpol.core.settings import MISSING, AlgorithmSpec, Label, Problem, Settings
from dpol.release.agreed import Agreed, AgreedTerms
from dpol.release.ceiling import row_weight
from dpol.release.memory import Memory, numbers_of
from dpol.release.noise import CountNoise
from dpol.release.request import CountColumns

_YEAR = 364
_MOST_BEDS = 1e9
_LOUDEST = 100.0  # Noise on a share, from which on a designed memory is the longest.
MuDecimal = Annotated[float, Field(ge=0.001, le=100)]


def _capacity(value: object) -> object:
    """A number above 0, or `reported`. Raises ValueError for anything else."""
    with suppress(TypeError, ValueError):
        if value == "reported" or 0 < float(str(value)) <= _MOST_BEDS:
            return value
    raise ValueError(f"must be a number above 0 and up to {_MOST_BEDS:g}, or reported")


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

    def takes_part(self, period: datetime.date) -> bool:
        """True if it reports, and may be chosen, in a period that starts at a date."""
        return (self.since or period) <= period and (self.until is None or period < self.until)


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
    """Ceiling of the mu of a person of the longest stay, over all outputs of a holder."""
    corrections: bool = False
    """True if a period may be released again; it then counts again."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """Root of the random numbers of a randomised algorithm; public."""

    def rules(self) -> Iterator[Problem]:
        """The rules across keys that are broken."""
        for name, entity in self.entities.items():
            if fault := fault_of(name):
                yield Problem(("entities", name), name, f"is a name that {fault}")
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
        yield from unfit or self._dear_stay()

    def _dear_stay(self) -> Iterator[Problem]:
        squared = self.squared_mu_of_stay()
        if squared > Fraction(str(self.budget_mu)) ** 2:
            yield Problem(
                ("budget_mu",),
                self.budget_mu,
                f"a person who stays {self.longest_stay} periods would have mu"
                f" {rounded_up(math.sqrt(squared), 4)}, each period released once; take at least"
                " that, a smaller mu or a shorter longest_stay",
            )

    def squared_mu_of_stay(self) -> Fraction:
        """The square of the most mu of a person of the longest stay in a year of 52 weeks.

        Every period is released once, by one holder for all entities: less than that can never be
        the budget. Where capacities are reported and memory is designed for them, it is the worst.
        """
        noise, memory = self.count_noise(), self.memory() or Memory((Decimal(0), Decimal(0)))
        ends = [it.until for it in self.entities.values()]
        days = max((end - self.periods.first).days for end in ends if end) if all(ends) else _YEAR
        periods = min(self.longest_stay, math.ceil(max(0, min(days, _YEAR)) / self.periods.days))
        # Less capacity means more memory, and that costs a stay more: the two that cost most.
        beds = [it.capacity for it in self.entities.values()]
        least = noise.standard_deviation / _LOUDEST
        fewest = sorted(least if isinstance(it, str) else max(it, least) for it in beds)[:2]
        most = self.longest_stay
        weights = (
            row_weight(Fraction(noise.mu), (Fraction(a), Fraction(b), memory.unit_weeks), most)
            for a, b in numbers_of(noise, memory, fewest)
        )
        return periods * sum(weights, Fraction(0))

    def sha256(self) -> str:
        """Checksum of the content: comments, order of keys and spelling of values do not matter."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

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
            *(self.name, self.sha256(), self.periods.first, self.periods.days),
            *(self.longest_stay, Decimal(str(self.budget_mu))),
        )
        capacities = {
            name: None
            if it.capacity == "reported"
            else f"{Decimal(str(it.capacity)).normalize():f}"
            for name, it in self.entities.items()
            if entity in (None, name)
        }
        every = frozenset(self.entities)
        return Agreed(terms, every, capacities, self.corrections, frozenset(correct))

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
