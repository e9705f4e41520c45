"""Tables as Markdown, HTML, LaTeX and CSV."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dpol.core.words import escape_markdown, spreadsheet_text
from dpol.show.rendering import render, to_csv, write_table
from dpol.show.table import Column, Group, Table, TableCell, TableSection, number, one_section

NASTY = "A & B_<c>% | [d] {e} $x^2$ #1 ~ \\ `f` *g*"


def table(title: str = "NM", *, grouped: bool = True) -> Table:
    """Return a table: a section of two groups with three lines, and a section of one line."""
    noted = ("μ = 1", (TableCell("1.00 ± 0.10", ("ridge",)), TableCell("—")))
    whole, empty = (
        ("μ = 2", (TableCell("1"), TableCell("2"))),
        ("μ = 1", (TableCell("3"), TableCell(""))),
    )
    groups = Group("plain", (noted, whole)), Group("capacity †", (empty,))
    return Table(
        caption="Gains",
        corner=("stream", "noise", "privacy") if grouped else ("stream", "privacy"),
        headers=("a", "b †"),
        sections=(
            TableSection(title, "n = 2", groups),
            TableSection("PA", "n = 3", (Group("plain", (whole,)),)),
        ),
        footers=("±: half width", "†: not in the papers"),
        numbers=pd.DataFrame(),
    )


@pytest.mark.parametrize("grouped", [True, False])
def test_markdown(grouped: bool) -> None:
    noise = ["", "plain | ", " | ", "capacity † | ", "plain | "] if grouped else [""] * 5
    assert render(table(grouped=grouped), ".md").splitlines() == [
        *("**Gains**", "", f"| stream | {'noise | ' * grouped}privacy | a | b † |"),
        f"| --- | {'--- | ' * grouped}--- | ---: | ---: |",
        f"| **NM** (n = 2) | {noise[1]}μ = 1 | 1.00 ± 0.10 ridge | — |",
        f"|  | {noise[2]}μ = 2 | 1 | 2 |",
        f"|  | {noise[3]}μ = 1 | 3 |  |",
        f"| **PA** (n = 3) | {noise[4]}μ = 2 | 1 | 2 |",
        *("", "- ±: half width", "- †: not in the papers"),
    ]


def test_cited_lines_are_grey_and_in_markdown_italic() -> None:
    first, second = table(grouped=False).sections
    cited = replace(second, groups=(replace(second.groups[0], cited=True),))
    both = replace(table(grouped=False), sections=(first, cited))
    assert render(both, ".md").splitlines()[7] == "| *PA* (n = 3) | *μ = 2* | *1* | *2* |"
    page = render(both, ".fragment.html")
    assert page.count("<tr") - page.count("<tr>") == page.count('<tr class="cited">') + 1 == 2


def test_no_text_of_a_table_is_read_as_markup() -> None:
    nasty = table(NASTY + '"<script>')
    lines = render(nasty, ".md").splitlines()
    assert any(line.startswith(rf"| **{escape_markdown(NASTY)}") for line in lines)
    grid = [line for line in lines if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in grid} == {6}
    page = render(nasty, ".html")
    assert "<script" not in page
    assert "A &amp; B_&lt;c&gt;% | [d]" in page
    assert not re.search(r"\b(src|href)=", page)  # it stands alone
    assert page.endswith("</html>\n")


def test_latex() -> None:
    """Numbers stand in columns of siunitx, notes below them, and titles in rows of their own."""
    text = render(replace(table(), caption=NASTY), ".tex")
    nasty = r"A \& B\_$<$c$>$\% $|$ {[}d] \{e\} \$x\textsuperscript{2}\$ \#1 \textasciitilde{}"
    assert rf"\caption{{{nasty} \textbackslash{{}} `f` *g*}}" in text
    number, whole = "S[table-format=1.2(3), separate-uncertainty]", "S[table-format=1.0, "
    assert rf"\begin{{tabular}}{{l {number} {whole}" in text
    rows = text.partition("\\midrule\n")[2].partition("\\bottomrule")[0].splitlines()
    assert rows == [
        *(r"\multicolumn{3}{l}{\textbf{NM}} \\", r"\multicolumn{3}{l}{\emph{plain}} \\"),
        r"$\mu$ = 1 & 1.00 +- 0.10 & {—} \\",
        r" & {\footnotesize \shortstack{ridge}} & \\",
        *(r"$\mu$ = 2 & 1 & 2 \\", r"\multicolumn{3}{l}{\emph{capacity \textdagger{}}} \\"),
        *(r"$\mu$ = 1 & 3 & {} \\", r"\multicolumn{3}{l}{\textbf{PA}} \\"),
        *(r"\multicolumn{3}{l}{\emph{plain}} \\", r"$\mu$ = 2 & 1 & 2 \\"),
    ]
    assert "NM: n = 2" in text, "notes of sections stand below"
    assert "\\shortstack{}" not in text


def test_a_column_of_latex_is_as_wide_as_its_numbers_with_signs() -> None:
    cells = ((TableCell(text),) * 2 for text in ("−1.50 ± 0.25", "112.0 ± 0.2"))
    groups = (Group("all", tuple(("a rule", own) for own in cells)),)
    text = render(replace(table(), sections=(TableSection("NM", "", groups),)), ".tex")
    assert "S[table-format=-3.2(3), separate-uncertainty]" in text
    assert "& -1.50 +- 0.25 & -1.50 +- 0.25" in text


def test_a_long_table_comes_in_parts_that_fit_a_page_of_two_columns() -> None:
    """Lines with two notes have three rows; titles stand again in each part."""
    lines = tuple((f"rule {k}", (TableCell("1", ("a", "b")),) * 2) for k in range(40))
    groups = Group("all", lines[:25]), Group("some", lines[25:])
    text = render(replace(table(), sections=(TableSection("NM", "", groups),)), ".tex")
    parts = text.split(r"\begin{table*}")[1:]
    assert len(parts) == 3
    assert "longtable" not in text
    for part, first, last in zip(parts, (0, 15, 30), (14, 29, 39), strict=True):
        assert part.count(r"\end{table*}") == part.count(r"\end{tabular}") == 1
        assert part.count(r"\textbf{NM}") == 1
        said = [line.split(" &")[0] for line in part.splitlines() if line.startswith("rule ")]
        assert said == [f"rule {k}" for k in range(first, last + 1)]
    emphasised = [part.count(r"\emph{") for part in parts]
    assert emphasised == [1, 2, 1]
    assert [r"(continued)" in part for part in parts] == [False, True, True]


# --- Tables of one section, whose lines may have any order ---


def plain() -> Table:
    much = (TableCell("much"), number(12345.0), number(0.25, "25%"))
    lines = [("run suite", much), ("clean", (TableCell("less"), number(2), TableCell("—")))]
    return Table(
        caption="Times",
        corner=("stage",),
        headers=(Column("work", prose=True), Column("wall time", unit="s"), "share"),
        sections=(one_section(lines),),
        numbers=pd.DataFrame({"wall": [12345.0, 2.0]}),
    )


def test_a_table_without_sections_is_sorted_by_its_numbers() -> None:
    fragment = render(plain(), ".fragment.html")
    assert 'aria-label="Times"' in fragment
    assert "<caption>Times</caption>" in fragment
    assert '<th scope="col">work</th>\n<th scope="col" class="number">wall time, s</th>' in fragment
    assert re.findall("<td.*>", fragment) == [
        '<td class="text" data-header="work">much</td>',
        '<td data-header="wall time, s" data-order="12345.0">12,345</td>',
        '<td data-header="share" data-order="0.25">25%</td>',
        '<td class="text" data-header="work">less</td>',
        '<td data-header="wall time, s" data-order="2.0">2</td>',
        '<td class="none" data-header="share">—</td>',
    ]
    formula = render(replace(plain(), caption="T^(1/3) + sqrt(T) < x_t"), ".fragment.html")
    assert "T<sup>1/3</sup> + √(T) &lt; x<sub>t</sub></caption>" in formula
    assert render(plain(), ".md").splitlines()[4] == "| run suite | much | 12,345 | 25% |"


# --- Files ---


def test_one_call_writes_every_format(tmp_path: Path) -> None:
    suffixes = (".html", ".md", ".tex", ".csv")
    write_table(plain(), *(tmp_path / f"t{suffix}" for suffix in suffixes))
    page, *texts = ((tmp_path / f"t{suffix}").read_text() for suffix in suffixes)
    assert render(plain(), ".fragment.html") in page
    assert texts == [render(plain(), ".md"), render(plain(), ".tex"), "wall\n12345.0\n2.0\n"]


FORMULAS = {
    "=cmd|'/C calc'!A0": "'=cmd|'/C calc'!A0",
    **{text: f"'{text}" for text in ("+1", "-1", "@SUM(A1)", "\t=1", "\x0b=1", "＝1+1")},
    "\r=1": "' =1",
    "NM; =1": "NM;' =1",
    "=1;=2": "'=1;'=2",
}


def test_no_text_of_a_csv_is_a_formula() -> None:
    numbers = pd.DataFrame({"title": [*FORMULAS, "New Mexico", None], "gain": -1.5})
    back = pd.read_csv(io.StringIO(to_csv(numbers), newline=""))
    assert back["title"].tolist()[:-1] == [*FORMULAS.values(), "New Mexico"]
    assert set(back["gain"]) == {-1.5}
    assert numbers["title"][0] == next(iter(FORMULAS))
    assert [spreadsheet_text(text) for text in FORMULAS.values()] == list(FORMULAS.values())
    plain = numbers[-2:].assign(day=pd.Timestamp("2021-01-03"), kind=pd.Categorical(["a", "b"]))
    assert to_csv(plain) == plain.to_csv(index=False, lineterminator="\n")
