"""The tables of amplified privacy and of what batching costs."""

from __future__ import annotations

import itertools
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.core.rounding import rounded_up
from dpol.show.table import Entry, to_html, to_latex, to_markdown, write_table
from dpol.studies.batching.tables import amplification_table, batching_table, settings_of

BOUNDS = ("borell-tis", "reflection")
KINDS = ("un-amplified", "analytic", "monte-carlo")


def epsilon(n: int, t: int, mu: float, bound: str, kind: str) -> float:
    """A number that tells its setting from all others."""
    best = KINDS.index(kind) + 3 * BOUNDS.index(bound) * (kind != KINDS[0])
    return n + t / 100 + best / 10 + mu / 1000


def curves(rounds: tuple[int, ...] = (50, 9), mus: tuple[float, ...] = (1.0, 0.25)) -> pd.DataFrame:
    """Two points of each curve; rows of mu come in falling order."""
    rows = []
    settings = itertools.product((2, 10), mus, BOUNDS, rounds, KINDS, (0.1, 0.2))
    for n, mu, bound, t, kind, threshold in settings:
        number = epsilon(n, t, mu, bound, kind)
        facts = {"t": t, "T": 60, "n": n, "mu": mu, "alpha": 0.1, "bound": bound, "kind": kind}
        facts |= {"threshold": threshold, "delta_reported": 1e-6}
        rows.append({**facts, "epsilon_at_delta": number, "mean_batch": 10 * number})
    return pd.DataFrame(rows)


def costs(streams: tuple[str, ...] = ("all-zero", "two-rivals")) -> pd.DataFrame:
    rows = []
    for n, mu, stream, bound in itertools.product((2, 10), (1.0, 0.1), streams, BOUNDS):
        base = n + 10 * mu + 100 * streams.index(stream)
        rows.append(
            {
                "stream": stream,
                "n": n,
                "T": 60,
                "mu": mu,
                "alpha": 0.2,
                "bound": bound,
                "replicates": 500,
                "ftpl_regret": base,
                "ftpl_half_width": base / 100,
                "adabatch_regret": base + 7.77,
                "adabatch_half_width": 9.99,
                "extra_regret": (base / 10) * (1 if bound == "reflection" else -1),
                "extra_half_width": base / 1000,
                "confidence": 0.9,
                "ci_comparisons": 36,
                "factor": 1.1,
                "ftpl_bound": 10 * base,
                "adabatch_bound": 11 * base,
                "mean_batch": base / 2,
            }
        )
    return pd.DataFrame(rows)


