"""Modules that a page of the library reference describes."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path

PAGES = Path(__file__).parent / "reference/api"
MODULES = re.compile(r"^<!-- modules: ([\w.]+) -->$", re.MULTILINE)


def named() -> list[str]:
    """Names on the pages, page by page."""
    return [
        name for page in sorted(PAGES.glob("*.md")) for name in MODULES.findall(page.read_text())
    ]


def modules_of(name: str) -> list[str]:
    """A module, or a package with all in it that the pages do not name on their own."""
    found = [name]
    own = set(named()) - {name}
    for below in pkgutil.iter_modules(getattr(import_module(name), "__path__", ())):
        if (path := f"{name}.{below.name}") not in own:
            found += modules_of(path)
    return found
