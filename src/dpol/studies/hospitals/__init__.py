"""The main experiment: algorithms side by side on the gain streams of hospitals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpol.core.schemas import Schema, read_schemas, write_frame

if TYPE_CHECKING:
    import pandas as pd

FOLDER = Path(__file__).parent


def schema(name: str) -> Schema:
    """The schema of a result table of the main experiment."""
    return read_schemas(FOLDER / "results.yaml")[name]


def write_tables(frames: Mapping[str, pd.DataFrame], files: Mapping[str, str]) -> None:
    """Write result tables of the main experiment, each checked.

    Args:
        frames: result tables, by name.
        files: where they are written, by name.

    Raises:
        DataError: a table is not what its schema says.
    """
    for name, path in files.items():
        write_frame(schema(name).check(frames[name], f"hospitals: {name}"), path)
