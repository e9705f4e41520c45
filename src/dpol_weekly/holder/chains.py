"""Chains of noise with memory, as they are kept in a ledger."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from dpol.privacy.chains import squared_norm
from dpol_weekly.holder.entries import Output
from dpol_weekly.holder.ledger import Ledger

# Rows that are in their outputs.
_ROWS = "held AS release JOIN run ON run.number = release.run"
_WITH_CHAINS = f"{_ROWS} LEFT JOIN chain ON chain.number = release.chain"
_TERMS = "a, b, unit_weeks, chain_periods, chain.mu, decimals, scale"


class ChainTerms(NamedTuple):
    """The public terms of a chain.

    Args:
        a: of the memory, decimal text; see `dpol_weekly.memory`.
        b: likewise.
        unit_weeks: in how many periods in a row one person may be counted.
        chain_periods: the most releases of the chain.
        mu: of a person of that unit, decimal text.
        decimals: the noise has steps of 10^-decimals people.
        scale: of the fresh noise, in steps.
    """

    a: str
    b: str
    unit_weeks: int
    chain_periods: int
    mu: str
    decimals: int
    scale: int

    @property
    def standard_deviation(self) -> float:
        """Deviation of all noise on a count, in people, in the long run; at first it is less."""
        return self.standard_deviation_after(math.inf)

    def standard_deviation_after(self, releases: float) -> float:
        """Deviation of the noise on the count after so many releases of the chain, taken alone."""
        a, b = float(self.a), float(self.b)
        kept = (1 - a ** (2 * releases)) / (1 - a * a)  # the sum of a^(2 i) over the releases
        return self.scale / 10.0**self.decimals * math.sqrt(1 + (a - b) ** 2 * kept)


class Chain(NamedTuple):
    """A chain that may go on.

    Args:
        number: in the ledger.
        terms: what is public of it.
        u: its secret state: what is remembered, in steps.
        last: the period that it released last; empty if none yet.
        releases: how many it made.
    """

    number: int
    terms: ChainTerms
    u: Fraction
    last: str
    releases: int


class Part(NamedTuple):
    """The rows of an output that one chain released: those of its entity, one after the other.

    Args:
        entity: its name in the first row.
        first_row: counted over the whole output, from 1.
        first_period: the earliest.
        releases: how many rows.
        terms: what is public of the chain.
    """

    entity: str
    first_row: int
    first_period: str
    releases: int
    terms: ChainTerms


class ChainRows:
    """A map from the rows of a record to their chains: a chain is its entity's rows from one on.

    Args:
        parts: the chains of the record.

    Raises:
        LookupError, TypeError, ValueError: they are damaged.
    """

    def __init__(self, parts: Sequence[Mapping[str, Any]]) -> None:
        self.first = {int(part["first_row"]): part for part in parts}
        self.begun: dict[Hashable, tuple[Mapping[str, Any], int]] = {}

    def of(self, number: int, entity: Hashable) -> tuple[Mapping[str, Any] | None, int]:
        """The chain of the next row, and the row's place in it; None if it is of none."""
        if number in self.first:
            self.begun[entity] = self.first[number], 0
        if entity not in self.begun:
            return None, 1
        part, place = self.begun[entity]
        if place >= int(part["releases"]):
            return None, 1
        self.begun[entity] = part, place + 1
        return part, place + 1


def live_chain(ledger: Ledger, output: Output, entity: int) -> Chain | None:
    """The chain of an entity's last row in an output, if it has one whose state is known."""
    found = ledger.execute(
        f"SELECT chain.number, {_TERMS}, u, period, (SELECT COUNT(*) FROM release AS one"
        " WHERE one.entity = release.entity AND one.chain = chain.number)"
        f" FROM {_WITH_CHAINS} WHERE run.output = ? AND release.entity = ?"
        " ORDER BY release.number DESC LIMIT 1",
        *(output.number, entity),
    ).fetchone()
    if found is None or found[8] is None:
        return None
    return Chain(found[0], ChainTerms(*found[1:8]), Fraction(found[8]), *found[9:])


