"""No broken table ends in a traceback; `BROKEN_TABLES=1500` tries so many, 60 by default.

A table whose damage leaves a number in each cell, such as another digit, is read.
"""

from __future__ import annotations

import os

import pytest

from data.broken_tables import broken
from in_process import command
from streams_by_hand import streams_of_config

COUNT = int(os.environ.get("BROKEN_TABLES", "60"))
COLUMNS = ("--entity", "place", "--period", "week", "--count", "patients", "--capacity", "beds")


@pytest.mark.parametrize("number", range(0, 1500, 1500 // COUNT))
@pytest.mark.filterwarnings("ignore")  # what cleaning changed is logged
def test_a_broken_table_is_refused_without_a_traceback(number, empty_folder):
    suffix, held = broken(number)
    table = empty_folder / f"broken{suffix}"
    table.write_bytes(held)
    code, out, err = command("new", "dataset", table.name, *COLUMNS)
    assert "Traceback" not in out + err
    if code:
        assert table.name in err
        assert list(empty_folder.iterdir()) == [table]
    else:
        (stream,) = streams_of_config(*empty_folder.glob("*.yaml"))
        assert (stream.capacity > 0).all()
        assert 0 <= stream.gains.min() <= stream.gains.max() <= 1
