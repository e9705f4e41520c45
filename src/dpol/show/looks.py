"""Looks of lines in figures (colour, dashes, marker, width), from `looks.yaml`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from itertools import cycle, product
from pathlib import Path
from typing import Any

from dpol.core.yaml_files import read_yaml

Dashes = tuple[float, ...]
"""Lengths of ink and gap, in line widths; empty for a solid line."""


@dataclass(frozen=True)
class Look:
    """Look of a line.

    Args:
        colour: colour of line and interval, as #RRGGBB.
        dashes: lengths of ink and gap, in line widths; empty for a solid line.
        marker: marker of the points, one character of matplotlib; empty for none.
        width: line width in points.
    """

    colour: str
    dashes: Dashes = ()
    marker: str = ""
    _: KW_ONLY
    width: float = 1.2

    @property
    def line(self) -> dict[str, Any]:
        """Keywords of matplotlib for the line without markers."""
        dashes = (0.0, self.dashes) if self.dashes else "-"
        return {"color": self.colour, "linestyle": dashes, "linewidth": self.width}

    @property
    def points(self) -> dict[str, Any]:
        """Keywords of matplotlib for the markers without a line."""
        size = {"markersize": 6.0 if self.marker == "*" else 4.0, "markeredgewidth": 0.8}
        return {"color": self.colour, "marker": self.marker, "linestyle": "none", **size}

    @property
    def line_and_points(self) -> dict[str, Any]:
        """Keywords of matplotlib for the line with its markers."""
        return self.points | self.line


_FILE: Any = read_yaml(Path(__file__).with_suffix(".yaml"))
_COLOURS: Mapping[str, str] = _FILE["colours"]
_DASHES: Mapping[str, Dashes] = {name: tuple(own) for name, own in _FILE["dashes"].items()}


def _look(block: Mapping[str, Any]) -> Look:
    colour, dashes = block["colour"], block.get("dashes", "solid")
    return Look(**{**block, "colour": _COLOURS.get(colour, colour), "dashes": _DASHES[dashes]})


def _looks(section: str) -> Mapping[str, Look]:
    return {label: _look(block) for label, block in _FILE[section].items()}


ALGORITHMS = _looks("algorithms")
"""Looks of algorithms, by label."""
RIVALS = _looks("rivals")
"""Looks of rivals of L2P that no suite names, by label."""
LABEL_LEARNERS = _looks("label_learners")
"""Looks of the learners of distributions, by name."""
REFERENCES = _looks("references")
"""Looks of lines that belong to no algorithm, by name."""
_PAIRS = product(_FILE["others"]["dashes"], _FILE["others"]["colours"])
OTHERS = tuple(
    _look({"colour": colour, "dashes": dashes, "marker": marker})
    for (dashes, colour), marker in zip(_PAIRS, cycle(_FILE["others"]["markers"]))
)
"""Looks for all other labels."""

SOLID, DASHED, SHORT = (_DASHES[name] for name in ("solid", "dashed", "short"))
BLACK, GREY, AXIS, GRID = (_COLOURS[name] for name in ("black", "grey", "axis", "grid"))
ENVELOPE, BAND = _COLOURS["envelope"], _COLOURS["band"]


def looks_of(labels: Iterable[str], known: Mapping[str, Look] = ALGORITHMS) -> dict[str, Look]:
    """Return a look for each label of one figure, independent of their order.

    The name of an unknown label hashes to a look; if that is taken, it gets the look least like
    the other lines of the figure.

    >>> looks_of(["rw-meta"])["rw-meta"].colour
    '#0072B2'
    """
    wanted = list(dict.fromkeys(labels))
    looks = {label: known[label] for label in wanted if label in known}
    for label in sorted(set(wanted) - set(looks)):
        start = zlib.crc32(label.encode()) % len(OTHERS)
        order = OTHERS[start:] + OTHERS[:start]
        looks[label] = min(order, key=lambda look: _likeness(look, looks.values()))
    return {label: looks[label] for label in wanted}


def _likeness(look: Look, taken: Iterable[Look]) -> tuple[int, int, int]:
    """Count overlaps with other looks: colour with dashes, colour alone, dashes or marker alone."""
    both = colour = rest = 0
    for other in taken:
        both += (look.colour, look.dashes) == (other.colour, other.dashes)
        colour += look.colour == other.colour
        rest += (look.dashes == other.dashes) + (look.marker == other.marker)
    return both, colour, rest
