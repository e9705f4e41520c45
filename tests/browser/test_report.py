"""The report in headless Chromium: every report in results/, and a hand-made one."""

from __future__ import annotations

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
    path.write_text(page(folder, *(set(STUDIES) - {"comparison"})))
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
    shares, gains = look(by_hand, *VIEWS[0])["sorted"]
    up, down, back = shares
    assert up == [sorted(back[0]), "ascending", 1]
    assert down == [up[0][::-1], "descending", 1]
    assert back[1:] == [None, 1]
    up, _, back = gains
    assert up[2] == 1, "each row has all labels"
    assert set(up[0]) == {"New Mexico"}
    assert back[2] > 1
