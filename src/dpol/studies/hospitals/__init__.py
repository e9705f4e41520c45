"""The main experiment: algorithms side by side on the gain streams of hospitals."""

from __future__ import annotations

from pathlib import Path

from dpol.core.schemas import Schema, read_schemas

FOLDER = Path(__file__).parent


def schema(name: str) -> Schema:
    """The schema of a result table of the main experiment."""
    return read_schemas(FOLDER / "results.yaml")[name]
