"""Packages of the extra `pipeline`, which the library does without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

PIPELINE = {
    "matplotlib", "openpyxl", "pandas", "pyarrow", "requests", "rocrate", "snakemake", "urllib3",
}  # fmt: skip
"""Modules of the extra."""


def missing(error: ModuleNotFoundError) -> str:
    """Return what to install if a module of the extra is missing; empty for any other module."""
    if error.name is None or error.name.partition(".")[0] not in PIPELINE:
        return ""
    return f'{error.name} is missing; run pip install ".[pipeline]" in a clone, or "dpol[pipeline]"'


@contextmanager
def needs_pipeline() -> Iterator[None]:
    """Let an import of a module of the extra fail with what to install.

    Raises:
        ModuleNotFoundError: the module is missing.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if remedy := missing(error):
            raise ModuleNotFoundError(remedy, name=error.name) from None
        raise
