"""The tables of recorded numbers in README.md and docs/ agree with verify/runs."""

from __future__ import annotations

from pathlib import Path

import pytest
import recorded_numbers

MARKED = [path for path in recorded_numbers.PAGES if "<!-- numbers: " in path.read_text()]


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_a_page_shows_the_recorded_numbers(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert recorded_numbers.renewed(page) == page, "run make format"


def test_a_changed_number_is_put_right() -> None:
    page = (recorded_numbers.ROOT / "README.md").read_text(encoding="utf-8")
    wrong = page.replace("56.1 ± 0.3", "66.1 ± 0.3")
    assert wrong != page
    assert recorded_numbers.renewed(wrong) == page
