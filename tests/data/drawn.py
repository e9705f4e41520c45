"""Small tables for tests of cleaning, drawn as text.

Tables are drawn as a line of cells for each entity, one cell a week: a number, `*` suppressed,
`.` missing (the row is there), `_` no row at all.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.data.cleaning import clean_panel
from dpol.data.panel import PANEL, RULES, CleanPanel
from dpol.data.settings import Dataset, Stream
from dpol.data.table import RawTable, raw_table

FIELDS = ["state", "hospital", "week", "patients", "beds"]
COLUMNS = {
    "entity": "hospital",
    "period": "week",
    "group": "state",
    "count": "patients",
    "capacity": "beds",
}
Row = dict[str, str]
Drawn = Mapping[str, tuple[str, str]]


def week(number: int) -> str:
    """Sundays from 2021-01-03."""
    return str(datetime.date(2021, 1, 3) + datetime.timedelta(weeks=number))


def row(*cells: str) -> Row:
    """A row of state, hospital, week, patients and beds."""
    return dict(zip(FIELDS, cells, strict=True))


def of_period(day: str, entities: Iterable[str]) -> list[Row]:
    """Entities with a row in a period."""
    return [row("A", entity, day, "1", "9") for entity in entities]


def rows(drawn: Drawn, state: str = "A") -> list[Row]:
    """The rows of entities drawn as a line of counts and a line of capacities."""
    texts = {"*": "-999999", ".": "NA"}
    return [
        row(state, entity, week(t), texts.get(k, k), texts.get(c, c))
        for entity, (counts, capacities) in drawn.items()
        for t, (k, c) in enumerate(zip(counts.split(), capacities.split(), strict=True))
        if k != "_"
    ]


def table(of: Iterable[Row]) -> RawTable:
    """A table as if read from hospitals.csv, its header on line 1."""
    cells = pd.DataFrame(list(of), dtype=str)
    return raw_table("hospitals.csv", cells.set_axis(cells.index + 2))


def dataset(columns: Mapping[str, Any] = {}, periods: Any = {}, **cleaning: Any) -> Dataset:  # noqa: B006
    """Nobody is dropped for few cases, and any number of cells may be clipped."""
    return Dataset.model_validate(
        {
            "source": {"kind": "local", "file": "hospitals.csv"},
            "columns": {**COLUMNS, **columns},
            "periods": periods,
            "cleaning": {"min_total_cases": 0, "max_clipped": 1, **cleaning},
        }
    )


def streams(**groups: list[str]) -> dict[str, Stream]:
    return {label: Stream(groups=values) for label, values in groups.items()}


def clean(
    of: Drawn | list[Row],
    rules: Dataset | None = None,
    wanted: Mapping[str, Stream] | None = None,
) -> CleanPanel:
    """The panel of one stream S of state A, or of others, always as the schema says."""
    raw = table(of if isinstance(of, list) else rows(of))
    panel = clean_panel(raw, rules or dataset(), wanted or streams(S=["A"]))
    pd.testing.assert_frame_equal(PANEL.check(panel.table, "panel"), panel.table)
    return panel


def line(panel: CleanPanel, entity: str, column: str) -> list[Any]:
    """A column of one entity, week by week."""
    found = panel.table[panel.table["entity"] == entity]
    assert found["period"].is_monotonic_increasing
    return found[column].tolist()


def sources(panel: CleanPanel, entity: str, column: str) -> str:
    """The sources of one entity's cells, their first letters."""
    return "".join(source[0] for source in line(panel, entity, column))


def counts(panel: CleanPanel, stream: int = 0) -> dict[str, int]:
    """All rules that concerned something."""
    assert list(panel.reports[stream].cells) == list(RULES)
    return {rule: cells for rule, cells in panel.reports[stream].cells.items() if cells}


def refused(of: Drawn | list[Row], *arguments: Any) -> str:
    with pytest.raises(DataError) as caught:
        clean(of, *arguments)
    return str(caught.value)


PLAIN: Drawn = {"h": ("1 2 3 4 5", "10 10 10 10 10")}
"""An entity that needs no cleaning, next to the one that does."""
