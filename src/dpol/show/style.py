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
from matplotlib.figure import Figure

from dpol.core.files import atomic_path

# The palette of Okabe and Ito: told apart with every common kind of colour blindness.
BLACK = "#000000"
ORANGE = "#E69F00"
SKY = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"
# Not of the palette: a neutral sixth line colour, since its yellow is too pale on white.
GREY = "#5A5A5A"

ENVELOPE = ORANGE
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
    """How an algorithm is drawn; dashes and marker tell it apart in a grey print.

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


ALGORITHM_STYLES: Mapping[str, LineStyle] = {
    "rw-meta": LineStyle(BLUE, _SOLID, "o", 1.7),
    "rw-meta-floor-0": LineStyle(BLUE, _DASH_DOT, "<"),
    "rw-meta-kalman": LineStyle(BLUE, _DASHED, ">"),
    "random-effects": LineStyle(GREEN, _DASH_DOT_DOT, "P", 1.9),
    "empirical-bayes": LineStyle(PURPLE, _SOLID, "*", 1.9),
    "bayesian-average": LineStyle(PURPLE, _DASHED, "h"),
    "exponential-weights": LineStyle(SKY, _SOLID, "d"),
    "fixed-share": LineStyle(SKY, _DASH_DOT, "p"),
    "rw-ftpl": LineStyle(SKY, _DASHED, "s"),
    "rw-adabatch": LineStyle(PURPLE, _DASH_DOT, "^"),
    "rw-adabatch-reflection": LineStyle(GREEN, _SHORT, ">"),
    "tree-ftpl-min-noise": LineStyle(VERMILLION, _DASHED, "D"),
    "tree-ftpl-min-regret": LineStyle(GREEN, _DASH_DOT, "v"),
    "mf-ftpl": LineStyle(VERMILLION, _SOLID, "s"),
    "mf-window-8": LineStyle(GREEN, _SOLID, "v"),
    "mf-discounted-0.8": LineStyle(PURPLE, _SHORT, "<"),
    "mf-discounted-0.9": LineStyle(GREEN, _DASHED, "^"),
    "persistence": LineStyle(GREY, _DASH_DOT, "+"),
    "l2p": LineStyle(PURPLE, _DASH_DOT_DOT, "p"),
    "follow-the-leader": LineStyle(GREY, _SHORT, "X"),
    "multiplicative-weights": LineStyle(GREY, _DASHED, "P"),
}
"""Styles of the labels that the configs of the project use, in every figure."""

VARIANT_STYLES: Mapping[str, LineStyle] = {
    "l2p-sound": ALGORITHM_STYLES["l2p"],
    "l2p-published": LineStyle(BLUE, _SHORT, "s"),
    "l2p-one-round": LineStyle(GREEN, _SHORT, "^"),
    "l2p-theorem-3.10": LineStyle(SKY, _SHORT, "v"),
    "l2p-theorem-3.12": LineStyle(BLUE, _SHORT, "s"),
    "tree-ftpl-min-noise": ALGORITHM_STYLES["tree-ftpl-min-noise"],
    "mf-ftpl": ALGORITHM_STYLES["mf-ftpl"],
    "dp-ftrl": LineStyle(VERMILLION, _DASHED, "D"),
    "multiplicative-weights": ALGORITHM_STYLES["multiplicative-weights"],
    "gradient-descent": LineStyle(GREY, _DASHED, "X"),
}
"""Colours and markers in the studies of regret, whose dashes tell the kind of losses."""

_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, SKY, GREY)
_PATTERNS = (_DASH_DOT_DOT, _SOLID, _DASHED, _DASH_DOT, _SHORT)
_MARKERS = ("<", "p", ">", "h", "d", "*", "s")
# Seven markers over six colours: lines of one colour get different markers.
_SLOTS = tuple(
    LineStyle(colour, dashes, _MARKERS[(row * len(_COLOURS) + column) % len(_MARKERS)])
    for row, dashes in enumerate(_PATTERNS)
    for column, colour in enumerate(_COLOURS)
)

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
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 8.0,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "pdf.fonttype": 42,
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
    """How much of a slot is taken: colour with dashes, colour alone, dashes or marker alone."""
    both = colour = rest = 0
    for style in taken:
        both += (slot.colour, slot.dashes) == (style.colour, style.dashes)
        colour += slot.colour == style.colour
        rest += (slot.dashes == style.dashes) + (slot.marker == style.marker)
    return both, colour, rest


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
