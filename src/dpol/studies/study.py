"""A study as a value: its settings, its points, its results, and how they are shown.

A study is a folder of `dpol.studies` whose package holds `STUDY`, and one line in
`dpol.studies.registry`; or a package of somebody else, by entry point. The config gets its block
from `settings`, the workflow its jobs from `points`, the manual its tables from `results.yaml`, the
report its sections from `shown.yaml`.

Functions that run are named as text, "module:function", and imported when a job calls them, so that
planning imports no mathematics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import yaml

from dpol.core.schemas import Schema, read_schemas
from dpol.core.settings import Settings
from dpol.noise import MemoryChoice

if TYPE_CHECKING:
    import pandas as pd

Point = Mapping[str, Any]
"""Settings of one job, as plain values: text, numbers, and lists of them.

Four keys say something to the workflow, too. `inputs`: the files that the job reads, by name, as
paths below results/<run>/. `suite` and `games`: the entries of a suite that the job plays, and the
noise and mu of each game; a change of a package that brings one of them runs the job again.
`seconds`: the time that it is expected to take on one core; short points with the same inputs may
share a job."""
Frames = Mapping[str, "pd.DataFrame"]
"""Rows of result tables, by name of the table."""


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """The inputs of a point in addition to its settings.

    Args:
        seed: root of all randomness.
        delta: delta at which epsilon is reported with mu; whole points do not depend on it.
        memory_mb: RAM that the job may use, in MB; no result depends on it.
        files: the files that the point names, by its names for them.
    """

    seed: int
    delta: float
    memory_mb: float
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """The facts known of a run before any of its jobs.

    A study that reads neither streams nor total gains is told of `simulated`, `confidence`, `delta`
    and `seed` only, so that no other change makes its tables again.

    Args:
        streams: title of each gain stream, by label.
        simulated: whether the data are simulated.
        confidence: of the intervals that are shown together.
        levels: mu of each privacy level, by label.
        delta: delta at which epsilon is reported.
        seed: root of all randomness.
        replicates: repetitions of every randomised run.
        memory: of the noise `capacity-memory`.
        replayed: whether a run is replayed round by round, with every true count.
        reported: label of each gain stream in the paper's table, if its numbers compare.
        questions: title of each question, by label; the label is empty where there is only one.
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
        """True if the run asks several questions."""
        return len(self.questions) > 1


class FigureSpec(Settings):
    """A figure of a study.

    Args:
        name: its files below figures/, without suffix.
        title: what it shows, in a few words.
        description: what is drawn where.
        draw: "module:function" that takes (frames, settings, facts, narrow) and returns the figure,
            whose label is its finding in a sentence; `narrow` asks for panels below each other.
        place: on the page it is seen, or folded, or only its finding is; its files are always made.
        results: names of the result tables that it needs and its section does not; it is left out
            with them.
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
        name: its files below tables/, without suffix.
        title: what it shows, in a few words.
        build: "module:function" that takes (frames, settings, facts) and returns the table.
        place: on the page it is seen, or folded, or only linked; without it, it is seen, but folded
            below a figure. Its files are always made.
    """

    name: str
    title: str
    build: str
    place: Literal["seen", "folded", "file"] | None = None


class Section(Settings):
    """Results of a study that are shown together on the page, and by one job.

    Args:
        name: its anchor on the page; it names its job.
        title: its heading.
        about: what it is about, in one or two sentences.
        results: names of the result tables that it shows: those of the study, and those of the
            main study (`dpol.studies.games`).
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
        """True if it has files: figures or tables."""
        return bool(self.figures or self.tables)


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study: what it computes, and how it is shown.

    Args:
        name: key of its block in a config; it names its jobs.
        title: heading of its section in the report.
        about: what it is about, in one or two sentences.
        settings: model of its block in a config.
        module: dotted name of the package that holds it as `STUDY`, with two files next to it:
            `results.yaml`, the columns of its result tables, and `shown.yaml`, its sections.
        results: names of its result tables, files below results/<run>/.
        optional: takes (settings, facts): names of the result tables, and of the figures and
            tables shown, that the run does not ask for.
        points: takes (settings, facts): what each job computes, by label.
        run: "module:function" that computes a point: (settings, point, inputs) -> rows of each
            result table.
        whole_points: whether a point holds all settings that it needs. `run` is then given None for
            them, and a change of the config runs just the points again that it changes.
        parts: takes the settings: names of the tables that a point makes; without it, those of the
            result tables.
        seconds: the time that a point is expected to take on one core, if it does not say so: that
            of config/demo.yaml.
        reads: takes the labels of the gain streams: files that `collect` needs besides the parts.
        read: "module:function" that reads all these files, lists by name, for `collect`; without
            it each name has the rows of all points in their order.
        collect: "module:function" that takes (what was read, settings, facts) and returns the
            result tables; without it the rows are the tables.
        answers: "module:function" that takes (frames, settings, facts) and returns its answers for
            the page (`dpol.studies.page`); empty for none.
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
    whole_points: bool = False
    parts: Callable[[Any], tuple[str, ...]] | None = None
    seconds: float = 10.0
    reads: Callable[[Sequence[str]], Mapping[str, Sequence[str]]] = lambda streams: {}
    read: str = "dpol.studies.jobs:read_rows"
    collect: str = ""
    answers: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its package."""
        return Path(str(import_module(self.module).__file__)).parent

    def results_of(self, settings: Any, facts: Facts) -> tuple[str, ...]:
        """The names of the result tables that a run asks for."""
        return tuple(name for name in self.results if name not in self.optional(settings, facts))

    def files_of_points(self, settings: Any) -> Mapping[str, str]:
        """The files that a job makes of its points, by name, with `{point}` for its label."""
        names = self.parts(settings) if self.parts else self.results
        return {name: f"points/{self.name}/{{point}}/{name}.parquet" for name in names}

    @property
    def shown(self) -> Path:
        """The file with its sections."""
        return self.folder / "shown.yaml"

    def every_section(self) -> tuple[Section, ...]:
        """Its sections, with all their figures; what one does not say is said of the study."""
        own = {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "results": self.results,
        }
        sections = yaml.safe_load(self.shown.read_text(encoding="utf-8"))
        return tuple(Section.model_validate(own | section) for section in sections)

    def sections_of(self, settings: Any, facts: Facts) -> tuple[Section, ...]:
        """The sections that have results, and something to show, in a run."""
        left_out = self.optional(settings, facts)
        found = []
        for section in self.every_section():
            if not left_out.isdisjoint(section.results):
                continue
            figures = [it for it in section.figures if left_out.isdisjoint((it.name, *it.results))]
            results = (*section.results, *(name for it in figures for name in it.results))
            tables = [it for it in section.tables if it.name not in left_out]
            section = section.model_copy(
                update={
                    "figures": tuple(figures),
                    "tables": tuple(tables),
                    "results": tuple(dict.fromkeys(results)),
                }
            )
            if section.made or section.widget:
                found.append(section)
        return tuple(found)


def schemas_of(study: Study) -> Mapping[str, Schema]:
    """The result tables of a study, by name."""
    return read_schemas(study.folder / "results.yaml")
