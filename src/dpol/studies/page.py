"""Interactive figures that a study adds to the page of a run, and the facts that the page states.

The function of a section in `Drawn.widgets` takes (frames, settings, facts): result tables by name,
the study's settings, and `PageFacts`. It returns a `Widget`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.studies.study import Facts


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
