"""Direct labels: the names of lines next to their ends, none on another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from matplotlib.axes import Axes

from dpol.show.style import text_colour

_FONT = 7.0
_LINE = 0.113  # inches that a line of a label takes
_GAP = 0.03


@dataclass(frozen=True)
class Label:
    """A text to the right of a panel, for the point (x, y) where its line ends."""

    x: float
    y: float
    text: str
    colour: str


def add_labels(ax: Axes, labels: Sequence[Label], height: float) -> None:
    """Direct labels to the right of a panel, moved up or down until none lies on another.

    Args:
        ax: the panel; its limits must be final.
        labels: what to write.
        height: of the panel in inches, about: it is not laid out yet.
    """
    to_axes = ax.transData + ax.transAxes.inverted()
    wanted = [float(to_axes.transform((label.x, label.y))[1]) for label in labels]
    sizes = [((label.text.count("\n") + 1) * _LINE + _GAP) / height for label in labels]
    places = spread(wanted, sizes)
    for label, place in zip(labels, places, strict=True):
        ax.annotate(
            label.text,
            (label.x, label.y),
            (1.05, place),
            textcoords="axes fraction",
            ha="left",
            va="center",
            color=text_colour(label.colour),
            fontsize=_FONT,
            linespacing=1.1,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": label.colour,
                "linewidth": 0.5,
                "shrinkA": 1,
                "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )


def spread(wanted: Sequence[float], sizes: Sequence[float]) -> list[float]:
    """Centres of labels of these sizes, in the order of the wanted ones and none on another.

    Labels that would touch form a block around the mean of what they want. All stay within
    [0, 1] as long as there is room.

    >>> spread([0.5, 0.5, 0.0], [0.25, 0.25, 0.25])
    [0.375, 0.625, 0.125]
    """
    heights, order = np.array(sizes, dtype=float), np.argsort(wanted, kind="stable")
    heights = heights[order]
    # Without what lies below them, labels that do not touch have increasing centres.
    below = np.cumsum(heights) - heights / 2
    moved = (
        scipy.optimize.isotonic_regression(np.array(wanted, dtype=float)[order] - below).x
        if sizes
        else below
    )
    places = np.empty(len(sizes))
    places[order] = np.clip(moved, 0.0, max(0.0, 1.0 - heights.sum())) + below
    return list(map(float, places))
