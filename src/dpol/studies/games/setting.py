"""Describe the question and the setting of a run in five sentences."""

from __future__ import annotations

from collections.abc import Collection

import pandas as pd

from dpol.data.question import Gain
from dpol.data.settings import Columns
from dpol.show.footers import AS_HARD_AS, COVERS, MODELS
from dpol.show.words import each, mu_title
from dpol.studies.page import SETTING, Answer, PageFacts


def setting_answer(summary: pd.DataFrame, facts: PageFacts) -> Answer:
    """Describe the choice, the game, the data, the noise, the protection, and the numbers.

    Args:
        summary: Table of `dpol.studies.games.summary`.
        facts: Facts of the run.
    """
    questions = facts.gains.values()
    reading = (
        f"Every total gain is a mean over {facts.replicates} runs, whose randomness follows from"
        f" the seed {facts.seed}. Intervals (Student's t) hold for all cells of a table together"
        f" with {100 * facts.confidence:g}% confidence. {COVERS}"
    )
    if summary["reported_mean_gain"].notna().any():
        reading += " Numbers in [paper: …] are the paper’s, not computed here."
    return Answer(
        question=SETTING,
        finding=_choice(facts, questions),
        more=(
            _game(facts, questions),
            _data(summary, facts),
            _noise(summary),
            _protected(summary, facts),
            reading,
        ),
    )


_LISTED = 12  # most streams that are listed by name
_NEXT = {"day": "the next day", "week": "next week", "month": "next month"}


def _choice(facts: PageFacts, questions: Collection[Gain]) -> str:
    """Ask the question of the run in the words of its table."""
    if facts.columns is None:
        return "Which expert will gain most in the next round?"
    if len(questions) > 1:
        return "Does the cost of privacy depend on the question?"
    (gain,) = questions
    return asked_in_words(facts.columns, gain, facts.period)


def asked_in_words(columns: Columns, gain: Gain, period: str) -> str:
    """Put a question in the words of a table.

    Args:
        columns: Columns of the table.
        gain: The question.
        period: day, week, month or period.

    >>> columns = Columns(entity="hospital_pk", period="week", count="patients", capacity="beds")
    >>> asked_in_words(columns, Gain(of="count", bound=1000), "week")
    'Which hospital will have the most patients next week?'
    >>> asked_in_words(columns, Gain(min_capacity=50), "week")[:46]
    'Which hospital with at least 50 beds will have'
    """
    called = columns.called
    entity, count, capacity = called("entity"), called("count"), called("capacity")
    when = _NEXT.get(period, "in the next period")
    among = f" with at least {gain.min_capacity:g} {capacity}" if gain.min_capacity else ""
    if gain.of == "count":
        return f"Which {entity}{among} will have the most {count} {when}?"
    if gain.at_most or columns.capacity_per != 1:
        return f"Which {entity}{among} will have the most {columns.rate} {when}?"
    share = f"the largest share of {capacity} taken by {count}"
    return f"Which {entity}{among} will have {share} {when}?"


def _game(facts: PageFacts, questions: Collection[Gain]) -> str:
    lower = "How much lower is its score when it sees only noisy numbers?"
    if (columns := facts.columns) is None:
        return f"Each round an algorithm picks one expert and scores that expert’s gain. {lower}"
    called = columns.called
    entity, count, capacity = called("entity"), called("count"), called("capacity")
    named = ", ".join(filter(None, (columns.entity, columns.count, columns.capacity_column)))
    wholes = [
        f"{gain.bound:,g}, a public bound"
        if gain.bound
        else f"its {capacity}" + (f", at most {gain.at_most:g}" if gain.at_most else "")
        for gain in questions
    ]
    whole, several = ", or by ".join(dict.fromkeys(wholes)), ""
    if len(questions) > 1:
        every = " ".join(asked_in_words(columns, gain, facts.period) for gain in questions)
        several = f" The same counts answer {len(questions)} questions: {every}"
    return (
        f"Each {facts.period} an algorithm picks one {entity} and scores its {count} divided by"
        f" {whole} (columns {named}).{several} {lower} Each {entity} is an expert, its score is a"
        f" gain, and a {facts.period} is a round."
    )


def _data(summary: pd.DataFrame, facts: PageFacts) -> str:
    streams = []
    for label, title in facts.streams.items():
        row = summary[summary["stream"] == label].iloc[0]
        streams.append(f"{title} ({row['n_experts']} experts, {row['n_rounds']} rounds)")
    listed = ", ".join(streams)
    if len(streams) > _LISTED:
        sizes = summary["n_experts"]
        listed = f"{len(streams)} streams of {sizes.min()} to {sizes.max()} experts"
    first, last = summary["first_period"].min(), summary["last_period"].max()
    kind = "simulated, not measured" if facts.simulated else "real"
    when = f", from {first:%Y-%m-%d} to {last:%Y-%m-%d}" if pd.notna(first) else ""
    return f"The data are {kind}: {listed}{when}."


def _noise(summary: pd.DataFrame) -> str:
    models = set(summary["model"])
    sentences = [
        f"In the {model} model {text}." for model, text in MODELS.items() if model in models
    ]
    if "none" in models:
        sentences.append("Algorithms without privacy are shown for comparison.")
    return " ".join(sentences)


def _protected(summary: pd.DataFrame, facts: PageFacts) -> str:
    private = summary[summary["epsilon"] < float("inf")]
    if private.empty:
        return "Nothing is protected: no run adds privacy noise."
    levels = [mu_title(mu) for mu in facts.levels.values() if mu < float("inf")]
    return f"Noise protects {each(private['unit'])}, at {', '.join(levels)}. {AS_HARD_AS}"
