"""References for gains: uniform random, the best fixed expert, the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpol.show.looks import REFERENCES, Look
from dpol.studies.games.settings import BEST_FIXED, ORACLE, UNIFORM

if TYPE_CHECKING:
    import pandas as pd

TOTALS = {UNIFORM: "uniform_gain", BEST_FIXED: "best_fixed_gain", ORACLE: "oracle_gain"}
"""Columns of the summary with the total gain of each reference, by label."""
NAMES = {UNIFORM: "uniform random", BEST_FIXED: "best fixed expert", ORACLE: "oracle"}
"""Names that readers see."""
LOOKS: Mapping[str, Look] = {label: REFERENCES[label] for label in (ORACLE, BEST_FIXED, UNIFORM)}
"""Looks of their dotted lines, from the highest to the lowest."""


def describe_stream(row: Mapping[Any, Any] | pd.Series[Any]) -> str:
    """Describe the size of a stream and its reference gains, from a row of the summary."""
    gains = ", ".join(f"{name} {row[TOTALS[label]]:.2f}" for label, name in NAMES.items())
    return f"n = {row['n_experts']}, T = {row['n_rounds']}; {gains}"


def sized_titles(titles: Mapping[str, str], summary: pd.DataFrame) -> dict[str, str]:
    """Return the titles of the streams by label, each with its number of experts."""
    sizes = summary.groupby("stream")["n_experts"].first()
    return {label: f"{titles[label]} (n = {sizes[label]})" for label in titles if label in sizes}
