"""What a holder asks for when counts are to be released."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from dpol.release.counts import CountColumns
from dpol.release.noise import CountNoise


@dataclass(frozen=True)
class Choices:
    """What the holder says beforehand, where a release would stop and ask.

    Args:
        append: add to the output if it exists.
        again: as `append`, and release once more what was released before, in any output.
        period_days: days between two periods of an entity, at least.
        same_entity: names that are much alike mean one entity.
        new_entity: names that are much alike mean different entities.
        change_noise: use another mu or count sensitivity than in the entity's last release.
        over_capacity: counts above the capacity are right.
        no_final_newline: the table is complete although its last line has no line end.
        forget_ledger: the ledger that knew the output is lost; keep what the output holds.
    """

    append: bool = False
    again: bool = False
    period_days: int = 7
    same_entity: bool = False
    new_entity: bool = False
    change_noise: bool = False
    over_capacity: bool = False
    no_final_newline: bool = False
    forget_ledger: bool = False


@dataclass(frozen=True)
class Request:
    """Which counts are to be released, where to, and how.

    Args:
        table: the raw counts, CSV in UTF-8.
        output: the CSV file to write; its record is `record_of(output)`.
        columns: which columns of `table` are used.
        noise: the noise of every count.
        ledger: the ledger of all outputs; by default `LEDGER_NAME` beside the output.
        choices: what is meant where a release would stop and ask.
    """

    table: Path
    output: Path
    columns: CountColumns
    noise: CountNoise
    ledger: Path | None = None
    choices: Choices = Choices()
