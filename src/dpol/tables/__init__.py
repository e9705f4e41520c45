"""Tables: one module each; here is how all of them become Markdown, LaTeX and HTML."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import jinja2
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
    "µ": r"$\mu$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "\n": " ",
}
_HTML_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{ table.caption }}</title>
<style>
:root { --ink: #1d2329; --soft: #5c6670; --paper: #fff; --band: #f4f6f8; --rule: #c9d0d6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ec; --soft: #a3adb6; --paper: #15181b; --band: #1e2226; --rule: #434b53; }
}
body { margin: 1.5rem auto; max-width: 72rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 0.95rem/1.45 system-ui, sans-serif; }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid #0072b2; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; font-size: 1.1rem; padding-bottom: 0.6rem; }
th, td { padding: 0.35rem 0.7rem; text-align: right; vertical-align: top; white-space: nowrap; }
th { text-align: left; font-weight: 600; }
thead th { vertical-align: bottom; white-space: normal; border-bottom: 2px solid var(--ink); }
thead th.number { text-align: right; }
tbody { border-bottom: 1px solid var(--rule); }
tbody th { font-weight: 400; }
tbody th[scope=rowgroup] { font-weight: 600; white-space: normal; }
tbody tr:hover td, tbody tr:hover th[scope=row] { background: var(--band); }
.note { display: block; color: var(--soft); font-size: 0.85em; font-weight: 400; }
footer { margin-top: 1rem; color: var(--soft); font-size: 0.85rem; max-width: 60rem; }
footer p { margin: 0.25rem 0; }
@media print { body { margin: 0; max-width: none; } }
</style>
</head>
<body>
<div class="scroll" role="region" aria-labelledby="{{ table.name }}" tabindex="0">
<table>
<caption id="{{ table.name }}">{{ table.caption }}</caption>
<thead>
<tr>
{% for text in table.corner %}
<th scope="col">{{ text }}</th>
{% endfor %}
{% for text in table.headers %}
<th scope="col" class="number">{{ text }}</th>
{% endfor %}
</tr>
</thead>
{% for section in table.sections %}
<tbody>
{% for label, entries in section.lines %}
<tr>
{% if loop.first %}
<th scope="rowgroup" rowspan="{{ section.lines | length }}">{{ section.title }}
<span class="note">{{ section.note }}</span></th>
{% endif %}
<th scope="row">{{ label }}</th>
{% for entry in entries %}
<td>{{ entry.text }}
{%- for note in entry.notes %} <span class="note">{{ note }}</span>{% endfor %}</td>
{% endfor %}
</tr>
{% endfor %}
</tbody>
{% endfor %}
</table>
</div>
<footer>
{% for text in table.footers %}
<p>{{ text }}</p>
{% endfor %}
</footer>
</body>
</html>
"""


@dataclass(frozen=True)
class Entry:
    """What a cell shows: a text, and notes that are printed smaller."""

    text: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """Lines that belong together, each a label and its cells."""

    title: str
    note: str
    lines: tuple[tuple[str, tuple[Entry, ...]], ...]


@dataclass(frozen=True)
class TextTable:
    """A table of plain texts, which the renderers escape.

    Args:
        caption: what the table shows.
        name: names it in cross references; letters and hyphens.
        corner: headers of section and line.
        headers: headers of the cells.
        sections: at least one, each with at least one line.
        footers: remarks below the table.
    """

    caption: str
    name: str
    corner: tuple[str, str]
    headers: tuple[str, ...]
    sections: tuple[Section, ...]
    footers: tuple[str, ...]


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is, in a table cell too."""
    return re.sub(r"([\\`*_{}\[\]<>&|#~$^])", r"\\\1", text).replace("\n", " ")


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is, at the start of a table row too."""
    return "".join(_LATEX.get(character, character) for character in text)


def privacy_title(mu: float) -> str:
    """A privacy level in words.

    >>> privacy_title(float("inf")), privacy_title(0.25)
    ('no privacy (µ = ∞)', 'µ = 0.25')
    """
    return "no privacy (µ = ∞)" if mu == float("inf") else f"µ = {mu:g}"


