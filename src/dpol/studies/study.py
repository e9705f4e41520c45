"""A study as a value: its settings, its points, its results, and how they are shown.

A study is a folder of `dpol.studies` whose package holds `STUDY`, and one line in
`dpol.studies.registry`. The config gets its block from `settings`, the workflow its jobs from
`points`, the manual its tables from `results`, the report its section from `figures` and `tables`.

Functions that run are named as text, "module:function", and imported when a job calls them. So
planning imports no mathematics, and each job watches just the modules behind the function it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.imports import code_hash, load
from dpol.core.schemas import Schema, read_schemas
from dpol.core.settings import Settings

if TYPE_CHECKING:
    import pandas as pd

    from dpol.data.stream import GainStream

Point = Mapping[str, Any]
"""Settings of one job, as plain values: text, numbers, and lists of them. One that is about a gain
stream has its label as `stream`; one that needs result tables of the main experiment has their
names as `tables`."""
Frames = Mapping[str, "pd.DataFrame"]
"""Rows of result tables, by name of the table."""


@dataclass(frozen=True)
class Inputs:
    """The inputs of a point in addition to its settings.

    Args:
        seed: root of all randomness.
        delta: delta at which epsilon is reported with mu.
        stream: the gain stream that the point names, if it does.
        tables: the result tables of the main experiment that it names.
    """

    seed: int
    delta: float
    stream: GainStream | None = None
    tables: Frames = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """The facts known of a run before any of its jobs.

    Args:
        streams: title of each gain stream, by label.
        simulated: whether the data are simulated.
        confidence: of the intervals that are shown together.
    """

    streams: Mapping[str, str]
    simulated: bool
    confidence: float


@dataclass(frozen=True)
class FigureSpec:
    """A figure of a study.

    Args:
        name: its files below figures/, without suffix.
        title: what it shows, in a few words.
        description: what is drawn where, for those who cannot see it.
        draw: "module:function" that takes (frames, settings, facts) and returns the figure.
        folded: whether only those see it on the page who open it; its caption is always seen.
    """

    name: str
    title: str
    description: str
    draw: str
    folded: bool = False


@dataclass(frozen=True)
class TableSpec:
    """A table of a study.

    Args:
        name: its files below tables/, without suffix.
        title: what it shows, in a few words.
        build: "module:function" that takes (frames, settings, facts) and returns the table.
        folded: whether only those see it on the page who open it, as they do below a figure.
    """

    name: str
    title: str
    build: str
    folded: bool = False


def no_figures(settings: Any) -> tuple[FigureSpec, ...]:
    """Figures of a study that draws none."""
    return ()


def no_algorithms(settings: Any) -> tuple[Any, ...]:
    """An empty tuple: the algorithms of a study whose settings name none."""
    return ()


@dataclass(frozen=True, kw_only=True)
class Section:
    """A section of the results of a run, shown together on the page and by one job.

    Args:
        name: its anchor on the page.
        title: its heading.
        about: what it is about, in one or two sentences.
        settings: model of what a config says of it.
        folder: where it lives, with `results.yaml`: the columns of result tables.
        results: names of the result tables that it shows, files below results/<run>/.
        figures: its figures under these settings.
        tables: its tables.
        answers: "module:function" that takes (frames, settings, facts) and returns its answers for
            the page (`dpol.studies.page`); empty for none.
        widget: "module:function" that takes the same and returns its interactive figure; empty for
            none.
    """

    name: str
    title: str
    about: str
    settings: type[Settings]
    folder: Path
    results: tuple[str, ...]
    figures: Callable[[Any], tuple[FigureSpec, ...]] = no_figures
    tables: tuple[TableSpec, ...] = ()
    answers: str = ""
    widget: str = ""

    @property
    def module(self) -> str:
        """The dotted name of the module that holds it."""
        return f"dpol.studies.{self.folder.name}.sections"


@dataclass(frozen=True, kw_only=True)
class Study(Section):
    """A study: what it computes, and the section that shows it.

    Args:
        name: key of its block in a config; it names its jobs.
        title: heading of its section in the report.
        about: what it is about, in one or two sentences.
        settings: model of its block in a config.
        folder: where it lives, with `results.yaml`: the columns of its result tables.
        results: names of its result tables, files below results/<run>/.
        figures: its figures under these settings.
        tables: its tables.
        answers: "module:function" that takes (frames, settings, facts) and returns its answers for
            the page (`dpol.studies.page`); empty for none.
        widget: as that of a section.
        points: takes (settings, labels of the gain streams): what each job computes, by label.
        run: "module:function" that computes a point: (settings, point, inputs) -> rows of each
            result table.
        collect: "module:function" that takes (frames, settings, facts), the rows of all points in
            order, and returns the result tables; without it the rows are the tables.
        algorithms: the algorithms that these settings name, as entries of a suite; `run` does not
            import them itself.
    """

    points: Callable[[Any, Sequence[str]], Mapping[str, Point]]
    run: str
    collect: str = ""
    algorithms: Callable[[Any], Sequence[Any]] = no_algorithms

    @property
    def module(self) -> str:
        """The dotted name of its package."""
        return ".".join(("dpol.studies", *self.folder.relative_to(Path(__file__).parent).parts))


def schemas_of(section: Section) -> Mapping[str, Schema]:
    """The result tables of a study, or of the main experiment, by name."""
    return read_schemas(section.folder / "results.yaml")


def load_section(module: str, name: str) -> Any:
    """A study, or a section of the main experiment, by its `module` and its name."""
    held = vars(import_module(module)).values()
    return next(it for it in held if isinstance(it, Section) and it.name == name)


def code_of_points(study: Study, settings: Any) -> str:
    """A hash of the code that computes the points of a study."""
    start = _modules(study.run, _JOBS, study.module)
    # The registry is not watched: it imports no algorithm, and this names those that play.
    code: str = load("dpol.experts.registry:code_that_plays")(start, study.algorithms(settings))
    return code


def code_of_results(study: Study) -> str:
    """A hash of the code that joins the rows of all points of a study."""
    return code_hash(*_modules(study.collect, _JOBS, study.module))


def code_of_shown(section: Section, settings: Any) -> str:
    """A hash of the code that draws the figures and renders the tables of a section."""
    figures = (figure.draw for figure in section.figures(settings))
    builds = (table.build for table in section.tables)
    return code_hash(*_modules(*figures, *builds, *_SHOWING, section.module))


_JOBS = "dpol.studies.jobs"
_SHOWING = ("dpol.studies.showing", "dpol.core.logs")


def _modules(*references: str) -> list[str]:
    """The modules of functions, each "module:function" or empty, and of modules themselves."""
    return [it.partition(":")[0] for it in references if it]
