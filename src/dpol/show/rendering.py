"""Pages from templates, and tables as HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from markupsafe import Markup, escape

from dpol.core.files import write_text
from dpol.core.words import escape_markdown, spreadsheet_text
from dpol.show.table import Column, Group, Line, Table, TableSection
from dpol.show.words import raise_and_lower, typeset

if TYPE_CHECKING:
    import pandas as pd

_MOST_ROWS = 45
"""Largest number of printed rows of a part of a table: no float breaks across pages."""
_LINE, _WRAPPED = 95, 18
"""Characters of a line of small print as wide as the page; longer texts than the second wrap."""
_NUMBER = re.compile(r"([+−-]?)(\d[\d,]*)(?:\.(\d+))?(%?)(?: ± (\d[\d,]*\.?\d*))?")
"""A sign, digits before and behind the point, percent, and the half-width of an interval."""
_WRITTEN = {
    **{sign: f"\\{sign}" for sign in "#$%&{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "<": "$<$", ">": "$>$", "|": "$|$"},
    **{"μ": r"$\mu$", "±": r"$\pm$", "∞": r"$\infty$", "−": "$-$", "≤": r"$\le$", "≥": r"$\ge$"},
    **{"≠": r"$\ne$", "√": r"$\surd$", "×": r"$\times$", "·": r"$\cdot$", "\xa0": "~"},
    **{"†": r"\textdagger{}", "[": "{[}"},
}
_TEMPLATES: Mapping[str, tuple[str, Callable[[str], str] | None]] = {
    ".fragment.html": ("fragment.html.j2", None),
    ".html": ("table.html.j2", None),
    ".md": ("table.md.j2", escape_markdown),
}
"""Template of each format, and how it escapes texts unless by itself, by suffix."""


def load_template(
    name: str, *packages: str, escape: Callable[[str], str] | None = None
) -> jinja2.Template:
    """Load a template from `templates/` of the given packages, or of `dpol.show`.

    Args:
        name: file name of the template.
        packages: packages to search before `dpol.show`.
        escape: the filter `e` of a Markdown template, which escapes nothing by itself.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package) for package in (*packages, "dpol.show")]
        ),
        autoescape=jinja2.select_autoescape(("html.j2",)),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    environment.filters["typeset"] = typeset
    environment.filters["formulas"] = _with_formulas
    if escape:
        environment.filters["e"] = escape
    return environment.get_template(name)


def _with_formulas(text: str) -> Markup:
    """Typeset a text for HTML, with raised and lowered parts of its formulas."""
    return Markup(raise_and_lower(str(escape(typeset(text))), "<sup>{}</sup>", "<sub>{}</sub>"))


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


# ---- LaTeX, for the packages booktabs and siunitx ------------------------------------------------


def escape_latex(text: str) -> str:
    r"""Write a text in LaTeX, with its formulas.

    >>> print(escape_latex("100% & sqrt(T) + η^(1/3), 10⁶ †"))
    100\% \& $\surd$(T) + $\eta$\textsuperscript{1/3}, 10\textsuperscript{6} \textdagger{}
    """
    written = "".join(map(_written, re.findall("(?s).\u0303?", typeset(text))))
    written = raise_and_lower(written, r"\textsuperscript{{{}}}", r"\textsubscript{{{}}}")
    return written.replace("^", r"\textasciicircum{}").replace("_", r"\_")


def _written(sign: str) -> str:
    """Write a character; Greek letters and raised ones by what Unicode says of them."""
    if len(sign) > 1:  # with a tilde
        return rf"$\tilde{{{_written(sign[0]).strip('$')}}}$"
    if unicodedata.decomposition(sign).startswith("<super>"):
        return rf"\textsuperscript{{{_written(unicodedata.normalize('NFKC', sign))}}}"
    if name := re.fullmatch("GREEK (SMALL|CAPITAL) LETTER ([A-Z]+)", unicodedata.name(sign, "")):
        letter = name[2].replace("LAMDA", "LAMBDA")
        return rf"$\{letter.lower() if name[1] == 'SMALL' else letter.capitalize()}$"
    return _WRITTEN.get(sign, sign)


def to_latex(table: Table) -> str:
    """Render a table in LaTeX; its first line names the packages that it needs.

    Titles of sections and groups are rows, and notes stand below their cells. It is as wide as the
    page, also in two columns; a long table comes in parts, each a float.
    """
    lines = [line for part in table.sections for group in part.groups for line in group.lines]
    labels = [label for label, _ in lines]
    texts = [[cells[place].text for _, cells in lines] for place in range(len(table.columns))]
    kinds = [_kind_of(*each) for each in zip(table.columns, texts, strict=True)]
    columns = ["P" if _wraps(labels) else "l", *(kind for kind, _ in kinds)]
    # Columns of words share what the others leave of a line; two characters stand between columns.
    titles = [_lines_of(title) for title in table.titles[-len(columns) :]]
    each = zip(titles, [labels, *texts], columns, strict=True)
    others = sum(max(map(len, [*title, *own])) for title, own, kind in each if kind != "P")
    left = 1 - (others + 2 * len(columns)) / _LINE
    return load_template("table.tex.j2", escape=escape_latex).render(
        table=table,
        parts=_parts(table),
        columns=columns,
        kinds=kinds,
        width=min(0.3, left / max(1, columns.count("P"))),
        cell=_cell,
        stacked=_stacked,
    )


def _parts(table: Table) -> list[list[tuple[TableSection, Group, Line]]]:
    """Return the lines in parts with at most `_MOST_ROWS`, each line with its section and group."""
    parts: list[list[tuple[TableSection, Group, Line]]] = [[]]
    rows = 0
    for section, group in ((it, own) for it in table.sections for own in it.groups):
        for line in group.lines:
            height = 1 + max(len(cell.notes) for cell in line[1])
            if rows + height > _MOST_ROWS:
                parts.append([])
                rows = 0
            rows += height
            parts[-1].append((section, group, line))
    return parts


def _wraps(texts: Sequence[str]) -> bool:
    return max(map(len, texts)) > _WRAPPED


def _kind_of(column: Column, texts: Sequence[str]) -> tuple[str, str]:
    """Return the type of a column, and the sign of percent if all its numbers have it."""
    found = [match.groups("") for text in texts if (match := _NUMBER.fullmatch(text))]
    if column.prose or not found:
        return "P" if column.prose or _wraps(texts) else "r", ""
    signs, whole, digits, percents, halves = zip(*found, strict=True)
    most = [max(len(re.sub(r"\D", "", it)) for it in each) for each in (whole, digits, halves)]
    form = "-" * any(signs) + f"{most[0]}.{most[1]}" + f"({most[2]})" * any(halves)
    return f"S[table-format={form}, separate-uncertainty]", "%" * all(percents)


def _cell(text: str, kind: str, unit: str) -> str:
    """Write a cell; in a column of numbers, all else is in braces."""
    if kind.startswith("S") and _NUMBER.fullmatch(text) and text.count("%") == len(unit):
        number = text.replace(",", "").replace("−", "-").replace(" ±", " +-")
        return number.replace("%", "")
    return f"{{{escape_latex(text)}}}"


def _stacked(text: str) -> str:
    """Write a text on lines of a few words."""
    return r"\shortstack{" + r" \\ ".join(map(escape_latex, _lines_of(text))) + "}"


def _lines_of(text: str) -> list[str]:
    """Break a text into lines of at most 16 characters, or of one word."""
    lines = re.findall(r"(?:.{1,16}|\S+)(?: |$)", text.replace(" = ", "\xa0=\xa0"))
    return [line.strip() for line in lines]
