"""Guarantee below a table, in sentences."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from dpol.show.footers import describe_guarantee

INF = math.inf
EPSILON = {INF: INF, 1.0: 4.886, 0.5: 2.254}


def run(mu: float, **changes: Any) -> dict[str, Any]:
    return {
        "mu": mu,
        "model": "local",
        "sampler": "seeded",
        "epsilon": EPSILON[mu],
        "delta": 1e-6,
        "unit": "one person",
        "adjacency": "one elsewhere",
        "taken_as_public": "",
    } | changes


def column(**changes: Any) -> pd.DataFrame:
    """Return the runs of an algorithm at all levels."""
    return pd.DataFrame([run(mu, **changes) for mu in EPSILON])


@pytest.mark.parametrize("runs", [pd.DataFrame([run(INF)]), column(model="none")])
def test_no_guarantee_without_noise(runs: pd.DataFrame) -> None:
    none = ["Guarantee: none; no run adds privacy noise."]
    assert describe_guarantee(runs) == none


def test_the_sentences_name_unit_adjacency_public_data_and_the_source_of_noise() -> None:
    one, other = column(taken_as_public="the list"), column(taken_as_public="the list")
    first, public, last = describe_guarantee(pd.concat([one, other]))
    assert first.startswith("Guarantee: μ-Gaussian differential privacy of one person. Adjacent")
    assert "one elsewhere" in first
    assert public == "Taken as public, and not covered by any μ: the list."
    assert last.startswith("Noise: seeded")
    assert len(describe_guarantee(column())) == 2
