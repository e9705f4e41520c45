"""What is written into a ledger and asked of it: outputs, runs, names, rows."""

from __future__ import annotations

import datetime
import json
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from dpol.release.ledger import Ledger, new_token


@dataclass(frozen=True)
class Output:
    """An output that a ledger knows.

    Args:
        number: in the ledger.
        id: chosen at random; its record tells it, so that a moved output is known again.
        header: its columns.
        count_sensitivity: of all its rows, decimal text.
    """

    number: int
    id: str
    header: tuple[str, ...]
    count_sensitivity: str


@dataclass(frozen=True)
class Run:
    """A run that released rows of an output.

    Args:
        number: counted over all outputs, from 1.
        token: chosen at random.
        date: YYYY-MM-DD, universal time.
        sampler: where its noise came from.
        imported: its rows were released by a version of dpol without ledger, or with another one.
        rows: how many rows it released.
    """

    number: int
    token: str
    date: str
    sampler: str
    imported: bool
    rows: int


@dataclass(frozen=True, slots=True)
class Row:
    """One noisy count, as it is kept and written.

    Args:
        name: number of the name that the table gave.
        entity: number of the entity that has this name.
        period: date, YYYY-MM-DD.
        version: 1 for the first release of this entity and period, over all outputs.
        cells: noisy count, capacity, noisy share (None without a capacity) and mu, as text.
    """

    name: int
    entity: int
    period: str
    version: int
    cells: tuple[str, str | None, str | None, str]


def output_at(ledger: Ledger, path: Path) -> Output | None:
    """The output that was last written at a path."""
    return _output(ledger, "path", _seen_from(ledger, path))


def output_of_id(ledger: Ledger, output_id: str) -> Output | None:
    """The output of that id, wherever it was written."""
    return _output(ledger, "id", output_id)


def add_output(ledger: Ledger, path: Path, header: Sequence[str], count_sensitivity: str) -> Output:
    """Register an output."""
    identity = new_token()
    values = (identity, _seen_from(ledger, path), json.dumps(list(header)), count_sensitivity)
    done = ledger.connection.execute(
        "INSERT INTO output (id, path, header, count_sensitivity) VALUES (?, ?, ?, ?)", values
    )
    return Output(int(done.lastrowid or 0), identity, tuple(header), count_sensitivity)


def move_output(ledger: Ledger, output: Output, path: Path) -> None:
    """Remember that an output is at another path now."""
    ledger.connection.execute(
        "UPDATE output SET path = ? WHERE number = ?", (_seen_from(ledger, path), output.number)
    )


def output_paths(ledger: Ledger) -> list[Path]:
    """Where all outputs were last written."""
    folder = ledger.path.parent.resolve()
    return [folder / text for (text,) in ledger.connection.execute("SELECT path FROM output")]


def add_run(
    ledger: Ledger, output: Output, token: str, sampler: str, *, imported: bool = False
) -> int:
    """Begin a run; its number."""
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    done = ledger.connection.execute(
        "INSERT INTO run (token, date, output, sampler, imported) VALUES (?, ?, ?, ?, ?)",
        (token, today, output.number, sampler, imported),
    )
    return int(done.lastrowid or 0)


def has_runs(ledger: Ledger) -> bool:
    """Whether anything was released."""
    return ledger.connection.execute("SELECT 1 FROM run").fetchone() is not None


def knows_run(ledger: Ledger, token: str) -> bool:
    """Whether a run of that token is in the ledger."""
    found = ledger.connection.execute("SELECT 1 FROM run WHERE token = ?", (token,))
    return found.fetchone() is not None


def add_rows(ledger: Ledger, run: int, rows: Iterable[Row]) -> None:
    """Release rows."""
    ledger.connection.executemany(
        "INSERT INTO release (run, name, entity, period, version, noisy_count, capacity,"
        " noisy_share, mu) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((run, row.name, row.entity, row.period, row.version, *row.cells) for row in rows),
    )


def name_of(ledger: Ledger, text: str) -> tuple[int, int] | None:
    """The numbers of a name and of its entity, if that very name was released before."""
    found: tuple[int, int] | None = ledger.connection.execute(
        "SELECT number, entity FROM name WHERE text = ?", (text,)
    ).fetchone()
    return found


