"""Attacks by a holder's own table, date, name or machine that have to fail.

They go through the command; its noise is secure, and no test depends on it.
"""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest

from dpol_weekly.deployment import read_deployment
from dpol_weekly.holder import drawn
from releases import LEDGER, NOISY, ask, files, own_file, run

FIRST = "2024-01-07"
KEYS = {
    "name": "winter",
    "periods": {"first": FIRST},
    "entities": {"north": {"capacity": 20}, "south": {"capacity": 20}},
    "mu": 0.5,
    "budget_mu": 10,
}
KNOWN = "0 rows released; 1 row skipped"
DATES = [FIRST + more for more in ("T00:00:00Z", "T00:00:00+02:00", " 00:00", " 23:00", "\xa0")]
DATES += ["20240107", "2024-W01-7", "07.01.2024", "2024-01-08", "2024-01-06", "2024-1-7"]
DATES += ["1704585600", "2023-02-29", "07/01/2024"]
NAMES = ["North", "NORTH", " north", "nor th", "n\u043erth", "ｎｏｒｔｈ", "no\xadrth", "north\t"]
NAMES += ["north.", "north_", "'north'"]
SECRET = "17.53197"


def privatize(*rows, to=NOISY, **keys):
    """Release rows (entity, date, count) as a deployment says."""
    Path("agreed.yaml").write_text(json.dumps({**KEYS, "affirmed": True, **keys}))
    lines = ["entity,period,count", *map(",".join, rows)]
    Path("raw.csv").write_text("\n".join(lines) + "\n")
    own = {"entities": [*KEYS["entities"]], "columns": {"entity": "entity"}, "output": to}
    own_file(deployment="agreed.yaml", table="raw.csv", **own)
    begin = () if LEDGER.exists() else ("--begin-after", "2023-12-31")
    agree = read_deployment("agreed.yaml").sha256()
    return run("privatize", "hospital.yaml", "--agree", agree, *begin)


ROWS = [("north", date, "3") for date in DATES] + [(name, FIRST, "3") for name in NAMES]


@pytest.mark.parametrize("row", ROWS)
def test_another_date_or_spelling_of_a_released_week_is_refused_or_known(row):
    """Blanks at the ends of a name do not matter."""
    assert privatize(("north", FIRST, "3"))[0] == 0
    before = {name: it for name, it in files().items() if name != "raw.csv"}
    code, out, err = privatize(row)
    assert code == 1 or KNOWN in out, err
    assert files() | before == files()


def test_a_sampler_that_fails_releases_and_shows_nothing(monkeypatch):
    def fails(key, scale):
        raise RuntimeError("no noise")

    with monkeypatch.context() as broken:
        broken.setattr(drawn, "discrete_gaussian", fails)
        with pytest.raises(RuntimeError, match="no noise") as failure:
            privatize(("north", FIRST, SECRET))
    assert SECRET not in "".join(traceback.format_exception(failure.value))
    assert not NOISY.exists()
    assert ask("SELECT COUNT(*) FROM release") == [(0,)]
    assert privatize(("north", FIRST, SECRET))[0] == 0
