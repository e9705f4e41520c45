"""Tables, and their rendering as HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.files import write_text
from dpol.core.spreadsheets import spreadsheet_text
from dpol.core.words import escape_markdown
from dpol.show.latex import to_latex
from dpol.show.marks import Mark
from dpol.show.pages import load_template

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Column:
    """Column of cells.

    Args:
        header: text of the header.
        unit: unit of the numbers, if any.
        prose: whether the cells are words, set flush left and wrapped.
    """

    header: str
    unit: str = ""
    prose: bool = False

    @property
    def title(self) -> str:
        """Header and unit."""
        return f"{self.header}, {self.unit}" if self.unit else self.header


@dataclass(frozen=True)
class TableCell:
    """Cell of a table.

    Args:
        text: text of the cell.
        notes: notes in smaller print below it.
        order: number to sort by instead of the text.
        hint: note that HTML shows under the pointer.
        mark: kind of verdict, if the text is a verdict.
    """

    text: str
    notes: tuple[str, ...] = ()
    _: KW_ONLY
    order: float | None = None
    hint: str = ""
    mark: Mark | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes and hint, for formats without a pointer."""
        return (*self.notes, self.hint) if self.hint else self.notes

    def with_notes(self, divider: str) -> str:
        """Return the text with its remarks behind it."""
        return divider.join((self.text, *self.remarks))


Line = tuple[str, tuple[TableCell, ...]]
"""Label of a line, and its cells."""


@dataclass(frozen=True)
class Group:
    """Lines that belong together within a section.

    Args:
        title: its title.
        lines: its lines.
        cited: whether its numbers come from elsewhere; they are grey, in Markdown italic.
    """

    title: str
    lines: tuple[Line, ...]
    cited: bool = False


@dataclass(frozen=True)
class Section:
    """Groups that belong together."""

    title: str
    note: str
    groups: tuple[Group, ...]

    @property
    def n_lines(self) -> int:
        """Number of lines of all groups."""
        return sum(len(group.lines) for group in self.groups)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of plain texts, which the renderers escape.

    Args:
        caption: what the table shows.
        corner: headers of section, group and line, of section and line, or of line. Titles without
            a header are not shown.
        headers: headers of the cells; a plain text heads a column of numbers without a unit.
        sections: at least one, each with at least one group, each with at least one line.
        footers: notes below the table.
        numbers: the numbers of the table, in full precision.
        filtered: noun for its lines, if readers of the page can filter them.
    """

    caption: str
    corner: tuple[str, ...]
    headers: tuple[Column | str, ...]
    sections: tuple[Section, ...]
    footers: tuple[str, ...] = ()
    numbers: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    filtered: str = ""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Columns of cells."""
        return tuple(one if isinstance(one, Column) else Column(one) for one in self.headers)

    @property
    def titles(self) -> tuple[str, ...]:
        """Headers of all columns, with the corner first."""
        return (*self.corner, *(column.title for column in self.columns))

    @property
    def n_prose(self) -> int:
        """Number of columns of words."""
        return sum(column.prose for column in self.columns)

    @property
    def sortable(self) -> bool:
        """Whether readers may sort the lines."""
        return len(self.corner) == 1


def one_section(
    lines: Iterable[Line], title: str = "", note: str = "", *, cited: bool = False
) -> Section:
    """Return a section of one group."""
    return Section(title, note, (Group("", tuple(lines), cited),))


def number(value: float, text: str | None = None) -> TableCell:
    """Return a cell that sorts by its value.

    >>> number(1234567.0).text, number(0.25).text
    ('1,234,567', '0.25')
    """
    if text is None:
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return TableCell(text, order=float(value))


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

    Raises:
        ValueError: the suffix is unknown, or there are no numbers for a CSV.
    """
    if suffix == ".csv" and table.numbers is not None:
        return to_csv(table.numbers)
    if suffix == ".tex":
        return to_latex(table)
    if suffix not in _TEMPLATES:
        raise ValueError(f"cannot write this table as {suffix}")
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
        ValueError: a suffix is unknown, or there are no numbers for a CSV; nothing is written.
        OutputError: a file cannot be written.
    """
    texts = {path: render(table, "".join(path.suffixes)) for path in map(Path, paths)}
    for path, text in texts.items():
        write_text(path, text)
