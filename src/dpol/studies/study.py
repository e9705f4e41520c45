"""A study as a value: its settings, points and results.

A study is a package with a file for each kind of job, found by name: `study.py` holds `STUDY`, all
that jobs import of its settings and places; `compute.py` has `run`, which computes a point, and
perhaps `collect`, which makes the result tables of all points; `show.py` has `SECTIONS`, the names
and words of its figures and tables. `results.yaml` has the columns of its result tables. A
`collect` that needs much that `run` does not is in a file of its own, `collect.py`, so that its
changes recompute no point. A plan imports `study.py` and `show.py`, so these import neither tables
nor figures.

A figure or a table names the function that makes it. A job that draws imports `show.py` and the
modules of these functions, so they import no algorithm: tables have all that they show.

The settings of a point are a text, a tuple, a frozen dataclass, or the block of the config with
what concerns its place, of the type that `compute.py` names as `POINT`: a plan writes them as plain
values, and a job reads them back. The type is in `settings.py`, which both import, so that no
change of `study.py` recomputes a point.

A study has one line in `dpol.studies.registry`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic_core import to_jsonable_python

from dpol.core.plugins import load
from dpol.core.schemas import Schema, read_schemas
from dpol.core.settings import Settings
from dpol.privacy.settings import DELTA

if TYPE_CHECKING:
    import pandas as pd

Frames = Mapping[str, "pd.DataFrame"]
"""Result tables, by name."""
Values = Mapping[str, Any]
"""Plain values by name: text, numbers, lists of them, and blocks."""
FileLists = Mapping[str, Sequence[Path | str]]
"""Files that result tables are made from, in lists by name."""
PointSettings = TypeVar("PointSettings")


@dataclass(frozen=True, kw_only=True)
class Job(Generic[PointSettings]):
    """All points of a place in the grid of a study: they change together, and read the same files.

    Args:
        points: the settings of each, all that `run` gets, of the type `POINT` of `compute.py`: a
            text, a tuple, a frozen dataclass of text, numbers, tuples of them and blocks, or a
            block.
        inputs: files that it reads, by name, as paths below results/<run>/.
        code: modules that it imports by name: of its algorithms, learners and noises. Those of
            other packages make it run again; without them it runs again with dpol's alone.
        seconds: expected time on one core, as in config/config.yaml; of the studies after the
            games, the one with the longest job comes first.
    """

    points: tuple[PointSettings, ...]
    inputs: Mapping[str, str] = field(default_factory=dict)
    code: Sequence[str] = ()
    seconds: float = 10.0

    @property
    def plain(self) -> list[Any]:
        """The points as Snakemake hands them to a job: as JSON has them, but with infinity."""
        plain: list[Any] = to_jsonable_python(self.points)
        return plain


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Inputs of a point besides its settings.

    Args:
        seed: root of all randomness.
        files: files that the point reads, by the point's names for them.
    """

    seed: int
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """Facts about a run that the jobs get which make its result tables, and draw.

    Args:
        streams: title of each gain stream, by label.
        simulated: whether the data are simulated.
        confidence: confidence of the intervals that are shown together.
        levels: mu of each privacy level.
        delta: delta at which epsilon is reported.
        replayed: whether a run is replayed round by round, with every true count.
        asks_the_papers: whether gains, data columns and privacy are defined as in the first paper,
            so that its numbers are comparable.
        reported: label of each stream in the paper's table, if it is one of its states.
        questions: title of each question, by label; the label is empty if there is only one.
        form: largest width of a figure in inches, and whether it begins with its finding.
    """

    streams: Mapping[str, str]
    simulated: bool
    confidence: float
    levels: tuple[float, ...] = ()
    delta: float = DELTA
    replayed: bool = False
    asks_the_papers: bool = False
    reported: Mapping[str, str | None] = field(default_factory=dict)
    questions: Mapping[str, str] = field(default_factory=dict)
    form: tuple[float, bool] = (math.inf, True)

    @property
    def asks_several(self) -> bool:
        """Whether the run asks several questions."""
        return len(self.questions) > 1

    def told(self, names: Sequence[str], *, titled: bool) -> dict[str, Any]:
        """Return the facts with some names as plain values; untitled, labels for all titles."""
        titles = {"streams": self.streams, "questions": self.questions}
        labels = {} if titled else {name: [*own] for name, own in titles.items()}
        return {name: labels.get(name, getattr(self, name)) for name in names}


