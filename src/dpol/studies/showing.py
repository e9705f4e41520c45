"""The job of a section of the page: draw its figures, render its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpol.core.schemas import read_frame
from dpol.show.style import save_figure
from dpol.show.table import write_table
from dpol.studies.registry import MAIN, load_study, study_in
from dpol.studies.study import Facts, schemas_of


def write_shown(
    package: str,
    name: str,
    settings: Mapping[str, Any],
    facts: Facts,
    *,
    results: Mapping[str, str],
    files: Sequence[str],
) -> None:
    """Draw the figures and render the tables of a section of a study.

    Args:
        package: dotted name of the package of the study.
        name: name of the section.
        settings: the study's block of the config.
        facts: facts about the run.
        results: file of each result table.
        files: output files: figures/<name>.* and tables/<name>.*.

    Raises:
        DataError: a result table is missing, or does not fit its schema.
    """
    study = study_in(package)
    block = study.settings.model_validate(settings)
    (section,) = (section for section in study.sections if section.name == name)
    schemas = {**schemas_of(load_study(MAIN)), **schemas_of(study)}
    frames = {name: read_frame(Path(path), schemas[name]) for name, path in results.items()}
    for figure in section.figures:
        if paths := _files_of("figures", figure.name, files):
            save_figure(study.drawn.figures[figure.name](frames, block, facts), paths)
    for table in section.tables:
        if paths := _files_of("tables", table.name, files):
            write_table(study.drawn.tables[table.name](frames, block, facts), *paths)


def _files_of(folder: str, name: str, files: Sequence[str]) -> list[Path]:
    """Return the files of a figure or table: its name is theirs up to the first dot."""
    return [
        path
        for path in map(Path, files)
        if path.parent.name == folder and path.name.partition(".")[0] == name
    ]
