"""Tables of plain texts, with their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Literal

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
class Mark:
    """Kind of a verdict.

    Args:
        kind: one or two words; the filter of a page has a button for each kind.
        tone: determines colour and sign.
    """

    kind: str
    tone: Literal["good", "open", "bad"]


@dataclass(frozen=True)
class TableCell:
    """Cell of a table.

    Args:
        text: text of the cell.
        notes: notes in smaller print below it.
        order: number to sort by instead of the text.
        mark: kind of verdict, if the text is a verdict.
    """

    text: str
    notes: tuple[str, ...] = ()
    _: KW_ONLY
    order: float | None = None
    mark: Mark | None = None


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
class TableSection:
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
    sections: tuple[TableSection, ...]
    footers: tuple[str, ...] = ()
    numbers: pd.DataFrame = field(compare=False, repr=False)
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
) -> TableSection:
    """Return a section of one group."""
    return TableSection(title, note, (Group("", tuple(lines), cited),))


def number(value: float, text: str | None = None) -> TableCell:
    """Return a cell that sorts by its value.

    >>> number(1234567.0).text, number(0.25).text
    ('1,234,567', '0.25')
    """
    if text is None:
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return TableCell(text, order=float(value))
