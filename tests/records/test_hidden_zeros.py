"""Zeros that may hide counts: what verify/hidden.py counts."""

from __future__ import annotations

import hidden
import numpy as np
import pandas as pd

WEEKS = pd.date_range("2021-01-01", periods=52, freq="7D")


def test_the_tables_are_counted_as_recorded() -> None:
    rows = pd.DataFrame(hidden.measured())[hidden.COLUMNS]
    pd.testing.assert_frame_equal(
        rows.fillna({"group": ""}),
        pd.read_csv(hidden.OUT, dtype={"group": str}).fillna({"group": ""}),
        check_dtype=False,
        rtol=1e-5,
    )
    known = rows.set_index(["table", "by"]).loc[("Central Texas", "all")]
    assert known[["weeks", "hidden", "sums", "largest_sum"]].tolist() == [823, 251, 178, 27]


def test_a_sunday_is_told_by_the_two_fridays_that_overlap_it() -> None:
    """The week from 2021-01-10 overlaps those from 2021-01-08 and 2021-01-15."""
    fridays = pd.DataFrame({"hospital_pk": "a", "week": WEEKS, "count": np.arange(52.0)})
    fridays[hidden.BEDS] = 20.0
    sundays = pd.DataFrame({"hospital_pk": ["a"], "week": [pd.Timestamp("2021-01-10")]})
    told = hidden.overlapping(sundays.assign(count=7.0), fridays).iloc[0]
    assert (told["count"], told["before"], told["after"]) == (7.0, 1.0, 2.0)
    assert told["beds"] == 20.0
