"""Parts of a figure for tests, and legibility requirements on every figure."""

from __future__ import annotations

import itertools

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Annotation, Text


def lines(ax: Axes) -> dict[str, Line2D]:
    """Return the lines of a panel by label, including lines with bars."""
    bars = {str(box.get_label()): box.lines[0] for box in ax.containers}
    return {str(line.get_label()): line for line in ax.lines} | bars


def points(line: Line2D) -> list[tuple[float, float]]:
    """Return the points of a line."""
    return [(float(x), float(y)) for x, y in np.asarray(line.get_xydata())]


def plain(text: str) -> str:
    """Put a text on one line, with plain spaces."""
    return text.replace("\xa0", " ").replace("\n", " ")


def legend_texts(figure: Figure) -> list[str]:
    """Return the texts of the only legend."""
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def names_of_lines(ax: Axes) -> dict[str, Annotation]:
    """Return the names of lines to the right of a panel; those of points are centred above them."""
    names = [text for text in ax.texts if isinstance(text, Annotation)]
    return {plain(it.get_text()): it for it in names if it.get_horizontalalignment() != "center"}


def assert_legible(figure: Figure) -> None:
    """Assert that texts have no formulas, which SVG cuts up.

    Names of lines must lie within the figure, and overlap neither panels nor each other; names
    within a panel must not overlap each other.
    """
    figure.draw_without_rendering()
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    assert texts
    for text in texts:
        assert not (text.get_parse_math() and text.get_text().count("$") > 1), text
    for ax in figure.axes:
        # Only texts count: lines to their points may cross.
        named = names_of_lines(ax).values()
        boxes = [Text.get_window_extent(text) for text in named]
        for one, two in itertools.combinations(boxes, 2):
            assert min(one.y1, two.y1) - max(one.y0, two.y0) < 1.0  # pixel
        for box in boxes:
            assert not any(box.overlaps(other.bbox) for other in figure.axes)
            assert box.x1 <= figure.bbox.x1 + 1
            assert box.y0 >= figure.bbox.y0 - 1
        inside = [Text.get_window_extent(it) for it in ax.texts if it not in named]
        for one, two in itertools.combinations(inside, 2):
            assert not one.overlaps(two)
