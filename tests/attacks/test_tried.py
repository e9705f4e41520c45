"""Attacks by a holder's own table, date, name or machine that have to fail.

They go through the command of a deployment; its noise is secure, and no test depends on it.
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from dpol.privacy import noise
from neighbours import agreed_on
from releases import A1, NOISY, RECORD, Halted, ask, files, put, run

FIRST = "2024-01-07"
KEYS = {
    "name": "winter",
    "periods": {"first": FIRST},
    "entities": {"north": {"capacity": 20}, "south": {"capacity": 20}},
    "mu": 0.5,
    "budget_mu": 10,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def privatize(*rows, **keys):
    """Release rows (entity, date, count) as a deployment says."""
    _, options = agreed_on(Path("agreed.yaml"), {**KEYS, **keys})
    lines = ["entity,period,count", *map(",".join, rows)]
    Path("counts.csv").write_text("\n".join(lines) + "\n")
    return run("privatize", "counts.csv", *options)


def released():
    with NOISY.open(newline="") as stream:
        return [(row["entity"], row["period"]) for row in csv.DictReader(stream)]


@pytest.mark.parametrize(
    "date",
    [
        *(FIRST + "T00:00:00Z", FIRST + "T00:00:00+02:00", FIRST + " 00:00", "20240107"),
        *("2024-W01-7", "07.01.2024", "2024-01-08", "2024-01-06", "2024-1-7", FIRST + " 23:00"),
        *("1704585600", "2023-02-29", "07/01/2024", FIRST + "\N{NO-BREAK SPACE}"),
    ],
)
def test_another_date_for_a_released_week_is_refused_or_known(date):
    assert privatize(("north", FIRST, "3"))[0] == 0
    before = files()
    code, out, err = privatize(("north", date, "3"))
    assert code == 2 or "0 rows released; 1 row skipped" in out, err
    assert files() == before


@pytest.mark.parametrize(
    "name",
    [
        "North",
        "NORTH",
        " north",
        "nor th",
        "n\u043erth",
        "ｎｏｒｔｈ",
        "no\xadrth",
        "north\t",
        "north.",
        "north_",
        "'north'",
    ],
)
def test_another_spelling_of_an_entity_is_not_released(name):
    """A deployment refuses it; blanks at its ends do not matter."""
    assert privatize(("north", FIRST, "3"))[0] == 0
    before = files()
    code, out, err = privatize((name, FIRST, "3"))
    assert code == 2 or "0 rows released; 1 row skipped" in out, err
    assert files() == before


def test_another_grid_of_a_deployment_is_refused():
    assert privatize(("north", FIRST, "3"))[0] == 0
    before = released()
    for periods in ({"first": "2024-01-08"}, {"first": FIRST, "days": 1}):
        code, _, err = privatize(("north", "2024-01-15", "3"), periods=periods)
        assert (code, released()) == (2, before)
        assert "with periods of 7 days from 2024-01-07" in err


def test_a_copy_of_an_output_does_not_release_its_weeks_again():
    put(A1)
    shutil.copy(NOISY, "copy.csv")
    shutil.copy(RECORD, "copy.csv.guarantee.json")
    for name in ("copy.csv", NOISY):
        assert put(A1, to=name, sampler=Halted()).skipped == 1


SECRET = "17.53197"


def test_a_sampler_that_fails_releases_and_shows_nothing(monkeypatch):
    def fails(zeros):
        if zeros:
            raise RuntimeError("no entropy")
        return []

    with monkeypatch.context() as broken:
        broken.setattr(noise, "gaussian_measurement", lambda _: fails)
        with pytest.raises(RuntimeError, match="no entropy") as failure:
            privatize(("north", FIRST, SECRET))
    assert SECRET not in "".join(traceback.format_exception(failure.value))
    assert not NOISY.exists()
    assert ask("SELECT COUNT(*) FROM release") == [(0,)]
    assert privatize(("north", FIRST, SECRET))[0] == 0


DRAW = (
    "from dpol.privacy.noise import SecureNoise; print(SecureNoise().discrete_gaussian(2**40, 3))"
)


def test_no_environment_repeats_secure_noise():
    seeds = dict.fromkeys(("PYTHONHASHSEED", "DPOL_SEED", "OPENDP_SEED", "SOURCE_DATE_EPOCH"), "0")
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    drawn = [
        subprocess.run(
            [sys.executable, *flags, "-c", DRAW],
            env={**bare, **seeds, **more},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for flags, more in (
            ([], {}),
            ([], {}),
            (["-OO"], {"LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Tokyo"}),
        )
    ]
    numbers = [number for text in drawn for number in json.loads(text)]
    assert len(set(numbers)) == 9
