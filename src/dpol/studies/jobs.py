"""Generic jobs of all studies: compute one point, collect the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from dpol.core.imports import load
from dpol.core.logs import progress
from dpol.core.schemas import read_frame, write_frame
from dpol.data.stream import GainStream, read_stream
from dpol.studies.study import Facts, Frames, Inputs, Study, schemas_of

_SCHEMA = "dpol.studies.hospitals:schema"  # as text: watched by those who need such a table


def write_point(
    study: Study,
    settings: Mapping[str, Any],
    point: Mapping[str, Any],
    *,
    seed: int,
    delta: float,
    stream: str | None,
    tables: Mapping[str, str],
    files: Mapping[str, str],
) -> None:
    """Compute one point of a study.

    Args:
        study: the study.
        settings: its block of the config.
        point: one of its points.
        seed: root of all randomness.
        delta: delta at which epsilon is reported with mu.
        stream: the file of the gain stream that the point is about, if it is.
        tables: the files of the result tables that it needs.
        files: where the rows of each result table are written.
    """
    read = {name: read_frame(Path(path), load(_SCHEMA)(name)) for name, path in tables.items()}
    own = None if stream is None else read_stream(Path(stream))
    inputs = Inputs(seed, delta, own, read)
    rows = load(study.run)(study.settings.model_validate(settings), point, inputs)
    for name, path in files.items():
        write_frame(rows[name], path)


def write_results(
    study: Study,
    settings: Mapping[str, Any],
    facts: Facts,
    *,
    parts: Mapping[str, Sequence[str]],
    files: Mapping[str, str],
) -> None:
    """Join the rows of all points of a study, and check them.

    Args:
        study: the study.
        settings: its block of the config.
        facts: what is known of the run.
        parts: the files of each result table, in the order of the points.
        files: where the result tables are written.

    Raises:
        DataError: a table is not what its schema says.
    """
    rows = {name: list(map(pd.read_parquet, paths)) for name, paths in parts.items()}
    frames = join(study, study.settings.model_validate(settings), facts, rows)
    for name, path in files.items():
        write_frame(frames[name], path)


def join(
    study: Study, settings: Any, facts: Facts, rows: Mapping[str, Sequence[pd.DataFrame]]
) -> dict[str, pd.DataFrame]:
    """The result tables of a study, checked.

    Args:
        study: the study.
        settings: its settings.
        facts: what is known of the run.
        rows: of each result table, those of the points in their order.

    Raises:
        DataError: a table is not what its schema says.
    """
    # A point may have no rows, and then no columns.
    frames: Mapping[str, pd.DataFrame] = {
        name: pd.concat([part for part in parts if len(part)], ignore_index=True)
        for name, parts in rows.items()
    }
    if study.collect:
        frames = load(study.collect)(frames, settings, facts)
    schemas = schemas_of(study)
    return {
        name: schemas[name].check(frame, f"{study.name}: {name}") for name, frame in frames.items()
    }


def compute(
    study: Study,
    settings: Any,
    *,
    seed: int,
    delta: float = 1e-6,
    confidence: float = 0.95,
    streams: Mapping[str, GainStream] = MappingProxyType({}),
    tables: Frames = MappingProxyType({}),
) -> dict[str, pd.DataFrame]:
    """The result tables of a study, all points in this process.

    A point that needs a result table which is not given is left out.

    Args:
        study: the study.
        settings: its settings.
        seed: root of all randomness.
        delta: delta at which epsilon is reported with mu.
        confidence: of the intervals that are shown together.
        streams: gain streams by label.
        tables: result tables of the main experiment, by name.

    >>> from dpol.studies.claims import STUDY
    >>> ledger = compute(STUDY, STUDY.settings(papers=["labels"]), seed=1)["claims"]
    >>> "holds" in set(ledger["verdict"])
    True
    """
    points = study.points(settings, list(streams)).values()
    every = [
        load(study.run)(
            settings, point, Inputs(seed, delta, streams.get(point.get("stream", "")), tables)
        )
        for point in progress(
            [it for it in points if set(it.get("tables", ())) <= set(tables)], study.name
        )
    ]
    facts = Facts({label: label for label in streams}, True, confidence)
    return join(
        study, settings, facts, {name: [it[name] for it in every] for name in study.results}
    )
