"""Checks of a row that was reported: exactly what `dpol privatize` writes, and what was agreed.

`CHECKS` is the list of them, in their order: each may rely on those before. The first line of a
check says what it asks for; the table of checks in the manual is made of these lines.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import cache, cached_property

from dpol.core.errors import DataError
from dpol.core.words import printable, shortened
from dpol_weekly.coordinator.log import Release
from dpol_weekly.deployment import Deployment
from dpol_weekly.memory import ChainTerms, stated_terms
from dpol_weekly.noise import CountNoise, decimal_text, deviation_of_share, interval
from dpol_weekly.released import PATTERNS, Cells, Row, check_numbers

MOST_DEVIATIONS = 40
"""A noisy count is at most the capacity and so many standard deviations of its noise.

Noise reaches so far with a probability below 1e-340.
"""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A row of a report, and what it is compared with.

    Args:
        row: as it was reported.
        deployment: what is agreed now.
        earlier: the agreements that it amends, as far as they are known.
        today: the date.
    """

    row: Row
    deployment: Deployment
    earlier: Sequence[Deployment]
    today: datetime.date

    @property
    def cells(self) -> Cells:
        """The cells of the row."""
        return self.row.cells

    @property
    def noise(self) -> CountNoise:
        """The noise that its mu and count sensitivity state."""
        return _noise(self.cells.mu, self.cells.count_sensitivity)

    @cached_property
    def terms(self) -> ChainTerms:
        """The public terms of its noise."""
        if self.row.part:
            return stated_terms(self.noise, self.row.part)
        return _independent_terms(self.noise)

    @property
    def deviation(self) -> float:
        """Standard deviation of its noise on the count, in people."""
        return self.terms.standard_deviation_after(self.row.place - 1)


def known_entity(claim: Claim) -> None:
    """The entity is one of the deployment."""
    if claim.cells.entity not in claim.deployment.entities:
        shown = printable(shortened(claim.cells.entity))
        raise DataError(f"{shown} is not an entity of the deployment; ask who it is")


def known_period(claim: Claim) -> None:
    """A period of the deployment starts on the date."""
    periods, text, day = claim.deployment.periods, claim.cells.period, None
    with suppress(ValueError):
        day = datetime.date.fromisoformat(text)
    if not day or day.isoformat() != text or claim.deployment.number_of(day) is None:
        raise DataError(
            f"no period of the deployment starts at {printable(shortened(text))!r}; they start"
            f" every {periods.days} days from {periods.first} on"
        )


def takes_part(claim: Claim) -> None:
    """The entity takes part in the period, by its `since` and `until`."""
    entity, period = claim.cells.entity, claim.cells.period
    if not claim.deployment.entities[entity].takes_part(datetime.date.fromisoformat(period)):
        raise DataError(f"{entity} does not take part in {period}, says the deployment")


def has_ended(claim: Claim) -> None:
    """The period has ended, by the date of the coordinator's computer."""
    begun = datetime.date.fromisoformat(claim.cells.period)
    if (claim.today - begun).days < claim.deployment.periods.days:
        raise DataError(
            f"the period from {begun} has not ended on {claim.today}, the date of this computer;"
            " collect again when it has, or ask for the right date"
        )


def written_noise(claim: Claim) -> None:
    """μ and count sensitivity are written as `dpol privatize` writes them."""
    for column in ("mu", "count_sensitivity"):
        text = getattr(claim.cells, column)
        if not PATTERNS[column].fullmatch(text) or decimal_text(Decimal(text)) != text:
            raise DataError(
                "mu or its count sensitivity is not a number as dpol privatize writes it; ask for"
                " the table that it wrote"
            )


def agreed_mu(claim: Claim) -> None:
    """μ is at most the agreed one."""
    agreed = claim.deployment.mu
    if claim.noise.mu > Decimal(str(agreed)):
        raise DataError(f"mu is {claim.cells.mu}, larger than agreed ({agreed:g})")


def agreed_sensitivity(claim: Claim) -> None:
    """The count sensitivity is the agreed one."""
    given, agreed = claim.noise.count_sensitivity, claim.deployment.count_sensitivity
    if given != Decimal(str(agreed)):
        raise DataError(f"the count sensitivity is {given}, and {agreed:g} was agreed")


