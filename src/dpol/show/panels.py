"""Figures: their common style, the panels of several streams or settings, and saving."""

from __future__ import annotations

import math
import re
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import LogFormatter, NullLocator, PercentFormatter
from matplotlib.transforms import Bbox

from dpol.core.files import atomic_path
from dpol.core.words import at_most
from dpol.show.entries import AXIS, BAND, BLACK, GREY, GRID, Look
from dpol.show.words import power

# ---- style ---------------------------------------------------------------------------------------

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


# ---- panels --------------------------------------------------------------------------------------

WIDTH = 6.6
"""Width of all panels on a page, in inches."""
NAME_LINE = 0.13
"""Height of a panel for each line of the names beside it, in inches."""
FEW = 2
"""Up to this number of points no line joins them: two points are not a rate."""
BAND_ALPHA = 0.2
"""Opacity of a band of intervals."""
_AROUND = (0.4, 0.8)  # inches around all panels
_CHARACTERS_PER_INCH = 16.0  # of the 8 point font, rounded down
_LABEL_LINE, _LABEL_GAP = 0.113, 0.03  # inches
_TEXT_LINE, _LEGEND_LINE = 0.135, 0.17  # inches
_LEGEND_CHARACTERS_PER_INCH = 17.0
_LEGEND_KEY = 0.7  # inches of a line and the gaps around its name


Form = tuple[float, bool]
"""Form of a figure: its largest width in inches, and whether its finding is its title."""
ANY_FORM: Form = (math.inf, True)


@dataclass(frozen=True, kw_only=True)
class Panels:
    """A figure in the making.

    Args:
        figure: the whole figure.
        grid: its panels in rows and columns; the last places may be empty.
        axes: its panels, row by row.
        titled: whether its finding is its title.
        labels: names of lines, written to the right of their panel when all limits are final: the
            end of the line, its name and colour.
        below: names of axes below the panels, which move up for the caption.
        captions: lines of the caption.
    """

    figure: Figure
    grid: Any
    axes: list[Axes]
    titled: bool
    labels: dict[Axes, list[tuple[tuple[float, float], str, str]]] = field(default_factory=dict)
    below: list[Text] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)

    def name_line(self, ax: Axes, end: Iterable[float], text: str, colour: str) -> None:
        """Name the line that ends at (x, y), to the right of its panel."""
        x, y = end
        self.labels.setdefault(ax, []).append(((x, y), text, colour))

    def find(self, finding: str) -> None:
        """Write the finding, a sentence, as alternative text, and as the title if there is one."""
        self.figure.set_label(finding)
        if self.titled:
            title = self._wrapped(finding, int(0.88 * self._columns))  # of bold text
            self.figure.suptitle(title, x=0.01, ha="left", fontweight="bold")

    def caption(self, *parts: str) -> None:
        """Write settings below the figure, with dots between; lines break there if possible."""
        whole = [part.replace(" ", "\xa0") if len(part) < self._columns else part for part in parts]
        self.captions.extend(self._wrapped("\xa0· ".join(whole)).splitlines())

    def name_x(self, text: str) -> None:
        """Name the horizontal axis of all panels."""
        self.below.append(self.figure.supxlabel(self._wrapped(text)))

    def _wrapped(self, text: str, columns: int = 0) -> str:
        whole = re.sub(" ([=±]) ", "\xa0\\1\xa0", text)
        return textwrap.fill(whole, columns or self._columns, break_on_hyphens=False)

    @property
    def _columns(self) -> int:
        """Number of characters of a line across the figure."""
        return int(self.figure.get_figwidth() * _CHARACTERS_PER_INCH)

    def legend(self, handles: Sequence[Artist]) -> None:
        """Add a legend below the panels, in as many columns as fit; the figure grows."""
        names = [str(handle.get_label()) for handle in handles]
        columns = _legend_columns(names, self.figure.get_figwidth())
        rows = math.ceil(len(names) / columns)
        self.figure.set_figheight(self.figure.get_figheight() + _LEGEND_LINE * rows)
        self.figure.legend(
            handles=handles, loc="outside lower center", ncols=columns, handlelength=3.6
        )


