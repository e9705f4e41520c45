"""Numbers on the pages and in captions are filled, or have a ground in tools/sentences.yaml."""

from __future__ import annotations

import re

import pytest
import sentences
from recorded_numbers import PAGES, ROOT

NAMES = sorted({*PAGES, *sentences.SENTENCES})
EACH = 5
"""Of so many numbers of a page one is changed."""


def text(name: str) -> str:
    if name == sentences.CAPTIONS:
        return sentences.captions()
    return (ROOT / name).read_text(encoding="utf-8")


def test_numbers_have_a_ground() -> None:
    assert [it for name in NAMES for it in sentences.faults(name, text(name))] == []


def test_grounds_for_all_pages_are_used() -> None:
    every = "\n".join(sentences.prose(name, text(name)) for name in NAMES)
    assert [each for each in sentences.known(sentences.EVERYWHERE) if each not in every] == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("README.md", "our noise 33%", "our noise 43%"),
        ("README.md", " minutes open", " hours open"),
        ("README.md", "In fifteen states", "In sixteen states"),
        ("CHANGELOG.md", "23 US states", "24 US states"),
        ("CONTRIBUTING.md", "`make` lists all targets", "`make` lists all nineteen targets"),
        ("benchmarks/README.md", "| at most 5 |", "| at most 6 |"),
        ("config/README.md", "16 states, 730 days", "16 states, 731 days"),
        ("data/elsewhere/README.md", "430 cells", "330 cells"),
        ("data/hospitals/README.md", "1,029 of 1,297", "1,092 of 1,297"),
        ("data/hospitals/README.md", "right about 73%", "right about 83%"),
        ("data/hospitals/README.md", "Sixteen Fridays", "Fourteen Fridays"),
        ("docs/explanation/notes.md", "at most 5.5%", "at most 6.5%"),
        ("docs/explanation/notes.md", "deviation 8Δ/μ", "deviation 9Δ/μ"),
        ("docs/explanation/ours.md", "filter notices late", "filter notices a week in three late"),
        ("docs/explanation/ours.md", "about eight times as large", "about nine times as large"),
        ("docs/explanation/papers.md", "regret of about 529", "regret of about 630"),
        ("docs/explanation/papers.md", "52 to 83%", "52 to 88%"),
        ("docs/explanation/papers.md", "in all four games", "in three of the four games"),
        ("docs/explanation/privacy.md", "| 1 | 1.07 |", "| 1 | 1.17 |"),
        ("docs/explanation/privacy.md", "0.85 | 1.42 | 2.25", "0.85 | 1.52 | 2.25"),
        ("docs/explanation/privacy.md", "covariances 94%", "covariances 96%"),
        ("docs/how-to/verify.md", "within 7.2%", "within 10%"),
        ("docs/notebook.ipynb", "plays 50 times", "plays 500 times"),
        ("docs/reference/glossary.md", "**regret**:", "**regret**, half of the gain:"),
        ("weekly/docs/officer.md", "99.5 times", "95.9 times"),
        ("weekly/docs/coordinator.md", "week of twenty", "week of a hundred"),
        (sentences.CAPTIONS, "1,000 runs", "2,000 runs"),
        (sentences.CAPTIONS, "100% is the oracle", "90% is the oracle"),
    ],
)
def test_a_wrong_number_is_found(name: str, right: str, wrong: str) -> None:
    page = text(name)
    assert right in page
    assert sentences.faults(name, page.replace(right, wrong, 1)) != []


@pytest.mark.parametrize("name", [it for it in PAGES if it.endswith(".md")])
def test_a_changed_number_is_found_unless_it_is_of_a_shape(name: str) -> None:
    page = sentences.prose(name, text(name))
    shapes = [it.span() for of in sentences.SHAPES.values() for it in re.finditer(of, page)]
    every = re.finditer(rf"{sentences.NUMBER}|{sentences.WORD}", page, re.IGNORECASE)
    bare = [it for it in every if not any(a <= it.start() < b for a, b in shapes)]
    for it in bare[::EACH]:
        other = "nineteen" if it[0].isalpha() else f"{it[0][:-1]}{(int(it[0][-1]) + 1) % 10}"
        assert sentences.faults(name, f"{page[: it.start()]}{other}{page[it.end() :]}") != [], it


def test_numbers_are_filled() -> None:
    for name in ("README.md", "docs/explanation/privacy.md", "data/hospitals/README.md"):
        page = text(name)
        wrong = page.replace("33%", "30%").replace("covariances 94%", "covariances 9%")
        wrong = wrong.replace("right about 73%", "right about 37%")
        assert wrong != page
        assert sentences.filled(name, wrong) == sentences.filled(name, page) == page