def add_chain(ledger: Ledger, output: Output, entity: int, terms: ChainTerms) -> Chain:
    """Begin a chain of an entity in an output; the one before, if there is one, has ended."""
    end = "UPDATE chain SET u = NULL WHERE output = ? AND entity = ? AND u IS NOT NULL"
    ledger.execute(end, output.number, entity)
    number = ledger.insert(
        "INSERT INTO chain (output, entity, a, b, unit_weeks, chain_periods, mu, decimals, scale,"
        " u) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '0')",
        *(output.number, entity, *terms),
    )
    return Chain(number, terms, Fraction(0), "", 0)


def keep_state(ledger: Ledger, chain: Chain) -> None:
    """Remember the state of a chain."""
    ledger.execute("UPDATE chain SET u = ? WHERE number = ?", str(chain.u), chain.number)


def end_all(ledger: Ledger) -> None:
    """End all chains of all outputs: they may have gone on in a newer copy of the ledger."""
    ledger.execute("UPDATE chain SET u = NULL")


def any_chain(ledger: Ledger) -> bool:
    """True if a chain that remembers something was ever begun."""
    return ledger.execute("SELECT 1 FROM chain WHERE a != b LIMIT 1").fetchone() is not None


def first_capacity(ledger: Ledger, output: Output, entity: int) -> str | None:
    """The capacity in the first row of an entity in an output."""
    found = ledger.execute(
        f"SELECT capacity FROM {_ROWS} WHERE run.output = ? AND entity = ?"
        " ORDER BY release.number LIMIT 1",
        *(output.number, entity),
    ).fetchone()
    return None if found is None else str(found[0])


def chains_of(ledger: Ledger, output: Output) -> list[int | None]:
    """The chain of each row of an output, in the order of their release."""
    found = ledger.execute(
        f"SELECT chain FROM {_ROWS} WHERE run.output = ? ORDER BY release.number", output.number
    )
    return [chain for (chain,) in found]


def memories(ledger: Ledger) -> dict[int, tuple[Fraction, Fraction, int]]:
    """The memories of every chain, by its number; see `memories_of`."""
    found = ledger.execute("SELECT number, a, b, unit_weeks FROM chain")
    return {number: (Fraction(a), Fraction(b), weeks) for number, a, b, weeks in found}


def parts_of(ledger: Ledger, output: Output) -> list[Part]:
    """The chains of an output, in the order of their first rows."""
    found = ledger.execute(
        f"SELECT text, row, MIN(period), COUNT(*), {_TERMS} FROM (SELECT release.*,"
        f" ROW_NUMBER() OVER (ORDER BY release.number) AS row FROM {_ROWS} WHERE run.output = ?)"
        " AS release JOIN chain ON chain.number = release.chain"
        " JOIN name ON name.number = release.name GROUP BY chain.number ORDER BY row",
        output.number,
    )
    return [Part(name, row, first, n, ChainTerms(*terms)) for name, row, first, n, *terms in found]


def memories_of(ledger: Ledger, output: Output) -> set[tuple[Fraction, Fraction, int]]:
    """(a, b) of the rows of an output, and in how many periods in a row a person may be counted.

    Rows without memory have (0, 0), and one period.
    """
    found = ledger.execute(
        "SELECT DISTINCT IFNULL(a, '0'), IFNULL(b, '0'), IFNULL(unit_weeks, 1)"
        f" FROM {_WITH_CHAINS} WHERE run.output = ?",
        output.number,
    )
    return {(Fraction(a), Fraction(b), weeks) for a, b, weeks in found}


def growth(memories: Iterable[tuple[Fraction, Fraction, int]], periods: int) -> float:
    """Growth of mu for a person counted in so many periods, in a row or not, at most.

    Args:
        memories: (a, b) of the noise, and in how many periods in a row mu protects a person.
        periods: their number.
    """
    return math.sqrt(max(squared_growth(memory, periods) for memory in memories))


def squared_growth(memory: tuple[Fraction, Fraction, int], periods: int) -> Fraction:
    """The square of `growth` for one memory, exact."""
    a, b, weeks = memory
    norms = squared_norm(a, b, periods) / squared_norm(a, b, weeks)
    # For stays shorter than the unit, the errors by rounding shrink no faster than this.
    return max(norms, Fraction(periods, weeks))
