"""Capacities from a second table are joined, and counts per 1,000 people are gains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data.drawn import Drawn, clean, counts, dataset, line, rows, sources, streams, table
from dpol.core.errors import DataError
from dpol.data.cleaning import clean_panel
from dpol.data.panel import CleanPanel
from dpol.data.stream import build_stream
from dpol.data.tables.raw_table import read_capacities

DRAWN: Drawn = dict.fromkeys(("ab", "cd"), ("1 2 3 4 5", "9 9 9 9 9"))


def joined(folder: Path, second: str, of: Drawn = DRAWN, **keys: Any) -> CleanPanel:
    """Return the panel of counts with capacities from a second table."""
    (folder / "beds.csv").write_text(second)
    named = {"file": str(folder / "beds.csv"), "entity": "id", "capacity": "n"}
    period = {"period": "from"} if "from" in second.partition("\n")[0] else {}
    per = {"capacity_per": keys.pop("capacity_per")} if "capacity_per" in keys else {}
    rules = dataset({"capacity": {**named, **period}, **per}, max_carry=1, **keys)
    capacities = read_capacities(rules.needed_columns)
    raw = table([{key: line[key] for key in line if key != "beds"} for line in rows(of)])
    return clean_panel(raw, rules, streams(S=["A"]), capacities)


def test_a_capacity_without_a_day_always_holds(tmp_path: Path) -> None:
    panel = joined(tmp_path, "id,n\ncd,7\nab,8\nab,8\nzz,1\n")
    assert line(panel, "ab", "capacity") == [8] * 5
    assert line(panel, "cd", "capacity") == [7] * 5


def test_a_capacity_holds_from_its_day_until_the_next(tmp_path: Path) -> None:
    second = "from,id,n\n2021-01-17,ab,8\n2021-01-01,ab,6\n2021-01-12,cd,7\n2021-01-30,cd,NA\n"
    panel = joined(tmp_path, second)
    assert line(panel, "ab", "capacity") == [6, 6, 8, 8, 8]
    assert line(panel, "cd", "capacity") == [7] * 5
    assert sources(panel, "cd", "capacity_source") == "bbrrc"
    of = counts(panel)
    assert (of["backfilled_capacities"], of["carried_capacities"]) == (2, 1)


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("id,n\nab,1\nc,2\n", "beds.csv: column id lacks 1 entity of the counts:\n  'cd'"),
        ("id,n\nab,1\nCD,2\n", "  'cd'; did you mean CD?\nAdd their capacities, map spellings"),
        ("id,n\nab,1\ncd,2\n\nab,3\n", "beds.csv, rows 2 and 5: ab has different capacities. Keep"),
        ("from,id,n\n2021-01-02,ab,1\n2021-01-01,ab,1\n2021-01-02,ab,2\n2021-01-01,cd,1\n",
         "beds.csv, rows 2 and 4: ab has different capacities"),
        ("id,n\nab,1\ncd,x\n", "column n, which needs 0 or a number from 0.000001"),
        ("id,n\nab,1\n,2\n", "column id, which needs the name of an entity"),
        ("from,id,n\n1.1.,ab,1\n", "or name another column under dataset.columns.capacity.period"),
        ("id,m\nab,1\n", "beds.csv: no column named n; it has id, m."),
    ],
    ids=repr,
)  # fmt: skip
def test_a_second_table_is_refused_with_file_row_and_remedy(
    tmp_path: Path, second: str, said: str
) -> None:
    with pytest.raises(DataError, match=re.escape(said)):
        joined(tmp_path, second)


def test_only_entities_that_may_play_need_a_capacity(tmp_path: Path) -> None:
    three = {**DRAWN, "other": DRAWN["ab"]}
    panel = joined(tmp_path, "id,n\nab,8\ncd,7\n", three, entities=["ab", "cd"])
    assert {*panel.table["entity"]} == {"ab", "cd"}
    assert [drop["entity"] for drop in panel.reports[0].dropped] == ["other"]


def test_spellings_that_the_config_settles_are_joined(tmp_path: Path) -> None:
    panel = joined(tmp_path, "id,n\nAB,8\ncd,7\n", identifiers={"AB": "ab"})
    assert line(panel, "ab", "capacity") == [8] * 5


def test_a_gain_per_1000_is_a_count_over_thousands_and_moves_by_as_much() -> None:
    """One person changes two counts by at most 1, and a gain by capacity_per / capacity."""
    drawn: Drawn = {"a": ("1 0 3", "2000 2000 2000"), "b": ("4 9 2", "5000 5000 5000")}
    stream = build_stream(clean(drawn, dataset({"capacity_per": 1000})).table, "S", 1.0, {})
    np.testing.assert_allclose(stream.gains, [[0.5, 0.8], [0, 1], [1, 0.4]])
    np.testing.assert_allclose(stream.sensitivity, np.sqrt(2) / 2)
