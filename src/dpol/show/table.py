"""The one type of tables, and how a table becomes HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.cells import spreadsheet_text
from dpol.core.files import write_text
from dpol.core.words import escape_markdown
from dpol.show.marks import Mark
from dpol.show.pages import load_template

if TYPE_CHECKING:
    import pandas as pd

_TEXT = {
    "\\": r"\textbackslash{}",
    "[": "{[}",  # a bracket after a line break would be its optional argument
    "]": "{]}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "“": "``",
    "”": "''",
    "\u2013": "--",
    "—": "---",
    "…": r"\ldots{}",
    "²": "$^2$",
    "\n": " ",
}
_MATH = (
    "± pm, † dagger, ∞ infty, × times, ≤ leq, ≥ geq, α alpha, β beta, γ gamma, δ delta,"
    " ε varepsilon, η eta, λ lambda, μ mu, ρ rho, φ varphi, Δ Delta, Σ Sigma, Φ Phi, Ω Omega"
)
_LATEX = str.maketrans(
    _TEXT
    | {sign: rf"\{sign}" for sign in "{}&%$#_"}
    | {pair[0]: rf"$\{pair[2:]}$" for pair in _MATH.split(", ")}
)


@dataclass(frozen=True)
class Column:
    """A column of cells.

    Args:
        header: its text.
        unit: of its numbers, if they have one.
        prose: whether its cells are words: set flush left and wrapped.
    """

    header: str
    unit: str = ""
    prose: bool = False

    @property
    def title(self) -> str:
        """Header and unit."""
        return f"{self.header}, {self.unit}" if self.unit else self.header


@dataclass(frozen=True)
class Entry:
    """A cell of a table.

    Args:
        text: what it says.
        notes: printed smaller below it.
        order: what it is sorted by, if not its text.
        hint: a note that HTML has under the pointer.
        mark: the kind of verdict, where the text is one.
    """

    text: str
    notes: tuple[str, ...] = ()
    _: KW_ONLY
    order: float | None = None
    hint: str = ""
    mark: Mark | None = None

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes and hint, where there is no pointer."""
        return (*self.notes, self.hint) if self.hint else self.notes

    def with_notes(self, divider: str) -> str:
        """The text with its remarks behind it."""
        return divider.join((self.text, *self.remarks))


Line = tuple[str, tuple[Entry, ...]]
"""The label of a line, and its cells."""


@dataclass(frozen=True)
class Group:
    """Lines that belong together within a section."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Section:
    """Groups that belong together."""

    title: str
    note: str
    groups: tuple[Group, ...]

    @property
    def n_lines(self) -> int:
        """Lines of all groups."""
        return sum(len(group.lines) for group in self.groups)


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of plain texts, which the renderers escape.

    Args:
        caption: what the table shows.
        name: names it in cross references; letters and hyphens.
        corner: headers of section, group and line, of section and line, or of line; titles that
            have no header are not shown.
        headers: of the cells; a text is the header of a column of numbers without a unit.
        sections: at least one, each with at least one group, each with at least one line.
        footers: remarks below the table.
        numbers: what the table shows, in full precision.
        filtered: what its lines are, where a page lets its reader filter them.
        following: tables that stand below it in its files, and folded on the page.
    """

    caption: str
    name: str
    corner: tuple[str, ...]
    headers: tuple[Column | str, ...]
    sections: tuple[Section, ...]
    footers: tuple[str, ...] = ()
    numbers: pd.DataFrame | None = field(default=None, compare=False, repr=False)
    filtered: str = ""
    following: tuple[Table, ...] = ()

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of cells."""
        return tuple(it if isinstance(it, Column) else Column(it) for it in self.headers)

    @property
    def titles(self) -> tuple[str, ...]:
        """The headers of all columns, those of the corner first."""
        return (*self.corner, *(column.title for column in self.columns))

    @property
    def n_prose(self) -> int:
        """Number of columns that hold words."""
        return sum(column.prose for column in self.columns)

    @property
    def sortable(self) -> bool:
        """True if the lines may be in any order."""
        return len(self.corner) == 1

    def lines_of(
        self, section: Section
    ) -> Iterator[tuple[bool, tuple[str, ...], tuple[Entry, ...]]]:
        """Each line: is it the section's first, its labels (a group's only once), its cells."""
        first = True
        for group in section.groups:
            title = group.title
            for label, entries in group.lines:
                yield first, (title, label) if len(self.corner) == 3 else (label,), entries
                title, first = "", False


def one_section(lines: Iterable[Line], title: str = "", note: str = "") -> Section:
    """A section without groups."""
    return Section(title, note, (Group("", tuple(lines)),))


def number(value: float, text: str | None = None) -> Entry:
    """A cell that is sorted by its value.

    >>> number(1234567.0).text, number(0.25).text
    ('1,234,567', '0.25')
    """
    if text is None:
        text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    return Entry(text, order=float(value))


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is, at the start of a table row too."""
    return text.translate(_LATEX)


def to_markdown(table: Table) -> str:
    """The table, and what follows it, in GitHub's Markdown."""
    template = load_template("table.md.j2", escape=escape_markdown)
    return "\n".join(template.render(table=it) for it in (table, *table.following))


def to_latex(table: Table) -> str:
    """The tables for `\\input`; they need booktabs and graphicx, or other packages for prose."""
    kinds = {True: "longtable.tex.j2", False: "tabular.tex.j2"}
    return "\n".join(
        load_template(kinds[it.n_prose > 0], escape=escape_latex).render(table=it)
        for it in (table, *table.following)
    )


def to_fragment(table: Table) -> str:
    """The table as HTML to be put into a page; what follows it is folded."""
    return load_template("fragment.html.j2").render(tables=(table, *table.following), folds=True)


def to_html(table: Table) -> str:
    """The table, and what follows it, as a page of its own."""
    return load_template("table.html.j2").render(tables=(table, *table.following), folds=False)


def to_csv(numbers: pd.DataFrame) -> str:
    """The numbers behind a table; texts that begin like a formula get an apostrophe in front."""
    safe = numbers.copy()
    for name in safe.select_dtypes(["object", "str", "category"]):
        safe[name] = [
            spreadsheet_text(cell) if isinstance(cell, str) else cell for cell in safe[name]
        ]
    return safe.to_csv(index=False, lineterminator="\n")


def write_table(table: Table, *paths: Path | str) -> None:
    """Write a table as `.html`, `.fragment.html`, `.md` or `.tex`, and its numbers as `.csv`.

    Raises:
        ValueError: another suffix, or no numbers for a CSV; nothing is written then.
        OutputError: a file cannot be written.
    """
    renderers: dict[str, Callable[[Table], str]] = {
        ".fragment.html": to_fragment,
        ".html": to_html,
        ".md": to_markdown,
        ".tex": to_latex,
    }
    texts = {}
    for path in map(Path, paths):
        suffix = next((suffix for suffix in renderers if path.name.endswith(suffix)), path.suffix)
        if suffix == ".csv" and table.numbers is not None:
            texts[path] = to_csv(table.numbers)
        elif suffix in renderers:
            texts[path] = renderers[suffix](table)
        else:
            raise ValueError(f"{path}: a table is not written as {suffix}")
    for path, text in texts.items():
        write_text(path, text)
