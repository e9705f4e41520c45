"""The claims ledger as a table: what stands where, and tables of sentences in general."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest

from claims_by_hand import claim_by_hand, ledger_of
from dpol.core.errors import DataError
from dpol.show.table import (
    Entry,
    Group,
    Section,
    Table,
    to_html,
    to_latex,
    to_markdown,
    write_table,
)
from dpol.studies.claims.core import CLAIM_COLUMNS, Verdict
from dpol.studies.claims.table import claims_table, count_verdicts

NASTY = "a & b_<c>% [d] #1"
SAMPLED = {"interval": (511.06, 541.02), "confidence": 0.9999}
CLAIMS = (
    claim_by_hand("One", "Theorem 1", "T1 holds", "by hand", 2.0, "<=", 1.5, note="n = 2"),
    claim_by_hand(
        "One", "Lemma 2", NASTY, "sizes", 12345.6, ">=", 30000.0, ours=True, witness="unused"
    ),
    claim_by_hand(
        "Two", "equation (3)", "is 0", "sums", 0.0, "<=", 0.25, witness="x = 1", note="why"
    ),
    claim_by_hand(
        *("One", "Theorem 4", "a mean", "50 runs", 127.1, "<=", 526.04),
        **SAMPLED,
        witness="n = 2: mean 526",
        note="n = 2",
    ),
)


def lines(table: Table, section: int) -> list[tuple[str, tuple[Entry, ...]]]:
    (group,) = table.sections[section].groups
    return list(group.lines)


def test_papers_are_sections_and_what_fails_comes_first() -> None:
    table = claims_table(ledger_of(*CLAIMS))
    assert [(it.title, it.note) for it in table.sections] == [
        (
            "“One”",
            "2 of the paper: 1 holds, 1 does not hold as stated; 1 of ours †: 1 holds (1 loosely)",
        ),
        ("“Two”", "1 of the paper: 1 does not hold as stated"),
    ]
    assert [label for label, _ in lines(table, 0)] == ["Theorem 4", "Theorem 1", "Lemma 2 †"]
    assert table.corner == ("paper", "statement")
    assert table.titles[2:] == ("claim", "claimed", "measured", "slack", "verdict")


def test_every_cell() -> None:
    table = claims_table(ledger_of(*CLAIMS))
    found = dict(lines(table, 0) + lines(table, 1))
    assert found["Theorem 1"] == (
        Entry("T1 holds", ("Computed: by hand.",)),
        Entry("≤ 2"),
        Entry("1.5"),
        Entry("0.75"),
        Entry("holds", ("Note: n = 2.",)),
    )
    assert found["Lemma 2 †"] == (
        Entry(NASTY, ("Computed: sizes.",)),
        Entry("≥ 12,346"),
        Entry("30,000"),
        Entry("2.43"),
        Entry("holds loosely: measured is 2.43 times claimed"),
    )
    assert found["equation (3)"][1:] == (
        Entry("≤ 0"),
        Entry("0.25"),
        Entry("—"),
        Entry("does not hold as stated", ("Counterexample: x = 1.", "Note: why.")),
    )
    # A sampled number has its interval; a note is not said twice.
    assert found["Theorem 4"][1:] == (
        Entry("≤ 127.1"),
        Entry("526", ("511.1 to 541",)),
        Entry("4.14"),
        Entry("does not hold as stated", ("Counterexample: n = 2: mean 526.",)),
    )


def test_footers_name_the_confidence_only_if_something_was_sampled() -> None:
    assert any("99.99%" in text for text in claims_table(ledger_of(*CLAIMS)).footers)
    assert not any("%" in text for text in claims_table(ledger_of(*CLAIMS[:3])).footers)
    assert claims_table(ledger_of(*CLAIMS)).footers[-1].startswith("†: ours")


def test_undecided_claims_are_shown_and_counted() -> None:
    it = claim_by_hand("One", "Theorem 4", "a mean", "runs", 520.0, "<=", 526.04, **SAMPLED)
    table = claims_table(ledger_of(it))
    assert table.sections[0].note == "1 of the paper: 1 is undecided"
    assert lines(table, 0)[0][1][-1].text == "undecided"


@pytest.mark.parametrize(
    ("relation", "claimed", "measured", "verdict"),
    [
        ("<=", 515.0, 12.875, "holds loosely: claimed is 40 times measured"),
        (">=", 2.0, 5.0, "holds loosely: measured is 2.5 times claimed"),
        ("<=", 515.0, -3.0, "holds loosely: measured is not above 0"),
    ],
)
def test_a_loose_claim_says_by_which_factor_of_what(
    relation: str, claimed: float, measured: float, verdict: str
) -> None:
    it = claim_by_hand("One", "x", "y", "z", claimed, relation, measured)
    assert lines(claims_table(ledger_of(it)), 0)[0][1][-1].text == verdict


def test_a_bound_and_what_is_reached_without_the_claim_are_shown() -> None:
    unproved = claim_by_hand(
        *("One", "Theorem 5", "small", "bounds", 1.0, "<=", 1.247), measured_is="upper bound"
    )
    silent = claim_by_hand(
        "One", "Theorem 6", "regret", "runs", 91739.0, "<=", 1190.0, trivial=2773.0
    )
    table = claims_table(ledger_of(silent, unproved))
    (first, entries), (second, others) = lines(table, 0)
    assert (first, second) == ("Theorem 5", "Theorem 6")  # what is open comes first
    assert entries[2] == Entry("1.247", ("upper bound",))
    assert entries[-1].text == "not proved"
    assert others[1] == Entry("≤ 91,739", ("without it: 2773",))
    assert others[-1].text == "says nothing here"
    note = "2 of the paper: 1 is not proved, 1 says nothing here"
    assert table.sections[0].note == note


def test_verdicts_of_several_are_counted_in_the_plural() -> None:
    rows = pd.DataFrame({"verdict": [it for it in Verdict for _ in range(2)]})
    assert count_verdicts(rows) == (
        "4 hold (2 loosely), 2 do not hold as stated, 2 are not proved, 2 are undecided,"
        " 2 say nothing here"
    )


def test_a_wrong_table_is_refused() -> None:
    with pytest.raises(DataError, match="has no column slack; delete it and run again"):
        claims_table(ledger_of(*CLAIMS).drop(columns="slack"))
    with pytest.raises(DataError, match="is empty"):
        claims_table(ledger_of(*CLAIMS).iloc[:0])
    with pytest.raises(DataError, match="verdict 'maybe'"):
        claims_table(ledger_of(*CLAIMS).assign(verdict="maybe"))


# ---- tables of sentences -------------------------------------------------------------------------


def plain() -> Table:
    """A small table without sentences."""
    group = Group("", (("x", (Entry("1"), Entry("2"))),))
    return Table("t", "t", ("a", "b"), ("c", "d"), (Section("s", "n", (group,)),), ("f",))


def test_sentences_are_set_flush_left_in_markdown() -> None:
    header = to_markdown(claims_table(ledger_of(*CLAIMS))).splitlines()
    assert header[2] == "| paper | statement | claim | claimed | measured | slack | verdict |"
    assert header[3] == "| --- | --- | --- | ---: | ---: | ---: | --- |"


def test_a_table_of_sentences_is_a_long_table_in_latex() -> None:
    text = to_latex(claims_table(ledger_of(*CLAIMS)))
    assert r"\begin{longtable}" in text
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and " & " in line]
    cells = re.compile(r"(?<!\\) & ")
    assert {len(cells.findall(row)) for row in rows} == {5}
    assert len(rows) == 1 + len(CLAIMS)
    wrapped = r">{\raggedright\arraybackslash}p{0.31\linewidth}"
    assert rf"p{{0.12\linewidth}}{wrapped}rrr{wrapped}@{{}}}}" in text
    assert r"\multicolumn{6}{@{}l}{\textbf{``One''" in text
    assert r"a \& b\_\textless{}c\textgreater{}\% {[}d{]} \#1" in text
    assert r"$\leq$ 127.1" in text
    assert "longtable" not in to_latex(plain())


def test_every_letter_of_the_ledger_has_a_latex_form() -> None:
    letters = "μδεαβγηλρφΔΦΩ≤≥²"
    it = claim_by_hand("One", "Theorem 1", letters, "by hand", 2.0, "<=", 1.5)
    assert to_latex(claims_table(ledger_of(it))).isascii()


class Cells(HTMLParser):
    """The attributes of all cells that are not headers."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "td":
            self.found.append(dict(attrs))


