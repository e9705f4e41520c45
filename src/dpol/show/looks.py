"""Looks of the lines of figures: colour, dashes, marker and width, as `looks.yaml` has them."""

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
"""Lengths of ink and gap in line widths; none for a solid line."""
_MARKERS = frozenset(("", *".,ov^<>12348spP*hH+xXDd|_"))


@dataclass(frozen=True)
class Look:
    """The look of a line.

    Args:
        colour: colour of line and interval, as #RRGGBB.
        dashes: lengths of ink and gap in line widths; empty for a solid line.
        marker: marker of its points, one character of matplotlib; empty for none.
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
            raise ValueError(f"colour {self.colour!r} is not #RRGGBB")
        if len(self.dashes) % 2 or not all(length > 0 for length in self.dashes):
            raise ValueError(f"dashes {self.dashes!r} are not pairs of lengths above 0")
        if self.marker not in _MARKERS:
            raise ValueError(f"marker {self.marker!r} is not a marker of matplotlib")
        if not self.width > 0:
            raise ValueError(f"width {self.width!r} is not above 0")

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


@dataclass(frozen=True, kw_only=True)
class Looks:
    """What `looks.yaml` holds.

    Args:
        colours: by name.
        dashes: by name.
        algorithms: by label.
        rivals: by label.
        label_learners: by name.
        references: by name.
        others: looks of labels that have none of their own.
    """

    colours: Mapping[str, str]
    dashes: Mapping[str, Dashes]
    algorithms: Mapping[str, Look]
    rivals: Mapping[str, Look]
    label_learners: Mapping[str, Look]
    references: Mapping[str, Look]
    others: tuple[Look, ...]


def looks_from(content: Mapping[str, Any]) -> Looks:
    """The looks that the content of `looks.yaml` describes.

    Raises:
        ValueError: a section is missing or unknown, or a look is not one; the message names it.
    """
    sections = {it.name for it in fields(Looks)}
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
"""Looks of lines that are no algorithm's, by name."""
OTHERS = _LOOKS.others
"""Looks of labels that have none of their own."""

SOLID, DASHED, SHORT = (_LOOKS.dashes[it] for it in ("solid", "dashed", "short"))
BLACK, GREY, AXIS, GRID = (_LOOKS.colours[it] for it in ("black", "grey", "axis", "grid"))
REFUTED, ENVELOPE = _LOOKS.colours["refuted"], _LOOKS.colours["envelope"]
BAND, RULE = _LOOKS.colours["band"], _LOOKS.colours["rule"]
STATIC = REFERENCES["best-fixed-expert"].colour


def looks_of(labels: Iterable[str], known: Mapping[str, Look] = ALGORITHMS) -> dict[str, Look]:
    """A look for each label of one figure, whatever their order.

    A label that is not known gets the look that its name hashes to, or the next one that is least
    like the others of the figure.

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
    """Overlap of a look with others: colour with dashes, colour alone, dashes or marker alone."""
    both = colour = rest = 0
    for other in taken:
        both += (look.colour, look.dashes) == (other.colour, other.dashes)
        colour += look.colour == other.colour
        rest += (look.dashes == other.dashes) + (look.marker == other.marker)
    return both, colour, rest
