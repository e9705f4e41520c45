"""A row of a release: its cells, and their format."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

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
