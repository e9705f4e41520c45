"""Tables as Markdown, LaTeX, HTML and CSV."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from dpol.core.cells import spreadsheet_text
from dpol.core.words import escape_markdown
from dpol.show.marks import Mark
from dpol.show.table import (
    Column,
    Entry,
    Group,
    Section,
    Table,
    escape_latex,
    number,
    one_section,
    to_csv,
    to_fragment,
    to_html,
    to_latex,
    to_markdown,
    write_table,
)

NASTY = "A & B_<c>% | [d] {e} $x^2$ #1 ~ \\ `f` *g*"
GRID = """\
| stream | noise | privacy | a | b † |
| --- | --- | --- | ---: | ---: |
| **NM** (n = 2) | plain | μ = 1 | 1.00 ± 0.10 ridge | — |
|  |  | μ = 2 | 1 | 2 |
|  | capacity † | μ = 1 | 3 |  |
| **PA** (n = 3) | plain | μ = 1 | 1 | 2 |
"""


def two(first: str, second: str, *notes: str) -> tuple[Entry, ...]:
    return Entry(first, notes), Entry(second)


def table(title: str = "NM", *, grouped: bool = True) -> Table:
    """A section of two groups, the first of two lines, and a section of one line."""
    plain = Group("plain", (("μ = 1", two("1.00 ± 0.10", "—", "ridge")), ("μ = 2", two("1", "2"))))
    capacity = Group("capacity †", (("μ = 1", two("3", "")),))
    last = Group("plain", (("μ = 1", two("1", "2")),))
    return Table(
        caption="Gains",
        name="gains",
        corner=("stream", "noise", "privacy") if grouped else ("stream", "privacy"),
        headers=("a", "b †"),
        sections=(Section(title, "n = 2", (plain, capacity)), Section("PA", "n = 3", (last,))),
        footers=("±: half width", "†: ours"),
    )


def test_markdown() -> None:
    text = to_markdown(table())
    assert text == f"**Gains**\n\n{GRID}\n- ±: half width\n- †: ours\n"


def test_markdown_escapes() -> None:
    text = to_markdown(table(NASTY))
    line = next(line for line in text.splitlines() if line.startswith("| **"))
    assert line.startswith(rf"| **{escape_markdown(NASTY)}** (n = 2")
    assert r"A \& B\_\<c\>% \| \[d\]" in line
    grid = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace(r"\|", "").count("|") for line in grid} == {6}


def test_latex() -> None:
    body = to_latex(table()).split("\\toprule\n")[1].split("\\bottomrule")[0]
    assert body.splitlines() == [
        r"stream & noise & privacy & a & b $\dagger$ \\",
        r"\midrule",
        r"NM & plain & $\mu$ = 1 & 1.00 $\pm$ 0.10 & --- \\",
        r"\footnotesize n = 2 &  &  & \footnotesize ridge &  \\",
        r" &  & $\mu$ = 2 & 1 & 2 \\",
        r"\addlinespace",
        r" & capacity $\dagger$ & $\mu$ = 1 & 3 &  \\",
        r"\midrule",
        r"PA & plain & $\mu$ = 1 & 1 & 2 \\",
        r"\footnotesize n = 3 &  &  &  &  \\",
    ]


def test_without_group_column() -> None:
    lines = to_markdown(table(grouped=False)).splitlines()
    assert lines[2] == "| stream | privacy | a | b † |"
    assert lines[4].startswith("| **NM** (n = 2) | μ = 1 | 1.00")
    assert lines[6] == "|  | μ = 1 | 3 |  |"
    latex = to_latex(table(grouped=False))
    assert r"\begin{tabular}{@{}llrr@{}}" in latex
    assert {line.count("&") for line in latex.splitlines() if line.endswith(r" \\")} == {3}
    assert r"\addlinespace" not in latex


def test_latex_escapes() -> None:
    text = to_latex(table(NASTY))
    assert r"A \& B\_\textless{}c\textgreater{}\% \textbar{} {[}d{]} \{e\}" in text
    assert r"\$x\textasciicircum{}2\$ \#1 \textasciitilde{} \textbackslash{}" in text
    assert escape_latex("μ = ∞") == r"$\mu$ = $\infty$"
    assert text.isascii()
    body = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {line.replace(r"\&", "").count("&") for line in body} == {4}
    plain = text.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")


SECTION = '<th scope="rowgroup" rowspan="{}">{}\n<span class="note">{}</span></th>'
GROUP = '<th scope="row" class="group" rowspan="{}">{}</th>'
LABEL = '<th scope="row">{}</th>'


def test_html_header_cells_say_what_they_head() -> None:
    heads = [
        *(SECTION.format(3, "NM", "n = 2"), GROUP.format(2, "plain"), LABEL.format("μ = 1")),
        LABEL.format("μ = 2"),
        *(GROUP.format(1, "capacity †"), LABEL.format("μ = 1")),
        *(SECTION.format(1, "PA", "n = 3"), GROUP.format(1, "plain"), LABEL.format("μ = 1")),
    ]
    for grouped in (True, False):
        _, body = to_fragment(table(grouped=grouped)).split("</thead>")
        wanted = [head for head in heads if grouped or 'class="group"' not in head]
        assert re.findall("(?s)<th.*?</th>", body) == wanted
        assert (body.count('<tr class="next">'), body.count("<tbody>")) == (1, 2)
        assert (
            '<td>1.00 ±\N{NO-BREAK SPACE}0.10 <span class="note">ridge</span></td>\n<td>—</td>'
            in body
        )
        first, rest = body.split('<div class="notes">')[1].split("<details>")
        assert first.strip() == "<p>±: half width</p>"
        assert "<summary>All notes to this table (2)</summary>\n<p>†: ours</p>" in rest


def test_html_escapes_and_stands_alone() -> None:
    page = to_html(table(NASTY + '"<script>'))
    assert "<script" not in page
    assert "A &amp; B_&lt;c&gt;% | [d]" in page
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"\b(src|href)=", page)
    assert page.endswith("</html>\n")


# --- Tables of one section, whose lines may have any order ---


def plain() -> Table:
    lines = [
        ("run suite", (Entry("much"), number(12345.0), number(0.25, "25%"))),
        ("clean", (Entry("less"), number(2), Entry("—"))),
    ]
    headers = (Column("work", prose=True), Column("wall time", unit="s"), "share")
    return Table("Times", "stages", ("stage",), headers, (one_section(lines),))


PLAIN = """\
<div class="block">
<div class="scroll" role="region" aria-labelledby="table-stages" tabindex="0">
<table class="flat">
<caption id="table-stages">Times</caption>
<thead>
<tr>
<th scope="col">stage</th>
<th scope="col">work</th>
<th scope="col" class="number">wall time, s</th>
<th scope="col" class="number">share</th>
</tr>
</thead>
<tbody>
<tr>
<th scope="row">run suite</th>
<td class="text">much</td>
<td data-order="12345.0">12,345</td>
<td data-order="0.25">25%</td>
</tr>
<tr>
<th scope="row">clean</th>
<td class="text">less</td>
<td data-order="2.0">2</td>
<td>—</td>
</tr>
</tbody>
</table>
</div>
</div>
"""


def test_a_table_without_sections_is_sorted_by_its_numbers() -> None:
    assert to_fragment(plain()) == PLAIN
    assert to_markdown(plain()).splitlines()[2:5] == [
        "| stage | work | wall time, s | share |",
        "| --- | --- | ---: | ---: |",
        "| run suite | much | 12,345 | 25% |",
    ]
    latex = to_latex(plain())
    assert r"stage & work & wall time, s & share \\" in latex
    assert latex.count(r"\multicolumn") == 0
    short = to_latex(replace(plain(), headers=("a", "b", "c")))
    assert "\nclean & less & 2 & --- \\\\\n" in short


def test_a_table_of_sentences_is_wrapped_and_names_the_column_of_each_cell() -> None:
    prose = replace(table(), headers=(Column("a", prose=True), "b"))
    assert '<table class="prose">' in to_fragment(prose)
    assert '<td class="text" data-header="a">1.00' in to_fragment(prose)
    assert r"\multicolumn{3}{@{}l}{\textbf{NM (n = 2)}} \\" in to_latex(prose)
    assert "$\\mu$ = 1 & 1.00 $\\pm$ 0.10. ridge & --- \\\\" in to_latex(prose)


# --- Files ---


def test_verdicts_have_a_mark_and_numbers_the_signs_of_print() -> None:
    entries = (Entry("-0.5, 1e-06"), Entry("fails", mark=Mark("does not hold", "bad")))
    lines = [("one", entries), ("two", (Entry("2"), Entry("holds", mark=Mark("holds", "good"))))]
    table = Table("C", "c", ("line",), ("n", "v"), (one_section(lines),), filtered="lines")
    text = to_fragment(table)
    assert 'data-filter="lines"' in text
    assert '<b data-verdict="does not hold" data-tone="bad">fails</b>' in text
    assert "−0.5, 10⁻⁶" in text
    assert "-0.5, 1e-06" in to_markdown(table)
    assert "data-filter" not in to_fragment(replace(table, filtered=""))


def test_one_call_writes_every_format(tmp_path: Path) -> None:
    found = replace(plain(), numbers=pd.DataFrame({"wall": [12345.0, 2.0]}))
    suffixes = (".html", ".fragment.html", ".md", ".csv", ".tex")
    write_table(found, *(tmp_path / f"t{suffix}" for suffix in suffixes))
    texts = {suffix: (tmp_path / f"t{suffix}").read_text() for suffix in suffixes}
    assert texts[".fragment.html"] == PLAIN
    assert PLAIN in texts[".html"]
    assert texts[".csv"] == "wall\n12345.0\n2.0\n"
    assert (texts[".md"], texts[".tex"]) == (to_markdown(found), to_latex(found))


@pytest.mark.parametrize("suffix", [".txt", ".csv"])
def test_a_file_that_cannot_be_made_is_told_and_none_is_written(
    tmp_path: Path, suffix: str
) -> None:
    with pytest.raises(ValueError, match=f"t{suffix}: a table is not written as {suffix}"):
        write_table(plain(), tmp_path / "t.md", tmp_path / f"t{suffix}")
    assert not list(tmp_path.iterdir())


FORMULAS = {
    "=cmd|'/C calc'!A0": "'=cmd|'/C calc'!A0",
    "+1": "'+1",
    "-1": "'-1",
    "@SUM(A1)": "'@SUM(A1)",
    "\t=1": "'\t=1",
    "\r=1": "' =1",
    "\x0b=1": "'\x0b=1",
    "＝1+1": "'＝1+1",
    "NM; =1": "NM;' =1",
    "=1;=2": "'=1;'=2",
}


@pytest.mark.parametrize("text", FORMULAS, ids=repr)
def test_no_text_of_a_csv_is_a_formula(text: str) -> None:
    numbers = pd.DataFrame({"title": [text, "New Mexico", None], "gain": [-1.5, 2.0, 3.0]})
    back = pd.read_csv(io.StringIO(to_csv(numbers), newline=""))
    assert back["title"].tolist()[:2] == [FORMULAS[text], "New Mexico"]
    assert back["gain"].tolist() == [-1.5, 2.0, 3.0]
    assert numbers["title"][0] == text
    assert spreadsheet_text(FORMULAS[text]) == FORMULAS[text]


def test_a_csv_without_formulas_is_what_pandas_writes() -> None:
    numbers = pd.DataFrame(
        {
            "label": pd.Categorical(["a", "b"]),
            "text": ["x, y; z", 'say "ü" - or = it'],
            "number": [0.1, float("nan")],
            "whole": [1, -2],
            "day": pd.to_datetime(["2021-01-03", "2021-01-10"]),
            "yes": [True, False],
        }
    )
    assert to_csv(numbers) == numbers.to_csv(index=False, lineterminator="\n")
