"""The tables of recorded numbers in README.md and docs/ agree with verify/runs."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import recorded_numbers

from dpol.show.reported import FILLINGS

MARKED = [path for path in recorded_numbers.PAGES if "<!-- numbers: " in path.read_text()]


@pytest.mark.parametrize("path", MARKED, ids=lambda path: path.name)
def test_a_page_shows_the_recorded_numbers(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert recorded_numbers.renewed(page) == page, "run make format"


def test_a_changed_number_is_put_right() -> None:
    page = (recorded_numbers.ROOT / "README.md").read_text(encoding="utf-8")
    wrong = page.replace("20.9 ± 0.5", "21.9 ± 0.5")
    assert wrong != page
    assert recorded_numbers.renewed(wrong) == page


def test_the_default_reading_of_suppressed_cells_is_the_recorded_run() -> None:
    """Both play the same games, but with intervals of their own."""
    fillings = pd.read_csv(FILLINGS).query("suppressed_counts == 2").set_index("algorithm")
    run = recorded_numbers.recorded("central-texas", "summary")
    run = run.query("noise == 'isotropic' and mu == inf").set_index("algorithm")["mean_gain"]
    for algorithm, gain in fillings["mean_gain"].items():
        assert gain == pytest.approx(run[algorithm], rel=1e-5)
