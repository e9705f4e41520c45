"""The league has the recorded rows of today, and rows that others sent beside them."""

from __future__ import annotations

import json

import league
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from recorded_numbers import standings

from dpol.privacy.losses import Loss
from dpol.report.rows import COLUMNS

MINE = {
    **{"sender": "Ann *<script>*", "date": "2026-11-27", "looked_at": "a|b", "tried": 3},
    **{"label": "mine", "family": "It", "entry": '"mine:It"', "run": "league-states"},
    **{"stream": "NM-share", "asked": "{}", "noise": "capacity", "mu": 0.25},
}
GUARANTEE = {
    **{"mechanism": "a", "adjacency": "b", "unit": "c", "sensitivity": 1.0, "model": "local"},
    **{"sensitivity_unit": "d", "loss": Loss(gaussian=0.25).as_data()},
}


@pytest.fixture
def sent(tmp_path, monkeypatch):
    """A file of rows, and standings that have them."""
    monkeypatch.setattr(league, "FOLDER", tmp_path)
    file = tmp_path / "ann.parquet"
    made = {"code": json.dumps({"package": "mine", "version": "1 (a1)"})}
    row = MINE | made | {"guarantee": json.dumps(GUARANTEE), "choices": [0]}
    pq.write_table(pa.Table.from_pylist([row], pa.schema(COLUMNS)), file)
    rows = standings("states").query("mu == 0.25 and algorithm == 'persistence'")
    own = {"algorithm": f"mine ({MINE['sender']}, as sent)", "sender": MINE["sender"]}
    frames = [rows.assign(sender=""), rows.assign(**own, gain_share=0.2)]
    return file, pd.concat(frames).assign(run="league-states")


def test_the_best_local_rule_of_a_level_is_in_the_first_table() -> None:
    """It is also the first line of the level, and that of the largest recorded share."""
    rows = standings("states").query("guarantee == 'the level' and mu == 0.25")
    best = rows.loc[rows["gain_share"].idxmax()]
    said = f"`{best['algorithm']}`, {best['noise']} † {100 * best['gain_share']:.1f} ± "
    heads, _, states, *_ = league.largest().splitlines()
    assert states.split(" | ")[heads.split(" | ").index("μ = 0.25")].startswith(said)
    own = league.tables().split("## Fifteen states")[1]
    assert own[own.index("| 0.25 |") :].startswith(f"| 0.25 | `{best['algorithm']}`, ")


def test_a_row_that_somebody_sent_stands_where_it_ranks(sent) -> None:
    file, frame = sent
    league.add(file, [frame])
    lines = league.tables().split("## Fifteen states")[1].splitlines()
    (place,) = {it for it, line in enumerate(lines) if "`mine`, capacity †" in line}
    words = "as sent | Ann \\*\\<script\\>\\* | mine 1 (a1), 2026-11-27 | a\\|b (3) |"
    assert lines[place].startswith("|  | `mine`, capacity † | 20.0 ± ")
    assert lines[place].endswith(words)
    assert "`mine`, isotropic" in lines[place - 1]
    assert "`rw-meta`, isotropic" in lines[place + 1]


def test_rows_that_a_league_refused_are_not_added(sent) -> None:
    file, frame = sent
    with pytest.raises(ValueError, match="the standings lack its rows; dpol league says why"):
        league.add(file, [frame[frame["sender"] == ""]])
