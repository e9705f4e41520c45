"""Writing noisy counts, and refusing to spend the same privacy twice.

The output itself says what was released before; its record holds its checksum, so that a changed
output is noticed.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from pathlib import Path

from dpol.errors import DataError
from dpol.files import atomic_path, check_writable, locked, sha256, write_json
from dpol.local.count_noise import CountNoise, decimal_text, noisy_rows
from dpol.local.counts import Count, CountColumns, read_counts
from dpol.privacy.account import best_guess
from dpol.privacy.guarantee import ONE_PERSON, UNIT, Guarantee
from dpol.privacy.noise import NoiseSampler


@dataclass(frozen=True)
class Release:
    """What a release did; it knows no counts.

    Args:
        output: the table of noisy counts.
        added: rows that this release added to it.
        rows: rows of the whole table.
        guarantee: of the whole table: an entity's period that was released twice counts twice.
        noise: noise of the rows that were added.
    """

    output: Path
    added: int
    rows: int
    guarantee: Guarantee
    noise: CountNoise

    @property
    def record(self) -> Path:
        """The file with the guarantee."""
        return record_of(self.output)


def release(
    table: Path,
    output: Path,
    columns: CountColumns,
    noise: CountNoise,
    sampler: NoiseSampler,
    *,
    append: bool = False,
    again: bool = False,
) -> Release:
    """Noise the counts of a CSV table and write them, with a record of what is guaranteed.

    The output has the columns entity, period, noisy_count, with a capacity also capacity and
    noisy_share (noisy count / capacity), mu and count_sensitivity. Noisy counts may be negative.
    Nothing is written unless every row is good.

    Args:
        table: the raw counts, CSV in UTF-8.
        output: the CSV file to write; its record is `record_of(output)`.
        columns: which columns of `table` are used.
        noise: the noise of every count.
        sampler: where the noise comes from.
        append: add to `output` if it exists.
        again: as `append`, and release once more what `output` holds already.

    Raises:
        DataError: a row or file breaks a rule; `output` exists without `append` or `again`, or
            holds a row already without `again`.
        OutputError: the output cannot be written.
    """
    check_writable(output.parent)
    if output.suffix != ".csv":
        raise DataError(f"{output}: the output is CSV text; choose a name that ends in .csv")
    counts = read_counts(table, columns)
    with locked(output):
        rows = _released_rows(output, columns, noise, append=append or again)
        spent = _spent(rows)
        if not again:
            _refuse_again(table, output, counts, noise, spent)
        for count in counts:
            spent[count.key] = spent.get(count.key, Fraction(0)) + Fraction(noise.mu) ** 2
        rows += noisy_rows(counts, noise, sampler)
        guarantee = _guarantee(noise, sampler, math.sqrt(max(spent.values())))
        _write(output, [columns.output_header(), *rows], guarantee)
    return Release(output, len(counts), len(rows), guarantee, noise)


def record_of(output: Path) -> Path:
    """Where the guarantee of a released table is written."""
    return output.with_name(f"{output.name}.guarantee.json")


def describe(done: Release, delta: float) -> list[str]:
    """What was done and what is guaranteed, in plain words, line by line."""
    noise, mu = done.noise, done.guarantee.mu
    epsilon, alone = done.guarantee.epsilon(delta), mu / math.sqrt(2)
    return [
        f"{done.output}: noisy rows added: {done.added}, in all {done.rows}."
        f" The guarantee is recorded in {done.record}.",
        f"Noise: discrete Gaussian, standard deviation {noise.standard_deviation:.4g} persons"
        " on every count. Noisy counts may be negative; they are left so, because cutting them"
        " off would shift every sum and mean.",
        "Protected: one person in one period, who moves one count by at most"
        f" {noise.count_sensitivity}. Whether that person was counted at one entity, at another"
        " that uses the same command and mu, or nowhere, is hidden by Gaussian differential"
        f" privacy with mu = {mu:.4g}, that is epsilon = {epsilon:.4g} at delta = {delta:g}. A"
        " guess between two of these that was right half of the time before is right at most"
        f" {100 * best_guess(mu):.1f}% of the time after.",
        f"Of one entity's numbers alone: mu = {alone:.4g}.",
        "Not covered: a person who is counted in w periods has mu times the square root of w"
        f" ({2 * mu:.4g} for 4 periods), and the squares of mu of all other releases about that"
        " person are added. That you report, for which periods, and capacities are not hidden.",
    ]


def _released_rows(
    output: Path, columns: CountColumns, noise: CountNoise, *, append: bool
) -> list[list[str]]:
    """The rows that the output holds already, after checking that they can be added to."""
    record = record_of(output)
    if not output.exists() and record.exists():
        raise DataError(
            f"{output}: is gone, but {record} says that it was released; put it back, or choose"
            " another output (periods released before are then spent twice)"
        )
    if not output.exists():
        return []
    if not append:
        raise DataError(
            f"{output}: exists already, and nothing is overwritten; choose another output, or add"
            " further periods to it with --append"
        )
    rows = _recorded(output, record)
    sensitivities = {row[-1] for row in rows[1:]} - {decimal_text(noise.count_sensitivity)}
    if rows[0] != columns.output_header() or sensitivities:
        raise DataError(
            f"{output}: was released with other columns or another count sensitivity; give the"
            " same as then, or choose another output"
        )
    return rows[1:]


def _recorded(output: Path, record: Path) -> list[list[str]]:
    """The rows of a released table, its header first, if it is the one of its record."""
    try:
        stored = json.loads(record.read_text(encoding="utf-8"))
        if stored["sha256"] == sha256(output):
            with output.open(encoding="utf-8", newline="") as stream:
                rows = list(csv.reader(stream, strict=True))
            if _may_be_released(rows):
                return rows
    except (OSError, ValueError, KeyError, TypeError, RecursionError, csv.Error):
        pass
    raise DataError(
        f"{output}: was changed after its release, or {record} was; put both back as they were, or"
        " choose another output (periods released before are then spent twice)"
    )


def _may_be_released(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table is whole and tells its noise in every row: a checksum can be forged."""
    if len(rows) < 2 or len(rows[0]) < 5 or {len(row) for row in rows} != {len(rows[0])}:
        return False
    try:
        for mu, sensitivity in {(row[-2], row[-1]) for row in rows[1:]}:
            CountNoise(Decimal(mu), Decimal(sensitivity))
    except (DataError, InvalidOperation):
        return False
    return True


