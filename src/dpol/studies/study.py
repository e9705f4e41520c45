"""A study as a value: its settings, points and results, and how they are shown.

A study is a folder of `dpol.studies` whose package holds `STUDY`, with one line in
`dpol.studies.registry`; or a foreign package, by entry point. Its `settings` define its block of
the config, `points` its jobs, `results.yaml` its tables in the manual, and `shown.yaml` its
sections of the report.

Functions that run are named as text, "module:function", and imported when a job calls them, so that
planning imports no mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from dpol.core.schemas import Schema, read_schemas
from dpol.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from dpol.noise import MemoryChoice

Frames = Mapping[str, "pd.DataFrame"]
"""Result tables, by name."""
Values = Mapping[str, Any]
"""Plain values by name: text, numbers, lists of them, and blocks."""
FileLists = Mapping[str, Sequence[Path | str]]
"""Files that result tables are made from, in lists by name."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One job's work, whole by itself: a change of the config reruns only the points it changes.

    Args:
        settings: all that `run` gets, as plain values: text, numbers, lists of them, and blocks.
        inputs: files that it reads, by name, as paths below results/<run>/.
        code: modules that the job imports by name: of its algorithms, learners and noises. A job
            that may play any algorithm names none.
        seconds: expected time on one core, as in config/config.yaml; short points with the same
            inputs may share a job.
    """

    settings: Values
    inputs: Mapping[str, str] = field(default_factory=dict)
    code: Sequence[str] = ()
    seconds: float = 10.0


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Inputs of a point besides its settings.

    Args:
        seed: root of all randomness.
        memory_mb: RAM that the job may use, in MB; no result depends on it.
        files: files that the point reads, by the point's names for them.
    """

    seed: int
    memory_mb: float
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """Facts about a run that are known before its jobs.

    A study that reads neither streams nor total gains gets only `simulated`, `confidence`, `delta`
    and `seed`, so that no other change remakes its tables.

    Args:
        streams: title of each gain stream, by label.
        simulated: whether the data are simulated.
        confidence: confidence of the intervals that are shown together.
        levels: mu of each privacy level, by label.
        delta: delta at which epsilon is reported.
        seed: root of all randomness.
        replicates: repetitions of every randomised run.
        memory: memory of the noise `capacity-memory`.
        replayed: whether a run is replayed round by round, with every true count.
        reported: label of each gain stream in the paper's table, if its numbers are comparable.
        questions: title of each question, by label; the label is empty if there is only one.
        asked: label of the question of each gain stream, by label of the stream.
    """

    streams: Mapping[str, str]
    simulated: bool
    confidence: float
    levels: Mapping[str, float] = field(default_factory=dict)
    delta: float = 1e-6
    seed: int = 0
    replicates: int = 1
    memory: MemoryChoice = "designed"
    replayed: bool = False
    reported: Mapping[str, str | None] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    asked: Mapping[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> dict[float, str]:
        """Labels of the privacy levels by mu."""
        return {mu: label for label, mu in self.levels.items()}

    @property
    def asks_several(self) -> bool:
        """Whether the run asks several questions."""
        return len(self.questions) > 1


class FigureSpec(Settings):
    """A figure of a study.

    Args:
        name: name of its files below figures/, without suffix.
        title: what it shows, in a few words.
        description: what is drawn where.
        draw: "module:function" that takes (frames, settings, facts) and returns the figure, whose
            label is its finding in a sentence.
        place: whether the page shows it, folds it, or shows only its finding; its files are always
            made.
        results: names of result tables that it needs besides its section's; the figure is
            left out if they are.
    """

    name: str
    title: str
    description: str
    draw: str
    place: Literal["seen", "folded", "file"] = "seen"
    results: tuple[str, ...] = ()


class TableSpec(Settings):
    """A table of a study.

    Args:
        name: name of its files below tables/, without suffix.
        title: what it shows, in a few words.
        build: "module:function" that takes (frames, settings, facts) and returns the table.
        place: whether the page shows it above the figures (`first`) or below them, folds it, or
            only links it; by default it is shown, but folded below a figure. Its files are always
            made.
    """

    name: str
    title: str
    build: str
    place: Literal["first", "seen", "folded", "file"] | None = None


class Section(Settings):
    """Results of a study that one job shows together on the page.

    Args:
        name: its anchor on the page, and the name of its job.
        title: its heading.
        about: its topic in one or two sentences.
        results: names of the result tables that it shows, of the study or of the main study
            (`dpol.studies.games`).
        figures: its figures.
        tables: its tables.
        widget: "module:function" that takes (frames, settings, facts) and returns its interactive
            figure (`dpol.studies.page`); empty for none.
        leads: whether it is the first section of the page.
    """

    name: str
    title: str
    about: str
    results: tuple[str, ...]
    figures: tuple[FigureSpec, ...] = ()
    tables: tuple[TableSpec, ...] = ()
    widget: str = ""
    leads: bool = False

    @property
    def made(self) -> bool:
        """Whether it makes files: figures or tables."""
        return bool(self.figures or self.tables)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study: what it computes, and how it is shown.

    Args:
        name: key of its block in a config, and name of its jobs.
        title: heading of its section in the report.
        about: its topic in one or two sentences.
        settings: model of its block in a config.
        module: dotted name of the package that holds it as `STUDY`, with two files next to it:
            `results.yaml`, the columns of its result tables, and `shown.yaml`, its sections.
        results: names of its result tables, files below results/<run>/.
        optional: takes (settings, facts) and returns the names of tables and figures that the
            run does not ask for.
        points: takes (settings, facts) and returns the points, by label.
        run: "module:function" that takes the settings of a point and its other inputs, and returns
            the tables that the point writes, by name.
        written: names of the tables that a point writes; by default those of the result tables.
        collect: "module:function" that takes (files, settings, facts) and returns the result
            tables. Files are lists of paths by name: the tables that the points wrote, in the
            order of the points, and the points' inputs. By default a result table is the rows
            of all points.
    """

    name: str
    title: str
    about: str
    settings: type[Settings]
    module: str
    results: tuple[str, ...]
    optional: Callable[[Any, Facts], frozenset[str]] = lambda settings, facts: frozenset()
    points: Callable[[Any, Facts], Mapping[str, Point]]
    run: str
    written: tuple[str, ...] = ()
    collect: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its package."""
        return Path(str(import_module(self.module).__file__)).parent

    def results_of(self, settings: Any, facts: Facts) -> tuple[str, ...]:
        """Return the names of the result tables that a run asks for."""
        left_out = self.optional(settings, facts)
        return tuple(name for name in self.results if name not in left_out)

    def files_of_points(self, settings: Any, facts: Facts) -> Mapping[str, str]:
        """Return the output files of a job, by name, with `{point}` for the label of a point."""
        left_out = self.optional(settings, facts)
        names = (name for name in self.written or self.results if name not in left_out)
        return {name: f"points/{self.name}/{{point}}/{name}.parquet" for name in names}

    @property
    def columns(self) -> Path:
        """File of the columns of its result tables."""
        return self.folder / "results.yaml"

    @property
    def shown(self) -> Path:
        """File of its sections."""
        return self.folder / "shown.yaml"

    def every_section(self) -> tuple[Section, ...]:
        """Return its sections with all figures; the study fills in what a section leaves out."""
        of_study = {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "results": self.results,
        }
        sections = _read_sections(self.shown)
        return tuple(Section.model_validate(of_study | section) for section in sections)

    def sections_of(self, settings: Any, facts: Facts) -> tuple[Section, ...]:
        """Return the sections that have results and something to show in a run."""
        left_out = self.optional(settings, facts)
        shown = []
        for section in self.every_section():
            if not left_out.isdisjoint(section.results):
                continue
            figures = [
                figure
                for figure in section.figures
                if left_out.isdisjoint((figure.name, *figure.results))
            ]
            results = (*section.results, *(name for figure in figures for name in figure.results))
            tables = [table for table in section.tables if table.name not in left_out]
            section = section.model_copy(
                update={
                    "figures": tuple(figures),
                    "tables": tuple(tables),
                    "results": tuple(dict.fromkeys(results)),
                }
            )
            if section.made or section.widget:
                shown.append(section)
        return tuple(shown)


@cache
def _read_sections(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load(path.read_text(encoding="utf-8")))


def schemas_of(study: Study) -> Mapping[str, Schema]:
    """Return the schemas of a study's result tables, by name."""
    return read_schemas(study.columns)
