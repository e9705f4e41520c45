"""The one type of tables, and how a table becomes HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.files import write_text
from dpol.show.pages import load_template
from dpol.show.words import escape_markdown

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
    " ε varepsilon, η eta, λ lambda, μ mu, ρ rho, φ varphi, Δ Delta, Φ Phi, Ω Omega"
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
    """A cell: its text, notes that are printed smaller, and the number that it is sorted by."""

    text: str
    notes: tuple[str, ...] = ()
    order: float | None = None


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


@dataclass(frozen=True)
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
    """

    caption: str
    name: str
    corner: tuple[str, ...]
    headers: tuple[Column | str, ...]
    sections: tuple[Section, ...]
    footers: tuple[str, ...] = ()
    numbers: pd.DataFrame | None = field(default=None, compare=False, repr=False)

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
        """How many columns hold words."""
        return sum(column.prose for column in self.columns)

    @property
    def sortable(self) -> bool:
        """Whether the lines may stand in any order."""
        return len(self.corner) == 1


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
    """The table in GitHub's Markdown."""
    rules = ["---" for _ in table.corner]
    rules += ["---" if column.prose else "---:" for column in table.columns]
    lines = [[escape_markdown(text) for text in table.titles], rules]
    for section in table.sections:
        title = f"**{escape_markdown(section.title)}** ({escape_markdown(section.note)})"
        for first, labels, entries in _lines(table, section):
            heads = [title if first else ""] if len(table.corner) > 1 else []
            cells = [" ".join(map(escape_markdown, (cell.text, *cell.notes))) for cell in entries]
            lines.append([*heads, *map(escape_markdown, labels), *cells])
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    footers = "\n".join(f"- {escape_markdown(text)}" for text in table.footers)
    return f"**{escape_markdown(table.caption)}**\n\n{grid}\n\n{footers}\n"


def _lines(
    table: Table, section: Section
) -> Iterator[tuple[bool, tuple[str, ...], tuple[Entry, ...]]]:
    """Each line: is it the section's first, its labels (a group's only once), its cells."""
    first = True
    for group in section.groups:
        title = group.title
        for label, entries in group.lines:
            yield first, (title, label) if len(table.corner) == 3 else (label,), entries
            title, first = "", False


def to_latex(table: Table) -> str:
    """The table for `\\input`; needs the packages booktabs and graphicx, or others for prose."""
    if table.n_prose:
        return _to_longtable(table)
    columns = "l" * len(table.corner) + "r" * len(table.columns)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,graphicx}",
            r"\begin{table}[tbp]",
            r"\centering",
            rf"\caption{{{escape_latex(table.caption)}}}",
            rf"\label{{tab:{table.name}}}",
            r"\small",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
            r"\toprule",
            _latex_line(table.titles),
            *(line for section in table.sections for line in _latex_section(table, section)),
            r"\bottomrule",
            r"\end{tabular}}",
            r"\par\medskip",
            r"\begin{minipage}{\linewidth}\footnotesize",
            *(rf"{escape_latex(text)}\par" for text in table.footers),
            r"\end{minipage}",
            r"\end{table}",
            "",
        ]
    )


def _to_longtable(table: Table) -> str:
    """A table of sentences, over several pages; sections have lines of their own."""
    width = 0.62 / table.n_prose
    wrapped = rf">{{\raggedright\arraybackslash}}p{{{width:.2f}\linewidth}}"
    columns = r">{\raggedright\arraybackslash}p{0.12\linewidth}"
    columns += "".join(wrapped if column.prose else "r" for column in table.columns)
    across = len(table.columns) + 1
    lines = [
        r"% needs \usepackage{array,booktabs,longtable}",
        r"{\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
        rf"\caption{{{escape_latex(table.caption)}}}\label{{tab:{table.name}}}\\",
        r"\toprule",
        _latex_line(table.titles[len(table.corner) - 1 :]),
        r"\endhead",
    ]
    for section in table.sections:
        lines.append(r"\midrule")
        if len(table.corner) > 1:
            title = escape_latex(f"{section.title} ({section.note})")
            lines.append(rf"\multicolumn{{{across}}}{{@{{}}l}}{{\textbf{{{title}}}}} \\")
        for _, labels, entries in _lines(table, section):
            cells = [". ".join((entry.text, *entry.notes)) for entry in entries]
            lines.append(_latex_line([labels[-1], *cells]))
    lines += [r"\bottomrule", r"\end{longtable}"]
    lines += [rf"{escape_latex(text)}\par" for text in table.footers]
    return "\n".join([*lines, "}", ""])


def _latex_section(table: Table, section: Section) -> Iterator[str]:
    yield r"\midrule"
    for first, labels, entries in _lines(table, section):
        if len(labels) == 2 and labels[0] and not first:
            yield r"\addlinespace"
        heads = [(section.title, section.note) if first else ("", "")] if table.corner[1:] else []
        texts, notes = zip(*heads, *((label, "") for label in labels), strict=True)
        yield _latex_line([*texts, *(entry.text for entry in entries)])
        notes = (*notes, *(" ".join(entry.notes) for entry in entries))
        if any(notes):
            yield _latex_line(notes, r"\footnotesize ")


def _latex_line(texts: Sequence[str], size: str = "") -> str:
    return " & ".join(size + escape_latex(text) if text else "" for text in texts) + r" \\"


def to_fragment(table: Table) -> str:
    """The table as HTML to be put into a page."""
    return load_template("fragment.html.j2").render(table=table)


def to_html(table: Table) -> str:
    """The table as a page of its own."""
    return load_template("table.html.j2").render(table=table)


def no_formula(text: str) -> str:
    """Text that a spreadsheet does not run as a formula: an apostrophe before =, +, - or @.

    A carriage return, which would begin a new row, becomes a space.

    >>> no_formula("=1+1"), no_formula("New Mexico")
    ("'=1+1", 'New Mexico')
    """
    text = text.replace("\r", " ")
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@")) else text


def to_csv(numbers: pd.DataFrame) -> str:
    """The numbers behind a table; texts that begin like a formula get an apostrophe in front."""
    safe = numbers.copy()
    for name in safe.select_dtypes(["object", "str", "category"]):
        safe[name] = [no_formula(cell) if isinstance(cell, str) else cell for cell in safe[name]]
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