@contextmanager
def panels(
    number: int,
    columns: int,
    size: tuple[float, float],
    y_label: str = "",
    *,
    form: Form = ANY_FORM,
    shared: str = "",
) -> Iterator[Panels]:
    """Open a figure of panels, to be drawn in the block; its layout is fixed at the end.

    Args:
        number: number of panels.
        columns: largest number of panels side by side.
        size: width and height of a panel with its labels, in inches.
        y_label: name of the vertical axis of all panels.
        form: its form; panels that do not fit its width stand below.
        shared: the axes, "x" and "y", that all panels share.
    """
    width, titled = form
    columns = max(1, min(columns, number, int(min(width, 100.0) / size[0])))
    rows = math.ceil(number / columns)
    with figure_style():
        wide = min(size[0] * columns + _AROUND[0], width)
        figure = Figure(figsize=(wide, size[1] * rows + _AROUND[1]))
        FigureCanvasAgg(figure)  # without display or global state
        shares_x, shares_y = ("x" in shared, "y" in shared)
        grid: Any = figure.subplots(rows, columns, sharex=shares_x, sharey=shares_y, squeeze=False)
        for ax in grid.flat[number:]:
            ax.remove()
        axes = list(grid.flat[:number])
        drawn = Panels(figure=figure, grid=grid, axes=axes, titled=titled)
        side = figure.supylabel(y_label) if y_label else None
        yield drawn
        raised = _write_caption(drawn)
        layout = ConstrainedLayoutEngine(rect=(0, raised, 1, 1 - raised))
        _lay_out(drawn, layout)  # sets the heights of panels for the names of lines
        _write_labels(drawn)
        _lay_out(drawn, layout)
        # None, not "none": even an empty engine would draw each file twice.
        figure.set_layout_engine(None)
        for text in drawn.below:
            text.set_y(text.get_position()[1] + raised)
        for legend in figure.legends:
            legend.set_bbox_to_anchor((0, raised, 1, 1 - raised), figure.transFigure)
        if side:  # centre it on the panels, without the legend
            boxes = [ax.get_position() for ax in drawn.axes]
            side.set_y((max(box.y1 for box in boxes) + min(box.y0 for box in boxes)) / 2)


def _lay_out(drawn: Panels, layout: ConstrainedLayoutEngine) -> None:
    """Place the panels, without the solver's last digits, which differ from process to process."""
    layout.execute(drawn.figure)
    for ax in drawn.axes:
        ax.set_position(Bbox(ax.get_position().get_points().round(6)))
        ax.set_in_layout(True)  # `set_position` takes it out of the next layout


def _write_caption(drawn: Panels) -> float:
    """Write the caption; the figure grows by it. Return the share of its height."""
    figure, caption = drawn.figure, _TEXT_LINE * (len(drawn.captions) + 0.3)
    more = caption + _TEXT_LINE * figure.get_suptitle().count("\n")
    figure.set_figheight(figure.get_figheight() + more)
    figure.text(0.01, 0.005, "\n".join(drawn.captions), va="bottom", color=GREY)
    return caption / figure.get_figheight()


def name_panel(ax: Axes, text: str) -> None:
    """Write the name of a panel above it."""
    ax.set_title(text, loc="left", fontweight="bold", parse_math=False)


# ---- lines ---------------------------------------------------------------------------------------


def key(label: str, **look: Any) -> Line2D:
    """Return a line for the legend."""
    return Line2D([], [], label=label, **look)


def add_bars(
    ax: Axes, points: pd.DataFrame, look: Look, label: str, *, joined: bool = True
) -> None:
    """Draw means with a bar for each finite interval, and a line through them if `joined`.

    The columns of `points` are x, mean and half-width, in this order.
    """
    x, mean, half = _finite(points)
    drawn = look.line_and_points if joined else look.points
    ax.errorbar(x, mean, yerr=half, elinewidth=0.9, capsize=1.7, capthick=0.8, label=label, **drawn)


def add_band(ax: Axes, points: pd.DataFrame, look: Look, label: str) -> None:
    """Draw a line through means on a band of intervals; a single point has a bar.

    The columns of `points` are as for `add_bars`.
    """
    x, mean, half = _finite(points)
    if len(mean) > 1:
        shade: Any = {"color": look.colour, "alpha": BAND_ALPHA, "linewidth": 0, "zorder": 2}
        ax.fill_between(x, mean - half, mean + half, **shade)
    else:
        ax.vlines(x, mean - half, mean + half, color=look.colour, linewidth=1.0)
    ax.plot(x, mean, **look.line_and_points, zorder=3, label=label)


def _finite(points: pd.DataFrame) -> tuple[pd.Series, pd.Series, pd.Series]:
    """Return the columns, with half-width 0 for a single run, which has no interval."""
    x, mean, half = (points[column] for column in points)
    return x, mean, half.where(half < math.inf, 0.0)


