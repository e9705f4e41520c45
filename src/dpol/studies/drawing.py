"""What draws the sections of a study, and the facts that the page of a run states.

A study has `DRAWN` in `drawn.py`: a function for each figure, table and interactive figure of its
sections. Each takes (frames, facts): result tables by name, and facts about the run. The functions
read tables and import no algorithm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.studies.study import Facts, Frames, Section

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpol.show.table import Table


@dataclass(frozen=True, kw_only=True)
class PageFacts(Facts):
    """Facts about a run that its page states, besides those that its studies know."""

    gains: Mapping[str, Gain]
    """Questions by label; the label is empty if the run asks only one."""
    run: str
    """Name of the run."""
    private: bool
    """Whether its results hold numbers that not everyone may see."""
    period: str
    """Name of a round: day, week or period."""
    columns: Columns | None
    """Names of the columns of its table; None for a table of gains."""
    licence: str | None
    """Licence of its table; None if the config names none."""
    citation: str | None
    """Citation of its table; None if the config names none."""
    algorithms: Sequence[str]
    """Labels of the algorithms of its report, in order."""
    chosen_on: str
    """Data on which our method was chosen, in words; empty if the config does not say."""


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
    """The functions of a study's sections.

    Args:
        figures: by name of a figure, what draws it; the label of the figure is its finding in a
            sentence.
        tables: by name of a table, what builds it.
        widgets: by name of a section, what makes its interactive figure from `PageFacts`.
    """

    figures: Mapping[str, Callable[[Frames, Facts], Figure]] = field(default_factory=dict)
    tables: Mapping[str, Callable[[Frames, Facts], Table]] = field(default_factory=dict)
    widgets: Mapping[str, Callable[[Frames, PageFacts], Widget]] = field(default_factory=dict)


def drawing_of(section: Section, package: str) -> str:
    """Return the dotted name of the module that draws a section of the study in a package."""
    return f"{section.drawn or package}.drawn"


def drawn_of(section: Section, package: str) -> Drawn:
    """Return the functions of a section of the study in a package."""
    drawn: Drawn = import_module(drawing_of(section, package)).DRAWN
    return drawn
