"""Attacks by a holder's own table or machine that have to fail."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from dpol_weekly.holder import release as release_module
from releases import NOISY, deployment, files, own_of, put, run

FIRST = "2024-01-07"
MADE = deployment(
    periods={"first": FIRST}, entities={"north": {"capacity": 20}, "south": {"capacity": 20}}
)
DATES = [FIRST + more for more in ("T00:00:00Z", "T00:00:00+02:00", " 00:00", " 23:00", "\xa0")]
DATES += ["20240107", "2024-W01-7", "07.01.2024", "2024-01-08", "2024-01-06", "2024-1-7"]
DATES += ["1704585600", "2023-02-29", "07/01/2024"]
NAMES = ["North", "NORTH", " north", "nor th", "n\u043erth", "no\xadrth", "north\t"]
NAMES += ["north.", "north_", "'north'"]
SECRET = "17.53197"
ROWS = [("north", date, "3") for date in DATES] + [(name, FIRST, "3") for name in NAMES]


@pytest.mark.parametrize("row", ROWS)
def test_another_date_or_spelling_of_a_released_week_is_refused_or_known(row):
    """Blanks at the ends of a name do not matter."""
    put(("north", FIRST, "3"), made=MADE)
    before = files()
    own_of(MADE)
    Path("counts.csv").write_text("hospital,week,covid,beds\n" + ",".join(row) + ",20\n")
    code, out, err = run("privatize")
    assert code == 1 or "0 rows released" in out, err
    assert files() == before


def test_a_sampler_that_fails_releases_and_shows_nothing(monkeypatch):
    def fails(*given, **options):
        raise RuntimeError("no noise")

    with monkeypatch.context() as broken:
        broken.setattr(release_module, "keyed_noise", fails)
        with pytest.raises(RuntimeError, match="no noise") as failure:
            put(("north", FIRST, SECRET), made=MADE)
    assert SECRET not in "".join(traceback.format_exception(failure.value))
    assert not NOISY.exists()
    assert len(put(("north", FIRST, SECRET), made=MADE).added) == 1
