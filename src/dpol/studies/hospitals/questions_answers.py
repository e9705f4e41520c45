"""Answers over many streams: what privacy costs under each question, and which aims are reached."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from dpol.privacy.account import best_guess
from dpol.show.words import mu_title
from dpol.studies.hospitals.questions import OURS, PAPER
from dpol.studies.hospitals.settings import Hospitals
from dpol.studies.hospitals.verdicts import REACHED, UNDECIDED
from dpol.studies.page import COST, Answer
from dpol.studies.study import Facts

_EASIER = (
    "Questions differ in what any choice can gain: the best fixed entity in hindsight has {fixed}."
    " An answer to another question is no better answer to the paper’s."
)
_NAMES = {PAPER: "the paper’s way", OURS: "ours"}


def answer_on_questions(questions: pd.DataFrame, main: Hospitals) -> Answer:
    """The share of the possible gain that is left under each question, with intervals.

    Args:
        questions: table of `dpol.studies.hospitals.questions.compare_questions`.
        main: the questions, and the privacy levels.
    """
    means = questions[questions["stream"] == ""]
    titles = {label: gain.title or label for label, gain in main.questions.items()}
    finite = sorted((mu for mu in main.levels.values() if mu < math.inf), reverse=True)
    told = list(dict.fromkeys((finite[0], finite[len(finite) // 2], finite[-1])))
    parts = []
    for label, title in titles.items():
        own = means[means["question"] == label]
        ways = " and ".join(
            f"{name} keeps {_shares(own[own['way'] == way], told)}" for way, name in _NAMES.items()
        )
        parts.append(f"asked for {title}, {ways}")
    fixed = means.drop_duplicates("question").set_index("question")["best_static_share"]
    each = ", ".join(f"{100 * fixed[label]:.0f}% ({title})" for label, title in titles.items())
    count = len(questions[questions["stream"] != ""].drop_duplicates("stream")) // len(titles)
    levels = ", ".join(f"{mu:g} ({100 * best_guess(mu):.0f}% right guesses)" for mu in told)
    first = means.iloc[0]
    return Answer(
        question=COST,
        finding=f"What privacy costs depends on what is asked: {_lost(means, titles, told)}.",
        more=(
            f"Shares of the possible gain at μ = {levels}, means over {count} streams:"
            f" {'; '.join(parts)}.",
            f"±: {100 * first['confidence']:g}% intervals for all {first['ci_comparisons']} means"
            " together. They cover the noise, on these streams, not other places or years.",
            _EASIER.format(fixed=each),
        ),
        see=("questions",),
    )


def _lost(means: pd.DataFrame, titles: dict[str, str], told: list[float]) -> str:
    """What the paper's way keeps at the strongest but one level that is told, by question."""
    before, after = told[0], told[min(1, len(told) - 1)]
    paper = means[means["way"] == PAPER].set_index(["question", "mu"])["gain_share"]
    kept = [
        f"{100 * paper[label, before]:.0f}% to {100 * paper[label, after]:.0f}% for {title}"
        for label, title in titles.items()
    ]
    return (
        f"from {mu_title(before)} to {mu_title(after)} the paper’s way falls from {', from '.join(kept)}"
        " of the possible gain"
    )


def _shares(rows: pd.DataFrame, mus: list[float]) -> str:
    """The means at some levels, each with its interval."""
    of_level = rows.set_index("mu")
    return ", ".join(
        f"{100 * of_level.loc[mu, 'gain_share']:.1f}"
        f" ± {100 * of_level.loc[mu, 'gain_share_half_width']:.1f}%"
        for mu in mus
    )


def answer_on_aims(comparison: pd.DataFrame, main: Hospitals, facts: Facts) -> Answer:
    """In how many streams ours reaches the paper's way, and which miss it; by question.

    Args:
        comparison: table of `dpol.studies.hospitals.comparison.compare`; its intervals hold
            together.
        main: the questions, and the streams under each.
        facts: titles of the streams.
    """
    aims = comparison[comparison["kind"] == "aim-paper"]
    if aims.empty or main.asked and len({stream for stream, _ in main.asked.values()}) < 2:
        return Answer(question=COST)
    sentences = []
    for label, gain in main.questions.items():
        streams = [it for it, (_, question) in main.asked.items() if question == label]
        own = aims[aims["stream"].isin(streams)]
        asked = f"Asked for {gain.title or label}: " if main.asks_several else ""
        for mu, rows in own.groupby("other_mu", sort=False):
            counts = "; ".join(
                _reached(of_mu, facts, main) for _, of_mu in rows.groupby("mu", sort=False)
            )
            sentences.append(
                f"{asked}ours reaches the paper’s gain at {mu_title(float(str(mu)))} {counts}."
            )
    return Answer(question=COST, finding="", more=tuple(sentences), see=("questions",))


def _reached(rows: pd.DataFrame, facts: Facts, main: Hospitals) -> str:
    """One aim at one level, over the streams of a question."""
    mu = mu_title(float(rows["mu"].iloc[0]))
    met = int((rows["aim_verdict"] == REACHED).sum())
    named = list(_named(rows, facts, main))
    return f"at {mu} in {met} of {len(rows)} streams" + (f" ({'; '.join(named)})" if named else "")


def _named(rows: pd.DataFrame, facts: Facts, main: Hospitals) -> Iterator[str]:
    """The streams that miss an aim, and those that are undecided."""
    for words, chosen in (
        ("not in", ~rows["aim_verdict"].isin((REACHED, UNDECIDED))),
        ("undecided:", rows["aim_verdict"] == UNDECIDED),
    ):
        labels = [
            main.asked[label][0] if label in main.asked else label
            for label in rows.loc[chosen, "stream"]
        ]
        if labels:
            yield f"{words} {', '.join(labels)}"
