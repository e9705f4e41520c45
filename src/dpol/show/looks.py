"""Looks of the lines of algorithms: colour, dashes and marker, and how unknown ones get theirs."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any

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
SOLID: Dashes = ()
DASHED: Dashes = (4.5, 1.8)
DASH_DOT: Dashes = (5.0, 1.5, 1.2, 1.5)
DASH_DOT_DOT: Dashes = (6.0, 1.3, 1.2, 1.3, 1.2, 1.3)
SHORT: Dashes = (2.2, 1.2)
DOTTED: Dashes = (1.0, 1.65)
"""Dashes of references; no algorithm has them."""
DASHES = {
    "solid": SOLID,
    "dashed": DASHED,
    "dash-dot": DASH_DOT,
    "dash-dot-dot": DASH_DOT_DOT,
    "short": SHORT,
}
"""Dashes of algorithms, by name."""


@dataclass(frozen=True)
class Look:
    """The look of a line; dashes and marker tell it apart in a grey print.

    Lines of one figure differ with red-green blindness too, and stand out from white (at least
    3 : 1). One colour is one algorithm, in all figures; its variants differ in dashes and marker.

    Args:
        colour: colour of line and interval.
        dashes: lengths of ink and gap in line widths; empty for a solid line.
        marker: marker of its points.
        width: line width in points.
    """

    colour: str
    dashes: Dashes = SOLID
    marker: str = ""
    _: KW_ONLY
    width: float = 1.2

    @property
    def line(self) -> dict[str, Any]:
        """The line without markers, as matplotlib takes it."""
        dashes = (0.0, self.dashes) if self.dashes else "-"
        return {"color": self.colour, "linestyle": dashes, "linewidth": self.width}

    @property
    def points(self) -> dict[str, Any]:
        """The markers without a line, as matplotlib takes them."""
        size = {"markersize": 6.0 if self.marker == "*" else 4.0, "markeredgewidth": 0.8}
        return {"color": self.colour, "marker": self.marker, "linestyle": "none", **size}

    @property
    def line_and_points(self) -> dict[str, Any]:
        """The line with its markers, as matplotlib takes it."""
        return self.points | self.line


_COLOURS = ("#B5526B", "#64748B", "#9A7B4F", "#3F7566", "#86608E", "#A65E2E")
_DASHES = (DASH_DOT_DOT, SOLID, DASHED, DASH_DOT, SHORT)
_MARKERS = ("<", "p", ">", "h", "d", "*", "s")
# Seven markers over six colours: lines of one colour get different markers.
UNKNOWN = tuple(
    Look(colour, dashes, _MARKERS[(row * 6 + column) % len(_MARKERS)])
    for row, dashes in enumerate(_DASHES)
    for column, colour in enumerate(_COLOURS)
)
"""Looks of labels that nobody gave a look."""


def tell_apart(labels: Iterable[str], known: Mapping[str, Look]) -> dict[str, Look]:
    """A look for each label of one figure, whatever their order.

    A label that is not known gets the look that its name hashes to, or the next one that is least
    like the others of the figure.
    """
    wanted = list(dict.fromkeys(labels))
    looks = {label: known[label] for label in wanted if label in known}
    for label in sorted(set(wanted) - set(looks)):
        start = zlib.crc32(label.encode()) % len(UNKNOWN)
        order = UNKNOWN[start:] + UNKNOWN[:start]
        looks[label] = min(order, key=lambda look: _likeness(look, looks.values()))
    return {label: looks[label] for label in wanted}


def _likeness(look: Look, taken: Iterable[Look]) -> tuple[int, int, int]:
    """Overlap of a look with others: colour with dashes, colour alone, dashes or marker alone."""
    both = colour = rest = 0
    for other in taken:
        both += (look.colour, look.dashes) == (other.colour, other.dashes)
        colour += look.colour == other.colour
        rest += (look.dashes == other.dashes) + (look.marker == other.marker)
    return both, colour, rest
