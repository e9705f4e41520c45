from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpol.data.tables.identifiers import folded

names = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Café", "Cafe\u0301"),  # Unicode forms: macOS and Linux
        ("Café", "CAFÉ"),
        ("Straße", "STRASSE"),
        ("050002", "50002"),  # Excel
        ("050002", "50002.0"),
        ("050002", "０５０００２"),
        ("320021", "32 0021"),
        ("St John", "St\N{NO-BREAK SPACE}John"),
        ("Ward 7", "ward 07"),
        ("A", "0A"),
        ("St-John", "St\N{EN DASH}John"),
        *(("north", name) for name in ("north.", "north_", "'north'", "no rth", "(NORTH)")),
        ("St. Mary", "St Mary"),
        ("site-1", "site_1"),
        ("A-1", "A1"),
        ("1-11", "01_11"),
        ("St John's", "St John\N{RIGHT SINGLE QUOTATION MARK}s"),
        ("ﬁrst", "first"),
    ],
)
def test_names_that_differ_by_accident_are_alike(one, two):
    assert one != two
    assert folded(one) == folded(two)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        *(("A", "B"), ("A1", "A10"), ("1.05", "1.5"), ("0", "00.1"), ("Cafe", "Café")),
        *(("1-11", "11-1"), ("north", "n0rth"), ("north", "north hospital")),
    ],
)
def test_other_names_are_not(one, two):
    assert folded(one) != folded(two)


@given(names)
def test_folding_is_done_after_one_time_and_forgets_form_and_case(name):
    fold = folded(name)
    assert folded(fold) == fold
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert folded(unicodedata.normalize(form, name)) == fold
    assert folded(name.casefold()) == fold
