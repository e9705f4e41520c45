"""Readers of the files of a run. An error names what is wrong with a file, and the remedy."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from dpol.config.models import Config
from dpol.core.schemas import read_frame, unreadable
from dpol.studies import hospitals
from dpol.studies.registry import load_study
from dpol.studies.study import schemas_of


def read_results(folder: Path, config: Config) -> dict[str, pd.DataFrame]:
    """The tables of a run that the page is computed from, by name.

    They are `summary`, `cumulative`, `ranking`, and `replay`, `claims` and `audits` if the config
    asks for them.

    Raises:
        DataError: a table is missing, cannot be read, or is not what its schema says.
    """
    main = ("summary", "cumulative", "ranking", *(["replay"] if config.replayed else []))
    schemas = {name: hospitals.schema(name) for name in main}
    for name in ("claims", "audits"):
        if config.block(name) is not None:
            schemas[name] = schemas_of(load_study(name))[name]
    return {name: read_frame(folder / f"{name}.parquet", it) for name, it in schemas.items()}


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """A block that reads a file. Raises DataError if it is missing, or is not what it should be."""
    try:
        yield
    except (OSError, LookupError, SyntaxError, TypeError, ValueError) as error:
        raise unreadable(path, error) from None


def read_fragment(path: Path) -> str:
    """A table as HTML. Raises DataError if it is missing, or is not a table."""
    with reading(path):
        text = path.read_text(encoding="utf-8")
        if "</table>" not in text:
            raise ValueError("it holds no table")
    return text


def read_image(path: Path) -> tuple[str, float]:
    """A figure as base64, its width in points. Raises DataError if it is missing, or is none."""
    with reading(path):
        image = path.read_bytes()
        width = float(ElementTree.fromstring(image).attrib["viewBox"].split()[2])
    return base64.b64encode(image).decode(), width
