"""Names of things in exhibits, and looks of their lines, from `entries.yaml`."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, field
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


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is shown of a thing.

    Args:
        short: its name in tables and on axes.
        long: its name in legends and sentences.
        paper1: the first paper's name for it, if it is a column of Table 2.
        beyond: whether it is not in the papers, and bears a mark.
        plays: what an algorithm of this label must be in a suite, as a block of a config; empty if
            its registered name says it.
        look: look of its line, if it has one of its own.
    """

    short: str
    long: str
    paper1: str = ""
    beyond: bool = False
    plays: Mapping[str, Any] = field(default_factory=dict)
    look: Look | None = None

    @property
    def marked(self) -> str:
        """Short name, with the mark † if it is not in the papers."""
        return marked(self.short, self.beyond)


_FILE: Any = read_yaml(Path(__file__).with_suffix(".yaml"))
_COLOURS: Mapping[str, str] = _FILE["colours"]
_DASHES: Mapping[str, Dashes] = {name: tuple(own) for name, own in _FILE["dashes"].items()}


def _look(block: Mapping[str, Any]) -> Look:
    colour, dashes = block["colour"], block.get("dashes", "solid")
    return Look(**{**block, "colour": _COLOURS.get(colour, colour), "dashes": _DASHES[dashes]})


def _entry(name: str, block: Mapping[str, Any], noun: str) -> Entry:
    keys = "short", "long", "paper1", "beyond", "plays"
    names = {key: block[key] for key in keys if key in block}
    look = {key: value for key, value in block.items() if key not in names}
    usual = {"short": name, "long": f"{names.get('short', name)}{noun}"}
    return Entry(**usual | names, look=_look(look) if look else None)


_KINDS = "algorithms", "noises", "batches", "label_learners", "references"
ENTRIES: Mapping[str, Mapping[str, Entry]] = {
    kind: {
        name: _entry(name, block, " noise" * (kind == "noises"))
        for name, block in _FILE[kind].items()
    }
    for kind in _KINDS
}
"""The entries, by kind and name."""
ALGORITHMS, LABEL_LEARNERS, REFERENCES = (
    {name: entry.look for name, entry in ENTRIES[kind].items() if entry.look}
    for kind in ("algorithms", "label_learners", "references")
)
"""Looks of algorithms, by label; of learners of distributions, and of lines of no algorithm."""
BATCHES = ENTRIES["batches"]
"""Entries of the bounds on switches of RW-AdaBatch and of the kinds of its curves; no others."""
PAPER_1 = {name: entry.paper1 for name, entry in ENTRIES["algorithms"].items() if entry.paper1}
"""The first paper's names for single algorithms, by label."""
BEYOND_MARK = "†: not in the papers"
"""The mark of what the papers lack, and its meaning."""
NOT_PAPERS = "not in the paper"
"""What is said behind the name of a system in an exhibit of a paper that lacks it."""
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


def algorithm_entry(label: str) -> Entry:
    """Return the entry of an algorithm; any other label is shown as it is."""
    return ENTRIES["algorithms"].get(label, Entry(short=label, long=label))


def noise_entry(name: str) -> Entry:
    """Return the entry of a noise; one of another package is shown by its own name.

    >>> noise_entry("capacity").marked, noise_entry("steady").long
    ('capacity †', 'steady noise')
    """
    return ENTRIES["noises"].get(name, Entry(short=name, long=f"{name} noise", beyond=True))


def reference(label: str) -> str:
    """Return the name that readers see of a reference, such as the best fixed expert."""
    return ENTRIES["references"][label].short


def marked(title: str, beyond: bool) -> str:
    """Add the mark † to a title if its subject is not in the papers."""
    return f"{title} †" if beyond else title