# ---- axes ----------------------------------------------------------------------------------------


def set_guesses(ax: Axes, guesses: Sequence[float]) -> None:
    """Set privacy levels from left to right, as an attacker's right guesses (1: no privacy)."""
    for place, guess in enumerate(guesses):
        if guess == 1:
            ax.axvspan(place - 0.5, place + 0.5, color=BAND, linewidth=0, zorder=0)
    names = ["none" if guess == 1 else f"{at_most(100 * guess)}%" for guess in guesses]
    ax.set_xticks(range(len(names)), names)
    ax.set_xlim(-0.5, len(names) - 0.5)
    ax.grid(visible=False, axis="x")


def set_ticks(axis: Axis, places: Sequence[float], text: Callable[[float], str]) -> None:
    """Set ticks at these places only."""
    axis.set_ticks(places, labels=list(map(text, places)))
    axis.set_minor_locator(NullLocator())


def set_powers(axis: Axis) -> None:
    """Write powers of ten as plain text at a logarithmic axis."""
    axis.set_major_formatter(PowerFormatter())
    axis.set_minor_formatter(PowerFormatter())


def set_percent(axis: Axis) -> None:
    """Write shares in percent."""
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0))


# ---- texts ---------------------------------------------------------------------------------------


def data_title(simulated: bool) -> str:
    """Name the kind of data of a figure."""
    return "Simulated data, not measurements" if simulated else "Real data"


def describe_runs(row: pd.Series, simulated: bool) -> tuple[str, str]:
    """Describe the data and runs of a figure, and the intervals of its bars."""
    return (
        f"{data_title(simulated)}, means over {row['replicates']} runs",
        f"bars: joint {100 * row['confidence']:g}% intervals for the noise",
    )


def _legend_columns(names: Sequence[str], width: float) -> int:
    """Return how many columns of a legend fit (matplotlib fills it column by column)."""
    for columns in range(len(names), 1, -1):
        rows = math.ceil(len(names) / columns)
        parts = [names[start : start + rows] for start in range(0, len(names), rows)]
        longest = [max(map(len, part)) / _LEGEND_CHARACTERS_PER_INCH for part in parts]
        if len(parts) == columns and sum(longest) + columns * _LEGEND_KEY <= width:
            return columns
    return 1


def _write_labels(drawn: Panels) -> None:
    """Write the names of lines to the right of panels, moved up or down so that none overlap."""
    for ax, labels in drawn.labels.items():
        to_axes, height = ax.transData + ax.transAxes.inverted(), ax.bbox.height / drawn.figure.dpi
        wanted = [float(to_axes.transform(end)[1]) for end, _, _ in labels]
        lines = [name.count("\n") + 1 for _, name, _ in labels]
        places = spread(wanted, [(count * _LABEL_LINE + _LABEL_GAP) / height for count in lines])
        for (end, name, colour), place in zip(labels, places, strict=True):
            arrow: Any = {"arrowstyle": "-", "color": colour, "linewidth": 0.5}
            arrow |= {"shrinkA": 1, "shrinkB": 3, "relpos": (0, 0.5)}
            beside: Any = {"xytext": (1.05, place), "textcoords": "axes fraction"}
            text = ax.annotate(name, end, **beside, arrowprops=arrow)
            text.set(ha="left", va="center", color=text_colour(colour))
            text.set(fontsize=7.0, linespacing=1.1, annotation_clip=False)


def spread(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Return centres for labels of these sizes, in the order wanted, so that none overlap.

    Labels that would touch form a block around the mean of their wanted places. All stay within
    [0, 1] if there is room.

    >>> spread([0.5, 0.5, 0.0], [0.25, 0.25, 0.25])
    [0.375, 0.625, 0.125]
    """
    order = np.argsort(wanted, kind="stable")
    heights = np.array(sizes)[order]
    # Minus the labels below them, centres of labels that do not touch increase.
    below = np.cumsum(heights) - heights / 2
    # SciPy's isotonic regression takes longer to import than a figure to draw.
    blocks: list[tuple[float, int]] = []
    for place in np.array(wanted)[order] - below:
        blocks.append((place, 1))
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            (low, few), (high, many) = blocks[-2:]
            blocks[-2:] = [((few * low + many * high) / (few + many), few + many)]
    moved = np.repeat([mean for mean, _ in blocks], [count for _, count in blocks])
    places = np.clip(moved, 0.0, max(0.0, 1.0 - heights.sum())) + below
    return [float(places[place]) for place in np.argsort(order)]
