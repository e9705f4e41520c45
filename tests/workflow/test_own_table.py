"""A run on a table of one's own: to its page, nothing leaves the folder, and read_table agrees."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import dpol
from dpol.data.stream import PUBLIC
from dpol.report.door import disagreements
from pipeline import ROOT, run, snakemake, succeed, write_config
from report.crates import checked_crate
from report.test_monday import Own, by_the_game
from streams_by_hand import assert_same

COUNTS = {"A": "27 27 27 3 3 3 3 3", "B": "<5 <5 <5 <5 <5 <5 <5 <5", "C": "1 1 1 1 1 1 1 1"}
BEDS = {"A": 30, "B": 10, "C": 30}


@pytest.mark.workflow
def test_hidden_counts_are_read_in_two_ways_and_raw_counts_stay_here(tmp_path: Path) -> None:
    """The hidden B is the best of five weeks if it is read as 2 or 4.

    Last week's choice finds it at once, the leader of all weeks only later.
    """
    days = pd.date_range("2021-01-03", periods=8, freq="7D").strftime("%Y-%m-%d")
    rows = [
        (town, day, count, BEDS[town])
        for town, line in COUNTS.items()
        for day, count in zip(days, line.split(), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["town", "week", "sick", "beds"])
    table.to_csv(tmp_path / "towns.csv", index=False)
    config = {
        "run": "towns",
        "seed": 1,
        "dataset": {
            "source": {"kind": "local", "file": "towns.csv"},
            "columns": {"entity": "town", "period": "week", "count": "sick", "capacity": "beds"},
            "cleaning": {
                "entities": "all",
                "suppressed_markers": ["<5"],
                "suppressed_value": 4,
            },
            "readings": {"other": {"suppressed_value": 2}},
        },
        "streams": {"all": {"groups": ["all"]}},
        "privacy": {"levels": [float("inf")]},
        "suites": {
            "local": {"noises": ["capacity"], "algorithms": ["persistence", "rw-ftpl"]},
        },
        "replicates": 20,
        "comparison": {"ours": {"algorithm": "persistence", "noise": "capacity"}},
        "report": {"algorithms": ["rw-ftpl"]},
    }
    write_config(tmp_path, config)
    warning = "This folder holds your raw counts. Share nothing of it."
    assert f"results/towns: {warning}" in succeed(snakemake(tmp_path))

    results = tmp_path / "results/towns"
    standings = pd.read_parquet(results / "standings.parquet").set_index("algorithm")
    pairs = ("persistence", "to_strongest_verdict"), ("rw-ftpl", "to_ours_verdict")
    assert [standings.loc[pair] for pair in pairs] == ["above", "below"]
    assert pd.read_parquet(results / "readings.parquet")["verdict"].tolist() == ["above"]
    assert disagreements(results) == [], "the streams of readings are its own"
    report = json.loads((results / "data/cleaning.json").read_text())
    assert report["streams"][0]["unmeasured"]["periods"] == 5
    assert any("nobody measured the best number" in text for text in report["warnings"])
    summary = pd.read_parquet(results / "summary.parquet")
    assert set(summary["unmeasured_periods"]) == {5}

    assert warning in (results / "report/index.html").read_text()
    described = {node["@id"]: node for node in checked_crate(results)}["./"]["description"]
    assert described.endswith(warning)
    assert not (results / "replay.parquet").exists()


@pytest.mark.workflow
def test_the_stream_of_a_config_is_that_of_a_run(tmp_path: Path) -> None:
    file, path = ROOT / "config/config.yaml", "results/central-texas/streams/CTX.parquet"
    succeed(snakemake(tmp_path, path, config=file))
    made, own = dpol.read_stream(tmp_path / path), dpol.read_table(file, label="CTX")
    # No file of a run says whether everyone may see its table; its config does.
    assert_same(own, replace(made, provenance=made.provenance | {PUBLIC: True}))
    assert own.stay == made.stay


def _table(weeks: int) -> pd.DataFrame:
    rng, days = np.random.default_rng(5), pd.date_range("2024-01-01", periods=weeks, freq="7D")
    rows = [
        (f"Ward {k}", f"{day:%Y-%m-%d}", int(rng.binomial(40, 0.9 if k == 1 else 0.8)), 40)
        for day in days
        for k in (1, 2, 3)
    ]
    return pd.DataFrame(rows, columns=["ward", "week", "patients", "beds"])


def _dpol(*words: str) -> str:
    return succeed(run(sys.executable, "-m", "dpol", *words))


def _run(noises: list[str], rule: str, mu: float, weeks: int = 1) -> tuple[dict[str, Any], str]:
    """Run own.csv, and return its config with what the run said."""
    asked = ("--entity", "ward", "--period", "week", "--count", "patients", "--capacity", "beds")
    _dpol("new", "dataset", "own.csv", *asked)
    own = yaml.safe_load(Path("own.yaml").read_text()) | {"replicates": 20}
    own["suites"] = {"local": {"noises": noises, "algorithms": [rule]}}
    own["privacy"] |= {"levels": [float("inf"), mu], "unit": {"weeks": weeks}}
    Path("own.yaml").write_text(yaml.safe_dump(own))
    return own, _dpol("run", "own.yaml", "--cores", "2")


def _level() -> Any:
    decided = yaml.safe_load(Path("results/own/decision.yaml").read_text())
    return decided["levels"][decided["shown"]]


@pytest.mark.workflow
def test_two_mondays_of_an_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder with a table to two choices; a correction stays as released.

    Ward 1 is the fullest in most weeks, so always choosing it beats every rule.
    """
    monkeypatch.chdir(tmp_path)
    table = _table(32)
    table[:-3].to_csv("own.csv", index=False)

    own, said = _run(["capacity"], "window-mean", 2)
    against = re.search(r"Always Ward 1 would have kept \d+: no rule is above", said)
    assert against
    assert against[0] in Path("results/own/report/index.html").read_text()
    assert "Next week: dpol release own.yaml && dpol choose own.yaml" in said

    level = _level()
    assert (level["mu"], level["played"]["noise"]) == (2.0, "capacity")
    mine = Own(rule=level["played"]["algorithm"])
    said = _dpol("release", "own.yaml")
    assert "93 counts of 31 periods released, with capacity noise" in said
    for rests in (31, 32):
        place, day = by_the_game(mine)
        said = _dpol("choose", "own.yaml")
        assert f"{mine.rule} chooses for {day}: {place}\nThis rests on {rests} periods" in said
        assert "changes two counts by 1 in a period has mu = 2.\n" in said
        table.loc[4, "patients"] -= 1
        table.to_csv("own.csv", index=False)
        again = _dpol("release", "own.yaml")
        assert "warning: 1 count changed after the release (Ward 2 2024-01-08)." in again
    both = pd.read_csv("own-released.csv").merge(
        table, left_on=["place", "period"], right_on=["ward", "week"]
    )
    assert len(both) == len(table)
    assert (both["count"] != both["patients"]).all(), "one is equal with probability 3e-5"
    assert Path("own.secret").stat().st_mode & 0o777 == 0o600
    kept = {"results", ".snakemake", "own.csv", "own.yaml", "own-released.csv", "own.secret"}
    assert {it.name for it in tmp_path.iterdir()} == {*kept, ".own-released.csv.lock"}
    Path("own.yaml").write_text(yaml.safe_dump(own | {"replicates": 21}))
    changed = run(sys.executable, "-m", "dpol", "choose", "own.yaml", folder=tmp_path)
    assert "own.yaml has changed since this run; run dpol run own.yaml" in changed.stderr


