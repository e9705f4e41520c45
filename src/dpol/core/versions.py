"""The versions with which a job made its results: written into its log, read for the report."""

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
"""Packages on which results depend, in the order in which they are named."""
_MARK = "made with "

Versions = tuple[tuple[str, str], ...]
"""Package and version; a package has several where jobs differ."""


def loaded_versions() -> Versions:
    """Versions of Python and of the packages that this process has loaded."""
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        if name.replace("-", "_") in sys.modules:
            with suppress(metadata.PackageNotFoundError):
                found.append((name, metadata.version(name)))
    return tuple(found)


def as_line(versions: Versions) -> str:
    """Versions as a line of a log, which `recorded_versions` reads.

    >>> as_line((("Python", "3.11.2"), ("numpy", "2.1.0")))
    'made with Python 3.11.2, numpy 2.1.0'
    """
    return _MARK + ", ".join(f"{name} {version}" for name, version in versions)


def recorded_versions(logs: Iterable[Path]) -> tuple[Versions, int]:
    """All versions in the logs of jobs, and the number of logs without any.

    A log that is not there counts as one without any.
    """
    found, without = set[tuple[str, str]](), 0
    for path in logs:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        lines = re.findall(rf"^\S+ {_MARK}(.+)$", text, re.MULTILINE)
        without += not lines
        for part in lines[-1].split(", ") if lines else ():
            name, _, version = part.partition(" ")
            found.add((name, version))
    order = ("Python", *PACKAGES)
    return tuple(
        sorted((it for it in found if it[0] in order), key=lambda it: (order.index(it[0]), it[1]))
    ), without
