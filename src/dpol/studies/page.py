"""Interactive figures that a study adds to the page of a run, and the facts that the page states.

A section names its `widget` as "module:function". The function takes (frames, settings, facts):
result tables by name, the study's settings, and `PageFacts`. It returns a `Widget`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.studies.study import Facts


@dataclass(frozen=True, kw_only=True)
class PageFacts(Facts):
    """Facts about a run that its page states.

    Args:
        streams: as in `Facts`, like the next eleven.
        simulated: likewise.
        confidence: likewise.
        levels: likewise.
        delta: likewise.
        seed: likewise.
        replicates: likewise.
        memory: likewise.
        replayed: likewise.
        reported: likewise.
        questions: likewise.
        asked: likewise.
        cleaned: title of each panel stream, by label.
        gains: questions by label; the label is empty if the run asks only one.
        run: name of the run.
        private: whether its results hold numbers that not everyone may see.
        period: name of a round: day, week or period.
        columns: names of the columns of its table; None for a table of gains.
        licence: licence of its table; None if the config names none.
        citation: citation of its table; None if the config names none.
    """

    cleaned: Mapping[str, str]
    gains: Mapping[str, Gain]
    run: str
    private: bool
    period: str
    columns: Columns | None
    licence: str | None
    citation: str | None


@dataclass(frozen=True, kw_only=True)
class Widget:
    """An interactive figure of a section, above its pictures.

    Args:
        name: name of the template, style and script in `dpol.report` that draw it.
        values: values for the template.
        title: heading of the section.
        intro: first paragraph of the section.
    """

    name: str
    values: Mapping[str, Any]
    title: str
    intro: str
