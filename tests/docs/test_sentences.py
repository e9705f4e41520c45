"""Numbers in sentences are those that were recorded, or have a ground in tools/sentences.yaml."""

from __future__ import annotations

import pytest
import sentences
from recorded_numbers import PAGES, ROOT

NAMES = sorted({str(path.relative_to(ROOT)) for path in PAGES} | set(sentences.SENTENCES))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_numbers_in_sentences_have_a_source(name: str) -> None:
    assert sentences.faults(name, text(name)) == []


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("README.md", "noise keeps 65%", "noise keeps 75%"),
        ("README.md", " minutes open", " hours open"),
        ("docs/index.md", "keeps 17%", "keeps 18%"),
        ("docs/explanation/ours.md", "raised it in Illinois", "raised it by 10.9 points"),
        ("docs/explanation/notes.md", "at most 5.5%", "at most 6.5%"),
        ("docs/explanation/notes.md", "3 of 9 cells", "4 of 9 cells"),
        ("docs/explanation/papers.md", "regret of about 529", "regret of about 630"),
        ("docs/explanation/papers.md", "RW-Meta 74%", "RW-Meta 47%"),
        ("docs/explanation/privacy.md", "64.2%", "62.4%"),
        ("docs/explanation/privacy.md", "has 55.5%", "has 56.5%"),
        ("docs/explanation/privacy.md", "covariances 94%", "covariances 96%"),
        ("docs/how-to/verify.md", "within 7.2%", "within 10%"),
        ("docs/reference/glossary.md", "**regret**:", "**regret**, twenty minutes long:"),
    ],
)
def test_a_wrong_number_is_found(name: str, right: str, wrong: str) -> None:
    page = text(name)
    assert right in page
    assert sentences.faults(name, page.replace(right, wrong, 1)) != []


def test_numbers_are_filled() -> None:
    for name in ("README.md", "docs/explanation/privacy.md"):
        page = text(name)
        wrong = page.replace("65%", "75%").replace("covariances 94%", "covariances 9%")
        assert wrong != page
        assert sentences.filled(name, wrong) == sentences.filled(name, page) == page