def names_folded(ledger: Ledger, fold: str) -> list[tuple[str, int]]:
    """Names with the same folded text, and their entities."""
    found = ledger.connection.execute(
        "SELECT text, entity FROM name WHERE folded = ? ORDER BY number", (fold,)
    )
    return found.fetchall()


def add_name(ledger: Ledger, text: str, fold: str, entity: int | None) -> tuple[int, int]:
    """Register a name of an entity, or with None of a new one; the numbers of both."""
    base = ledger.connection
    if entity is None:
        entity = int(base.execute("INSERT INTO entity DEFAULT VALUES").lastrowid or 0)
    done = base.execute(
        "INSERT INTO name (text, folded, entity) VALUES (?, ?, ?)", (text, fold, entity)
    )
    return int(done.lastrowid or 0), entity


def releases_of(ledger: Ledger, entity: int) -> list[tuple[str, str, str, str]]:
    """Period, mu, count sensitivity and path of the output, of every release of an entity."""
    found = ledger.connection.execute(
        "SELECT period, mu, count_sensitivity, path FROM release"
        " JOIN run ON run.number = release.run JOIN output ON output.number = run.output"
        " WHERE release.entity = ? ORDER BY release.number",
        (entity,),
    )
    return found.fetchall()


def table_rows(ledger: Ledger, output: Output) -> Iterator[list[str]]:
    """The rows of an output, in the order of their release."""
    found = ledger.connection.execute(
        "SELECT text, period, noisy_count, capacity, noisy_share, mu FROM release"
        " JOIN run ON run.number = release.run JOIN name ON name.number = release.name"
        " WHERE run.output = ? ORDER BY release.number",
        (output.number,),
    )
    for row in found:
        yield [*(cell for cell in row if cell is not None), output.count_sensitivity]


def runs_of(ledger: Ledger, output: Output) -> list[Run]:
    """The runs that released rows of an output."""
    found = ledger.connection.execute(
        "SELECT run.number, token, date, sampler, imported, COUNT(*) FROM run"
        " JOIN release ON release.run = run.number WHERE run.output = ?"
        " GROUP BY run.number ORDER BY run.number",
        (output.number,),
    )
    return [
        Run(number, token, date, sampler, bool(imported), rows)
        for number, token, date, sampler, imported, rows in found
    ]


def mu_levels(ledger: Ledger, output: Output) -> list[tuple[str, int]]:
    """Each mu that occurs in an output, and how many rows have it; in the order of release."""
    found = ledger.connection.execute(
        "SELECT mu, COUNT(*) FROM release JOIN run ON run.number = release.run"
        " WHERE run.output = ? GROUP BY mu ORDER BY MIN(release.number)",
        (output.number,),
    )
    return found.fetchall()


def spent(ledger: Ledger, output: Output | None = None) -> float:
    """The largest mu of one entity in one period, over an output, or over all."""
    only = "WHERE run.output = ?" if output else "WHERE ? IS NULL"
    chosen = (output.number if output else None,)
    joined = f"FROM release JOIN run ON run.number = release.run {only}"
    largest = max(
        Fraction(Decimal(mu)) ** 2
        for (mu,) in ledger.connection.execute(f"SELECT DISTINCT mu {joined}", chosen)
    )
    sums: dict[tuple[int, str], Fraction] = {}
    for entity, period, mu in ledger.connection.execute(
        f"SELECT entity, period, mu {joined} AND (entity, period) IN"
        " (SELECT entity, period FROM release WHERE version > 1)",
        chosen,
    ):
        key = entity, period
        sums[key] = sums.get(key, Fraction(0)) + Fraction(Decimal(mu)) ** 2
    return math.sqrt(max([largest, *sums.values()]))


def _output(ledger: Ledger, column: str, value: str) -> Output | None:
    found = ledger.connection.execute(
        f"SELECT number, id, header, count_sensitivity FROM output WHERE {column} = ?", (value,)
    ).fetchone()
    return found and Output(found[0], found[1], tuple(json.loads(found[2])), found[3])


def _seen_from(ledger: Ledger, path: Path) -> str:
    return os.path.relpath(path.resolve(), ledger.path.parent.resolve())