class Cells(HTMLParser):
    """Texts of the data cells, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.text = ""
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td":
            self._inside = True
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag != "td"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._inside:
            self.cells[-1] += data


def test_settings_are_one_row_per_curve() -> None:
    settings = settings_of(curves())
    assert len(settings) == 2 * 2 * 2 * 2 * 3 == len(curves()) / 2
    assert "threshold" not in settings


def test_lines_of_the_amplification_table_are_sorted_by_mu_within_rounds_and_experts() -> None:
    table = amplification_table(curves())
    assert [(section.title, section.note) for section in table.sections] == [
        ("n = 2", "T = 60"),
        ("n = 10", "T = 60"),
    ]
    for section in table.sections:
        assert [group.title for group in section.groups] == ["t = 50", "t = 9"]
        for group in section.groups:
            assert [label for label, _ in group.lines] == ["μ = 0.25", "μ = 1"]


def test_cells_of_the_amplification_table_hold_the_numbers_of_their_setting() -> None:
    table = amplification_table(curves())
    for section, n in zip(table.sections, (2, 10), strict=True):
        for group, t in zip(section.groups, (50, 9), strict=True):
            for (_, cells), mu in zip(group.lines, (0.25, 1.0), strict=True):
                plain = epsilon(n, t, mu, BOUNDS[0], KINDS[0])
                expected = [Entry(rounded_up(plain, 4))]
                for bound, kind in itertools.product(BOUNDS, KINDS[1:]):
                    number = epsilon(n, t, mu, bound, kind)
                    expected.append(
                        Entry(rounded_up(number, 4), (f"mean batch {10 * number:.1f}",))
                    )
                assert list(cells) == expected


def test_headers_of_the_amplification_table_mark_what_is_ours() -> None:
    table = amplification_table(curves())
    assert table.corner == ("experts", "round", "privacy of one round")
    assert table.headers == (
        "not amplified",
        "Borell-TIS, analytic bound",
        "Borell-TIS, Monte Carlo",
        "reflection †, analytic bound",
        "reflection †, Monte Carlo",
    )
    assert table.caption == "ε at δ = 1e-06 of RW-AdaBatch in the central model"
    footers = " ".join(table.footers)
    assert "†: ours, not in the paper." in footers
    assert "α = 0.1." in footers
    assert "oblivious adversary" in footers
    assert "an estimate, not a guarantee" in footers


def test_one_bound_has_columns_of_its_own_only() -> None:
    one = curves()
    table = amplification_table(one[one["bound"] == "reflection"])
    assert table.headers[1:] == ("reflection †, analytic bound", "reflection †, Monte Carlo")
    assert {len(cells) for s in table.sections for g in s.groups for _, cells in g.lines} == {3}


def test_the_batching_table_by_hand() -> None:
    table = batching_table(costs())
    assert table.headers == (
        "RW-FTPL",
        "extra, Borell-TIS",
        "extra, reflection †",
        "bound on regret",
    )
    section = table.sections[0]
    assert (section.title, section.note) == ("n = 2", "T = 60")
    assert [group.title for group in section.groups] == ["all-zero", "two-rivals"]
    # n = 2, mu = 0.1: 3; mu = 1: 12; 100 more for the second stream.
    assert section.groups[0].lines[0] == (
        "μ = 0.1",
        (
            Entry("3.0 ± <0.1"),
            Entry("-0.300 ± 0.003", ("mean batch 1.5",)),
            Entry("+0.300 ± 0.003", ("mean batch 1.5",)),
            Entry("30", ("× 1.1",)),
        ),
    )
    assert section.groups[1].lines[1] == (
        "μ = 1",
        (
            Entry("112.0 ± 1.1"),
            Entry("-11.200 ± 0.112", ("mean batch 56.0",)),
            Entry("+11.200 ± 0.112", ("mean batch 56.0",)),
            Entry("1120", ("× 1.1",)),
        ),
    )
    assert table.sections[1].groups[0].lines[0][1][0] == Entry("11.0 ± 0.1")
    footers = " ".join(table.footers)
    assert "500 runs of T = 60 rounds, α = 0.2" in footers
    assert "times 1 + α/2" in footers
    assert "90% confidence interval (Student's t), Bonferroni-corrected over 36 regrets" in footers
    assert "not other streams" in footers


@pytest.mark.parametrize("table", [amplification_table(curves()), batching_table(costs())])
def test_every_format_shows_every_cell(table, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    entries = [
        entry for s in table.sections for g in s.groups for _, line in g.lines for entry in line
    ]
    for suffix in (".md", ".tex", ".html"):
        write_table(table, tmp_path / f"table{suffix}")
        text = (tmp_path / f"table{suffix}").read_text(encoding="utf-8")
        for entry in entries:
            shown = entry.text.replace("±", r"$\pm$") if suffix == ".tex" else entry.text
            less = {".tex": r"\textless{}", ".html": "&lt;", ".md": r"\<"}[suffix]
            shown = shown.replace("<", less)
            assert shown in text
    cells = Cells((tmp_path / "table.html").read_text(encoding="utf-8")).cells
    assert [" ".join(cell.split()) for cell in cells] == [
        " ".join((entry.text, *entry.notes)) for entry in entries
    ]


def test_symbols_are_escaped_in_every_format() -> None:
    table = amplification_table(curves())
    latex = to_latex(table)
    assert latex.isascii()
    assert r"\caption{$\varepsilon$ at $\delta$ = 1e-06" in latex
    assert r"reflection $\dagger$, analytic bound" in latex
    assert r"{[}0, 1{]}\textasciicircum{}n" in latex
    markdown = to_markdown(table)
    assert r"\[0, 1\]\^n" in markdown
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {line.count("|") for line in rows} == {9}
    assert "in [0, 1]^n;" in Cells(to_html(table)).text


def test_a_stream_with_special_characters_is_escaped_in_every_format() -> None:
    nasty = "A & B_<c> | x^2 #1"
    table = batching_table(costs(("all-zero", nasty)))
    assert r"A \& B\_\textless{}c\textgreater{} \textbar{} x\textasciicircum{}2 \#1" in to_latex(
        table
    )
    assert r"A \& B\_\<c\> \| x\^2 \#1" in to_markdown(table)
    page = to_html(table)
    assert nasty in Cells(page).text
    assert "B_<c>" not in page


def test_empty_tables_are_refused() -> None:
    message = "is empty; delete it and run again"
    with pytest.raises(DataError, match=f"table of amplification {message}"):
        amplification_table(curves().head(0))
    with pytest.raises(DataError, match=f"table of amplification {message}"):
        settings_of(curves().head(0))
    with pytest.raises(DataError, match=f"table of batching {message}"):
        batching_table(costs().head(0))
