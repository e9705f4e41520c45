"""A row of a release: its cells, and their format."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from dpol.core.errors import DataError
from dpol_weekly.noise import CountNoise, in_steps


class Released(NamedTuple):
    """The cells of a released row, all text.

    All else follows from them and the agreement: the noisy share is the noisy count over the
    capacity, and the standard deviation of its noise that of the count over the capacity.
    """

    entity: str
    period: str
    noisy_count: str
    capacity: str


def noisy_count(count: str, noise: CountNoise, steps: int) -> str:
    """Return a raw count (decimal text) plus noise in steps of the grid."""
    return f"{Decimal(in_steps(count, noise.decimals) + steps).scaleb(-noise.decimals):f}"


def check_cells(row: Released, noise: CountNoise) -> tuple[float, float]:
    """Return the noisy count and the capacity of a row that `dpol privatize` could have written.

    Raises:
        DataError: the count is on another grid than that of the noise; no number is shown.
    """
    if noisy_count(row.noisy_count, noise, 0) != row.noisy_count:  # its only text
        raise DataError(
            "its noisy count is not a number as dpol privatize writes it; ask for the release that"
            " it wrote"
        )
    return float(row.noisy_count), float(row.capacity)
