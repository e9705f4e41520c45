"""CONTRIBUTING.md is up to date."""

from __future__ import annotations

import contributing

PAGE = contributing.PAGE.read_text(encoding="utf-8")


def test_rooms_are_those_of_today() -> None:
    assert contributing.renewed(PAGE) == PAGE, "run: make format"
