"""The columns of raw tables that a ledger's outputs hold: with noise, or as they are.

A column that is a count in one release and a capacity in another would be published in full.
"""

from __future__ import annotations

import json

from dpol.core.errors import DataError
from dpol.core.names import folded
from dpol_weekly.holder import entries
from dpol_weekly.holder.agreement import agreements
from dpol_weekly.holder.ledger import Ledger
from dpol_weekly.holder.request import Request


def refuse_mixed_columns(ledger: Ledger, output: entries.Output | None, request: Request) -> None:
    """Refuse a capacity that is or was a count, and the reverse, and two counts in one output.

    Raises:
        DataError: the request reads such a column.
    """
    count, capacity = request.columns.count, _capacity(request)
    with_noise = {name for name, in_clear in _columns(ledger) if not in_clear}
    with_noise |= {it["columns"]["count"] for it in agreements(ledger)} | {count}
    if capacity and folded(capacity) in map(folded, with_noise):
        raise DataError(
            f"{request.table}: column {capacity} is, or was, released with noise, as a count of"
            " people; as a capacity every cell of it would be published as it is; agree on the"
            " column that holds the beds"
        )
    if folded(count) in map(folded, _in_clear(ledger)):
        raise DataError(
            f"{request.table}: column {count} was published as a capacity, without noise; noise"
            " does not hide it any more; count another column"
        )
    held = _columns(ledger, output) if output else []
    if other := [name for name, in_clear in held if not in_clear and name != count]:
        raise DataError(
            f"{request.output}: holds counts of column {other[0]}, another quantity than column"
            f" {count}; choose another output"
        )


def keep_columns(ledger: Ledger, output: entries.Output, request: Request) -> None:
    """Remember what an output holds of the columns of a request."""
    capacity = _capacity(request)
    for name, in_clear in ((request.columns.count, 0), *([(capacity, 1)] if capacity else [])):
        ledger.execute(
            "INSERT OR IGNORE INTO raw_column VALUES (?, ?, ?)", output.number, name, in_clear
        )


def _capacity(request: Request) -> str | None:
    """The column of capacities, if it is read."""
    reads = request.agreed is None or request.agreed.reads_capacity
    return request.columns.capacity if reads else None


def _columns(ledger: Ledger, output: entries.Output | None = None) -> list[tuple[str, bool]]:
    """Columns, and whether their cells are published as they are, of an output or of all."""
    number = output.number if output else None
    return ledger.execute(
        "SELECT name, in_clear FROM raw_column WHERE ? IN (output, 0)", number or 0
    ).fetchall()


def _in_clear(ledger: Ledger) -> list[str]:
    """Columns that were published as capacities; of outputs taken in, the header says which."""
    headers = ledger.execute(
        "SELECT header FROM output WHERE number NOT IN (SELECT output FROM raw_column)"
    )
    taken_in = [json.loads(text) for (text,) in headers]
    return [
        *(name for name, in_clear in _columns(ledger) if in_clear),
        *(header[3] for header in taken_in if "noisy_share" in header),
    ]
