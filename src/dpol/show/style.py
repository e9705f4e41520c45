"""The look all figures share: colours and dashes of the algorithms, and how files are saved."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from dpol.core.files import atomic_path
from dpol.show.words import power

BLACK = "#000000"
GREY = "#5A5A5A"
"""Colour of all without privacy: references, and algorithms that see the truth."""
REFUTED = "#C2003A"
"""A claim that the outputs refute; no algorithm has it."""
ENVELOPE = "#E69F00"
"""Shade of a family of learners; no line has it."""
BAND = "#F1F1F1"
"""Shade of a part of a panel that is unlike the rest."""
RULE = "#CCCCCC"
"""Thin line between parts of a panel."""
STATIC = BLACK
"""Dotted line of the best expert in hindsight; no algorithm is dotted or black."""

Dashes = tuple[float, ...]
_SOLID: Dashes = ()
_DASHED: Dashes = (4.5, 1.8)
_DASH_DOT: Dashes = (5.0, 1.5, 1.2, 1.5)
_DASH_DOT_DOT: Dashes = (6.0, 1.3, 1.2, 1.3, 1.2, 1.3)
_SHORT: Dashes = (2.2, 1.2)


@dataclass(frozen=True)
class LineStyle:
    """The line of an algorithm; dashes and marker tell it apart in a grey print.

    Args:
        colour: colour of line and interval.
        dashes: lengths of ink and gap in line widths; empty for a solid line.
        marker: marker drawn now and then on the line.
        width: line width in points.
    """

    colour: str
    dashes: Dashes
    marker: str
    width: float = 1.2

    @property
    def linestyle(self) -> Literal["-"] | tuple[float, Dashes]:
        """The style, as matplotlib takes it."""
        return (0.0, self.dashes) if self.dashes else "-"


COLOURS: Mapping[str, str] = {
    "rw-meta": "#0072B2",
    "rw-ftpl": "#3A9AD9",
    "rw-adabatch": "#7B4FB5",
    "rw-adabatch-reflection": "#C06FD8",
    "random-effects": "#00868B",
    "empirical-bayes": "#332288",
    "bayesian-average": "#6A5ACD",
    "exponential-weights": "#4A7A9C",
    "fixed-share": "#7A7500",
    "persistence": "#1F3A5F",
    "tree-ftpl-min-noise": "#D55E00",
    "tree-ftpl-min-regret": "#8C3B00",
    "dp-ftrl": "#B07D00",
    "mf-ftpl": "#009E73",
    "mf-window": "#4C9A2A",
    "mf-discounted": "#00614A",
    "l2p": "#CC6699",
    "l2p-published": "#5C1A45",
    "l2p-one-round": "#A0308A",
    "l2p-theorem": "#8F7FC0",
    "wma": "#50402A",
    "exp3": "#3F51D5",
    "exp3-bayes": "#1099B0",
    "membership": "#5FA53B",
    "randomised-response": "#B3201B",
}
"""One colour for each algorithm, in all figures; its variants differ in dashes and marker.

