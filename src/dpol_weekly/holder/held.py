"""Rows that an output holds, and rows that leave it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dpol_weekly.holder.entries import Output
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.noise import Cells


class Held(NamedTuple):
    """A row that an output holds.

    Args:
        number: in the ledger.
        entity: number.
        period: date, YYYY-MM-DD.
        cells: as they were released.
        chain: number, or None.
    """

    number: int
    entity: int
    period: str
    cells: Cells
    chain: int | None


def held_rows(ledger: Ledger, output: Output) -> list[Held]:
    """The rows that an output holds, in the order of their release."""
    found = ledger.execute(
        "SELECT held.number, entity, period, noisy_count, capacity, noisy_share, mu, noise_sd,"
        " chain FROM held JOIN run ON run.number = held.run WHERE run.output = ?"
        " ORDER BY held.number",
        output.number,
    )
    return [
        Held(number, entity, period, (count, capacity, share, mu, deviation), chain)
        for number, entity, period, count, capacity, share, mu, deviation, chain in found
    ]


def withdraw(ledger: Ledger, rows: Iterable[Held]) -> None:
    """Take rows out of their output; they stay spent."""
    numbers = ((row.number,) for row in rows)
    ledger.connection.executemany("INSERT INTO withdrawn VALUES (?)", numbers)
