"""What stands above a figure, and how streams are called in it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

CHARACTERS_PER_INCH = 16.0
"""Of the 8 point font, rounded down."""


def stream_titles(summary: pd.DataFrame, titles: Mapping[str, str]) -> dict[str, str]:
    """Title of every stream with its number of experts, in the order of the config."""
    sizes = summary.groupby("stream")["n_experts"].first()
    return {label: f"{title} (n = {sizes[label]})" for label, title in titles.items()}


def data_title(simulated: bool) -> str:
    """What kind of data a figure shows."""
    return "Simulated data, not measurements" if simulated else "Real data"


def add_title(figure: Figure, parts: Iterable[str]) -> None:
    """Write facts above a figure, divided by dots; lines break between them only."""
    whole = " · ".join(part.replace(" ", "\xa0") for part in parts)
    text = textwrap.fill(whole, int(figure.get_figwidth() * CHARACTERS_PER_INCH))
    figure.suptitle(text, x=0.01, ha="left", fontsize=8)
