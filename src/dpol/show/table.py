"""A table of plain texts, and how it becomes Markdown, LaTeX and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from dpol.core.files import write_text
from dpol.show.words import escape_markdown

if TYPE_CHECKING:
    import pandas as pd

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "[": "{[}",  # a bracket after a line break would be its optional argument
    "]": "{]}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
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
    "±": r"$\pm$",
    "†": r"$\dagger$",
    "∞": r"$\infty$",
    "μ": r"$\mu$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "η": r"$\eta$",
    "λ": r"$\lambda$",
    "ρ": r"$\rho$",
    "φ": r"$\varphi$",
    "Δ": r"$\Delta$",
    "Φ": r"$\Phi$",
    "Ω": r"$\Omega$",
    "×": r"$\times$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "²": r"$^2$",
    "\n": " ",
}


@dataclass(frozen=True)
class Entry:
    """What a cell shows: a text, and notes that are printed smaller."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Group:
    """Lines that belong together within a section, each a label and its cells."""

    title: str
    lines: tuple[tuple[str, tuple[Entry, ...]], ...]


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
class TextTable:
    """A table of plain texts, which the renderers escape.

    Args:
        caption: what the table shows.
        name: names it in cross references; letters and hyphens.
        corner: headers of section, group and line, or of section and line: titles of groups
            are not shown then.
        headers: headers of the cells.
        sections: at least one, each with at least one group, each with at least one line.
        footers: remarks below the table.
        prose: those of the headers whose cells are sentences: set flush left and wrapped. Such
            a table may be longer than a page.
    """

    caption: str
    name: str
    corner: tuple[str, str] | tuple[str, str, str]
    headers: tuple[str, ...]
    sections: tuple[Section, ...]
    footers: tuple[str, ...]
    prose: tuple[str, ...] = ()

    @property
    def has_group_column(self) -> bool:
        """Whether the titles of groups are shown."""
        return len(self.corner) == 3


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is, at the start of a table row too."""
    return "".join(_LATEX.get(character, character) for character in text)


def to_markdown(table: TextTable) -> str:
    """The table in GitHub's Markdown."""
    header = [escape_markdown(text) for text in (*table.corner, *table.headers)]
    rules = [*("---" for _ in table.corner)]
    rules += ["---" if text in table.prose else "---:" for text in table.headers]
    lines = [header, rules]
    for section in table.sections:
        title = f"**{escape_markdown(section.title)}** ({escape_markdown(section.note)})"
        for starts, labels, entries in _lines(table, section):
            cells = [" ".join(map(escape_markdown, (cell.text, *cell.notes))) for cell in entries]
            lines.append([title if starts else "", *map(escape_markdown, labels), *cells])
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    footers = "\n".join(f"- {escape_markdown(text)}" for text in table.footers)
    return f"**{escape_markdown(table.caption)}**\n\n{grid}\n\n{footers}\n"


def _lines(
    table: TextTable, section: Section
) -> Iterator[tuple[bool, tuple[str, ...], tuple[Entry, ...]]]:
    """Of each line: does it start the section, its labels (a group's only once), its cells."""
    starts = True
    for group in section.groups:
        title = group.title
        for label, entries in group.lines:
            yield starts, (title, label) if table.has_group_column else (label,), entries
            title, starts = "", False


def to_latex(table: TextTable) -> str:
    """The table for `\\input`; needs the packages booktabs and graphicx, or others for prose."""
    if table.prose:
        return _to_longtable(table)
    columns = "l" * len(table.corner) + "r" * len(table.headers)
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
            _latex_line([*table.corner, *table.headers]),
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


def _to_longtable(table: TextTable) -> str:
    """A table of sentences, over several pages; sections have lines of their own."""
    width = 0.62 / len(table.prose)
    wrapped = rf">{{\raggedright\arraybackslash}}p{{{width:.2f}\linewidth}}"
    columns = r">{\raggedright\arraybackslash}p{0.12\linewidth}"
    columns += "".join(wrapped if text in table.prose else "r" for text in table.headers)
    across = len(table.headers) + 1
    lines = [
        r"% needs \usepackage{array,booktabs,longtable}",
        r"{\scriptsize\setlength{\tabcolsep}{3pt}",
        rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}",
        rf"\caption{{{escape_latex(table.caption)}}}\label{{tab:{table.name}}}\\",
        r"\toprule",
        _latex_line([table.corner[-1], *table.headers]),
        r"\endhead",
    ]
    for section in table.sections:
        title = escape_latex(f"{section.title} ({section.note})")
        lines += [r"\midrule", rf"\multicolumn{{{across}}}{{@{{}}l}}{{\textbf{{{title}}}}} \\"]
        for _, labels, entries in _lines(table, section):
            cells = [". ".join((entry.text, *entry.notes)) for entry in entries]
            lines.append(_latex_line([labels[-1], *cells]))
    lines += [r"\bottomrule", r"\end{longtable}"]
    lines += [rf"{escape_latex(text)}\par" for text in table.footers]
    return "\n".join([*lines, "}", ""])


def _latex_section(table: TextTable, section: Section) -> Iterator[str]:
    yield r"\midrule"
    for starts, labels, entries in _lines(table, section):
        if table.has_group_column and labels[0] and not starts:
            yield r"\addlinespace"
        title, note = (section.title, section.note) if starts else ("", "")
        yield _latex_line([title, *labels, *(entry.text for entry in entries)])
        notes = [note, *("" for _ in labels), *(" ".join(entry.notes) for entry in entries)]
        if any(notes):
            yield _latex_line(notes, r"\footnotesize ")


def _latex_line(texts: Sequence[str], size: str = "") -> str:
    return " & ".join(size + escape_latex(text) if text else "" for text in texts) + r" \\"


def to_html(table: TextTable) -> str:
    """The table as a page of its own."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpol.show"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.get_template("table.html.j2").render(table=table)


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


def write_with_numbers(table: TextTable, numbers: pd.DataFrame, path: Path) -> None:
    """Write the numbers behind a table as `.csv`, or the table itself (see `write_table`)."""
    if path.suffix == ".csv":
        write_text(path, to_csv(numbers))
    else:
        write_table(table, path)


def write_table(table: TextTable, path: Path) -> None:
    """Write a table as `.md`, `.tex` or `.html`.

    Raises:
        ValueError: another suffix.
        OutputError: the file cannot be written.
    """
    renderers = {".md": to_markdown, ".tex": to_latex, ".html": to_html}
    if path.suffix not in renderers:
        raise ValueError(f"{path}: a table is written as {', '.join(renderers)}")
    write_text(path, renderers[path.suffix](table))
