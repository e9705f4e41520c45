"""Versions of packages behind the results of a job."""

from __future__ import annotations

import platform
import sys
from contextlib import suppress
from importlib import metadata

PACKAGES = (
    *("dpol", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "pydantic", "snakemake"),
)
"""Packages that results depend on, in the order in which the report names them."""


def loaded_versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that this process has loaded."""
    versions = {"Python": platform.python_version()}
    for name in PACKAGES:
        if name.replace("-", "_") in sys.modules:
            with suppress(metadata.PackageNotFoundError):
                versions[name] = metadata.version(name)
    return versions
