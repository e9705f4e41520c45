"""Sentences of the page, for every set of levels, noises and kinds of algorithms played."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.collections import Collection
from matplotlib.layout_engine import ConstrainedLayoutEngine

from dpol.report.lead import answer_of
from dpol.studies.games.scores import Played
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.games.study import STUDY as GAMES
from dpol.studies.league.compute import rank
from dpol.studies.league.study import STUDY as LEAGUE
from dpol.studies.study import Facts, Section
from game_tables import suite
from replays import stream_of
from report.run_by_hand import config

NOISES = ("isotropic", "capacity")
SUITES: dict[str, list[Any]] = {
    "local": ["rw-ftpl", "persistence"],
    "central": ["tree-ftpl-min-noise"],
    "open": ["follow-the-leader"],
}
STREAM = stream_of(12, 4, "a")
CONFIG = config()


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(names) + 1):
        yield from itertools.combinations(names, size)


@cache
def played(kind: str, noise: str, mu: float) -> list[Played]:
    return suite(STREAM, SUITES[kind], noise=noise, mu=mu, seed=3)


def run_of(
    levels: tuple[float, ...], noises: Sequence[str], kinds: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], Facts, list[Section]]:
    """Return the result tables of a run, its facts, and its sections."""
    noises_of = {"local": noises, "central": NOISES[:1], "open": ["none"]}
    games = [
        played(kind, noise, mu)
        for kind, mu in itertools.product(kinds, levels)
        for noise in noises_of[kind]
        if kind != "open" or mu == math.inf
    ]
    suites: dict[str, Any] = {kind: {"algorithms": SUITES[kind]} for kind in kinds}
    if "local" in kinds:
        suites["local"]["noises"] = [*noises]
    report = Report(algorithms=[label for kind in kinds for label in SUITES[kind]])
    main = GamesSettings(suites=suites, report=report)
    facts = replace(CONFIG.facts, streams={"a": "A"}, levels=levels, replayed=False)
    frames = rank(games, [STREAM], main, facts)
    asking = ((GAMES, main), (LEAGUE, CONFIG.league))
    return frames, facts, [it for study, own in asking for it in study.sections_of(own, facts)]


def texts_of(
    levels: tuple[float, ...], noises: Sequence[str], kinds: Sequence[str]
) -> dict[str, str]:
    """Return the lead, the findings and the tables of a run."""
    frames, facts, sections = run_of(levels, noises, kinds)
    answer = answer_of(frames, facts, CONFIG)
    texts = {"lead": " ".join(text for texts in answer.texts for text in texts)}
    for section in sections:
        for spec in section.figures:
            figure = spec.function(frames, facts)
            texts[f"{spec.name}: finding"] = figure.get_label()
            of_figure = figure.findobj(lambda it: hasattr(it, "get_text"))
            texts[spec.name] = " ".join(it.get_text() for it in of_figure)
        for table in section.tables:
            texts[table.name] = str(table.function(frames, facts))
    return texts


@pytest.fixture(autouse=True)
def no_layout(monkeypatch):
    """Leave texts where they are: nobody looks at these figures."""
    monkeypatch.setattr("matplotlib.figure.Figure.draw_without_rendering", lambda figure: None)
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda engine, figure: None)
    yield
    pyplot.close("all")


@pytest.mark.parametrize("levels", [(math.inf,), (0.5,), (math.inf, 0.5), (1.0, 0.5)])
def test_no_sentence_is_about_a_level_that_was_not_played(levels: tuple[float, ...]) -> None:
    free = math.inf in levels
    every = [
        (NOISES, kinds)
        for kinds in subsets(list(SUITES))
        if free or "open" not in kinds or len(kinds) == len(SUITES)
    ]
    for noises, kinds in [*every, (NOISES[1:], ("local",))]:
        texts = texts_of(levels, noises, kinds)
        asked = {f"{mu:g}" for mu in levels}
        for name, text in texts.items():
            place = f"{name}, {levels}, {noises}, {kinds}: {text}"
            assert not re.search(r"\bnan\b|not played%|not played \(", text), place
            named = set(re.findall(r"μ = (\d[\d.]*\d|\d)", text))
            assert named <= asked, place
            if not free and "open" not in kinds:
                assert "no privacy" not in text, place
                assert "ithout privacy" not in text, place


HALVES = ["gain_share_half_width", "ci_half_width"]


def bars_and_bands(figure: Any) -> list[Any]:
    """Return where all bars and bands of a figure run."""
    drawn = figure.findobj(Collection)
    return [path.vertices.tolist() for it in drawn for path in it.get_paths()]


def test_a_figure_of_what_was_measured_has_its_intervals() -> None:
    frames, facts, sections = run_of((1.0, 0.5), NOISES, ("local", "central"))
    wider = {
        name: frame.assign(**{it: 2 * frame[it] for it in HALVES if it in frame})
        for name, frame in frames.items()
    }
    figures = [it for section in sections for it in section.figures]
    assert len(figures) >= 2
    for it in figures:
        narrow, wide = (bars_and_bands(it.function(made, facts)) for made in (frames, wider))
        assert narrow != wide, it.name