def _spent(rows: Sequence[Sequence[str]]) -> dict[tuple[str, str], Fraction]:
    """The sum of mu^2 over the releases of each entity and period."""
    spent: dict[tuple[str, str], Fraction] = {}
    for row in rows:
        key = row[0], row[1]
        spent[key] = spent.get(key, Fraction(0)) + Fraction(Decimal(row[-2])) ** 2
    return spent


def _refuse_again(
    table: Path,
    output: Path,
    counts: Sequence[Count],
    noise: CountNoise,
    spent: dict[tuple[str, str], Fraction],
) -> None:
    twice = [count for count in counts if count.key in spent]
    if twice:
        most = math.sqrt(max(spent[count.key] for count in twice) + Fraction(noise.mu) ** 2)
        raise DataError(
            f"{table}, line {twice[0].line}: {output} holds this entity and period already"
            f" ({len(twice)} of {len(counts)} rows are such); releasing them again spends their"
            f" budget twice, mu becomes {most:.4g}: leave them out, or add --again if you mean it"
        )


def _guarantee(noise: CountNoise, sampler: NoiseSampler, mu: float) -> Guarantee:
    return Guarantee(
        mechanism="discrete Gaussian noise on every count, capacity calibration",
        adjacency=ONE_PERSON,
        unit=UNIT,
        sensitivity=math.sqrt(2.0) * float(noise.count_sensitivity),
        sensitivity_unit="L2, persons",
        mu=mu,
        model="local",
        sampler=sampler.name,
    )


def _write(output: Path, rows: Sequence[Sequence[str]], guarantee: Guarantee) -> None:
    """Write table and record; the record comes into being first, so no table is without one."""
    with atomic_path(output) as temporary:
        with temporary.open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows(rows)
        facts = {"file": output.name, "sha256": sha256(temporary), "rows": len(rows) - 1}
        alone = {"mu_of_one_entity_alone": guarantee.mu / math.sqrt(2)}
        write_json(record_of(output), {**guarantee.as_dict(), **alone, **facts})
