"""The title above a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHARACTERS_PER_INCH = 16.0
"""Width of the 8 point font, rounded down."""


def data_title(simulated: bool) -> str:
    """The kind of data that a figure shows."""
    return "Simulated data, not measurements" if simulated else "Real data"


def add_title(figure: Figure, parts: Iterable[str]) -> None:
    """Write facts above a figure, divided by dots; lines break between them only."""
    whole = " · ".join(part.replace(" ", "\xa0") for part in parts)
    columns = int(figure.get_figwidth() * CHARACTERS_PER_INCH)
    text = textwrap.fill(whole, columns, break_on_hyphens=False)
    figure.suptitle(text, x=0.01, ha="left", fontsize=8)
