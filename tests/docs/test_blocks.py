"""Pages have what their functions write today, and results stand nowhere else."""

from __future__ import annotations

import importlib
import re

import pages
import pytest
from findings import must
from recorded_numbers import rows

TEXTS = {name: pages.read(name) for name in pages.tracked("*.md")}
MODULES = sorted({module for text in TEXTS.values() for module, _ in pages.blocks(text)})


def test_no_page_is_stale() -> None:
    assert pages.stale() == [], "run make pages"


def test_block_and_function_name_each_other() -> None:
    """The docstring of a function begins with the path of the page that has its block."""
    on_pages = {(name, *it) for name, text in TEXTS.items() for it in pages.blocks(text)}
    named = set()
    for module in MODULES:
        for function, value in vars(importlib.import_module(module)).items():
            path, _, about = (getattr(value, "__doc__", None) or "").partition(": ")
            if path in TEXTS and about and value.__module__ == module:
                named.add((path, module, function))
    assert on_pages == named


def test_every_mark_is_of_a_block() -> None:
    for name, page in TEXTS.items():
        assert page.count("<!-- written by") == len(pages.blocks(page)), name


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("README.md", "17.1 ± 0.3", "18.1 ± 0.3"),
        ("README.md", "5 statements are false", "6 statements are false"),
        ("docs/explanation/papers.md", "has clearly less than L2P", "has clearly more than L2P"),
        ("config/README.md", "| integer (`100`)", "| integer (`10`)"),
    ],
)
def test_a_block_that_somebody_changed_is_put_right(name: str, right: str, wrong: str) -> None:
    assert right in TEXTS[name]
    assert pages.written(TEXTS[name].replace(right, wrong, 1)) == TEXTS[name]


def test_a_comparison_that_is_false_of_the_rows_is_refused() -> None:
    least = rows("states", "standings", "stream == '' and mu == 0.25")["gain_share"].min()
    with pytest.raises(ValueError, match="do not show any more: all gain half; change"):
        must(all_gain_half=least > 0.5, some_gain_less=least < 0.5)
    with pytest.raises(LookupError, match=r"states/standings\.csv has no row with mu < 0"):
        rows("states", "standings", "mu < 0")


def test_words_by_hand_are_those_outside_blocks() -> None:
    page = "Two words\n<!-- written by tools/x.py:y -->\nnot these\n<!-- /y -->\nand two"
    assert pages.words_by_hand(page) == 4
    assert len(re.findall(r"\S+", TEXTS["README.md"])) > pages.words_by_hand(TEXTS["README.md"])
