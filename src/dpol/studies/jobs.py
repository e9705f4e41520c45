"""Generic jobs of all studies: compute one point, make the result tables."""

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
        settings: its block of the config; None if its points are whole.
        points: some of its points.
        inputs: their other inputs.
        files: where their parts are written, by name.
    """
    block = None if study.whole_points else study.settings.model_validate(settings)
    found = [load(study.run)(block, point, inputs) for point in points]
    for name, path in files.items():
        write_frame(together([parts[name] for parts in found]), path)


def together(parts: Sequence[pd.DataFrame | arrow.Table]) -> pd.DataFrame | arrow.Table:
    """The rows of several points, whose tables are of one kind."""
    first, *others = parts
    if not others:
        return first
    import pyarrow as arrow

    return arrow.concat_tables(parts) if isinstance(first, arrow.Table) else joined(parts)


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
        settings: its block of the config.
        facts: what is known of the run.
        inputs: the files of each part, in the order of the points, and those that `reads` names.
        files: where the result tables are written.

    Raises:
        DataError: a file is not whole, or a table is not what its schema says.
    """
    frames = collect(
        study, study.settings.model_validate(settings), facts, load(study.read)(inputs)
    )
    for name, path in files.items():
        write_frame(frames[name], path)


def read_rows(files: Mapping[str, Sequence[str]]) -> dict[str, pd.DataFrame]:
    """The rows of all points, in the order of the files, by name of the part."""
    import pandas as pd  # not where a point plays: most jobs do that, and need none

    return {
        name: joined([pd.read_parquet(path) for path in paths]) for name, paths in files.items()
    }


def joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all points; a part without rows has no columns."""
    import pandas as pd

    found = [part for part in parts if len(part)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame()


def collect(study: Study, settings: Any, facts: Facts, parts: Any) -> dict[str, pd.DataFrame]:
    """The result tables of a study, checked.

    Args:
        study: the study.
        settings: its settings.
        facts: what is known of the run.
        parts: what `study.read` returns.

    Raises:
        DataError: a table is not what its schema says.
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
    """The result tables of a study whose parts are rows, all points in this process.

    A point that needs a file which is not there is left out.

    Args:
        study: the study.
        settings: its settings.
        seed: root of all randomness.
        delta: delta at which epsilon is reported with mu.
        confidence: of the intervals that are shown together.
        streams: labels of the gain streams.
        folder: with the input files of the points, as in results/<run>/.

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
    rows = {name: joined([parts[name] for parts in every]) for name in study.results}
    return collect(study, settings, facts, rows)
