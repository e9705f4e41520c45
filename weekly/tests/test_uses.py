"""The page of what weekly uses of dpol, and the table of checks, say what the code says."""

from __future__ import annotations

import ast
from pathlib import Path

import dpol_weekly

PACKAGE, PAGE = Path(dpol_weekly.__file__).parent, Path(__file__).parents[1] / "docs/dpol.md"


def used():
    """The names that the package imports of each module of dpol."""
    names = {}
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                assert not any(name.name.split(".")[0] == "dpol" for name in node.names), file
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpol":
                names.setdefault(node.module, set()).update(name.name for name in node.names)
    return names


def lines():
    """The rows of the table, as the page has them."""
    return [f"| `{name}` | {', '.join(sorted(them))} |" for name, them in sorted(used().items())]


def test_the_page_lists_what_is_imported():
    assert lines() == [
        splitline for splitline in PAGE.read_text().splitlines() if splitline.startswith("| `dpol")
    ]
