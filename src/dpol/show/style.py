"""The style that all figures share: colours, fonts, and how files are saved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from dpol.core.files import atomic_path
from dpol.show.looks import AXIS, BLACK, GRID
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
    # The first comes with matplotlib, so the layout is the same everywhere; the others are for
    # browsers that lack it, and none is wider.
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 8.0,
    "grid.color": GRID,
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text that can be found, copied and read aloud
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
# A date or a random id would make two equal figures different files.
_METADATA: Mapping[str, dict[str, Any]] = {
    ".svg": {"Date": None},
    ".png": {},
    ".pdf": {"CreationDate": None},
}


def contrast(colour: str) -> float:
    """Contrast of a colour with white, from 1 to 21 (WCAG 2.2).

    >>> round(contrast(BLACK), 2), round(contrast("#767676"), 2)
    (21.0, 4.54)
    """
    parts = [
        it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in to_rgb(colour)
    ]
    luminance = sum(weight * it for weight, it in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    return 1.05 / (luminance + 0.05)


def text_colour(colour: str) -> str:
    """A colour, as dark as text on white must be: a contrast of at least 4.5.

    >>> text_colour("#0072B2"), text_colour("#E69F00")
    ('#0072B2', '#9D6D00')
    """
    while contrast(colour) < _LEAST_CONTRAST:
        red, green, blue = to_rgb(colour)
        colour = to_hex((0.98 * red, 0.98 * green, 0.98 * blue)).upper()
    return colour


class PowerFormatter(LogFormatter):
    """Ticks of a logarithmic axis as plain text: 1, 100, 10⁴; matplotlib's own are formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """The text of a tick; none for those that matplotlib would leave out."""
        return power(x) if super().__call__(x, pos) else ""


@contextmanager
def figure_style() -> Iterator[None]:
    """Settings of all figures inside the block; those of the user neither matter nor change."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure (inches) that needs no display and that nothing global remembers."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def lay_out(figure: Figure) -> None:
    """Give the panels their places; nothing is drawn."""
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.execute(figure)


def freeze_layout(figure: Figure) -> None:
    """Lay out once and for all: a new layout for each file would differ between them."""
    lay_out(figure)
    # None, not "none": with an engine in place, though an empty one, each file is drawn twice.
    figure.set_layout_engine(None)


def save_figure(figure: Figure, paths: Iterable[Path]) -> None:
    """Write a figure as `.svg`, `.png` (200 dpi) or `.pdf`; equal figures give equal bytes.

    The title of a file is the finding of the figure, its label.

    Raises:
        ValueError: a path has another suffix; nothing is written then.
        OutputError: a file cannot be written.
    """
    targets = [Path(path) for path in paths]
    for path in targets:
        if path.suffix not in _METADATA:
            raise ValueError(f"{path}: a figure is saved as {', '.join(_METADATA)}")
    for path in targets:
        with figure_style(), atomic_path(path) as temporary:
            metadata = _METADATA[path.suffix] | {"Title": figure.get_label()}
            figure.savefig(temporary, format=path.suffix[1:], dpi=200, metadata=metadata)
