"""Lists of attacks: whether a test that is named is there."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def tests_of(file):
    """Names of the tests of a file."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def is_there(where):
    """True if `FILE::NAME` is a test."""
    file, _, name = where.partition("::")
    return (ROOT / file).is_file() and name in tests_of(file)
