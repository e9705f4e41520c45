"""The numbers that the paper reports."""

from __future__ import annotations

import math

import pandas as pd

from dpol.studies.hospitals.reported import (
    BEST_LINEAR,
    PAPER,
    describe_reported,
    load_reported,
    reported_beside,
)

RUN = pd.Series(
    {
        "n_rounds": 148,
        "first_period": pd.Timestamp("2020-08-09"),
        "last_period": pd.Timestamp("2023-06-04"),
    }
)


def test_reported_numbers_are_those_of_the_paper() -> None:
    numbers = load_reported()
    assert len(numbers) == 48
    assert numbers["CA", "rw-meta", 0.25] == (33.34, 1.30)
    assert numbers["NM", "tree-ftpl-min-regret", math.inf] == (13.38, None)
    assert numbers["PA", BEST_LINEAR, 0.5] == (38.06, None)
    assert sum(half is not None for _, half in numbers.values()) == 9


def test_numbers_of_a_stream() -> None:
    found = reported_beside("CA", RUN)
    assert len(found) == 16
    assert found["rw-meta", 0.25] == (33.34, 1.30)
    assert reported_beside("TX", RUN) == reported_beside(None, RUN) == {}


def test_numbers_need_the_paper_s_periods() -> None:
    for name, value in (("n_rounds", 147), ("first_period", pd.Timestamp("2020-08-07"))):
        assert reported_beside("CA", pd.Series({**RUN, name: value})) == {}


def test_sentences() -> None:
    assert describe_reported({}, simulated=False) == [
        f"The paper: {PAPER}; no number of it is comparable with those shown."
    ]
    streams = {"New Mexico": (22, "NM"), "California": (293, "CA"), "Texas": (5, None)}
    assert describe_reported(streams, simulated=True) == [
        f"[paper: …]: reported by the paper, not computed here: {PAPER}.",
        "New Mexico has 22 experts here and 24 in the paper.",
        "The paper's numbers are of real data, those beside them of simulated data.",
    ]
