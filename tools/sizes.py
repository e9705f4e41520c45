"""Refuse files and functions of src that have grown too long: `python tools/sizes.py src`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

MOST_LINES = 350
MOST_LINES_OF_A_FUNCTION = 45


def too_long(path: Path) -> Iterator[str]:
    """Parts of a file that are too long, functions with their signature and docstring."""
    text = path.read_text(encoding="utf-8")
    if (lines := len(text.splitlines())) > MOST_LINES:
        yield f"{path}: {lines} lines, at most {MOST_LINES}; split the file by subject"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > MOST_LINES_OF_A_FUNCTION:
                where = f"{path}:{node.lineno}: {node.name}"
                yield f"{where}: {lines} lines, at most {MOST_LINES_OF_A_FUNCTION}; split it"


def main(folder: str) -> int:
    """Print what is too long below a folder; 1 if anything is."""
    found = [line for path in sorted(Path(folder).rglob("*.py")) for line in too_long(path)]
    print("\n".join(found) or f"{folder}: no file or function is too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