def agreed_unit(claim: Claim) -> None:
    """The scale of the noise is what μ and memory ask for, and it protects stays as agreed."""
    given, agreed = claim.terms.unit_weeks, claim.deployment.unit_weeks
    if given < agreed:
        raise DataError(f"its noise protects stays of {given} periods, and {agreed} were agreed")


def agreed_memory(claim: Claim) -> None:
    """The noise has a memory only where one was agreed."""
    if claim.terms.a != claim.terms.b and claim.deployment.noise.memory == "none":
        raise DataError("its noise has a memory, and independent noise was agreed")


def written_numbers(claim: Claim) -> None:
    """Count and capacity are written as `dpol privatize` writes them, and the share is theirs."""
    _count_and_capacity(claim)


def agreed_capacity(claim: Claim) -> None:
    """The capacity is the agreed one, or that before an amendment, unless it is `reported`."""
    name, given = claim.cells.entity, claim.cells.capacity
    # A holder that has not taken an amendment yet releases by the agreement before it.
    held = [
        it.entities[name].capacity
        for it in (*claim.earlier, claim.deployment)
        if name in it.entities
        and not (it.amends and claim.cells.period < it.amends.since.isoformat())
    ]
    if held and not {"reported", float(given)} & {*held}:
        raise DataError(f"its capacity is {given}, and the deployment says {held[-1]:g}")


def count_in_range(claim: Claim) -> None:
    """The noisy count is at most 40 standard deviations of its noise above the capacity."""
    count, capacity = _count_and_capacity(claim)
    if abs(count) > capacity + MOST_DEVIATIONS * claim.deviation:
        raise DataError(
            f"its noisy count is out of range: more than {MOST_DEVIATIONS} standard deviations of"
            " its noise above the capacity; ask for it again"
        )


def stated_deviation(claim: Claim) -> None:
    """`noise_sd` is that of the noise that the record states for the row."""
    if deviation_of_share(claim.deviation, claim.cells.capacity) != claim.cells.noise_sd:
        raise DataError(
            "its noise_sd is not that of the noise that its record states; ask for table and"
            " record again"
        )


def stated_interval(claim: Claim) -> None:
    """`low` and `high` are the 95% interval of the share."""
    cells = claim.cells
    if interval(cells.noisy_share, cells.noise_sd) != [cells.low, cells.high]:
        raise DataError("low and high are not the interval of its noisy share; ask again")


CHECKS: tuple[Callable[[Claim], None], ...] = (
    known_entity,
    known_period,
    takes_part,
    has_ended,
    written_noise,
    agreed_mu,
    agreed_sensitivity,
    agreed_unit,
    agreed_memory,
    written_numbers,
    agreed_capacity,
    count_in_range,
    stated_deviation,
    stated_interval,
)
"""All checks. Each raises DataError if a row breaks it; the text says which, without its count."""


def checked(
    row: Row, agreements: Sequence[Deployment], today: datetime.date, origin: str
) -> Release:
    """A row as it goes into the log.

    Args:
        row: as it was reported.
        agreements: that are known, each an amendment of the one before.
        today: the date.
        origin: the name of its chain begins with it.

    Raises:
        DataError: the row breaks one of `CHECKS`.
    """
    claim = Claim(row=row, deployment=agreements[-1], earlier=agreements[:-1], today=today)
    for check in CHECKS:
        check(claim)
    return Release(
        cells=row.cells,
        terms=claim.terms,
        chain=f"{origin}/{row.part['first_row']}" if row.part else "",
        place=row.place,
    )


def _count_and_capacity(claim: Claim) -> tuple[float, float]:
    return check_numbers(
        noisy_count=claim.cells.noisy_count,
        capacity=claim.cells.capacity,
        noisy_share=claim.cells.noisy_share,
        decimals=claim.terms.decimals,
    )


@cache
def _noise(mu: str, count_sensitivity: str) -> CountNoise:
    return CountNoise(Decimal(mu), Decimal(count_sensitivity))


@cache
def _independent_terms(noise: CountNoise) -> ChainTerms:
    return ChainTerms(
        a="0",
        b="0",
        unit_weeks=1,
        chain_periods=1,
        mu=decimal_text(noise.mu),
        decimals=noise.decimals,
        scale=noise.scale,
    )
