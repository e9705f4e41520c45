"""Common style of all figures: colours, fonts, and saving."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from dpol.core.files import atomic_path
from dpol.show.entries import AXIS, BLACK, GRID
from dpol.show.words import power

_LEAST_CONTRAST = 4.5
_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": AXIS,
    "axes.grid": True,
    "axes.labelsize": 8.0,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8.0,
    "figure.labelsize": 8.0,
    "figure.titlesize": 8.0,
    # The first comes with matplotlib, so the layout is the same everywhere. The others are for
    # browsers without it; none is wider.
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 8.0,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text for search, copying and screen readers
    "svg.hashsalt": "dpol",
    "xtick.color": AXIS,
    "xtick.labelcolor": BLACK,
    "xtick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.color": AXIS,
    "ytick.labelcolor": BLACK,
    "ytick.labelsize": 7.0,
    "ytick.major.width": 0.6,
}
# With a date or a random id, equal figures would be different files.
_METADATA: Mapping[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}


def contrast(colour: str) -> float:
    """Return the contrast of a colour with white, from 1 to 21 (WCAG 2.2).

    >>> round(contrast(BLACK), 2), round(contrast("#767676"), 2)
    (21.0, 4.54)
    """
    parts = [
        rgb / 12.92 if rgb <= 0.04045 else ((rgb + 0.055) / 1.055) ** 2.4 for rgb in to_rgb(colour)
    ]
    weights = (0.2126, 0.7152, 0.0722)
    luminance = sum(weight * part for weight, part in zip(weights, parts, strict=True))
    return 1.05 / (luminance + 0.05)


def text_colour(colour: str) -> str:
    """Darken a colour until it is legible as text on white: a contrast of at least 4.5.

    >>> text_colour("#0072B2"), text_colour("#E69F00")
    ('#0072B2', '#9D6D00')
    """
    while contrast(colour) < _LEAST_CONTRAST:
        red, green, blue = to_rgb(colour)
        colour = to_hex((0.98 * red, 0.98 * green, 0.98 * blue)).upper()
    return colour


class PowerFormatter(LogFormatter):
    """Writes ticks of a logarithmic axis as plain text (1, 100, 10⁴), not as formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of a tick; empty where matplotlib would leave it out."""
        return power(x) if super().__call__(x, pos) else ""


@contextmanager
def figure_style() -> Iterator[None]:
    """Apply the settings of all figures inside the block; the user's do not matter or change."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A place may be named in any script; the SVG, which the page shows, keeps it as text.
        warnings.filterwarnings("ignore", "Glyph .* missing|.* does not support .* natively")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def write_below(figure: Figure, text: str) -> Figure:
    """Write a line below a figure, and return it; nothing is written without a text."""
    if text:
        figure.text(0.5, 0.002, text, ha="center", va="bottom", fontsize=6)
    return figure


def save_figure(figure: Figure, paths: Iterable[Path]) -> None:
    """Write a figure as `.svg`, `.png` (200 dpi) or `.pdf`; equal figures give equal bytes.

    The title of a file is the finding of the figure (its label).

    Raises:
        OutputError: a file cannot be written.
    """
    with figure_style():
        for path in paths:
            metadata = _METADATA[path.suffix] | {"Title": figure.get_label()}
            with atomic_path(path) as temporary:
                figure.savefig(temporary, format=path.suffix[1:], dpi=200, metadata=metadata)
