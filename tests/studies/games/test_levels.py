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
from matplotlib.layout_engine import ConstrainedLayoutEngine

from dpol.report.lead import answer_of
from dpol.studies.comparison.settings import ComparisonSettings, StandingsPoint
from dpol.studies.comparison.standings import standings
from dpol.studies.comparison.study import STUDY as STANDINGS
from dpol.studies.games.collect import results_from
from dpol.studies.games.scores import Played
from dpol.studies.games.settings import GamesSettings, Report
from dpol.studies.games.study import STUDY as GAMES
from dpol.studies.study import Facts, Frames, Section
from game_tables import joined, suite
from replays import stream_of
from report.run_by_hand import config

LEVELS = {"no": math.inf, "weak": 1.0, "strict": 0.5}
NOISES = ("isotropic", "capacity")
SUITES: dict[str, list[Any]] = {
    "local": ["rw-ftpl", "persistence"],
    "central": ["tree-ftpl-min-noise"],
    "open": ["follow-the-leader"],
}
STREAMS = {"a": stream_of(12, 4, "a")}
CONFIG = config()


def subsets(names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for size in range(1, len(names) + 1):
        yield from itertools.combinations(names, size)


@cache
def all_games() -> list[tuple[str, list[Played]]]:
    """Return all games, each with the kind of its algorithms."""
    played = []
    for stream, (kind, specs), level in itertools.product(STREAMS.values(), SUITES.items(), LEVELS):
        for noise in NOISES if kind == "local" else NOISES[:1]:
            if kind == "open" and LEVELS[level] < math.inf:
                continue
            own = "none" if kind == "open" else noise
            played.append((kind, suite(stream, specs, noise=own, mu=LEVELS[level], seed=3)))
    return played


def run_of(
    levels: Sequence[str], noises: Sequence[str], kinds: Sequence[str]
) -> tuple[dict[str, pd.DataFrame], Facts, list[Section]]:
    """Return the result tables of a run, its facts, and its sections."""
    specs = {kind: SUITES[kind] for kind in kinds}
    own = [
        played
        for kind, played in all_games()
        if kind in kinds
        and any(played[0].mu == LEVELS[level] for level in levels)
        and (kind != "local" or played[0].noise in noises)
    ]
    suites = {
        kind: {"algorithms": algorithms, **({"noises": [*noises]} if kind == "local" else {})}
        for kind, algorithms in specs.items()
    }
    labels = [label for each in specs.values() for label in each]
    report = Report(algorithms=labels)
    main = GamesSettings(suites=suites, report=report)
    asked: dict[str, Any] = {
        "streams": {label: label.upper() for label in STREAMS},
        "levels": tuple(LEVELS[level] for level in levels),
        "replayed": False,
    }
    facts = replace(CONFIG.facts, **asked)
    frames = dict(results_from(*joined(own), STREAMS, main, facts))
    questions = dict.fromkeys(STREAMS, "")
    point = StandingsPoint(ours=None, questions=questions, apart=True, confidence=0.95)
    frames["standings"] = standings(frames["summary"], frames["totals"], point)
    asking = ((GAMES, main), (STANDINGS, ComparisonSettings()))
    return frames, facts, [it for study, own in asking for it in study.sections_of(own, facts)]


def texts_of(levels: Sequence[str], noises: Sequence[str], kinds: Sequence[str]) -> dict[str, str]:
    """Return the lead, the findings and the tables of a run."""
    frames, facts, sections = run_of(levels, noises, kinds)
    answer = answer_of(frames, facts, CONFIG)
    texts = {"lead": " ".join(text for texts in answer.texts for text in texts)}
    for section in sections:
        for spec in section.figures:
            figure = spec.function(frames, facts)
            texts[f"{spec.name}: finding"] = figure.get_label()
            texts[spec.name] = " ".join(_texts_in(figure))
            pyplot.close(figure)
        for table in section.tables:
            texts[table.name] = str(table.function(frames, facts))
    return texts


@pytest.fixture(autouse=True)
def no_layout(monkeypatch):
    """Leave texts where they are: nobody looks at these figures."""
    monkeypatch.setattr("matplotlib.figure.Figure.draw_without_rendering", lambda figure: None)
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda engine, figure: None)


def _texts_in(figure: Any) -> list[str]:
    return [text.get_text() for text in figure.findobj(lambda it: hasattr(it, "get_text"))]


@pytest.mark.parametrize(
    "levels", [("no",), ("strict",), ("no", "strict"), ("weak", "strict")], ids="-".join
)
def test_no_sentence_is_about_a_level_that_was_not_played(levels: tuple[str, ...]) -> None:
    free = "no" in levels
    every = [
        (NOISES, kinds)
        for kinds in subsets(list(SUITES))
        if free or "open" not in kinds or len(kinds) == len(SUITES)
    ]
    for noises, kinds in [*every, (NOISES[1:], ("local",))]:
        texts = texts_of(levels, noises, kinds)
        played = {f"{LEVELS[level]:g}" for level in levels} - {"inf"}
        for name, text in texts.items():
            place = f"{name}, {levels}, {noises}, {kinds}: {text}"
            assert not re.search(r"\bnan\b|not played%|not played \(", text), place
            named = set(re.findall(r"μ = (\d[\d.]*\d|\d)", text))
            assert named <= played, place
            if not free and "open" not in kinds:
                assert "no privacy" not in text, place
                assert "ithout privacy" not in text, place


def test_a_finding_follows_from_what_was_played() -> None:
    """A sentence that stays the same in another run is no finding."""
    one = texts_of(("weak", "strict"), NOISES, ("local",))
    two = texts_of(("no", "weak"), NOISES[1:], tuple(SUITES))
    findings = [name for name in one if name.endswith(": finding")]
    assert len(findings) >= 3
    assert [name for name in findings if one[name] == two[name]] == []


HALVES = {"gain_share": "gain_share_half_width", "mean_cumulative_gain": "ci_half_width"}


def _points(figure: Any) -> list[Any]:
    """Return where all lines and shades of a figure run, and close it."""
    paths = [
        path.vertices.tolist()
        for it in figure.findobj(lambda it: hasattr(it, "get_paths") or hasattr(it, "get_path"))
        for path in (it.get_paths() if hasattr(it, "get_paths") else [it.get_path()])
    ]
    pyplot.close(figure)
    return paths


def without_interval(draw: Any, frames: Frames, facts: Facts) -> bool:
    """Return whether a figure moves with a mean that was measured, and not with its interval."""
    wider, higher = dict(frames), dict(frames)
    for name, frame in frames.items():
        for mean, half in HALVES.items():
            if {mean, half} <= {*frame}:
                wider[name] = wider[name].assign(**{half: 2 * frame[half]})
                higher[name] = higher[name].assign(**{mean: 0.9 * frame[mean]})
    before, moved, widened = (_points(draw(it, facts)) for it in (frames, higher, wider))
    return before != moved and before == widened


def test_a_figure_of_what_was_measured_has_its_intervals() -> None:
    frames, facts, sections = run_of(("weak", "strict"), NOISES, ("local", "central"))
    figures = [it for section in sections for it in section.figures]
    assert len(figures) >= 3
    assert [it.name for it in figures if without_interval(it.function, frames, facts)] == []

    def bare(frames: Frames, facts: Facts) -> Any:
        figure, ax = pyplot.subplots()
        ax.plot(frames["standings"]["gain_share"], "o")
        return figure

    assert without_interval(bare, frames, facts)
