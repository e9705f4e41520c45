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
        ("README.md", "our noise 33%", "our noise 43%"),
        ("README.md", " minutes open", " hours open"),
        ("docs/explanation/ours.md", "filter notices late", "filter notices 10.9 weeks late"),
        ("docs/explanation/notes.md", "at most 5.5%", "at most 6.5%"),
        ("docs/explanation/papers.md", "regret of about 529", "regret of about 630"),
        ("docs/explanation/papers.md", "52 to 83%", "52 to 88%"),
        ("docs/explanation/privacy.md", "64.2%", "62.4%"),
        ("docs/explanation/privacy.md", "62.8%", "68.2%"),
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
        wrong = page.replace("33%", "30%").replace("covariances 94%", "covariances 9%")
        assert wrong != page
        assert sentences.filled(name, wrong) == sentences.filled(name, page) == page
