"""Answers and interactive figures that a study adds to the page of a run.

Two functions, each named as "module:function", take (frames, settings, facts): result tables by
name, the study's settings, and `PageFacts`.

`answers`, named by the study, returns a sequence of `Answer`. If the config does not ask for the
study, it gets no tables and settings None, and may say what was left out.

`widget`, named by a section, returns its `Widget`: an interactive figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.studies.study import Facts

COST = "What does privacy cost?"
DIVIDED = "What does it cost if help is divided?"
RIGHT = "How often is the right one named?"
PRIVACY = "How private is it?"
PAPERS = "Do the published results hold up?"
SETTING = "Question and setting"
QUESTIONS = COST, DIVIDED, RIGHT, PRIVACY, PAPERS, SETTING
"""Questions of a reader, in the order of the page."""


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
        panel: label of the panel stream behind each gain stream, by label of the gain stream.
        gains: questions by label; the label is empty if the run asks only one.
        run: name of the run.
        private: whether its results hold numbers that not everyone may see.
        period: name of a round: day, week or period.
        columns: names of the columns of its table; None for a table of gains.
        licence: licence of its table; None if the config names none.
        citation: citation of its table; None if the config names none.
    """

    cleaned: Mapping[str, str]
    panel: Mapping[str, str]
    gains: Mapping[str, Gain]
    run: str
    private: bool
    period: str
    columns: Columns | None
    licence: str | None
    citation: str | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """A study's answer to one of the reader's questions.

    Args:
        question: one of the questions of this module.
        finding: the finding in one sentence; empty if the answer only adds to other findings.
        more: further sentences.
        see: names of the sections with details.
        below: a line below the first figure of the page.
    """

    question: str
    finding: str = ""
    more: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    below: str = ""


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
