"""Tables of the page: those of the run as they were rendered, and plain ones of its own."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from dpol.core.errors import DataError

_PAGE = re.compile(
    r'<caption id="(?P<id>[^"]*)">(?P<caption>.*?)</caption>.*?</table>'
    r".*?<footer>\n(?P<footer>.*?)</footer>",
    re.DOTALL,
)


@dataclass(frozen=True)
class RunTable:
    """A table of the run: its rendering, cut out of the page of its own.

    Args:
        name: its file below tables/, without suffix.
        caption: plain text.
        markup: the `<table>`.
        notes: the paragraphs below it, as HTML.
    """

    name: str
    caption: str
    markup: str
    notes: str


def cut_table(page: str, name: str) -> RunTable:
    """The table of a page that `dpol.show.table.to_html` made.

    Raises:
        DataError: the page holds no such table.
    """
    start, found = page.find("<table"), _PAGE.search(page)
    if start < 0 or not found:
        raise DataError(f"tables/{name}.html holds no table; delete it and run again")
    markup = page[start : page.index("</table>") + len("</table>")]
    # Of all tables of the page, no two may have the same id.
    markup = markup.replace(f'id="{found["id"]}"', f'id="table-{name}"', 1)
    return RunTable(name, html.unescape(found["caption"]), markup, found["footer"])


@dataclass(frozen=True)
class Cell:
    """What a cell of a plain table shows, and the number it is sorted by, if not by its text."""

    text: str
    order: float | None = None


@dataclass(frozen=True)
class PlainTable:
    """A table without groups, whose rows a reader can sort.

    Args:
        name: its anchor.
        caption: what it shows.
        headers: of the columns; the first names the rows.
        rows: a cell per header.
        notes: remarks below the table.
        folded: whether it is shown only to those who open it.
    """

    name: str
    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    folded: bool = False

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers only, and is set flush right."""
        return all(row[column].order is not None for row in self.rows)


def number(value: float, text: str | None = None) -> Cell:
    """A cell sorted by its value.

    >>> number(1234567.0).text, number(0.25).text
    ('1,234,567', '0.25')
    """
    if text is None:
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return Cell(text, float(value))
