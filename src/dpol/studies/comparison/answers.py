"""Answers of the comparison: the cost of privacy for each question, and the aims reached."""

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
    "Some questions are easier: the best fixed entity in hindsight keeps {fixed}."
    " Answering an easier question does not answer the paper’s."
)
_WHOSE = {
    "aim-baseline": f"the gain of {ROLES[BASELINE]}",
    "aim-tuned": f"the gain of {ROLES[TUNED]}",
}


def answers(frames: Frames, settings: Comparison | None, facts: PageFacts) -> list[Answer]:
    """Answer on the aims, and on the cost of privacy for each question if there are several."""
    if settings is None:
        return []
    given = [answer_on_aims(frames["comparison"], facts)]
    if facts.asks_several:
        given.append(answer_on_questions(frames["questions"], facts))
    return given


def answer_on_questions(questions: pd.DataFrame, facts: Facts) -> Answer:
    """Tell the share of the possible gain that the baseline keeps for each question.

    Args:
        questions: Table of `dpol.studies.comparison.questions.compare_questions`.
        facts: The questions and the privacy levels.
    """
    means = best_of_roles(questions[questions["stream"] == ""])
    titles = facts.questions
    named = headline_levels(facts.levels, several=True)
    fixed = means.drop_duplicates("question").set_index("question")["best_fixed_share"]
    each = ", ".join(f"{100 * fixed[label]:.0f}% ({title})" for label, title in titles.items())
    return Answer(
        question=COST,
        finding=f"The cost of privacy depends on the question. {_lost(means, titles, named)}.",
        more=(
            _EASIER.format(fixed=each),
            *(f"{text[0].upper()}{text[1:]}." for text in describe_tuned(questions)),
        ),
        see=("questions",),
    )


def describe_tuned(questions: pd.DataFrame) -> list[str]:
    """Name the systems of the tuned baseline in words; empty without any."""
    labels = dict.fromkeys(questions.loc[questions["role"] == TUNED, "algorithm"])
    best = "best in hindsight of " if len(labels) > 1 else ""
    return [f"{ROLES[TUNED]}: {best}{', '.join(labels)}"] if labels else []


def _lost(means: pd.DataFrame, titles: Mapping[str, str], named: list[float]) -> str:
    """Tell how much the baseline loses between the first two headline levels, by question."""
    before, after = named[0], named[min(1, len(named) - 1)]
    baseline = 100 * means[means["role"] == BASELINE].set_index(["question", "mu"])["gain_share"]
    kept = [
        f"{baseline[label, before]:.0f}% to {baseline[label, after]:.0f}% ({title})"
        for label, title in titles.items()
    ]
    return (
        f"Between {mu_title(before)} and {mu_title(after)} the baseline falls, in shares of the"
        f" possible gain, from {', from '.join(kept)}"
    )


def answer_on_aims(comparison: pd.DataFrame, facts: PageFacts) -> Answer:
    """Count the streams in which ours reaches the baseline and the tuned baseline.

    Args:
        comparison: Table of `dpol.studies.comparison.comparison.compare`.
        facts: The questions, the streams of each, and the titles of the panel's streams.
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
            whom = f"For “{title}”, ours" if facts.asks_several else "Ours"
            at = mu_title(float(str(mu)))
            sentences.append(f"{whom} reaches {_WHOSE[str(kind)]} at {at}: {'; '.join(counts)}.")
    return Answer(question=COST, more=tuple(sentences), see=("questions", "beyond"))


def _reached(rows: pd.DataFrame, titles: Sequence[str]) -> str:
    """Tell in how many streams of a question, with these titles, an aim is reached at a level."""
    at_or_above = int((rows["difference"] >= 0).sum())
    verdicts = dict(zip(titles, rows["aim_verdict"], strict=True))
    met = [title for title, verdict in verdicts.items() if verdict == REACHED]
    missed = [title for title, verdict in verdicts.items() if verdict == MISSED]
    undecided = [title for title, verdict in verdicts.items() if verdict == UNDECIDED]
    text = f"at {mu_title(float(rows['mu'].iloc[0]))} in {len(met)} of {len(titles)} streams"
    if at_or_above > len(met):
        text += f", by the means alone in {at_or_above}"
    words = [f"not in {', '.join(missed)}"] if missed else []
    words += [f"undecided in {', '.join(undecided)}"] if undecided else []
    return f"{text} ({'; '.join(words)})" if words else text
