"""Tables as HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.files import write_text
from dpol.core.safe_text import escape_markdown, spreadsheet_text
from dpol.show.latex import to_latex
from dpol.show.pages import load_template
from dpol.show.table import Table

if TYPE_CHECKING:
    import pandas as pd

_TEMPLATES: Mapping[str, tuple[str, Callable[[str], str] | None]] = {
    ".fragment.html": ("fragment.html.j2", None),
    ".html": ("table.html.j2", None),
    ".md": ("table.md.j2", escape_markdown),
}
"""Template of each format, and how it escapes texts unless by itself, by suffix."""


def render(table: Table, suffix: str) -> str:
    """Render a table as a page, as a fragment of a page, as Markdown, LaTeX, or its numbers as CSV.

    Args:
        table: the table.
        suffix: `.html`, `.fragment.html`, `.md`, `.tex` or `.csv`.
    """
    if suffix == ".csv":
        return to_csv(table.numbers)
    if suffix == ".tex":
        return to_latex(table)
    name, escape = _TEMPLATES[suffix]
    return load_template(name, escape=escape).render(table=table)


def to_csv(numbers: pd.DataFrame) -> str:
    """Return the numbers of a table as CSV; texts that look like formulas get an apostrophe."""
    safe = numbers.copy()
    for name in safe.select_dtypes(["object", "str", "category"]):
        safe[name] = [
            spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in safe[name]
        ]
    return safe.to_csv(index=False, lineterminator="\n")


def write_table(table: Table, *paths: Path | str) -> None:
    """Write a table in the formats of `render`, by the suffixes of the paths.

    Raises:
        OutputError: a file cannot be written.
    """
    for path in map(Path, paths):
        write_text(path, render(table, path.suffix))
