"""Small tables for tests of cleaning, drawn as text.

A table is drawn as a line of cells for each entity, one cell per week: a number, `*` for a
suppressed cell, `.` for a missing cell, `_` for no row.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any, get_args

import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.data.cleaning import RULES, clean_table
from dpol.data.panel import PANEL
from dpol.data.question import THE_PAPERS, Gain
from dpol.data.settings import CheckName, Dataset, Stream
from dpol.data.table import Rows, Table, rows_of_table, table_of

FIELDS = ["state", "hospital", "week", "patients", "beds"]
COLUMNS = {
    "entity": "hospital",
    "period": "week",
    "group": "state",
    "count": "patients",
    "capacity": "beds",
}
HIDDEN = "-999999"
TEXTS = {"*": HIDDEN, ".": "NA"}
COUNT_SUMS, BED_SUMS = ["patients_sum", "patients_days"], ["beds_sum", "beds_days"]
OF_COUNTS = {"count_days": dict(zip(("sum", "coverage"), COUNT_SUMS, strict=True))}
SUMS = {**OF_COUNTS, "capacity_days": dict(zip(("sum", "coverage"), BED_SUMS, strict=True))}
CHECKED = get_args(CheckName)
Row = dict[str, str]
Drawn = Mapping[str, tuple[str, str]]


def week(number: int) -> str:
    """Return a Sunday, counted from 2021-01-03."""
    return str(datetime.date(2021, 1, 3) + datetime.timedelta(weeks=number))


def row(*cells: str) -> Row:
    """Return a row of state, hospital, week, patients and beds."""
    return dict(zip(FIELDS, cells, strict=True))


def of_period(day: str, entities: Iterable[str]) -> list[Row]:
    """Return a row for each entity in a period."""
    return [row("A", entity, day, "1", "9") for entity in entities]


def rows(drawn: Drawn, state: str = "A") -> list[Row]:
    """Return the rows of entities, each drawn as a line of counts and a line of capacities."""
    return [
        row(state, entity, week(t), TEXTS.get(k, k), TEXTS.get(c, c))
        for entity, (counts, capacities) in drawn.items()
        for t, (k, c) in enumerate(zip(counts.split(), capacities.split(), strict=True))
        if k != "_"
    ]


def told(of: list[Row]) -> list[Row]:
    """Return rows with sums and days; a cell of `of` may be average:sum:days, each drawn."""
    return [
        cells
        | {
            f"{name}{part}": TEXTS.get(text, text)
            for name in ("patients", "beds")
            for part, text in zip(
                ("", "_sum", "_days"), f"{cells[name]}:.:.".split(":"), strict=False
            )
        }
        for cells in of
    ]


def table(of: Iterable[Row]) -> Table:
    """Return a table as if read from hospitals.csv, with its header on line 1."""
    cells = pd.DataFrame(list(of), dtype=str)
    return table_of("hospitals.csv", cells.set_axis(cells.index + 2))


def typed(raw: Table, rules: Dataset) -> Rows:
    """Return the typed rows of a table."""
    provenance = {"file": raw.file, "sha256": "0" * 64, "simulated": False}
    return rows_of_table(raw, rules, provenance)


def dataset(columns: Mapping[str, Any] = {}, periods: Any = {}, **cleaning: Any) -> Dataset:  # noqa: B006
    """Return a dataset without questions, that lets any entity play and any cell be cut or 0."""
    return Dataset.model_validate(
        {
            "source": {"kind": "local", "file": "hospitals.csv"},
            "columns": {**COLUMNS, **columns},
            "periods": periods,
            "cleaning": {
                **{"min_total_cases": 0, "max_zeroed": 1, "above": "cut"},
                **{"checked": CHECKED, **cleaning},
            },
        }
    )


def streams(**groups: list[str]) -> dict[str, Stream]:
    return {label: Stream(groups=values) for label, values in groups.items()}


def clean(
    of: Drawn | list[Row] | Table,
    rules: Dataset | None = None,
    wanted: Mapping[str, Stream] | None = None,
    gain: Gain = THE_PAPERS,
) -> SimpleNamespace:
    """Return the panel of a stream S of state A, or of others, checked against the schema.

    Also return the report of each stream, the joined one, and its warnings.
    """
    rules = rules or dataset()
    raw = of if isinstance(of, Table) else table(of if isinstance(of, list) else rows(of))
    whole, wanted = typed(raw, rules), wanted or streams(S=["A"])
    panel, joined = clean_table(whole, rules, wanted, [gain], moved=False)
    pd.testing.assert_frame_equal(PANEL.check(panel, "panel"), panel)
    reports = [SimpleNamespace(**it) for it in joined["streams"]]
    warnings = tuple(joined["warnings"])
    return SimpleNamespace(table=panel, joined=joined, reports=reports, warnings=warnings)


def line(panel: SimpleNamespace, entity: str, column: str) -> list[Any]:
    """Return a column of one entity, week by week."""
    cells = panel.table[panel.table["entity"] == entity]
    assert cells["period"].is_monotonic_increasing
    return cells[column].tolist()


def sources(panel: SimpleNamespace, entity: str, column: str) -> str:
    """Return the first letters of the sources of one entity's cells."""
    return "".join(source[0] for source in line(panel, entity, column))


def counts(panel: SimpleNamespace, stream: int = 0) -> dict[str, int]:
    """Return the rules that touched something, with their numbers of cells."""
    assert list(panel.reports[stream].cells) == list(RULES)
    return {rule: cells for rule, cells in panel.reports[stream].cells.items() if cells}


def refused(of: Drawn | list[Row], *arguments: Any) -> str:
    with pytest.raises(DataError) as caught:
        clean(of, *arguments)
    return str(caught.value)


PLAIN: Drawn = {"h": ("1 2 3 4 5", "10 10 10 10 10")}
"""An entity that needs no cleaning."""
