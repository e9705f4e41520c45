"""The public file that says what is run every week: `deployment.yaml`, the same for all.

Hospitals noise their counts as it says, and the coordinator decides as it says. It holds no secret.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, ValidationError

from dpol.core.errors import ConfigError, DataError
from dpol.core.names import fault_of, folded
from dpol.core.near import did_you_mean
from dpol.core.refusals import problems_of, refusal
from dpol.core.rounding import rounded_up
from dpol.core.settings import MISSING, AlgorithmSpec, Label, Problem, Settings
from dpol.core.yaml_files import read_yaml
from dpol.experts.interface import Algorithm, LocalAlgorithm, can_read
from dpol.experts.registry import REGISTRY, label_of, make_members
from dpol_weekly.memory import Memory, budget_of_period, numbers_of, row_weight
from dpol_weekly.noise import CountNoise, decimal_text

MANUAL = "The template that dpol deployment new FILE writes"
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
    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    """Public half of the holder's key, if releases are signed."""

    @property
    def beds(self) -> str | None:
        """The capacity as decimal text; None if it is reported."""
        if isinstance(self.capacity, str):
            return None
        return f"{Decimal(str(self.capacity)).normalize():f}"

    def takes_part(self, period: datetime.date) -> bool:
        """True if it reports, and may be chosen, in a period that starts at a date."""
        return (self.since or period) <= period and (self.until is None or period < self.until)


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
    entities: Annotated[dict[str, Entity], Field(min_length=1)]
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
        # A lone hospital releases, and nobody decides among several.
        if self.names >= max(2, len(self.entities)):
            allowed = f"must be below the number of entities ({len(self.entities)})"
            yield Problem(("names",), self.names, allowed)
        if self.longest_stay < self.unit_weeks:
            allowed = f"must be at least unit_weeks ({self.unit_weeks})"
            yield Problem(("longest_stay",), self.longest_stay, allowed)
        try:
            self.count_noise()
        except DataError as error:
            yield Problem(("count_sensitivity",), MISSING, str(error))
        else:
            yield from self._dear_period()

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
        noise = self.count_noise()
        memory = self.memory() or Memory((Decimal(0), Decimal(0)))
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
        """The agreement, which is what touches the guarantee, as JSON in one way only.

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
        return hashlib.sha256(self.agreement().encode()).hexdigest()

    def count_noise(self) -> CountNoise:
        """The noise of every count."""
        return CountNoise(Decimal(str(self.mu)), Decimal(str(self.count_sensitivity)))

    @property
    def sensitivity_text(self) -> str:
        """The count sensitivity as decimal text."""
        return decimal_text(Decimal(str(self.count_sensitivity)))

    def memory(self) -> Memory | None:
        """The noise's memory of earlier noise; None without any, for a unit of one period."""
        designed = self.noise.memory == "designed"
        if not designed and self.unit_weeks == 1:
            return None
        numbers = None if designed else (Decimal(0), Decimal(0))
        return Memory(numbers, self.unit_weeks, self.noise.chain_periods)

    def period_of(self, number: int) -> datetime.date:
        """The start of a period, counted from 0."""
        return self.periods.first + datetime.timedelta(days=number * self.periods.days)

    def number_of(self, period: datetime.date) -> int | None:
        """Number of the period that begins at a date, counted from 0; None if none does."""
        number, rest = divmod((period - self.periods.first).days, self.periods.days)
        return None if rest or number < 0 else number

    def number_on(self, day: datetime.date) -> int:
        """Number of the period of the grid that holds a day; below 0 before the first one."""
        return (day - self.periods.first).days // self.periods.days


def short(sha256: str) -> str:
    """The first digits of a hash, enough to confirm it."""
    return sha256[:12]


def canonical_text(plain: Mapping[str, Any]) -> str:
    """Plain values as JSON in one way only: keys sorted, 1.0 written as 1.

    >>> canonical_text({"mu": 1.0, "days": 7}) == canonical_text({"days": 7.0, "mu": 1})
    True
    """
    return json.dumps(_canonical(plain), sort_keys=True, ensure_ascii=False)


def _canonical(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    whole = isinstance(value, float) and math.isfinite(value) and value == int(value)
    return int(value) if whole else value


def read_deployment(path: Path | str) -> Deployment:
    """Read and check a deployment file.

    Raises:
        ConfigError: it cannot be read, or breaks rules; all are listed.
    """
    raw, place = read_yaml(path), str(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{place}: holds no keys; `dpol deployment new` writes a whole file")
    return checked_deployment(raw, place)


def checked_deployment(raw: Mapping[str, object], place: str) -> Deployment:
    """A deployment of plain values; `place` says in messages where they are from.

    Raises:
        ConfigError: it breaks rules; all are listed.
    """
    try:
        # Where `disjoint` is missing, its own words say what it affirms.
        deployment = Deployment.model_validate({"disjoint": MISSING, **raw})
    except ValidationError as error:
        raise refusal(place, problems_of(error, Deployment), MANUAL) from None
    if problems := [*deployment.rules(), *_unfit_algorithm(deployment)]:
        raise refusal(place, problems, MANUAL)
    return deployment


def algorithm_of(deployment: Deployment, spec: AlgorithmSpec | None = None) -> LocalAlgorithm[Any]:
    """The algorithm that a deployment decides with, or another one that could.

    Args:
        deployment: what was agreed on.
        spec: the other one, as an entry of a suite; None: the deployment's own.

    Raises:
        ValueError: it is unknown or several, or cannot play a live game; the text lists those that
            can.
    """
    spec = deployment.algorithm if spec is None else spec
    name = spec.get("algorithm") if isinstance(spec, Mapping) else spec
    memory = deployment.noise.memory != "none"
    try:
        if name not in tuple(REGISTRY):
            raise ValueError(f"is not an algorithm{did_you_mean(name, REGISTRY)}")
        members = make_members(spec)
        if len(members) > 1:
            labels = ", ".join(member.label for member in members)
            raise ValueError(f"stands for {len(members)}: {labels}; set parameters so that one is")
        if wrong := unfit(members[0].algorithm, memory):
            raise ValueError(wrong)
    except ValueError as error:
        made = map(make_members, REGISTRY)
        able = [it[0].family for it in made if len(it) == 1 and not unfit(it[0].algorithm, memory)]
        raise ValueError(f"{error}; these can decide: {', '.join(able)}") from None
    return cast("LocalAlgorithm[Any]", members[0].algorithm)


def unfit(algorithm: Algorithm[Any, Any], memory: bool) -> str:
    """The reason why an algorithm cannot play a live game; empty if it can."""
    if not isinstance(algorithm, LocalAlgorithm):
        why = "needs raw counts; take a local algorithm, such as empirical-bayes"
    elif algorithm.needs_all_rounds:
        why = "must know beforehand how many rounds there will be; take another one"
    elif not can_read(algorithm.reads_noise, "chains" if memory else "none"):
        why = "takes noise as independent, and this noise has a memory; take another one"
    else:
        return ""
    return f"{label_of(algorithm)} {why}"


def _unfit_algorithm(deployment: Deployment) -> Iterator[Problem]:
    try:
        algorithm_of(deployment)
    except ValueError as error:
        yield Problem(("algorithm",), deployment.algorithm, str(error))
