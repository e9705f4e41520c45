"""Several questions about the same streams: means, intervals, texts and the figure, by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pandas as pd
import pytest

from comparison_by_hand import CONFIDENCE, LEVELS, OURS, PAPER, cell
from dpol.core.intervals import half_width
from dpol.studies.answer.questions import best_of_roles, draw_questions, questions_table
from dpol.studies.comparison.comparison import compare
from dpol.studies.comparison.questions import compare_questions
from dpol.studies.comparison.settings import Comparison, Rival, System
from dpol.studies.comparison.study import STUDY
from dpol.studies.study import Facts, schemas_in
from legible import assert_legible, lines, points
from tables_by_hand import texts

STATES = {"nm": "New Mexico", "pa": "Pennsylvania"}
QUESTIONS = {"share": "share", "large": "share of the large", "patients": "patients"}
STREAMS = {f"{state}-{question}": (state, question) for state in STATES for question in QUESTIONS}
ASKED = {label: question for label, (_, question) in STREAMS.items()}
SETTINGS = Comparison(baseline=PAPER, ours=OURS)
FORMS = [System(algorithm=name, noise="isotropic") for name in ("a", "b")]
WITH_RIVAL = SETTINGS.model_copy(
    update={"rivals": [Rival(name="the tuned baseline", systems=FORMS)]}
)
FACTS = Facts(
    streams={label: label for label in ASKED},
    simulated=False,
    confidence=CONFIDENCE,
    levels=LEVELS,
    replicates=3,
    questions=QUESTIONS,
    question_of=ASKED,
    seed=1,
)
# Of a possible gain of 10, the baseline keeps 6 at mu = 1 and 2 at 0.25. Ours keeps 8 and 6.5 in
# New Mexico, 8 and 5 in Pennsylvania. For patients, all keep 9.
KEPT = {"meta": {1.0: (6, 6), 0.25: (2, 2)}, "bayes": {1.0: (8, 8), 0.25: (6.5, 5)}}
SPREAD = (-0.1, 0.0, 0.1)


def runs():
    cells = []
    for stream, (state, question) in STREAMS.items():
        for system in (PAPER, OURS):
            for mu in LEVELS.values():
                kept = KEPT[system.algorithm].get(mu, (9, 9))[list(STATES).index(state)]
                kept = 9 if question == "patients" else kept
                noise = 0.0 if mu == math.inf else 1.0
                totals = [5 + kept + noise * step for step in SPREAD]
                run = cell(system.algorithm, system.noise, mu, totals, stream=stream)
                below = 0.8 if state == "pa" else 1.0
                privacy = {**run.privacy, "guaranteed_mu": below * mu}
                cells.append(replace(run, privacy=privacy))
    return cells


def tables_of(played, settings):
    """Return the tables of questions and comparison."""
    bounds = {"uniform_gain": 5.0, "oracle_gain": 15.0}
    fixed = {"nm": 0.3, "pa": 0.5}
    summary = pd.DataFrame(
        [
            {"stream": label, **bounds, "best_fixed_share": fixed[state]}
            for label, (state, _) in STREAMS.items()
        ]
    )
    questions = compare_questions(played, summary, settings, LEVELS, ASKED, CONFIDENCE)
    comparison = compare(played, settings, LEVELS, CONFIDENCE)
    return schemas_in(STUDY.package)["questions"].check(questions, "questions"), comparison


@pytest.fixture(scope="module")
def tables():
    return tables_of(runs(), SETTINGS)


def test_the_mean_over_streams_and_its_interval_by_hand(tables):
    rows = tables[0].set_index(["question", "stream", "role", "mu"])
    row = rows.loc["share", "", "ours", 0.25]
    assert row["gain_share"] == pytest.approx(0.575)
    means = 3 * 2 * len(LEVELS)
    assert row["ci_comparisons"] == means
    # Replicates of both states move together here, and so does their mean.
    sample = pd.Series([0.575 + 0.1 * step for step in SPREAD]).to_numpy()
    assert row["gain_share_half_width"] == pytest.approx(half_width(sample, 0.95, means))
    state = rows.loc["share", "pa-share", "ours", 0.25]
    assert (state["gain_share"], state["ci_comparisons"]) == (pytest.approx(0.5), 2 * means)
    assert rows.loc["patients", "", "the baseline", 0.25]["gain_share"] == pytest.approx(0.9)
    assert rows.loc["share", "", "the baseline", math.inf]["gain_share_half_width"] == 0
    assert row["best_fixed_share"] == pytest.approx(0.4)
    assert state["best_fixed_share"] == 0.5
    assert row["guaranteed_mu"] == 0.25, "the weakest guarantee of all streams"


def test_the_first_table_has_a_section_for_each_question(tables):
    table = questions_table({"questions": tables[0]}, SETTINGS.pairs, FACTS)
    assert [section.title for section in table.sections] == list(QUESTIONS.values())
    assert texts(table)[0][0].startswith("the baseline: ")
    assert texts(table)[0][1] == "90.0%"
    assert texts(table)[0][2].startswith("60.0% ± ")
    assert texts(table)[2][1:] == ["40.0%"] * len(LEVELS)


@pytest.fixture(scope="module")
def at_best():
    """Add two tuned forms: at mu = 1 and 0.25, a keeps 7 and 1, b keeps 6.2 and 3."""
    kept = {"a": {1.0: 7, 0.25: 1, math.inf: 9}, "b": {1.0: 6.2, 0.25: 3, math.inf: 8}}
    played = [
        cell(name, "isotropic", mu, [5 + gain + step for step in SPREAD], stream=stream)
        for stream in ASKED
        for name, gains in kept.items()
        for mu, gain in gains.items()
    ]
    return tables_of([*runs(), *played], WITH_RIVAL)


def test_the_tuned_baseline_is_the_best_of_its_forms_at_each_level(at_best):
    questions, _ = at_best
    rows = best_of_roles(questions).set_index(["question", "stream", "role", "mu"])
    assert rows.index.is_unique
    rows = rows.sort_index()
    tuned = rows.loc[("share", "", "the tuned baseline")]
    assert tuned["algorithm"].to_dict() == {math.inf: "a", 1.0: "a", 0.25: "b"}
    assert tuned["gain_share"].tolist() == pytest.approx([0.3, 0.7, 0.9])
    table = questions_table({"questions": questions}, WITH_RIVAL.pairs, FACTS)
    named = [cells[0] for cells in texts(table)][:4]
    assert named[1] == "the tuned baseline: best of 2 forms in hindsight, isotropic noise"
    figure = draw_questions({"questions": questions}, WITH_RIVAL.pairs, FACTS)
    assert_legible(figure)
    best, other = (lines(figure.axes[0])[name] for name in ("the tuned baseline", "the baseline"))
    assert [y for _, y in points(best)] == pytest.approx([0.9, 0.7, 0.3])
    assert best.get_linewidth() == other.get_linewidth(), "the first rival is as thick"
    said = figure.get_label()
    assert said.startswith("At μ = 0.25 an attacker is right at most 55 times in 100")
    assert "Of the possible gain ours keeps: share 57.5% ± " in said


def test_the_figure_has_a_panel_for_each_question_and_a_dot_for_each_stream(tables):
    figure = draw_questions({"questions": tables[0]}, SETTINGS.pairs, FACTS)
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    assert titles == ["share", "share of the large", "patients"]
    for ax in figure.axes:
        assert [tick.get_text() for tick in ax.get_xticklabels()] == ["none", "69%", "55%"]
        dots = [len(dots.get_offsets()) for dots in ax.collections if hasattr(dots, "get_sizes")]
        assert sum(size for size in dots if size == 2 * len(LEVELS)) == 4 * len(LEVELS)
