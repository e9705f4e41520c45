"""The job that shows a study: draw the figures of its sections, render their tables.

It imports `show.py` of a study and the modules of the functions that draw, not the plan of the
study, which may name algorithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dpol.core.schemas import read_frame
from dpol.show.panels import save_figure
from dpol.show.rendering import write_table
from dpol.studies.registry import EVERY_RUN, PACKAGES
from dpol.studies.study import Facts, Frames, schemas_in, sections_in


def write_shown(
    package: str, name: str, facts: Facts, *, results: Mapping[str, str], files: Sequence[str]
) -> None:
    """Draw the figures and render the tables of a section of a study.

    Args:
        package: dotted name of the package of the study.
        name: name of the section.
        facts: facts about the run.
        results: files of result tables, which may be of other sections too.
        files: output files, likewise: figures/<name>.* and tables/<name>.*.

    Raises:
        DataError: a result table is missing, or does not fit its schema.
    """
    (section,) = (section for section in sections_in(package) if section.name == name)
    targets = list(map(Path, files))
    read = (it for it in (*section.results, *section.if_made) if it in results)
    frames = frames_of(package, {it: results[it] for it in read})
    for figure in section.figures:
        if paths := [path for path in targets if path.match(f"figures/{figure.name}.*")]:
            save_figure(figure.function(frames, facts), paths)
    for table in section.tables:
        if paths := [path for path in targets if path.match(f"tables/{table.name}.*")]:
            write_table(table.function(frames, facts), *paths)


def frames_of(package: str, results: Mapping[str, str | Path]) -> Frames:
    """Read the result tables of a section, which may be of a study that every run has.

    Args:
        package: dotted name of the package of the study.
        results: file of each result table.

    Raises:
        DataError: a result table is missing, or does not fit its schema.
    """
    packages = *(PACKAGES[it] for it in EVERY_RUN), package
    schemas = {name: schema for it in packages for name, schema in schemas_in(it).items()}
    return {name: read_frame(Path(path), schemas[name]) for name, path in results.items()}
