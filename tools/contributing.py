"""Renew the drawing of the rooms in CONTRIBUTING.md: `python tools/contributing.py`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
START, END = "<!-- rooms: made by tools/contributing.py -->\n", "<!-- end of rooms -->"


def rooms() -> str:
    """Return the rooms and the imports between them as a Mermaid flowchart.

    A room is a package or a module in `dpol`. An arrow means "imports". Arrows that a longer path
    implies are left out.
    """
    graph = grimp.build_graph("dpol")
    names = sorted(name for name in graph.find_children("dpol") if "__" not in name)
    imports = {
        (one, other)
        for one, other in permutations(names, 2)
        if graph.direct_import_exists(importer=one, imported=other, as_packages=True)
    }
    reached = _reached(names, imports)
    short = {
        (one, other)
        for one, other in imports
        if not any((one, via) in reached and (via, other) in reached for via in names)
    }
    arrows = [f"    {_room(one)} --> {_room(other)}" for one, other in sorted(short)]
    return "\n".join(["```mermaid", "flowchart TD", *arrows, "```", ""])


def renewed(page: str) -> str:
    """Return the page with the drawing of the rooms made new."""
    before, rest = page.split(START)
    return f"{before}{START}{rooms()}{END}{rest.split(END)[1]}"


def _room(name: str) -> str:
    return name.removeprefix("dpol.")


def _reached(names: Iterable[str], imports: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the transitive closure of the imports: pairs (importer, imported)."""
    reached = set(imports)
    for via in names:
        reached |= {
            (one, other)
            for one in names
            for other in names
            if (one, via) in reached and (via, other) in reached
        }
    return reached


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
