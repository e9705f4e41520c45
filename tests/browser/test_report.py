"""The report in headless Chromium: every report in results/, and a hand-made one, whose answer is
asked by slider, keys and pointer.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from report.run_by_hand import STUDIES, page, write_run

HERE = Path(__file__).parent
REPORTS = sorted((HERE.parents[1] / "results").glob("*/report/index.html"))
VIEWS = [(1300, "light"), (1300, "dark"), (400, "light"), (400, "dark")]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (tests/browser/install.sh)"),
    pytest.mark.skipif(
        not (HERE / "node_modules").is_dir(), reason="needs npm packages (tests/browser/install.sh)"
    ),
]


@pytest.fixture(scope="session")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results") / "hand"
    write_run(folder)
    path = folder / "index.html"
    path.write_text(page(folder, *STUDIES))
    return path


@pytest.fixture(params=["by hand", *REPORTS], ids=lambda name: str(name).split("/report/")[0][-20:])
def report(request: pytest.FixtureRequest, by_hand: Path) -> Path:
    return by_hand if request.param == "by hand" else Path(request.param)


def seen_by(script: str, page: Path | str, *words: object, timeout: int = 300) -> Any:
    """Open a page with a script of this folder, and return what it sees."""
    command = ["node", script, str(CHROMIUM), str(page), *map(str, words)]
    done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def look(path: Path, width: int, scheme: str) -> Any:
    return seen_by("check.js", path, width, scheme)


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_page_opens_whole_without_errors_and_is_accessible(
    report: Path, width: int, scheme: str
) -> None:
    seen = look(report, width, scheme)
    assert report.stat().st_size < 3e6
    assert (seen["console"], seen["lost"]) == ([], 0)
    assert set(seen["requests"]) <= {"file", "data"}
    assert seen["requests"].count("file") == 2  # opened twice
    assert seen["anchors"] == 0
    assert (seen["width"], seen["widthOpen"]) == (width, width)
    assert (seen["background"] == "rgb(255, 255, 255)") == (scheme == "light")
    assert seen["violations"] == []
    assert seen["covered"] == [], "headers stay above the names of rows"
    # The check ran: an empty check would also find no violation.
    assert {"color-contrast", "heading-order"} <= set(seen["passes"])


def test_on_a_phone_figures_are_whole_and_keys_reach_them(report: Path) -> None:
    """Touched, a figure has its natural size, and scrolls."""
    for box, inner, image, _, place, more in look(report, 400, "light")["figures"]:
        assert image <= inner <= box + 2
        assert (place, more) == (0, False)


@pytest.mark.parametrize("width", [1300, 1920])
def test_on_a_screen_no_figure_scrolls(report: Path, width: int) -> None:
    for box, inner, *_ in look(report, width, "light")["figures"]:
        assert inner <= box


def test_the_first_figure_is_on_the_first_screen(report: Path) -> None:
    seen = look(report, *VIEWS[0])
    assert seen["first"] < 450
    if "central-texas" in report.parts:
        assert seen["end"] < 900 > look(report, 400, "light")["end"]
        assert seen["screens"] <= 10
        assert seen["words"] <= 1900


@pytest.mark.parametrize("width", [1300, 400])
def test_the_ledger_is_filtered_by_verdict_and_words(by_hand: Path, width: int) -> None:
    before, verdict, ordered, none, after = look(by_hand, width, "light")["filter"]
    (chosen,) = verdict["pressed"]
    assert chosen != "all"
    assert set(verdict["marks"]) == {chosen} != set(before["marks"])
    assert verdict["count"] == f"{len(verdict['marks'])} of {len(before['marks'])} statements"
    assert verdict["labels"] == 1, "each row has all labels"
    assert (ordered["marks"], ordered["count"]) == (verdict["marks"], verdict["count"])
    assert (none["marks"], none["count"]) == ([], f"0 of {len(before['marks'])} statements")
    assert after == before


def test_tables_are_sorted_by_clicks(by_hand: Path) -> None:
    up, down, back = look(by_hand, *VIEWS[0])["sorted"]
    assert [up[1:], down[1:]] == [["ascending", 1], ["descending", 1]], "each row has all labels"
    assert set(up[0]) == {"New Mexico"}
    assert back[1] is None
    assert back[2] > 1


# ---- the answer ----------------------------------------------------------------------------------


def ask(path: Path, width: int, scheme: str, *steps: list[Any]) -> Any:
    """Take the steps with ask.js, and return what it sees; nothing on the page may fail."""
    result = seen_by("ask.js", path, width, scheme, json.dumps(steps))
    assert result["errors"] == []
    return result


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_slider_rewrites_the_lead_and_the_numbers(
    by_hand: Path, width: int, scheme: str
) -> None:
    """By hand: 39 and 42 of 60 points, at μ = 1 and without privacy."""
    steps = [["press", "ArrowLeft"], ["press", "ArrowRight"]]
    first, free, again = ask(by_hand, width, scheme, *steps)["seen"]
    assert first | {"hash": again["hash"]} == again
    assert "at most 86.9% of the time where a missing count repeats an older one" in first["lead"]
    assert "ridge-w64-strong with isotropic noise keeps 65 of 100 points" in first["lead"]
    assert "Without noise an attacker " in free["lead"]
    assert "μ = 1" in first["slider"] != free["slider"]
    assert (first["hash"], free["hash"]) == ("", "#answer?mu=inf")
    best = "the best without a curator: ridge-w64-strong with isotropic noise 65.0%"
    assert first["told"][:2] == ["RW-Meta 0.6%", best]
    numbers = len(first["told"]) if width > 600 else 0
    assert [len(seen["numbers"]) for seen in (first, free)] == [numbers] * 2
    assert len(first["ends"]) == len(first["told"]), "each line is named at its end"
    for named in (first["ends"], first["numbers"]):
        places = sorted(place for _, place in named)
        assert all(two - one > 12 for one, two in itertools.pairwise(places))


def test_a_pointer_reads_a_number_and_chooses_a_level(by_hand: Path) -> None:
    steps = [["hover", 1, 0], ["leave"], ["click", 1, 0]]
    first, over, left, chosen = ask(by_hand, *VIEWS[0], *steps)["seen"]
    best = "the best without a curator: ridge-w8-weak"
    assert over["tip"] == f"{best}, no privacy (μ = ∞): 71.7%"
    assert over["dim"] == len(over["told"]) - 1, "all other lines are pale"
    assert (left["tip"], left["dim"], left["lead"]) == ("", 0, first["lead"])
    assert "Without noise an attacker " in chosen["lead"]


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
    assert seen["screen"] == [True, False]
    assert seen["print"] == [False, True]
    assert seen["bare"] == [False, True, True]
    assert seen["folded"] == 0, "on paper all is unfolded but the config and the longest tables"
