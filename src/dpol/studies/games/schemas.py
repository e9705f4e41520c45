"""The result tables of the main study, for the studies and reports that read them."""

from __future__ import annotations

from pathlib import Path

from dpol.core.schemas import Schema, read_schemas


def schema(name: str) -> Schema:
    """Return the schema of a result table of the main study."""
    return read_schemas(Path(__file__).with_name("results.yaml"))[name]
