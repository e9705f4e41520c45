"""The league's page has the recorded rows of today, and rows that others sent beside them."""

from __future__ import annotations

import json
import re

import league
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from recorded_numbers import standings

from code_blocks import ROOT

MINE = {
    **{"sender": "Ann *<script>*", "date": "2026-11-27", "looked_at": "a|b", "tried": 3},
    **{"label": "mine", "family": "It", "entry": '"mine:It"', "run": "league-states"},
    **{"stream": "NM-share", "asked": "{}", "noise": "capacity", "mu": 0.25},
}
GUARANTEE = {
    **{"mechanism": "a", "adjacency": "b", "unit": "c", "sensitivity": 1.0, "model": "local"},
    **{"sensitivity_unit": "d", "mu": 0.25},
}


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """A file of rows, and standings that have them."""
    monkeypatch.setattr(league, "FOLDER", tmp_path)
    return write(tmp_path / "ann.parquet"), ranked("replayed 20 of 20")


def write(file, **code):
    made = {"code": json.dumps({"package": "mine", "version": "1 (a1)"} | code)}
    rows = [MINE | made | {"guarantee": json.dumps(GUARANTEE), "choices": [0]}]
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file


def ranked(status):
    rows = standings("states").query("mu == 0.25 and algorithm == 'persistence'")
    name = f"mine ({MINE['sender']}, {status})"
    made = rows.assign(algorithm=name, sender=MINE["sender"], sent=status, gain_share=0.2)
    return pd.concat([rows.assign(sender="", sent=""), made]).assign(run="league-states")


def test_the_page_is_that_of_today() -> None:
    assert league.PAGE.read_text(encoding="utf-8") == league.page(), "run make format"


def test_the_best_local_rule_of_a_level_is_in_the_first_table() -> None:
    """It is also the first line of the level, and that of the largest recorded share."""
    rows = standings("states").query("promise == 'the level' and mu == 0.25")
    best = rows.loc[rows["gain_share"].idxmax()]
    said = f"`{best['algorithm']}`, {best['noise']} † {100 * best['gain_share']:.1f} ± "
    heads, _, states, *_ = re.findall(r"(?m)^\|.*", league.page())
    assert states.split(" | ")[heads.split(" | ").index("μ = 0.25")].startswith(said)
    own = league.page().split("## Fifteen states")[1]
    assert own[own.index("| 0.25 |") :].startswith(f"| 0.25 | `{best['algorithm']}`, ")


def test_a_row_that_somebody_sent_stands_where_it_ranks(sent) -> None:
    file, frame = sent
    league.add(file, [frame])
    lines = league.page().split("## Fifteen states")[1].splitlines()
    (place,) = {it for it, line in enumerate(lines) if "`mine`, capacity †" in line}
    words = "replayed 20 of 20 | Ann \\*\\<script\\>\\* | mine 1 (a1), 2026-11-27 | a\\|b (3) |"
    assert lines[place].startswith("|  | `mine`, capacity † | 20.0 ± ")
    assert lines[place].endswith(words)
    assert "`mine`, isotropic" in lines[place - 1]
    assert "`rw-meta`, isotropic" in lines[place + 1]


def test_rows_that_were_not_all_played_again_are_not_added(sent) -> None:
    file, frame = sent
    for rows in (ranked("as sent"), ranked("replayed 3 of 20"), frame[frame["sender"] == ""]):
        with pytest.raises(ValueError, match="is not the code of its rows"):
            league.add(file, [rows])


def test_a_file_names_a_package_and_runs_and_no_words_for_pip_or_dpol(tmp_path) -> None:
    file = tmp_path / "ann.parquet"
    assert league.needs(write(file)) == ("mine==1", "states", '"mine:It"')
    for code in ({"package": "--index-url=x"}, {"package": "a b"}, {"version": "1;x"}):
        with pytest.raises(ValueError, match="is no name"):
            league.needs(write(file, **code))


def test_the_job_that_plays_rows_again_can_only_read() -> None:
    """It runs code of strangers: no secret, no token that can write, no credentials kept."""
    text = (ROOT / ".github/workflows/league.yml").read_text(encoding="utf-8")
    job = yaml.safe_load(text)
    assert job["permissions"] == {"contents": "read"}
    assert [*job[True]] == ["pull_request"]
    assert job["jobs"]["replay"]["steps"][0]["with"]["persist-credentials"] is False
    assert "secrets." not in text
    assert "github.token" not in text
