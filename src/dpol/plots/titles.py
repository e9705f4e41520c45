"""How streams are called in figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dpol.config import Stream

if TYPE_CHECKING:
    import pandas as pd


def stream_titles(summary: pd.DataFrame, streams: Mapping[str, Stream]) -> dict[str, str]:
    """Title of every stream with its number of experts, in the order of the config."""
    sizes = summary.groupby("stream")["n_experts"].first()
    return {
        label: f"{stream.title or label} (n = {sizes[label]})" for label, stream in streams.items()
    }