def test_sentences_wrap_in_html_and_cells_name_their_column() -> None:
    text = to_html(claims_table(ledger_of(*CLAIMS)))
    assert '<table class="prose">' in text
    cells = Cells()
    cells.feed(text)
    assert len(cells.found) == 5 * len(CLAIMS)
    assert [it["data-header"] for it in cells.found[:5]] == list(
        claims_table(ledger_of(*CLAIMS)).titles[2:]
    )
    sentences = [it["data-header"] for it in cells.found if it.get("class") == "text"]
    assert sentences == ["claim", "verdict"] * len(CLAIMS)
    assert "a &amp; b_&lt;c&gt;% [d] #1" in text
    assert 'class="prose"' not in to_html(plain())
    assert 'data-header="' not in to_html(plain())


def test_files(tmp_path: Path) -> None:
    numbers = ledger_of(*CLAIMS)
    for suffix in (".md", ".tex", ".html", ".csv"):
        write_table(replace(claims_table(numbers), numbers=numbers), tmp_path / f"claims{suffix}")
    back = pd.read_csv(tmp_path / "claims.csv", keep_default_na=False)
    assert tuple(back.columns) == CLAIM_COLUMNS
    assert back["measured"].tolist() == numbers["measured"].tolist()
    assert back["verdict"].tolist() == numbers["verdict"].tolist()
    assert "does not hold as stated" in (tmp_path / "claims.md").read_text(encoding="utf-8")
