"""Write the tables of tables.yaml, rows of recorded CSV files, for tools/pages.py."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

ROOT = Path(__file__).parents[1]
NOTHING = re.compile(r" ± (?:nan|0|0?\.0*)%?(?![\d.])")
"""Half the width of an interval that is not known, or of numbers without noise."""


@cache
def specs() -> dict[str, Any]:
    """Return the tables by name."""
    made: dict[str, Any] = yaml.safe_load((ROOT / "tools/tables.yaml").read_text(encoding="utf-8"))
    return made


@cache
def read(file: str) -> pd.DataFrame:
    """Return a recorded CSV; a text that it lacks is empty."""
    frame = pd.read_csv(ROOT / file)
    texts = frame.columns.intersection(["question", "stream", "role", "group"])
    return frame.assign(**frame[texts].astype(object).fillna(""))


def rows(file: str, query: str) -> pd.DataFrame:
    """Return the rows of a query, of which there must be some: all of none have any property.

    Raises:
        LookupError: there is no such row.
    """
    found = read(file).query(query)
    if found.empty:
        raise LookupError(f"{file} has no row with {query}")
    return found


def written(name: str) -> str:
    """Return a table as tables.yaml describes it.

    Raises:
        LookupError: no row of the file is to be shown.
    """
    of = specs()[name]
    shown = rows(of["file"], of["where"])
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for row in shown.sort_values(of.get("sort", []), ascending=False).to_dict("records"):
        names = tuple(cell.format(**row) for cell in of["rows"].values())
        for column, cell in of["cells"].items():
            text = minus(NOTHING.sub("", cell.format(**row)))
            lines.setdefault(names, {})[column.format(**row)] = text
    columns = list(dict.fromkeys(column for cells in lines.values() for column in cells))
    body = [(*names, *(cells.get(it, "") for it in columns)) for names, cells in lines.items()]
    made = table([*of["rows"], *columns], body, words=len(of["rows"]))
    return re.sub(r"\binf\b", "∞", made)


def minus(text: str) -> str:
    """Return a text with minus signs for hyphens."""
    return text.replace("-", "−")


def table(header: Sequence[str], lines: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table whose columns after the first `words` are aligned to the right."""
    line = f"|{'---|' * words}{'---:|' * (len(header) - words)}"
    head, *body = (f"| {' | '.join(cells)} |" for cells in (header, *lines))
    return "".join(f"{row}\n" for row in (head, line, *body))
