"""How sections of the page are shown, and their job: draw the figures, render the tables.

The `show.py` of a study has its `SECTIONS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dpol.core.schemas import read_frame
from dpol.show.style import save_figure
from dpol.show.table import Table, write_table
from dpol.studies.registry import MAIN, load_study, study_in
from dpol.studies.study import Facts, Frames, Study, schemas_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpol.studies.page import PageFacts, Widget


@dataclass(frozen=True, kw_only=True)
class FigureSpec:
    """A figure of a study.

    Args:
        draw: takes (frames, settings, facts) and returns the figure, whose label is its finding in
            a sentence.
        title: what it shows, in a few words.
        description: what is drawn where.
        place: whether the page shows it, folds it, or shows only its finding; its files are always
            made.
    """

    draw: Callable[[Frames, Any, Facts], Figure]
    title: str
    description: str
    place: Literal["seen", "folded", "file"] = "seen"


@dataclass(frozen=True, kw_only=True)
class TableSpec:
    """A table of a study.

    Args:
        build: takes (frames, settings, facts) and returns the table.
        title: what it shows, in a few words.
        place: whether the page shows it above the figures (`first`) or below them, folds it, or
            only links it; by default it is shown, but folded below a figure. Its files are always
            made.
    """

    build: Callable[[Frames, Any, Facts], Table]
    title: str
    place: Literal["first", "seen", "folded", "file"] | None = None


@dataclass(frozen=True, kw_only=True)
class SectionSpec:
    """How a section of a study is shown.

    Args:
        figures: its figures by name, as in the `Section` of the study.
        tables: its tables by name.
        widget: takes (frames, settings, facts) and returns its interactive figure
            (`dpol.studies.page`); None for none.
        leads: whether it is the first section of the page.
    """

    figures: Mapping[str, FigureSpec] = field(default_factory=dict)
    tables: Mapping[str, TableSpec] = field(default_factory=dict)
    widget: Callable[[Frames, Any, PageFacts], Widget] | None = None
    leads: bool = False


def sections_in(study: Study) -> Mapping[str, SectionSpec]:
    """Return the sections of a study by name, with all their figures and tables."""
    sections: Mapping[str, SectionSpec] = import_module(study.showing).SECTIONS
    return sections


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
    block, section = study.settings.model_validate(settings), sections_in(study)[name]
    schemas = {**schemas_of(load_study(MAIN)), **schemas_of(study)}
    frames = {name: read_frame(Path(path), schemas[name]) for name, path in results.items()}
    for figure, paths in _by_name("figures", files).items():
        save_figure(section.figures[figure].draw(frames, block, facts), paths)
    for table, paths in _by_name("tables", files).items():
        write_table(section.tables[table].build(frames, block, facts), *paths)


def _by_name(folder: str, files: Sequence[str]) -> Mapping[str, list[Path]]:
    """Return the files in a folder by what they show, which is their name up to the first dot."""
    named: dict[str, list[Path]] = {}
    for path in map(Path, files):
        if path.parent.name == folder:
            named.setdefault(path.name.partition(".")[0], []).append(path)
    return named
