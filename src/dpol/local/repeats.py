"""What would spend the privacy of the same persons twice, by intent or by accident."""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.local.count_noise import CountNoise, decimal_text
from dpol.local.counts import Count
from dpol.local.entries import add_name, name_of, names_folded, output_at, releases_of
from dpol.local.ledger import Ledger
from dpol.local.names import folded


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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a count goes in the ledger.

    Args:
        name: number of the name.
        entity: number of the entity.
        version: 1 if this entity and period were never released.
    """

    name: int
    entity: int
    version: int


@dataclass
class _Found:
    """Lines of the table on which something has to be asked."""

    twice: list[tuple[int, str, Fraction]] = field(default_factory=list)
    near: list[int] = field(default_factory=list)
    noise: list[tuple[int, str, str]] = field(default_factory=list)


def places(
    ledger: Ledger,
    table: Path,
    output: Path,
    counts: Sequence[Count],
    noise: CountNoise,
    choices: Choices,
) -> list[Place]:
    """Where some counts go in the ledger, after all that has to be asked was asked.

    Registers names that are new.

    Raises:
        DataError: a name is too much like another one, a row was released before, is too near to
            one that was, or has another noise than the entity's last, and `choices` does not say
            that it is meant.
    """
    first_lines: dict[str, int] = {}
    for count in counts:
        first_lines.setdefault(count.entity, count.line)
    numbers = numbers_of_names(ledger, table, first_lines, choices)
    of_entity: dict[int, list[int]] = {}
    for i, count in enumerate(counts):
        of_entity.setdefault(numbers[count.entity][1], []).append(i)
    versions, found = [1] * len(counts), _Found()
    for entity, indices in of_entity.items():
        mine = {i: counts[i] for i in indices}
        for i, version in _compared(ledger, entity, mine, noise, choices, found).items():
            versions[i] = version
    _ask(ledger, table, output, len(counts), noise, choices, found)
    return [
        Place(*numbers[count.entity], version)
        for count, version in zip(counts, versions, strict=True)
    ]


def numbers_of_names(
    ledger: Ledger, table: Path, first_lines: Mapping[str, int], choices: Choices
) -> dict[str, tuple[int, int]]:
    """The numbers of names and of their entities; new names are registered.

    Args:
        ledger: the ledger.
        table: where the names were read.
        first_lines: the line of `table` in which each name is met first.
        choices: what names that are much alike mean.

    Raises:
        DataError: a name is much like another one, and `choices` does not say what that means.
    """
    numbers = {}
    for text, line in first_lines.items():
        known = name_of(ledger, text)
        if known is None:
            fold = folded(text)
            alike = names_folded(ledger, fold)
            if alike and not (choices.new_entity or choices.same_entity):
                other = alike[0][0]
                where = f"on line {first_lines[other]}" if other in first_lines else repr(other)
                raise DataError(
                    f"{table}, line {line}: the name differs from the one {where} only in its"
                    " spelling (Unicode form, case, spaces, zeros, look-alike letters); write it as"
                    " there, or add --same-entity if both are one entity, --new-entity if not"
                )
            entities = {entity for _, entity in alike}
            if len(entities) > 1 and choices.same_entity:
                raise DataError(
                    f"{table}, line {line}: the name is like those of {len(entities)} entities;"
                    " write it as it was released before"
                )
            known = add_name(
                ledger, text, fold, entities.pop() if choices.same_entity and entities else None
            )
        numbers[text] = known
    return numbers


def _compared(
    ledger: Ledger,
    entity: int,
    counts: Mapping[int, Count],
    noise: CountNoise,
    choices: Choices,
    found: _Found,
) -> dict[int, int]:
    """The versions of an entity's counts; what has to be asked is added to `found`."""
    released = releases_of(ledger, entity)
    seen = Counter(period for period, *_ in released)
    versions: dict[int, int] = {}
    lines: dict[int, int] = {}
    for i, count in counts.items():
        if seen[count.period]:
            before = [(mu, path) for period, mu, _, path in released if period == count.period]
            squares = sum((Fraction(Decimal(mu)) ** 2 for mu, _ in before), Fraction(0))
            here = (seen[count.period] - len(before) + 1) * Fraction(noise.mu) ** 2
            found.twice.append((count.line, before[0][1] if before else "", squares + here))
        seen[count.period] += 1
        versions[i] = seen[count.period]
        lines.setdefault(_day(count.period), count.line)
    last = released[-1][1:3] if released else None
    if last and tuple(map(Decimal, last)) != (noise.mu, noise.count_sensitivity):
        found.noise.append((next(iter(lines.values())), *last))
    days = sorted({*lines, *(_day(period) for period, *_ in released)})
    for one, two in itertools.pairwise(days):
        if two - one < choices.period_days and (one in lines or two in lines):
            found.near.append(lines[two] if two in lines else lines[one])
    return versions


def _ask(
    ledger: Ledger,
    table: Path,
    output: Path,
    rows: int,
    noise: CountNoise,
    choices: Choices,
    found: _Found,
) -> None:
    if found.twice and not choices.again:
        line, path, _ = found.twice[0]
        most = math.sqrt(max(squares for *_, squares in found.twice))
        if not path:
            where = "another line, under another name,"
        elif output_at(ledger, output) == output_at(ledger, ledger.path.parent / path):
            where = str(output)
        else:
            where = f"{path} (another output of this ledger)"
        raise DataError(
            f"{table}, line {line}: {where} holds this entity and period already"
            f" ({len(found.twice)} of {rows} rows are such); releasing them again spends their"
            f" budget twice, mu becomes {rounded_up(most, 4)}: leave them out, or add --again if"
            " you mean it"
        )
    if found.noise and not choices.change_noise:
        line, mu, sensitivity = found.noise[0]
        raise DataError(
            f"{table}, line {line}: the last release of this entity had mu {mu} and count"
            f" sensitivity {sensitivity}, this one would have mu {decimal_text(noise.mu)} and"
            f" {decimal_text(noise.count_sensitivity)}; give the same, or add --change-noise"
        )
    if found.near:
        raise DataError(
            f"{table}, line {min(found.near)}: this date is less than {choices.period_days} days"
            " from another period of the same entity, in the table or released before"
            f" ({len(found.near)} of {rows} rows are such); write the date as it was released, or"
            " give the true length of a period with --period-days"
        )


def _day(period: str) -> int:
    return datetime.date.fromisoformat(period).toordinal()
