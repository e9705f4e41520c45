"""Jobs of all studies: compute points, and make the result tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.logs import progress
from dpol.core.plugins import load
from dpol.core.schemas import write_frame
from dpol.studies.study import Facts, Frames, Inputs, Point, Study, schemas_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as arrow


def write_points(
    study: Study,
    settings: Any,
    points: Sequence[Point],
    inputs: Inputs,
    files: Mapping[str, str],
) -> None:
    """Compute the points of a job.

    Args:
        study: the study.
        settings: the study's block of the config; None if its points are whole.
        points: some points of the study.
        inputs: their other inputs.
        files: output file of each part, by name.
    """
    block = None if study.whole_points else study.settings.model_validate(settings)
    computed = [load(study.run)(block, point, inputs) for point in points]
    for name, path in files.items():
        write_frame(together([parts[name] for parts in computed]), path)


def together(parts: Sequence[pd.DataFrame | arrow.Table]) -> pd.DataFrame | arrow.Table:
    """Concatenate the rows of several points, whose tables have one type."""
    first, *others = parts
    if not others:
        return first
    import pyarrow as arrow

    return arrow.concat_tables(parts) if isinstance(first, arrow.Table) else join_frames(parts)


def write_results(
    study: Study,
    settings: Mapping[str, Any],
    facts: Facts,
    *,
    inputs: Mapping[str, Sequence[str]],
    files: Mapping[str, str],
) -> None:
    """Make the result tables of a study from the parts of its points, and check them.

    Args:
        study: the study.
        settings: the study's block of the config.
        facts: facts about the run.
        inputs: files of each part, in the order of the points, and the files named by `reads`.
        files: output file of each result table.

    Raises:
        DataError: a file is incomplete, or a table does not fit its schema.
    """
    frames = collect(
        study, study.settings.model_validate(settings), facts, load(study.read)(inputs)
    )
    for name, path in files.items():
        write_frame(frames[name], path)


def read_rows(files: Mapping[str, Sequence[str]]) -> dict[str, pd.DataFrame]:
    """Read the rows of all points, in the order of the files, by name of the part."""
    import pandas as pd  # jobs that only play points need no pandas

    return {
        name: join_frames([pd.read_parquet(path) for path in paths])
        for name, paths in files.items()
    }


def join_frames(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate the rows of all points; a part without rows has no columns."""
    import pandas as pd

    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def collect(study: Study, settings: Any, facts: Facts, parts: Any) -> dict[str, pd.DataFrame]:
    """Make the result tables of a study, and check them.

    Args:
        study: the study.
        settings: its settings.
        facts: facts about the run.
        parts: the return value of `study.read`.

    Raises:
        DataError: a table does not fit its schema.
    """
    frames = load(study.collect)(parts, settings, facts) if study.collect else parts
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
    streams: Sequence[str] = (),
    folder: Path | None = None,
) -> dict[str, pd.DataFrame]:
    """Compute the result tables of a study whose parts are rows, in this process.

    Points with a missing input file are left out.

    Args:
        study: the study.
        settings: its settings.
        seed: root of all randomness.
        delta: delta at which epsilon is reported with mu.
        confidence: confidence of the intervals that are shown together.
        streams: labels of the gain streams.
        folder: folder with the input files of the points, laid out as results/<run>/.

    >>> from dpol.studies.claims import STUDY
    >>> ledger = compute(STUDY, STUDY.settings(papers=["labels"]), seed=1)["claims"]
    >>> "holds" in set(ledger["verdict"])
    True
    """
    every: list[Frames] = []
    facts = Facts({label: label for label in streams}, True, confidence, delta=delta)
    for point in progress(list(study.points(settings, facts).values()), study.name):
        named = point.get("inputs", {})
        files = {name: folder / path for name, path in named.items()} if folder else {}
        if len(files) < len(named) or not all(path.exists() for path in files.values()):
            continue
        inputs = Inputs(seed=seed, delta=delta, memory_mb=1000, files=files)
        every.append(load(study.run)(settings, point, inputs))
    rows = {name: join_frames([parts[name] for parts in every]) for name in study.results}
    return collect(study, settings, facts, rows)