class SomeFacts(Facts):
    """The facts that a job is told; it is an error to read another."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        for name, fact in told.items():  # labels without titles come as a list
            self.__dict__[name] = dict.fromkeys(fact, "") if isinstance(fact, list) else fact

    def __getattribute__(self, name: str) -> Any:
        if name in Facts.__dataclass_fields__ and name not in vars(self):
            raise AttributeError(f"the study does not name the fact {name}")
        return super().__getattribute__(name)


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """A figure or a table of a study: its words, and the function that makes it.

    Args:
        name: its files below figures/ or tables/, without suffix.
        made_by: `module:function` that makes it from (frames, facts): result tables by name, and
            facts about the run. The label of a figure is its finding in a sentence. The function
            imports no algorithm; a column of a table has what it needs of the config.
        title: what it shows, in a few words.
        description: what is drawn where; for figures.
        place: whether the page shows it, a table perhaps above the figures (`first`), or folds it.
            By default it is shown, but a table is folded below a figure.
    """

    name: str
    made_by: str
    title: str
    description: str = ""
    place: Literal["first", "seen", "folded"] | None = None

    @property
    def function(self) -> Callable[[Frames, Any], Any]:
        """The function that makes it."""
        function: Callable[[Frames, Any], Any] = load(self.made_by)
        return function


ChapterKey = Literal[
    "answer",
    "paper1",
    "paper2",
    "paper3",
    "beyond",
    "replay",
    "privacy",
    "claims",
    "data",
    "origin",
]
"""Key of a chapter of the page; `dpol.report.page` has their titles and order."""


@dataclass(frozen=True, kw_only=True)
class Section:
    """Results of a study that one job shows together on the page.

    Args:
        name: its anchor on the page, and the name of its job.
        title: its heading; by default the title of the study.
        about: its topic in one or two sentences.
        results: result tables that it shows, of the study or of the main study
            (`dpol.studies.games`). The section is left out if the run does not make one of them.
        if_made: tables that it reads too if the run makes them; elsewhere it does without.
        figures: its figures.
        tables: its tables.
        chapter: chapter of the page.
    """

    name: str
    title: str = ""
    about: str
    results: tuple[str, ...]
    if_made: tuple[str, ...] = ()
    figures: tuple[Exhibit, ...] = ()
    tables: tuple[Exhibit, ...] = ()
    chapter: ChapterKey = "beyond"

    @property
    def made(self) -> bool:
        """Whether it makes files: figures or tables. An interactive figure is on the page only."""
        return bool(self.figures or self.tables)

    @property
    def drawing(self) -> tuple[str, ...]:
        """Dotted names of the modules with the functions that make its exhibits."""
        exhibits = *self.figures, *self.tables
        return tuple(sorted({it.made_by.partition(":")[0] for it in exhibits}))


@dataclass(frozen=True, kw_only=True)
class Study:
    """A study, as a plan needs it.

    Args:
        name: key of its block in a config, and name of its jobs.
        title: the study in a few words, for messages and as the heading of its section.
        settings: model of its block in a config.
        package: dotted name of its package, which has its other files.
        results: names of its result tables, files below results/<run>/.
        optional: takes (settings, facts) and returns the names of result tables, figures and tables
            that the run does not ask for.
        jobs: takes (settings, facts) and returns the jobs by place: the path of the folder of each
            below that of the study. What a change of the config changes together has one place.
        written: names of the tables that a job writes; by default those of the result tables.
        collects: names of the facts that `collect` reads.
        draws: names of the facts that its figures and tables read.
    """

    name: str
    title: str
    settings: type[Settings]
    package: str
    results: tuple[str, ...]
    optional: Callable[[Any, Facts], frozenset[str]] = lambda settings, facts: frozenset()
    jobs: Callable[[Any, Facts], Mapping[str, Job[Any]]]
    written: tuple[str, ...] = ()
    collects: tuple[str, ...] = ()
    draws: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Dotted name of the module that holds it as `STUDY`."""
        return f"{self.package}.study"

    @property
    def computing(self) -> str:
        """Dotted name of the module with `run`."""
        return f"{self.package}.compute"

    @property
    def collecting(self) -> str:
        """Dotted name of the module with `collect`, if the study has this function."""
        own = f"{self.package}.collect"
        return own if find_spec(own) else self.computing

    @property
    def showing(self) -> str:
        """Dotted name of the module with `SECTIONS`."""
        return f"{self.package}.show"

    @property
    def sections(self) -> tuple[Section, ...]:
        """Sections that show its results, in their order on the page."""
        return sections_in(self.package)

    def results_of(self, settings: Any, facts: Facts) -> tuple[str, ...]:
        """Return the names of the result tables that a run asks for."""
        left_out = self.optional(settings, facts)
        return tuple(name for name in self.results if name not in left_out)

    def written_by_jobs(self, settings: Any, facts: Facts) -> tuple[str, ...]:
        """Return the names of the tables that each job writes."""
        left_out = self.optional(settings, facts)
        return tuple(name for name in self.written or self.results if name not in left_out)

    def sections_of(self, settings: Any, facts: Facts) -> tuple[Section, ...]:
        """Return the sections that a run shows, with the figures and tables it asks for."""
        left_out = self.optional(settings, facts)
        shown = []
        for section in self.sections:
            figures = tuple(it for it in section.figures if it.name not in left_out)
            tables = tuple(it for it in section.tables if it.name not in left_out)
            if left_out.isdisjoint(section.results) and (figures or tables or not section.made):
                read = *section.results, *(it for it in section.if_made if it not in left_out)
                shown.append(replace(section, results=read, figures=figures, tables=tables))
        return tuple(shown)


def sections_in(package: str) -> tuple[Section, ...]:
    """Return the sections of the study in a package, in their order on the page."""
    sections: tuple[Section, ...] = import_module(f"{package}.show").SECTIONS
    return sections


def schemas_in(package: str) -> Mapping[str, Schema]:
    """Return the schemas of the result tables of the study in a package, by name."""
    return read_schemas(Path(str(import_module(package).__file__)).with_name("results.yaml"))
