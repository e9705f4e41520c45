"""Jobs of all studies: compute points, and make the result tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from dpol.core.columns import table_of
from dpol.core.schemas import write_frame
from dpol.studies.registry import study_in
from dpol.studies.study import Facts, FileLists, Inputs, Study, Values, schemas_in

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as arrow


def write_points(
    package: str, points: Sequence[Any], inputs: Inputs, files: Mapping[str, Path | str]
) -> None:
    """Compute the points of a job.

    Args:
        package: dotted name of the package of the study; its `study.py` is not imported.
        points: settings of some points of the study, as plain values.
        inputs: their other inputs.
        files: output file of each table, by name.
    """
    run = import_module(f"{package}.compute").run
    computed = [run(settings_from(package, plain), inputs) for plain in points]
    for name, path in files.items():
        write_frame(join_tables([parts[name] for parts in computed]), path)


def settings_from(package: str, plain: Any) -> Any:
    """Return the settings of a point of a study.

    Args:
        package: dotted name of the package of the study.
        plain: the settings as plain values, from `Job.plain`.

    Raises:
        ValidationError: a value is missing, or is not of the type that `POINT` says.

    >>> settings_from("dpol.studies.ledger.claims", "labels")
    'labels'
    """
    kind: Any = import_module(f"{package}.compute").POINT
    return TypeAdapter(kind).validate_python(plain)


def join_tables(parts: Sequence[Any]) -> pd.DataFrame | arrow.Table:
    """Concatenate the rows of several points: plain rows, or tables of one type."""
    import pyarrow as arrow

    if isinstance(parts[0], list):
        return table_of([row for part in parts for row in part])
    return arrow.concat_tables(parts) if isinstance(parts[0], arrow.Table) else join_frames(parts)


def write_results(
    package: str,
    settings: Values,
    facts: Facts,
    *,
    inputs: FileLists,
    files: Mapping[str, str],
) -> None:
    """Make the result tables of a study from the tables of its points, and check them.

    Args:
        package: dotted name of the package of the study.
        settings: the study's block of the config.
        facts: the facts about the run that it names.
        inputs: files of each table of the points, in their order, and of the points' inputs.
        files: output file of each result table.

    Raises:
        DataError: a file is incomplete, or a table does not fit its schema.
    """
    study = study_in(package)
    for name, frame in collect(study, study.settings.model_validate(settings), facts, inputs):
        write_frame(frame, files[name])
        del frame  # it may have millions of rows, and the next one is made now


def read_points(files: Sequence[Path | str]) -> pd.DataFrame:
    """Read a table of all points, in the order of the files."""
    import pandas as pd  # jobs that only play points need no pandas

    return join_frames([pd.read_parquet(path) for path in files])


def join_frames(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate the rows of all points; a part without rows has no columns.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"n": [2]})
    >>> join_frames([frame, frame.iloc[:0, :0], frame]).to_dict()
    {'n': {0: 2, 1: 2}}
    """
    import pandas as pd

    filled = [part for part in parts if len(part)]
    return pd.concat(filled, ignore_index=True) if filled else pd.DataFrame()


def collect(
    study: Study, settings: Any, facts: Facts, files: FileLists
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Make the result tables of a study one by one, check them, and yield them by name.

    A study without a `collect` of its own has the rows of its points, in the columns of the table.

    Args:
        study: the study.
        settings: its settings.
        facts: facts about the run.
        files: files of each table of the points, in their order, and of the points' inputs.

    Raises:
        DataError: a table does not fit its schema.
    """
    schemas = schemas_in(study.package)
    if own := getattr(import_module(study.collecting), "collect", None):
        frames = own(files, settings, facts)
    else:
        frames = {
            name: read_points(paths).filter([*schemas[name].columns])
            for name, paths in files.items()
            if name in study.results
        }
    for name, frame in frames.items() if isinstance(frames, Mapping) else frames:
        yield name, schemas[name].check(frame, f"{study.name}: {name}")
