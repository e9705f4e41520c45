"""Sentences that compare are listed, and those about rows are true of all that they name."""

from __future__ import annotations

import comparisons
import pytest
from recorded_numbers import ROOT


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_sentence_that_compares_is_listed_and_stands_on_its_page() -> None:
    assert [it for name in comparisons.PAGES for it in comparisons.faults(name, text(name))] == []


def test_a_comparison_is_true_of_the_recorded_rows() -> None:
    for name in comparisons.PAGES:
        for said, expression in comparisons.listed(name).items():
            assert not expression or comparisons.holds(expression), (name, said)


@pytest.mark.parametrize(
    "false",
    [
        # Three sentences that stood on the pages.
        "not AHEAD & set(rows('beyond', 'standings', 'algorithm == \"rw-meta-floor-0\" and mu == 1'"
        ")['to_baseline_verdict'])",
        "rows('promises', 'promises', 'algorithm == \"random-effects\" and level == 0.25 and"
        " weeks == 1 and same == \"guess\"').set_index('noise')['share'].idxmax() == 'capacity'",
        "len(rows('ledger', 'claims', 'ground == \"derived\"')) == 5",
    ],
)
def test_a_false_comparison_is_false_of_the_rows(false: str) -> None:
    assert not comparisons.holds(false)


def test_rows_that_are_not_there_prove_nothing() -> None:
    with pytest.raises(LookupError, match="no row with mu < 0"):
        comparisons.holds("rows('states', 'standings', 'mu < 0')['strongest'].all()")
    with pytest.raises(LookupError, match="not in both"):
        comparisons.holds(
            "(lambda of: apart(of.query('mu == 1'), of.query('mu < 1'), ['mu'], 'gain_share'))"
            "(standings('states'))"
        )


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("README.md", "does not beat the best", "beats the best"),
        ("README.md", "- Most statements of the papers hold;", "- All statements hold;"),
        (
            "docs/index.md",
            "To cite dpol",
            "Our method leads in all states, even without noise. To cite dpol",
        ),
        ("docs/explanation/notes.md", "for 1, 4 or 8 weeks", "for any number of weeks"),
        (
            "docs/explanation/ours.md",
            "[Recorded results]",
            "Fixed share never comes within a point of our method. [Recorded results]",
        ),
        ("docs/explanation/papers.md", "more than the dartboard", "more than limited updates"),
        ("docs/explanation/privacy.md", "On influenza the noises", "On intensive care the noises"),
        (
            "docs/explanation/privacy.md",
            "On influenza",
            "Staircase noise leaves the attacker worse off, whatever the promise. On influenza",
        ),
        (
            "docs/how-to/verify.md",
            "and those on time have the largest means with noise",
            "and those on time always do",
        ),
        (
            "verify/runs/README.md",
            "We take each",
            "Where the noise is strong, RW-Meta closes the gap to `cautious-mean`. We take each",
        ),
    ],
)
def test_a_false_comparison_is_found(name: str, right: str, wrong: str) -> None:
    page = text(name)
    assert page.count(right) == 1
    assert comparisons.faults(name, page.replace(right, wrong)) != []
