"""From a panel to a gain stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpol.core.errors import DataError
from dpol.data.stream import GainStream

if TYPE_CHECKING:
    import pandas as pd


def build_stream(
    panel: pd.DataFrame, label: str, count_sensitivity: float, provenance: dict[str, Any]
) -> GainStream:
    """The stream `label` of a canonical panel: gains are densities, capacities are beds.

    Raises:
        DataError: the panel has no such stream, or its values break a rule of `GainStream`.
    """
    rows = panel[panel["stream"] == label].sort_values(["period", "entity"])
    if rows.empty:
        raise DataError(f"the panel has no stream {label}; clean the table again")
    n = rows["entity"].nunique()
    rounds = rows["period"].nunique()
    if len(rows) != n * rounds:
        raise DataError(f"the panel's stream {label} has holes: {len(rows)} rows, not {rounds}x{n}")
    return GainStream(
        label=label,
        gains=rows["density"].to_numpy().reshape(rounds, n),
        capacity=rows["capacity"].to_numpy().reshape(rounds, n),
        entities=tuple(rows["entity"].iloc[:n]),
        periods=rows["period"].to_numpy().reshape(rounds, n)[:, 0],
        names=tuple(rows["name"].iloc[:n]),
        count_sensitivity=count_sensitivity,
        provenance=provenance,
    )
