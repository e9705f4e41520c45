"""Request of a holder to release counts."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.names import fault_of
from dpol_weekly.holder.agreed import Agreed
from dpol_weekly.memory import Memory
from dpol_weekly.noise import INTERVAL, CountNoise, decimal_text


@dataclass(frozen=True)
class CountColumns:
    """The columns that are read; all others are left alone.

    Args:
        entity: column of the entity (hospital).
        period: column of the date (week), such as 2021-01-31.
        count: column of the people counted, from 0 to 999999999, such as 12 or 3.4.
        capacity: column of the capacity (beds), above 0; public.

    Raises:
        DataError: two of the names are equal, or one is a name that the output needs, is not plain
            text, or is a formula for a spreadsheet.
    """

    entity: str
    period: str
    count: str
    capacity: str | None = None

    def __post_init__(self) -> None:
        names, header = self.names(), self.output_header()
        if len(set(names)) < len(names):
            raise DataError("entity, period, count and capacity must be different columns")
        if twice := [name for name in header if header.count(name) > 1]:
            raise DataError(f"the output has a column {twice[0]} of its own; rename the input's")
        for name in header:
            if fault := fault_of(name):
                raise DataError(f"the name of column {name} {fault}")

    def names(self) -> list[str]:
        """The columns that are read."""
        return [name for name in (self.entity, self.period, self.count, self.capacity) if name]

    def output_header(self) -> list[str]:
        """The columns that are written."""
        share = [self.capacity, "noisy_share"] if self.capacity else []
        fixed = ["mu", "count_sensitivity", *INTERVAL]
        return [self.entity, self.period, "noisy_count", *share, *fixed]


@dataclass(frozen=True)
class Choices:
    """The holder's answers in advance, where a release would stop and ask.

    Args:
        append: add to the output if it exists.
        again: as `append`, and release once more what was released before, in any output.
        period_days: length of a period, and days between two of an entity, at least; None: the
            deployment's length, or one that is not known and at least 7.
        same_entity: names that are much alike mean one entity.
        new_entity: names that are much alike mean different entities.
        change_noise: use another mu or count sensitivity than in the entity's last release.
        over_capacity: counts above the capacity are right.
        no_final_newline: the table is complete although its last line has no line end.
        forget_ledger: the ledger that knew the output is lost; keep what the output holds.
        gap: for a deployment, nothing was counted in the many periods before a row.
        write_again: the ledger is the newest; write again what is gone of the output.
        continue_from: the newest copy of the ledger is lost; the table that the coordinator of the
            deployment exported says what was released.
    """

    append: bool = False
    again: bool = False
    period_days: int | None = None
    same_entity: bool = False
    new_entity: bool = False
    change_noise: bool = False
    over_capacity: bool = False
    no_final_newline: bool = False
    forget_ledger: bool = False
    gap: bool = False
    write_again: bool = False
    continue_from: Path | None = None


@dataclass(frozen=True)
class Request:
    """The counts to release, where to, and how.

    Args:
        table: the raw counts, CSV in UTF-8.
        output: the CSV file to write; its record is `record_of(output)`.
        columns: which columns of `table` are used.
        noise: the noise of every count.
        ledger: the ledger of all outputs; by default `LEDGER_NAME` in the folder of the output.
        choices: what is meant where a release would stop and ask.
        memory: how noise depends on earlier noise; None if it does not, for a unit of one period.
        agreed: what a deployment says; only what is new to the output is released then, and added.
        agree: the first 8 hex digits or more of the hash of the deployment's agreement, by which
            the holder confirms it; None: it was confirmed before.
        agree_sensitivity: confirms a count sensitivity below 1 by its value.
        today: the date; None: that of the machine.

    Raises:
        DataError: a memory is to be designed for entities without capacity, or what is confirmed is
            not what the deployment says.
    """

    table: Path
    output: Path
    columns: CountColumns
    noise: CountNoise
    ledger: Path | None = None
    choices: Choices = Choices()
    memory: Memory | None = None
    agreed: Agreed | None = None
    agree: str | None = None
    agree_sensitivity: Decimal | None = None
    today: datetime.date | None = None

    def __post_init__(self) -> None:
        if self.memory and not self.memory.numbers and not self.columns.capacity:
            raise DataError(
                "a designed memory needs the capacity of each entity; give its column with"
                " --capacity, or two numbers such as --memory 0,0.5"
            )
        agree, agreed, sensitivity = self.agree, self.agreed, self.noise.count_sensitivity
        if agreed and agree is not None and not agreed.terms.has_hash(agree):
            raise DataError(
                f"--agree {agree}: is not the hash of the agreement {agreed.terms.name}, or too few"
                " digits of it; leave it out to read the agreement"
            )
        if self.agree_sensitivity not in (None, sensitivity):
            raise DataError(
                f"--agree-sensitivity {self.agree_sensitivity}: the count sensitivity is"
                f" {decimal_text(sensitivity)}; confirm that number, or none"
            )

    @property
    def days(self) -> int | None:
        """Length of its periods; None if it is not known."""
        return self.agreed.terms.days if self.agreed else self.choices.period_days
