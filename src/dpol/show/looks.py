"""Looks of lines in figures (colour, dashes, marker, width), from `looks.yaml`."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, fields
from itertools import cycle, product
from pathlib import Path
from typing import Any

from dpol.core.yaml_files import read_yaml

Dashes = tuple[float, ...]
"""Lengths of ink and gap, in line widths; empty for a solid line."""
_MARKERS = frozenset(("", *".,ov^<>12348spP*hH+xXDd|_"))


@dataclass(frozen=True)
class Look:
    """Look of a line.

    Args:
        colour: colour of line and interval, as #RRGGBB.
        dashes: lengths of ink and gap, in line widths; empty for a solid line.
        marker: marker of the points, one character of matplotlib; empty for none.
        width: line width in points.

    Raises:
        ValueError: a value is not of this kind.
    """

    colour: str
    dashes: Dashes = ()
    marker: str = ""
    _: KW_ONLY
    width: float = 1.2

    def __post_init__(self) -> None:
        if not re.fullmatch("#[0-9A-F]{6}", str(self.colour)):
            raise ValueError(f"colour {self.colour!r} must be written as #RRGGBB")
        if len(self.dashes) % 2 or not all(length > 0 for length in self.dashes):
            raise ValueError(f"dashes {self.dashes!r} are not pairs of lengths above 0")
        if self.marker not in _MARKERS:
            raise ValueError(f"marker {self.marker!r} is not a matplotlib marker")
        if not self.width > 0:
            raise ValueError(f"width {self.width!r} is not above 0")

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


@dataclass(frozen=True, kw_only=True)
class Looks:
    """Content of `looks.yaml`.

    Args:
        colours: colours by name.
        dashes: dashes by name.
        algorithms: looks by label.
        rivals: looks by label.
        label_learners: looks by name.
        references: looks by name.
        others: looks for all other labels.
    """

    colours: Mapping[str, str]
    dashes: Mapping[str, Dashes]
    algorithms: Mapping[str, Look]
    rivals: Mapping[str, Look]
    label_learners: Mapping[str, Look]
    references: Mapping[str, Look]
    others: tuple[Look, ...]


def looks_from(content: Mapping[str, Any]) -> Looks:
    """Parse the content of `looks.yaml`.

    Raises:
        ValueError: a section is missing or unknown, or a look is invalid; the message names it.
    """
    sections = {section.name for section in fields(Looks)}
    if wrong := sections ^ set(content):
        raise ValueError(f"looks.yaml: sections missing or unknown: {', '.join(sorted(wrong))}")
    colours, others = content["colours"], content["others"]
    dashes = {name: tuple(lengths) for name, lengths in content["dashes"].items()}

    def look(section: str, label: str, block: Mapping[str, Any]) -> Look:
        try:
            name, dashing = block["colour"], block.get("dashes", "solid")
            if dashing not in dashes:
                raise ValueError(f"dashes {dashing!r} are none of {', '.join(dashes)}")
            return Look(**{**block, "colour": colours.get(name, name), "dashes": dashes[dashing]})
        except KeyError as error:
            raise ValueError(f"looks.yaml: {section}: {label}: {error} is missing") from None
        except (TypeError, ValueError) as error:
            raise ValueError(f"looks.yaml: {section}: {label}: {error}") from None

    for name, colour in colours.items():
        look("colours", name, {"colour": colour})
    for name in dashes:
        look("dashes", name, {"colour": "#000000", "dashes": name})
    lines = {
        section: {label: look(section, label, block) for label, block in content[section].items()}
        for section in ("algorithms", "rivals", "label_learners", "references")
    }
    pairs = product(others["dashes"], others["colours"])
    unnamed = [
        look("others", colour, {"colour": colour, "dashes": dashing, "marker": marker})
        for (dashing, colour), marker in zip(pairs, cycle(others["markers"]))
    ]
    return Looks(colours=colours, dashes=dashes, others=tuple(unnamed), **lines)


_FILE: Any = read_yaml(Path(__file__).with_suffix(".yaml"))
_LOOKS = looks_from(_FILE)
ALGORITHMS = _LOOKS.algorithms
"""Looks of algorithms, by label."""
RIVALS = _LOOKS.rivals
"""Looks of rivals of L2P that no suite names, by label."""
LABEL_LEARNERS = _LOOKS.label_learners
"""Looks of the learners of distributions, by name."""
REFERENCES = _LOOKS.references
"""Looks of lines that belong to no algorithm, by name."""
OTHERS = _LOOKS.others
"""Looks for all other labels."""

SOLID, DASHED, SHORT = (_LOOKS.dashes[name] for name in ("solid", "dashed", "short"))
BLACK, GREY, AXIS, GRID = (_LOOKS.colours[name] for name in ("black", "grey", "axis", "grid"))
REFUTED, ENVELOPE = _LOOKS.colours["refuted"], _LOOKS.colours["envelope"]
BAND, RULE = _LOOKS.colours["band"], _LOOKS.colours["rule"]
STATIC = REFERENCES["best-fixed-expert"].colour


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
