"""Renew the generated parts of CONTRIBUTING.md: `python tools/contributing.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"


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


def targets() -> str:
    """Return the targets of the Makefile as a table."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    rows = re.findall(r"^([a-z-]+):.*## (.*)", makefile, re.MULTILINE)
    lines = [f"| `make {name}` | {meaning} |" for name, meaning in rows]
    return "\n".join(["| target | meaning |", "|---|---|", *lines, ""])


def renewed(page: str) -> str:
    """Return the page with its marked parts made new."""
    for name, part in {"rooms": rooms(), "targets": targets()}.items():
        start, end = f"<!-- {name}: made by tools/contributing.py -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(start)
        page = f"{before}{start}{part}{end}{rest.split(end)[1]}"
    return page


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
