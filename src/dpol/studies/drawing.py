"""Functions that draw the sections of studies, and the facts that the page of a run states.

A package that draws has `DRAWN` in `drawn.py`: a function for each figure, table and interactive
figure of the sections that name the package. Each takes (frames, facts): result tables by name, and
facts about the run. A column of a table has what it needs of the config of a study. The functions
import no algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpol.core.schemas import read_frame
from dpol.data.question import Gain
from dpol.data.tables.settings import Columns
from dpol.studies.registry import EVERY_RUN, PACKAGES
from dpol.studies.study import Facts, Frames, Section, schemas_in

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpol.show.table import Table


@dataclass(frozen=True, kw_only=True)
class PageFacts(Facts):
    """Facts about a run that its page states, besides those that its jobs know."""

    gains: Mapping[str, Gain]
    """Questions by label; the label is empty if the run asks only one."""
    period: str
    """Name of a round: day, week or period."""
    columns: Columns | None
    """Names of the columns of its table; None for a table of gains."""
    algorithms: Sequence[str]
    """Labels of the algorithms of its report, in order."""
    chosen_on: str
    """Data on which our method was chosen, in words; empty if the config does not say."""
    caveat: str = ""
    """What a reader must know about the numbers; empty if the config does not say."""
    led: tuple[str, str, float] = ("", "", 0.0)
    """Algorithm, noise and mu of which the lead tells at first."""
    run: str = ""
    """Name of the run."""
    commands: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """What `dpol choose` is given before and after the table, by label of a local algorithm; `{}`
    stands for the number of rounds."""


@dataclass(frozen=True, kw_only=True)
class Widget:
    """An interactive figure of a section, above its pictures.

    Args:
        name: name of the template, style and script in `dpol.report` that draw it.
        data: what the script reads, as plain values.
        values: values for the template.
        title: heading of the section; by default its own.
        intro: first paragraph of the section; by default its own.
    """

    name: str
    data: Mapping[str, Any]
    values: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    intro: str = ""


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The functions of the sections that a package draws.

    Args:
        figures: by name of a figure, the function that draws it; the label of the figure is its
            finding in a sentence.
        tables: by name of a table, the function that builds it.
        widgets: by name of a section, the function that makes its interactive figure.
    """

    figures: Mapping[str, Callable[[Frames, Facts], Figure]] = field(default_factory=dict)
    tables: Mapping[str, Callable[[Frames, Facts], Table]] = field(default_factory=dict)
    widgets: Mapping[str, Callable[[Frames, PageFacts], Widget]] = field(default_factory=dict)


def drawn_of(section: Section) -> Drawn:
    """Return the functions of the package that draws a section."""
    drawn: Drawn = import_module(section.drawing).DRAWN
    return drawn


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
