"""How a table of texts becomes Markdown, LaTeX and HTML."""

from __future__ import annotations

import io
import re
from html.parser import HTMLParser

import pandas as pd
import pytest

from dpol.show.table import (
    Entry,
    Group,
    Section,
    TextTable,
    escape_latex,
    no_formula,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
)
from dpol.show.words import escape_markdown

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


def table(title: str = "NM", *, grouped: bool = True) -> TextTable:
    """A section of two groups, the first of two lines, and a section of one line."""
    plain = Group("plain", (("μ = 1", two("1.00 ± 0.10", "—", "ridge")), ("μ = 2", two("1", "2"))))
    capacity = Group("capacity †", (("μ = 1", two("3", "")),))
    last = Group("plain", (("μ = 1", two("1", "2")),))
    return TextTable(
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


def test_markdown_without_group_column() -> None:
    lines = to_markdown(table(grouped=False)).splitlines()
    assert lines[2] == "| stream | privacy | a | b † |"
    assert lines[4].startswith("| **NM** (n = 2) | μ = 1 | 1.00")
    assert lines[6] == "|  | μ = 1 | 3 |  |"


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


@pytest.mark.parametrize("grouped", [True, False])
def test_latex_columns(grouped: bool) -> None:
    text = to_latex(table(grouped=grouped))
    assert rf"\begin{{tabular}}{{@{{}}{'lll' if grouped else 'll'}rr@{{}}}}" in text
    body = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {line.count("&") for line in body} == {4 if grouped else 3}
    assert (r"\addlinespace" in text) is grouped


def test_latex_escapes() -> None:
    text = to_latex(table(NASTY))
    assert r"A \& B\_\textless{}c\textgreater{}\% \textbar{} {[}d{]} \{e\}" in text
    assert r"\$x\textasciicircum{}2\$ \#1 \textasciitilde{} \textbackslash{}" in text
    assert escape_latex("μ = ∞") == r"$\mu$ = $\infty$"
    assert text.isascii()
    rules = [r"\toprule", r"\midrule", r"\bottomrule", r"\begin{tabular}", r"\end{table}"]
    assert all(rule in text for rule in rules)
    body = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {line.replace(r"\&", "").count("&") for line in body} == {4}
    plain = text.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")


class Outline(HTMLParser):
    """Start tags with their attributes, header cells with their texts, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.headers: list[tuple[str | None, str | None, str]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data
        tag, attributes = self.tags[-1] if self.tags else ("", {})
        if tag == "th" and data.strip():
            self.headers.append((attributes["scope"], attributes.get("rowspan"), data.strip()))


def test_html_header_cells_say_what_they_head() -> None:
    outline = Outline(to_html(table()))
    assert [header for header in outline.headers if header[0] != "col"] == [
        ("rowgroup", "3", "NM"),
        ("row", "2", "plain"),
        ("row", None, "μ = 1"),
        ("row", None, "μ = 2"),
        ("row", "1", "capacity †"),
        ("row", None, "μ = 1"),
        ("rowgroup", "1", "PA"),
        ("row", "1", "plain"),
        ("row", None, "μ = 1"),
    ]
    columns = [text for scope, _, text in outline.headers if scope == "col"]
    assert columns == ["stream", "noise", "privacy", "a", "b †"]
    tags = [tag for tag, _ in outline.tags]
    assert (tags.count("tbody"), tags.count("td"), tags.count("caption")) == (2, 8, 1)


def test_html_without_group_column() -> None:
    outline = Outline(to_html(table(grouped=False)))
    scopes = [scope for scope, _, _ in outline.headers]
    assert scopes == ["col"] * 4 + ["rowgroup", "row", "row", "row", "rowgroup", "row"]
    assert "plain" not in outline.text


def test_html_cells() -> None:
    cells = re.findall("<td>(.*?)</td>", to_html(table()))
    assert cells == [
        '1.00 ± 0.10 <span class="note">ridge</span>',
        *("—", "1", "2", "3", "", "1", "2"),
    ]


def test_html_escapes_and_stands_alone() -> None:
    page = to_html(table(NASTY + '"<script>'))
    assert "<script" not in page
    assert "A &amp; B_&lt;c&gt;%" in page
    outline = Outline(page)
    assert NASTY in outline.text
    assert "prefers-color-scheme: dark" in page
    assert not any({"src", "href"} & set(attributes) for _, attributes in outline.tags)
    region = next(attributes for tag, attributes in outline.tags if tag == "div")
    caption = next(attributes for tag, attributes in outline.tags if tag == "caption")
    assert region["aria-labelledby"] == caption["id"]
    assert page.endswith("</html>\n")


FORMULAS = ["=cmd|'/C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]


@pytest.mark.parametrize("text", FORMULAS, ids=repr)
def test_no_text_of_a_csv_is_a_formula(text: str) -> None:
    numbers = pd.DataFrame({"title": [text, "New Mexico", None], "gain": [-1.5, 2.0, 3.0]})
    back = pd.read_csv(io.StringIO(to_csv(numbers), newline=""))
    shown = "'" + text.replace("\r", " ")
    assert back["title"].tolist()[:2] == [shown, "New Mexico"]
    assert back["gain"].tolist() == [-1.5, 2.0, 3.0]
    assert (numbers["title"][0], no_formula(text)) == (text, shown)


def test_a_csv_without_formulas_is_what_pandas_writes() -> None:
    numbers = pd.DataFrame(
        {
            "label": pd.Categorical(["a", "b"]),
            "text": ["x, y", 'say "ü"'],
            "number": [0.1, float("nan")],
            "whole": [1, -2],
            "day": pd.to_datetime(["2021-01-03", "2021-01-10"]),
            "yes": [True, False],
        }
    )
    assert to_csv(numbers) == numbers.to_csv(index=False, lineterminator="\n")
