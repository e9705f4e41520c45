"""Answers and interactive figures: parts of the page of a run that a study brings.

Two functions, each named by its section as "module:function" and called with
(frames, settings, facts): its result tables by name, its settings, and `PageFacts`.

`answers` returns a sequence of `Answer`. A study that the config does not ask for is called
with no tables and with settings None: it may say what was left out.

`widget` returns the `Widget` of the section: an interactive figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.studies.study import Facts

COST = "What does privacy cost?"
RIGHT = "How often is the right one named?"
PRIVACY = "How private is it?"
PAPERS = "Do the published results hold up?"
SETTING = "Question and setting"
QUESTIONS = COST, RIGHT, PRIVACY, PAPERS, SETTING
"""The questions of a reader, in the order of the page."""


@dataclass(frozen=True, kw_only=True)
class PageFacts(Facts):
    """The facts that the page tells of a run.

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
        cleaned: title of each stream of the panel, by label.
        panel: label of the stream of the panel behind each gain stream, by label of the latter.
        gains: the questions by label, which is empty where the run asks only one.
        run: its name.
        private: whether its results hold numbers that not everyone may see.
        period: name of a round: day, week or period.
        columns: names of the columns of its table; None for a table of gains.
        licence: of its table; None if the config names none.
        citation: of its table; None if the config names none.
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
    """An answer of a study to one of the reader's questions.

    Args:
        question: one of the questions of this module.
        finding: in one sentence; empty if it only adds to the findings of others.
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
        name: of the template, style and script in `dpol.report` that draw it.
        values: what the template needs.
        title: heading of the section.
        intro: first paragraph of the section.
    """

    name: str
    values: Mapping[str, Any]
    title: str
    intro: str
