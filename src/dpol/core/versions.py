"""Versions of packages behind the results of a job: written to its log, read for the report."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import metadata
from pathlib import Path

PACKAGES = (
    *("dpol", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pydantic", "dp-accounting"),
    "snakemake",
)
"""Packages that results depend on, in the order in which the report names them."""
_MARK = "made with "

Versions = tuple[tuple[str, str], ...]
"""Pairs of package and version; a package has several if jobs used different ones."""


def loaded_versions() -> Versions:
    """Return the versions of Python and of the packages that this process has loaded."""
    versions = [("Python", platform.python_version())]
    for name in PACKAGES:
        if name.replace("-", "_") in sys.modules:
            with suppress(metadata.PackageNotFoundError):
                versions.append((name, metadata.version(name)))
    return tuple(versions)


def as_line(versions: Versions) -> str:
    """Return versions as a line of a log, which `recorded_versions` reads.

    >>> as_line((("Python", "3.11.2"), ("numpy", "2.1.0")))
    'made with Python 3.11.2, numpy 2.1.0'
    """
    return _MARK + ", ".join(f"{name} {version}" for name, version in versions)


def recorded_versions(logs: Iterable[Path]) -> Versions:
    """Return all versions in the logs of jobs; a log may be missing."""
    recorded = set[tuple[str, str]]()
    for path in logs:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        lines = re.findall(rf"^\S+ {_MARK}(.+)$", text, re.MULTILINE)
        for part in lines[-1].split(", ") if lines else ():
            name, _, version = part.partition(" ")
            recorded.add((name, version))
    order = ("Python", *PACKAGES)
    return tuple(
        sorted((p for p in recorded if p[0] in order), key=lambda p: (order.index(p[0]), p[1]))
    )
