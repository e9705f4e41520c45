"""The job of a section: draw its figures and render its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dpol.core.plugins import load
from dpol.core.schemas import read_frame
from dpol.show.style import save_figure
from dpol.show.table import write_table
from dpol.studies.registry import MAIN, load_study
from dpol.studies.study import Facts, Study, schemas_of


def write_shown(
    study: Study,
    name: str,
    settings: Mapping[str, Any],
    facts: Facts,
    *,
    results: Mapping[str, str],
    files: Sequence[str],
) -> None:
    """Draw the figures and render the tables of a section of a study.

    Args:
        study: the study.
        name: name of the section.
        settings: the study's block of the config.
        facts: facts about the run.
        results: file of each result table.
        files: output files: figures/<name>.* and tables/<name>.*.

    Raises:
        DataError: a result table is missing, or does not fit its schema.
    """
    block = study.settings.model_validate(settings)
    (section,) = (each for each in study.sections_of(block, facts) if each.name == name)
    schemas = {**schemas_of(load_study(MAIN)), **schemas_of(study)}
    frames = {name: read_frame(Path(path), schemas[name]) for name, path in results.items()}
    for figure in section.figures:
        draw, paths = load(figure.draw), _files_of("figures", figure.name, files)
        save_figure(draw(frames, block, facts), paths)
    for table in section.tables:
        shown = load(table.build)(frames, block, facts)
        write_table(shown, *_files_of("tables", table.name, files))


def _files_of(folder: str, name: str, files: Sequence[str]) -> list[Path]:
    paths = map(Path, files)
    return [
        path for path in paths if path.parent.name == folder and path.name.split(".")[0] == name
    ]
