"""The answer of the report, asked in Chromium by slider, keys and pointer."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from browser.test_report import VIEWS, by_hand, pytestmark, seen_by

__all__ = ["by_hand", "pytestmark"]  # the page, and the marks of every test here


def ask(path: Path, width: int, scheme: str, *steps: list[Any]) -> Any:
    """Take the steps with ask.js, and return what it sees; nothing on the page may fail."""
    result = seen_by("ask.js", path, width, scheme, json.dumps(steps))
    assert result["errors"] == []
    return result


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_slider_rewrites_the_lead_the_numbers_and_the_mark_of_the_table(
    by_hand: Path, width: int, scheme: str
) -> None:
    """By hand: 39 and 42 of 60 points, at μ = 1 and without privacy."""
    steps = [["press", "ArrowLeft"], ["press", "ArrowRight"]]
    first, free, again = ask(by_hand, width, scheme, *steps)["seen"]
    assert first | {"hash": again["hash"]} == again
    assert "at most 69.2 times in 100" in first["lead"]
    assert "ridge-w64-strong with isotropic noise keeps 65 of 100 points" in first["lead"]
    assert "Without privacy " in free["lead"]
    assert "μ = 1" in first["slider"] != free["slider"]
    assert [seen["marked"][0] for seen in (first, free)] == ["μ = 1 (69.2%)", "μ = ∞"]
    assert (first["hash"], free["hash"]) == ("", "#answer?mu=inf")
    assert first["told"][0] == "ridge-w64-strong, isotropic noise 65.0%"
    assert "follow-the-leader, no privacy —" in first["told"], "it keeps no level"
    assert [len(seen["numbers"]) for seen in (first, free)] == [
        len(first["told"]) - 1 if width > 600 else 0,
        len(first["told"]) if width > 600 else 0,
    ]
    table = " ".join(first["marked"]).replace("\xa0", " ")
    assert all(share in table for share, _ in first["numbers"]), "both round alike"
    assert len(first["ends"]) == len(first["told"]), "each line is named at its end"
    for named in (first["ends"], first["numbers"]):
        places = sorted(place for _, place in named)
        assert all(two - one > 12 for one, two in itertools.pairwise(places))


def test_a_pointer_reads_a_number_and_chooses_a_level(by_hand: Path) -> None:
    steps = [["hover", 0, 0], ["leave"], ["click", 0, 0]]
    first, over, left, chosen = ask(by_hand, *VIEWS[0], *steps)["seen"]
    assert over["tip"] == "ridge-w64-strong, isotropic noise, no privacy (μ = ∞): 70.0%"
    assert over["dim"] == len(over["told"]) - 1, "all other lines are pale"
    assert (left["tip"], left["dim"], left["lead"]) == ("", 0, first["lead"])
    assert "Without privacy " in chosen["lead"]


def test_the_address_keeps_the_level(by_hand: Path) -> None:
    first, chosen = ask(by_hand, *VIEWS[0], ["press", "ArrowLeft"])["seen"]
    linked = Path(f"{by_hand}{chosen['hash']}")
    opened, wrong = ask(linked, *VIEWS[0], ["open", "#answer?mu=7"])["seen"]
    for part in ("lead", "slider", "told", "hash"):
        assert opened[part] == chosen[part]
    assert wrong["slider"] == chosen["slider"]
    assert first["slider"] != chosen["slider"]


def test_without_a_screen_or_a_script_the_figure_of_the_run_is_there(by_hand: Path) -> None:
    seen = ask(by_hand, *VIEWS[0])
    assert seen["screen"] == [True, False, True]
    assert seen["print"] == [False, True, True]
    assert seen["bare"] == [False, True, True]
    assert seen["folded"] == 0, "on paper all is unfolded but the config and the longest tables"
