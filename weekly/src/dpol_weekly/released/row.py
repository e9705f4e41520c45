"""A row of a released table: its cells, their format, and how they must fit each other."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from dpol.core.errors import DataError
from dpol_weekly.noise import (
    CountNoise,
    decimal_text,
    deviation_of_share,
    in_steps,
    interval,
    share_of,
)

_NOT_WRITTEN = "is not a number as dpol privatize writes it; ask for the release that it wrote"
COUNT = re.compile(r"-?[0-9]{1,12}(\.[0-9]{1,20})?")
"""A noisy count as it is written."""
CAPACITY = re.compile(r"(?=.*[1-9])[0-9]{1,9}(\.[0-9]{0,40})?")
"""A capacity as it is written: as in a raw table, below 1e9."""


class Released(NamedTuple):
    """The cells of a released row, all text, in the order of the table's columns.

    The other cells follow from the first four and the agreement: `noisy_share` is the noisy count
    over the capacity, `noise_sd` the standard deviation of its noise, and `low` and `high` are the
    ends of its 95% interval.
    """

    entity: str
    period: str
    noisy_count: str
    capacity: str
    noisy_share: str
    mu: str
    count_sensitivity: str
    noise_sd: str
    low: str
    high: str


def noisy_count(count: str, noise: CountNoise, steps: int) -> str:
    """Return a raw count (decimal text) plus noise in steps of the grid."""
    return f"{Decimal(in_steps(count, noise.decimals) + steps).scaleb(-noise.decimals):f}"


def released_row(
    *, entity: str, period: str, noisy_count: str, capacity: str, noise: CountNoise
) -> Released:
    """Return a whole row from its independent cells.

    Args:
        entity: identifier, as the agreement writes it.
        period: start of the period, YYYY-MM-DD.
        noisy_count: decimal text on the grid of the noise.
        capacity: decimal text.
        noise: noise of the agreement.
    """
    share = share_of(noisy_count, capacity)
    deviation = deviation_of_share(noise.standard_deviation, capacity)
    low, high = interval(share, deviation)
    return Released(
        entity=entity,
        period=period,
        noisy_count=noisy_count,
        capacity=capacity,
        noisy_share=share,
        mu=decimal_text(noise.mu),
        count_sensitivity=decimal_text(noise.count_sensitivity),
        noise_sd=deviation,
        low=low,
        high=high,
    )


def check_cells(row: Released, noise: CountNoise) -> tuple[float, float]:
    """Return the noisy count and the capacity of a row that `dpol privatize` could have written.

    Args:
        row: reported row; its entity and period are not checked.
        noise: noise of the agreement.

    Raises:
        DataError: a cell differs; the text names it without its number.
    """
    if [row.mu, row.count_sensitivity] != [*map(decimal_text, (noise.mu, noise.count_sensitivity))]:
        raise DataError(
            f"its mu and count sensitivity differ from the agreement ({noise.mu} and"
            f" {noise.count_sensitivity}); ask for the release that dpol privatize wrote"
        )
    if not CAPACITY.fullmatch(row.capacity):
        raise DataError(f"its capacity {_NOT_WRITTEN}")
    count = row.noisy_count
    if not (COUNT.fullmatch(count) and noisy_count(count, noise, 0) == count):  # its only text
        raise DataError(f"its noisy count {_NOT_WRITTEN}")
    whole = released_row(
        entity=row.entity,
        period=row.period,
        noisy_count=count,
        capacity=row.capacity,
        noise=noise,
    )
    for name, expected, given in zip(Released._fields, whole, row, strict=True):
        if expected != given:
            raise DataError(f"its {name} does not follow from its count and capacity; ask again")
    return float(count), float(row.capacity)