def to_markdown(table: TextTable) -> str:
    """The table in GitHub's Markdown."""
    header = [escape_markdown(text) for text in (*table.corner, *table.headers)]
    lines = [header, ["---", "---", *("---:" for _ in table.headers)]]
    for section in table.sections:
        title = f"**{escape_markdown(section.title)}** ({escape_markdown(section.note)})"
        for label, entries in section.lines:
            cells = [" ".join(map(escape_markdown, (cell.text, *cell.notes))) for cell in entries]
            lines.append([title, escape_markdown(label), *cells])
            title = ""
    grid = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    footers = "\n".join(f"- {escape_markdown(text)}" for text in table.footers)
    return f"**{escape_markdown(table.caption)}**\n\n{grid}\n\n{footers}\n"


def to_latex(table: TextTable) -> str:
    """The table for `\\input`; needs the packages booktabs and graphicx."""
    lines = [_latex_line([*table.corner, *table.headers])]
    for section in table.sections:
        lines.append(r"\midrule")
        title, note = section.title, section.note
        for label, entries in section.lines:
            lines.append(_latex_line([title, label, *(entry.text for entry in entries)]))
            notes = [note, "", *(" ".join(entry.notes) for entry in entries)]
            if any(notes):
                lines.append(_latex_line(notes, r"\footnotesize "))
            title = note = ""
    columns = "r" * len(table.headers)
    return "\n".join(
        [
            r"% needs \usepackage{booktabs,graphicx}",
            r"\begin{table}[tbp]",
            r"\centering",
            rf"\caption{{{escape_latex(table.caption)}}}",
            rf"\label{{tab:{table.name}}}",
            r"\small",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{@{{}}ll{columns}@{{}}}}",
            r"\toprule",
            *lines,
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


def _latex_line(texts: Sequence[str], size: str = "") -> str:
    return " & ".join(size + escape_latex(text) if text else "" for text in texts) + r" \\"


def to_html(table: TextTable) -> str:
    """The table as a page of its own."""
    environment = jinja2.Environment(
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    return environment.from_string(_HTML_PAGE).render(table=table)


def amount(mean: float, half_width: float | None) -> str:
    """A mean and the half width of its interval, if there is one."""
    return f"{mean:.2f}" if half_width is None else f"{mean:.2f} ± {half_width:.2f}"


def describe_data(simulated: Mapping[str, bool]) -> str:
    """Whether the streams (by title) are simulated."""
    made_up = [title for title, is_simulated in simulated.items() if is_simulated]
    if not made_up:
        return "Data: real."
    if len(made_up) == len(simulated):
        return "Data: simulated, not measured."
    return f"Data: simulated, not measured, in {', '.join(made_up)}; real in the other streams."


def describe_interval(confidence: float, comparisons: int) -> str:
    """What the half widths are."""
    return (
        f"±: half width of the {100 * confidence:g}% confidence interval (normal approximation),"
        f" Bonferroni-corrected over {comparisons} cells."
    )


def describe_models(columns: Sequence[tuple[str, str]]) -> list[str]:
    """Which columns, given with their models, are local, central or without privacy."""
    meaning = {
        "local": "Local model (noise is added where a gain arises)",
        "central": "Central model (a trusted curator sees the gains as they are)",
        "none": "No privacy",
    }
    found = []
    for model, text in meaning.items():
        if titles := [title for title, of_column in columns if model in of_column.split("/")]:
            found.append(f"{text}: {', '.join(titles)}.")
    return found


def describe_guarantee(runs: pd.DataFrame) -> str:
    """The privacy guarantees of the rows of a summary, in one line."""
    private = runs[(runs["model"] != "none") & (runs["guaranteed_mu"] < float("inf"))]
    if private.empty:
        return "Guarantee: none, no run has privacy noise."

    def each(column: str) -> str:
        return " / ".join(dict.fromkeys(private[column].astype(str)))

    noisy = runs[runs["calibration"] != "none"]
    levels = []
    for mu in sorted(set(private["mu"]), reverse=True):
        epsilon = noisy.loc[noisy["mu"] == mu, "epsilon"]
        ends = dict.fromkeys(f"{end:.3g}" for end in (epsilon.min(), epsilon.max()))
        levels.append(f"µ = {mu:g}: ε = {' to '.join(ends)}".replace("inf", "∞"))
    delta = " / ".join(dict.fromkeys(f"{value:g}" for value in private["delta"]))
    return (
        f"Guarantee: µ-Gaussian differential privacy of {each('unit')}; adjacent:"
        f" {each('adjacency')}; mechanism: {each('mechanism')};"
        f" over the columns, at δ = {delta}: {', '.join(levels)}."
    )