@pytest.mark.workflow
def test_a_kill_of_the_command_loses_nothing_and_correlated_noise_has_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kill `dpol release` 20 times; half of the kills find no secret yet.

    The run decides for noise that cancels its own, which the commands do not draw. A ward of four
    beds makes the other noise large everywhere.
    """
    monkeypatch.chdir(tmp_path)
    table = _table(32)
    small = table[table["ward"] == "Ward 3"].assign(ward="Ward 4", patients=3, beds=4)
    pd.concat([table, small]).to_csv("own.csv", index=False)
    _run(["isotropic", "capacity-memory"], "rw-ftpl", 2, weeks=8)
    level = _level()
    assert level["decision"]["noise"] == "capacity-memory"
    assert (level["played"]["algorithm"], level["played"]["noise"]) == ("rw-ftpl", "isotropic")
    assert level["played"]["mu_8_weeks"] < level["decision"]["mu_8_weeks"] == pytest.approx(2)
    assert level["played"]["gain_share"] < level["decision"]["gain_share"]

    released, secret = Path("own-released.csv"), Path("own.secret")
    words = [sys.executable, "-m", "dpol", "release", "own.yaml"]
    begin = time.monotonic()
    _dpol("release", "own.yaml")
    whole, hidden = released.read_bytes(), secret.read_bytes()
    waits = np.random.default_rng(7).uniform(0, 1.1 * (time.monotonic() - begin), 20)
    for kill, wait in enumerate(waits.tolist()):
        released.unlink(missing_ok=True)
        if kill < 10:
            secret.unlink(missing_ok=True)
        elif kill == 10:
            secret.write_bytes(hidden)
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            time.sleep(wait)
            process.kill()
        left = released.read_bytes() if released.exists() else None
        _dpol("release", "own.yaml")
        assert left in (None, released.read_bytes()), "never a part of the table"
        if kill >= 10:
            assert (released.read_bytes(), secret.read_bytes()) == (whole, hidden)
        rows = pd.read_csv(released)
        assert len(rows) == 128
        assert not rows.duplicated(["place", "period"]).any()
