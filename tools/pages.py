"""Write what programs write of the pages: `make pages`.

A page marks such a part, a *block*, with `<!-- written by tools/FILE.py:FUNCTION -->` and
`<!-- /FUNCTION -->`. The function returns the text, and its docstring begins with the path of the
page. A block of `tools/tables.yaml:NAME` has rows of a recorded CSV. Results, numbers and
comparisons alike, stand in blocks; prose asks, defines and links.
"""

from __future__ import annotations

import importlib
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import tables

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"(<!-- written by tools/([\w.]+):(\w+) -->\n).*?(<!-- /\3 -->)", re.DOTALL)
MEASURED = re.compile(r"<!-- (dry runs|faults).*?<!-- (?:/\1|end of \1) -->", re.DOTALL)
"""Tables that a test measures for minutes and writes itself."""
WHOLE = {"config/schema.json": ("manual.py", "schema")}
"""Files that a function writes whole."""
LISTED = (
    *("README.md", "CONTRIBUTING.md", "SECURITY.md"),
    *("config/README.md", "data/*/README.md", "docs/*.md"),
)
"""Pages whose words by hand are counted."""


def tracked(*patterns: str) -> list[str]:
    """Return the paths of tracked files."""
    return subprocess.check_output(["git", "ls-files", *patterns], cwd=ROOT, text=True).split()


@cache
def text_of(file: str, name: str) -> str:
    """Return what a function of a file of tools/ writes today, or the table of this name."""
    if file == "tables.yaml":
        return tables.written(name)
    write: Callable[[], str] = getattr(importlib.import_module(file.removesuffix(".py")), name)
    return write()


def read(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def written(page: str) -> str:
    """Return a page with its blocks as their functions write them today."""
    return BLOCK.sub(lambda mark: mark[1] + text_of(mark[2], mark[3]) + mark[4], page)


def all_written() -> dict[str, str]:
    """Return every page with blocks, and every file that a function writes, by path."""
    pages = {name: read(name) for name in tracked("*.md")}
    made = {name: text_of(*of) for name, of in WHOLE.items()}
    return made | {name: written(page) for name, page in pages.items() if BLOCK.search(page)}


def words_by_hand(page: str) -> int:
    """Return the number of words of a page outside its blocks."""
    return len(re.sub(r"(?s)<!--.*?-->", "", MEASURED.sub("", BLOCK.sub("", page))).split())


if __name__ == "__main__":
    for name, text in all_written().items():
        (ROOT / name).write_text(text, encoding="utf-8")
    of_pages = {name: words_by_hand(read(name)) for name in tracked(*LISTED)}
    print(f"Words written by hand: {sum(of_pages.values()):,} in {len(of_pages)} pages")
