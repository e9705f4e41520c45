"""Schemas refuse tables that differ from them, and hold the words of the manual."""

import pandas as pd
import pytest

from dpol.core.errors import DataError
from dpol.core.schemas import ResultColumn, Schema

SCHEMA = Schema(
    "toy",
    "One row per name.",
    {
        "name": ResultColumn("text", "what it is called"),
        "size": ResultColumn("whole", "how large it is", "beds"),
        "share": ResultColumn("number", "what part", optional=True),
        "open": ResultColumn("truth", "whether it is open"),
        "day": ResultColumn("date", "when"),
    },
)
FRAME = pd.DataFrame(
    {
        "name": ["a", "b"],
        "size": [1, 2],
        "share": [0.5, None],
        "open": [True, False],
        "day": pd.to_datetime(["2021-01-01", "2021-01-08"]),
    }
)


def test_columns_come_in_the_order_of_the_schema():
    checked = SCHEMA.check(FRAME[FRAME.columns[::-1]], "toy")
    pd.testing.assert_frame_equal(checked, FRAME)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME[:0], "has no rows"),
        (FRAME.drop(columns="size"), "lacks column size"),
        (FRAME.assign(beds=1), "has an unknown column beds"),
        (FRAME.assign(size=[1.0, 2.0]), "column size must be whole number, got float64"),
        (FRAME.assign(share=["a", "b"]), "column share must be number"),
        (FRAME.assign(open=[1, 0]), "column open must be true or false, got int64"),
        (FRAME.assign(day=["2021-01-01", "x"]), "column day must be date"),
        (FRAME.assign(name=["a", None]), "column name, row 1, is empty"),
    ],
)
def test_a_table_of_another_kind_is_refused(frame, message):
    with pytest.raises(DataError, match=f"^here: {message}.*; delete it and run snakemake again$"):
        SCHEMA.check(frame, "here")
