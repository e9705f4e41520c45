"""The job of a section of the page: draw its figures, render its tables.

It imports `show.py` and `drawn.py` of a study, not its plan, which may name algorithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dpol.core.schemas import read_frame
from dpol.show.rendering import write_table
from dpol.show.style import save_figure
from dpol.studies.drawing import drawn_of
from dpol.studies.registry import EVERY_RUN, PACKAGES
from dpol.studies.study import Facts, Frames, schemas_in, sections_in


def write_shown(
    package: str,
    name: str,
    facts: Facts,
    *,
    results: Mapping[str, str],
    files: Sequence[str],
) -> None:
    """Draw the figures and render the tables of a section of a study.

    Args:
        package: dotted name of the package of the study.
        name: name of the section.
        facts: facts about the run.
        results: file of each result table.
        files: output files: figures/<name>.* and tables/<name>.*.

    Raises:
        DataError: a result table is missing, or does not fit its schema.
    """
    (section,) = (section for section in sections_in(package) if section.name == name)
    drawn = drawn_of(section, package)
    frames, targets = frames_of(package, results), list(map(Path, files))
    for figure in section.figures:
        if paths := [path for path in targets if path.match(f"figures/{figure.name}.*")]:
            save_figure(drawn.figures[figure.name](frames, facts), paths)
    for table in section.tables:
        if paths := [path for path in targets if path.match(f"tables/{table.name}.*")]:
            write_table(drawn.tables[table.name](frames, facts), *paths)


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
