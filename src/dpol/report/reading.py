"""Reading the files of a run; whatever is wrong with one is told with the remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd

from dpol.config.models import Config
from dpol.core.schemas import read_frame, unreadable
from dpol.studies import hospitals
from dpol.studies.registry import load_study
from dpol.studies.study import schemas_of


def read_results(folder: Path, config: Config) -> dict[str, pd.DataFrame]:
    """The tables of a run that the answers are computed from, by name.

    They are `summary`, `ranking`, and `claims` and `audits` if the config asks for them.

    Raises:
        DataError: a table is missing, cannot be read, or is not what its schema says.
    """
    schemas = {name: hospitals.schema(name) for name in ("summary", "ranking")}
    for name in ("claims", "audits"):
        if config.block(name) is not None:
            schemas[name] = schemas_of(load_study(name))[name]
    return {name: read_frame(folder / f"{name}.parquet", it) for name, it in schemas.items()}


def read_fragment(path: Path) -> str:
    """A table as HTML. Raises DataError if it is missing, or is no table."""
    text = read_text(path)
    if "</table>" not in text:
        raise unreadable(path, ValueError("it holds no table"))
    return text


def read_text(path: Path) -> str:
    """The text of a file. Raises DataError if it is missing, or is no text."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def read_json(path: Path) -> Any:
    """What a JSON file holds. Raises DataError if it is missing, or is not JSON."""
    try:
        return json.loads(read_text(path))
    except ValueError as error:
        raise unreadable(path, error) from None
