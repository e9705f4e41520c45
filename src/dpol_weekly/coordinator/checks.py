"""Checks of a row that was reported: exactly what `dpol privatize` writes, and what was agreed."""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from functools import cache

from dpol.core.errors import DataError
from dpol.core.words import printable, shortened
from dpol_weekly.coordinator.log import Released
from dpol_weekly.coordinator.report import Report, Row
from dpol_weekly.deployment import Deployment
from dpol_weekly.memory import ChainTerms, stated_terms
from dpol_weekly.noise import CountNoise, decimal_text, interval

MOST_DEVIATIONS = 40
"""A noisy count is at most the capacity and so many standard deviations of its noise.

Noise reaches so far with a probability below 1e-340.
"""
_COUNT = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,20})?")
# As in a holder's table; below 1e9, a public bound where capacities are reported.
_CAPACITY = re.compile(r"[0-9]{1,9}(\.[0-9]{0,40})?")
_SHORT = re.compile(r"[0-9]{1,4}(\.[0-9]{1,20})?")


def check_key(deployment: Deployment, entity: str, period: str) -> None:
    """Raise DataError if an entity is not to report for a period."""
    if entity not in deployment.entities:
        raise DataError(f"{_shown(entity)} is not an entity of the deployment; ask who it is")
    try:
        day = datetime.date.fromisoformat(period)
    except ValueError:
        day = None
    if day is None or day.isoformat() != period or deployment.number_of(day) is None:
        it = deployment.periods
        raise DataError(
            f"no period of the deployment starts at {_shown(period)!r}; they start every"
            f" {it.days} days from {it.first} on"
        )
    if not deployment.entities[entity].takes_part(day):
        raise DataError(f"{entity} does not take part in {period}, says the deployment")


def check_noise(deployment: Deployment, noise: CountNoise, terms: ChainTerms) -> None:
    """Raise DataError if the noise of a row is not what was agreed."""
    if noise.mu > Decimal(str(deployment.mu)):
        raise DataError(f"mu is {noise.mu}, larger than agreed ({deployment.mu:g})")
    if noise.count_sensitivity != Decimal(str(deployment.count_sensitivity)):
        raise DataError(
            f"the count sensitivity is {noise.count_sensitivity}, and"
            f" {deployment.count_sensitivity:g} was agreed"
        )
    if terms.unit_weeks < deployment.unit_weeks:
        raise DataError(
            f"its noise protects stays of {terms.unit_weeks} periods, and {deployment.unit_weeks}"
            " were agreed"
        )
    if terms.a != terms.b and deployment.noise.memory == "none":
        raise DataError("its noise has a memory, and independent noise was agreed")


def checked(deployment: Deployment, report: Report, row: Row, today: datetime.date) -> Released:
    """A row as it goes into the log.

    Raises:
        DataError: it breaks a rule; the text says which, without its numbers.
    """
    cells = row.cells
    check_key(deployment, cells.entity, cells.period)
    if (today - datetime.date.fromisoformat(cells.period)).days < deployment.periods.days:
        raise DataError(
            f"the period from {cells.period} has not ended on {today}, the date of this computer;"
            " collect again when it has, or ask for the right date"
        )
    noise = _noise(cells.mu, cells.count_sensitivity)
    terms, chain = independent_terms(noise), ""
    deviation = noise.standard_deviation
    if row.part:
        terms = stated_terms(noise, row.part)
        deviation = terms.standard_deviation_after(row.place - 1)
        chain = f"{report.ledger}/{report.output}/{row.part['first_row']}"
    check_noise(deployment, noise, terms)
    _check_numbers(deployment, row, terms, deviation)
    return Released(
        entity=cells.entity,
        period=cells.period,
        version=1,
        noisy_count=cells.noisy_count,
        capacity=cells.capacity,
        noisy_share=cells.noisy_share,
        chain=chain,
        place=row.place,
        mu=cells.mu,
        count_sensitivity=cells.count_sensitivity,
        a=terms.a,
        b=terms.b,
        unit_weeks=terms.unit_weeks,
        scale=terms.scale,
        decimals=terms.decimals,
    )


def _check_numbers(deployment: Deployment, row: Row, terms: ChainTerms, deviation: float) -> None:
    """Raise DataError for numbers that are not written, or not related, as `dpol privatize` does.

    Args:
        deployment: whose capacities were agreed on.
        row: what is checked.
        terms: of its noise.
        deviation: of the noise on the count, in people.
    """
    cells = row.cells
    if not _CAPACITY.fullmatch(cells.capacity) or not cells.capacity.strip("0."):
        raise DataError(f"its capacity {_NOT_WRITTEN}")
    capacity = float(cells.capacity)
    agreed = deployment.entities[cells.entity].capacity
    if agreed != "reported" and capacity != agreed:
        raise DataError(f"its capacity is {cells.capacity}, and the deployment says {agreed:g}")
    noisy, count = cells.noisy_count, math.nan
    if _COUNT.fullmatch(noisy):
        steps = Decimal(int(noisy.replace(".", "")))
        count = float(noisy) if f"{steps.scaleb(-terms.decimals):f}" == noisy else math.nan
    if math.isnan(count):  # on the grid of its noise each number has one text
        raise DataError(f"its noisy count {_NOT_WRITTEN}")
    if abs(count) > capacity + MOST_DEVIATIONS * deviation:
        raise DataError(
            f"its noisy count is out of range: more than {MOST_DEVIATIONS} standard deviations of"
            " its noise above the capacity; ask for it again"
        )
    if f"{count / capacity:.9g}" != cells.noisy_share:
        raise DataError("its noisy share is not the noisy count over the capacity; ask again")
    if f"{deviation / capacity:.6g}" != cells.noise_sd:
        raise DataError(
            "its noise_sd is not that of the noise that its record states; ask for table and"
            " record again"
        )
    if interval(cells.noisy_share, cells.noise_sd) != [cells.low, cells.high]:
        raise DataError("low and high are not the interval of its noisy share; ask again")


_NOT_WRITTEN = "is not a number as dpol privatize writes it; ask for the table that it wrote"


@cache
def _noise(mu: str, sensitivity: str) -> CountNoise:
    for text in (mu, sensitivity):
        if not _SHORT.fullmatch(text) or decimal_text(Decimal(text)) != text:
            raise DataError(f"mu or its count sensitivity {_NOT_WRITTEN}")
    return CountNoise(Decimal(mu), Decimal(sensitivity))


@cache
def independent_terms(noise: CountNoise) -> ChainTerms:
    """The public terms of independent noise."""
    return ChainTerms(
        a="0",
        b="0",
        unit_weeks=1,
        chain_periods=1,
        mu=decimal_text(noise.mu),
        decimals=noise.decimals,
        scale=noise.scale,
    )


def _shown(text: str) -> str:
    return printable(shortened(text))