Lines of one figure differ with red-green blindness too, and stand out from white (at least 3 : 1).
"""


def _style(label: str, dashes: Dashes, marker: str, width: float = 1.2) -> LineStyle:
    return LineStyle(COLOURS[label], dashes, marker, width)


ALGORITHM_STYLES: Mapping[str, LineStyle] = {
    "rw-meta": _style("rw-meta", _SOLID, "o", 1.7),
    "rw-meta-floor-0": _style("rw-meta", _DASH_DOT, "<"),
    "rw-meta-kalman": _style("rw-meta", _DASHED, ">"),
    "random-effects": _style("random-effects", _DASH_DOT_DOT, "P", 1.9),
    "empirical-bayes": _style("empirical-bayes", _SOLID, "*", 1.9),
    "bayesian-average": _style("bayesian-average", _DASHED, "h"),
    "exponential-weights": _style("exponential-weights", _SOLID, "d"),
    "fixed-share": _style("fixed-share", _DASH_DOT, "p"),
    "rw-ftpl": _style("rw-ftpl", _DASHED, "s"),
    "rw-adabatch": _style("rw-adabatch", _DASH_DOT, "^"),
    "rw-adabatch-reflection": _style("rw-adabatch-reflection", _SHORT, ">"),
    "tree-ftpl-min-noise": _style("tree-ftpl-min-noise", _DASHED, "D"),
    "tree-ftpl-min-regret": _style("tree-ftpl-min-regret", _DASH_DOT, "v"),
    "dp-ftrl": _style("dp-ftrl", _DASHED, "D"),
    "mf-ftpl": _style("mf-ftpl", _SOLID, "s"),
    "mf-window-8": _style("mf-window", _SOLID, "v"),
    "mf-discounted-0.8": _style("mf-discounted", _SHORT, "<"),
    "mf-discounted-0.9": _style("mf-discounted", _DASHED, "^"),
    "persistence": _style("persistence", _DASH_DOT, "+"),
    "l2p": _style("l2p", _DASH_DOT_DOT, "p"),
    "l2p-sound": _style("l2p", _SOLID, "p"),
    "l2p-published": _style("l2p-published", _DASHED, "s"),
    "l2p-one-round": _style("l2p-one-round", _SHORT, "^"),
    "l2p-theorem-3.10": _style("l2p-theorem", _SHORT, "v"),
    "l2p-theorem-3.12": _style("l2p-theorem", _DASHED, "v"),
    "follow-the-leader": LineStyle(GREY, _SHORT, "X"),
    "multiplicative-weights": LineStyle(GREY, _DASHED, "P"),
    "gradient-descent": LineStyle(GREY, _DASH_DOT, "X"),
    "random-expert": LineStyle(GREY, _DASH_DOT_DOT, "_"),
}
"""Styles of the labels that the configs and studies of the project use, in every figure."""

# Of labels that are not above.
_FURTHER = ("#B5526B", "#64748B", "#9A7B4F", "#3F7566", "#86608E", "#A65E2E")
_PATTERNS = (_DASH_DOT_DOT, _SOLID, _DASHED, _DASH_DOT, _SHORT)
_MARKERS = ("<", "p", ">", "h", "d", "*", "s")
# Seven markers over six colours: lines of one colour get different markers.
_SLOTS = tuple(
    LineStyle(colour, dashes, _MARKERS[(row * len(_FURTHER) + column) % len(_MARKERS)])
    for row, dashes in enumerate(_PATTERNS)
    for column, colour in enumerate(_FURTHER)
)

_LEAST_CONTRAST = 4.5
_SETTINGS: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#777777",
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
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",  # text that can be found, copied and read aloud
    "svg.hashsalt": "dpol",
    "xtick.color": "#777777",
    "xtick.labelcolor": BLACK,
    "xtick.labelsize": 7.0,
    "xtick.major.width": 0.6,
    "ytick.color": "#777777",
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


def algorithm_styles(labels: Iterable[str]) -> dict[str, LineStyle]:
    """A style for each label of one figure, whatever their order.

    A label outside `ALGORITHM_STYLES` gets the style that its name hashes to, or the next
    one that is least like the others of the figure.
    """
    wanted = list(dict.fromkeys(labels))
    styles = {label: ALGORITHM_STYLES[label] for label in wanted if label in ALGORITHM_STYLES}
    for label in sorted(set(wanted) - set(styles)):
        start = zlib.crc32(label.encode()) % len(_SLOTS)
        order = _SLOTS[start:] + _SLOTS[:start]
        styles[label] = min(order, key=lambda slot: _likeness(slot, styles.values()))
    return {label: styles[label] for label in wanted}


def _likeness(slot: LineStyle, taken: Iterable[LineStyle]) -> tuple[int, int, int]:
    """Overlap of a slot with others: colour with dashes, colour alone, dashes or marker alone."""
    both = colour = rest = 0
    for style in taken:
        both += (slot.colour, slot.dashes) == (style.colour, style.dashes)
        colour += slot.colour == style.colour
        rest += (slot.dashes == style.dashes) + (slot.marker == style.marker)
    return both, colour, rest


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


def freeze_layout(figure: Figure) -> None:
    """Lay out once and for all: a new layout for each file would differ between them."""
    figure.draw_without_rendering()
    # None, not "none": with an engine in place, though an empty one, each file is drawn twice.
    figure.set_layout_engine(None)


def save_figure(figure: Figure, paths: Iterable[Path]) -> None:
    """Write a figure as `.svg`, `.png` (200 dpi) or `.pdf`; equal figures give equal bytes.

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
            figure.savefig(
                temporary, format=path.suffix[1:], dpi=200, metadata=_METADATA[path.suffix]
            )
