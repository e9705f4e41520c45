"""Answers of the comparison: what privacy costs under each question, and which aims are reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from dpol.show.words import mu_title
from dpol.studies.comparison.questions import best_of_roles
from dpol.studies.comparison.settings import Comparison
from dpol.studies.games.settings import BASELINE, ROLES, TUNED
from dpol.studies.games.systems import headline_levels
from dpol.studies.games.verdicts import MISSED, REACHED, UNDECIDED
from dpol.studies.page import COST, Answer, PageFacts
from dpol.studies.study import Facts, Frames

_EASIER = (
    "Questions differ in what any choice can gain: the best fixed entity in hindsight has {fixed}."
    " An answer to another question is no better answer to the paper’s."
)
_WHOSE = {
    "aim-baseline": f"the gain of {ROLES[BASELINE]}",
    "aim-tuned": f"the gain of {ROLES[TUNED]}",
}


def answers(frames: Frames, settings: Comparison | None, facts: PageFacts) -> list[Answer]:
    """The aims, and what privacy costs under each question, if there are several."""
    if settings is None:
        return []
    found = [answer_on_aims(frames["comparison"], facts)]
    if facts.asks_several:
        found.append(answer_on_questions(frames["questions"], facts))
    return found


def answer_on_questions(questions: pd.DataFrame, facts: Facts) -> Answer:
    """The share of the possible gain that the baseline keeps under each question.

    Args:
        questions: table of `dpol.studies.comparison.questions.compare_questions`.
        facts: the questions, and the privacy levels.
    """
    means = best_of_roles(questions[questions["stream"] == ""])
    titles = facts.questions
    named = headline_levels(facts.levels, several=True)
    fixed = means.drop_duplicates("question").set_index("question")["best_fixed_share"]
    each = ", ".join(f"{100 * fixed[label]:.0f}% ({title})" for label, title in titles.items())
    return Answer(
        question=COST,
        finding=f"What privacy costs depends on what is asked: {_lost(means, titles, named)}.",
        more=(
            _EASIER.format(fixed=each),
            *(f"{it[0].upper()}{it[1:]}." for it in describe_tuned(questions)),
        ),
        see=("questions",),
    )


def describe_tuned(questions: pd.DataFrame) -> list[str]:
    """The systems of the tuned baseline in words; none without any."""
    labels = dict.fromkeys(questions.loc[questions["role"] == TUNED, "algorithm"])
    best = "the best in hindsight of " if len(labels) > 1 else ""
    return [f"{ROLES[TUNED]}: {best}{', '.join(labels)}"] if labels else []


def _lost(means: pd.DataFrame, titles: Mapping[str, str], named: list[float]) -> str:
    """The fall of the baseline between the first two levels that are named, by question."""
    before, after = named[0], named[min(1, len(named) - 1)]
    paper = 100 * means[means["role"] == BASELINE].set_index(["question", "mu"])["gain_share"]
    kept = [
        f"from {paper[label, before]:.0f}% to {paper[label, after]:.0f}% ({title})"
        for label, title in titles.items()
    ]
    return (
        f"from {mu_title(before)} to {mu_title(after)} the share of the possible gain that the"
        f" baseline keeps goes {', '.join(kept)}"
    )


def answer_on_aims(comparison: pd.DataFrame, facts: PageFacts) -> Answer:
    """The number of streams in which ours reaches the baseline, tuned too, and the others.

    Args:
        comparison: table of `dpol.studies.comparison.comparison.compare`; its intervals hold
            together.
        facts: the questions, the streams under each, and the titles of the streams of the panel.
    """
    aims = comparison[comparison["kind"].isin(_WHOSE)]
    if aims.empty or len(facts.cleaned) < 2:
        return Answer(question=COST)
    sentences = []
    for label, title in facts.questions.items():
        asked = aims["stream"].map(dict(facts.asked)) == label
        for (mu, kind), rows in aims[asked].groupby(["other_mu", "kind"], sort=False):
            counts = []
            for _, pairs in rows.groupby("mu", sort=False):
                aim = pairs.loc[pairs.groupby("stream", sort=False)["difference"].idxmin()]
                titles = [facts.cleaned[facts.panel[stream]] for stream in aim["stream"]]
                counts.append(_reached(aim, titles))
            whom = f"Asked for {title}, ours" if facts.asks_several else "Ours"
            at = mu_title(float(str(mu)))
            sentences.append(f"{whom} reaches {_WHOSE[str(kind)]} at {at} {'; '.join(counts)}.")
    return Answer(question=COST, more=tuple(sentences), see=("questions", "beyond"))


def _reached(rows: pd.DataFrame, titles: Sequence[str]) -> str:
    """One aim at one level, over the streams of a question, which have these titles."""
    at_or_above = int((rows["difference"] >= 0).sum())
    verdicts = dict(zip(titles, rows["aim_verdict"], strict=True))
    met = [title for title, verdict in verdicts.items() if verdict == REACHED]
    missed = [title for title, verdict in verdicts.items() if verdict == MISSED]
    undecided = [title for title, verdict in verdicts.items() if verdict == UNDECIDED]
    text = f"in {len(met)} of {len(titles)} streams at {mu_title(float(rows['mu'].iloc[0]))}"
    if at_or_above > len(met):
        text += f", in {at_or_above} by the means alone"
    words = [f"not in {', '.join(missed)}"] if missed else []
    words += [f"undecided in {', '.join(undecided)}"] if undecided else []
    return f"{text} ({'; '.join(words)})" if words else text
