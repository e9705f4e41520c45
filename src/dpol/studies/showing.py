"""The job of a section of the page: draw its figures, render its tables.

It imports `show.py` of a study and `drawn.py` of the package that draws, not the plan of the study,
which may name algorithms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dpol.show.rendering import write_table
from dpol.show.style import save_figure
from dpol.studies.drawing import drawn_of, frames_of
from dpol.studies.study import Facts, sections_in


def write_shown(
    package: str, name: str, facts: Facts, *, results: Mapping[str, str], files: Sequence[str]
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
    drawn = drawn_of(section)
    frames, targets = frames_of(package, results), list(map(Path, files))
    for figure, draw in drawn.figures.items():
        if paths := [path for path in targets if path.match(f"figures/{figure}.*")]:
            save_figure(draw(frames, facts), paths)
    for table, build in drawn.tables.items():
        if paths := [path for path in targets if path.match(f"tables/{table}.*")]:
            write_table(build(frames, facts), *paths)
