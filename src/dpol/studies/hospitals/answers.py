"""Answers of the main experiment: how it compares with the paper, its cost, its privacy."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.show.footers import MODELS, SAMPLERS, describe_public
from dpol.show.words import each, mu_title, power
from dpol.studies.hospitals.costs import shown_costs
from dpol.studies.hospitals.questions_answers import answer_on_aims, answer_on_questions
from dpol.studies.hospitals.reported import PAPER_NOISE
from dpol.studies.hospitals.setting import setting_answer
from dpol.studies.hospitals.settings import Hospitals
from dpol.studies.hospitals.verdicts import ABOVE, BELOW
from dpol.studies.page import COST, PAPERS, PRIVACY, Answer, PageFacts
from dpol.studies.study import Frames

_INFINITE = float("inf")


def answers(frames: Frames, settings: Hospitals, facts: PageFacts) -> list[Answer]:
    """The answers to all questions of a reader, and the setting that they hold in."""
    summary = frames["summary"]
    # Of answers to one question, the last comes first on the page.
    found = [
        answer_on_papers(summary, frames["ranking"]),
        answer_on_privacy(summary),
        setting_answer(summary, settings, facts),
    ]
    if settings.comparison:
        found.append(answer_on_aims(frames["comparison"], settings, facts))
    if settings.comparison and settings.asks_several:
        found.append(answer_on_questions(frames["questions"], settings))
    else:
        found.append(answer_on_cost(shown_costs(summary, settings)))
    return found


def answer_on_papers(summary: pd.DataFrame, ranking: pd.DataFrame) -> Answer:
    """Our numbers next to those of the paper; no finding where it reports none of them.

    Args:
        summary: table of `dpol.studies.hospitals.findings.conclude`.
        ranking: table of `dpol.studies.hospitals.findings.rank_meta`.
    """
    reported = summary[summary["reported_mean_gain"].notna()]
    comparable = reported[reported["ci_half_width"] < _INFINITE]  # of one run: no interval
    table, ranked = _table_two(comparable), tuple(_ranking(ranking))
    # First what can be compared.
    sentences = (*ranked, table) if comparable.empty else (table, *ranked)
    finding = "" if reported.empty else sentences[0]
    more = sentences if reported.empty else sentences[1:]
    return Answer(question=PAPERS, finding=finding, more=more, see=("average-gain",))


def _table_two(beside: pd.DataFrame) -> str:
    """Sentence on the numbers of the paper's Table 2 that agree with ours."""
    if beside.empty:
        return (
            "Table 2: no number of the paper is comparable (other streams or periods, or a single"
            " run)."
        )
    met = int((~beside["reported_verdict"].isin((ABOVE, BELOW))).sum())
    ratio = (beside["mean_gain"] / beside["reported_mean_gain"]).median()
    data = " Ours come from simulated data." if beside["simulated"].any() else ""
    return (
        f"Table 2: {met} of {len(beside)} of our intervals overlap the paper’s numbers. The median"
        f" ratio of ours to theirs is {ratio:.2f}.{data}"
    )


def _ranking(ranking: pd.DataFrame) -> Iterator[str]:
    """RW-Meta, which is local, compared with central rivals: here, and in the paper's table."""
    rows = ranking[ranking["noise"] == PAPER_NOISE]
    ours, theirs = (rows[rows["source"] == source] for source in ("run", "paper"))
    for rival, own in ours.groupby("rival", sort=False):
        verdicts, low, high = own["verdict"].to_list(), own["ratio"].min(), own["ratio"].max()
        yield (
            f"RW-Meta (local) compared with the best central rival in hindsight ({rival}), with"
            f" {PAPER_NOISE} noise: {low:.2f} to {high:.2f} times its gain. RW-Meta is above it in"
            f" {verdicts.count(ABOVE)} of {len(own)} cells and below it in"
            f" {verdicts.count(BELOW)}. In the others their intervals overlap."
        )
    if not ours.empty:
        reported = theirs["verdict"].to_list()
        yield (
            f"The paper reports RW-Meta above its tree in {reported.count(ABOVE)} of"
            f" {len(reported)} cells, at {theirs['ratio'].min():.2f} to"
            f" {theirs['ratio'].max():.2f} times its gain."
        )


def answer_on_privacy(summary: pd.DataFrame) -> Answer:
    """The guarantees of all runs with noise."""
    private = summary[(summary["epsilon"] < _INFINITE) & (summary["mu"] < _INFINITE)]
    if private.empty:
        return Answer(question=PRIVACY, finding="Not at all: no run has privacy noise.")
    unit = each(private["unit"])
    return Answer(
        question=PRIVACY,
        finding=f"{unit[0].upper()}{unit[1:]} is protected. {_guesses(private)}",
        more=(
            f"{_epsilons(private)}.",
            *_epsilon_only(private),
            f"Adjacent inputs: {each(private['adjacency'])}.",
            *describe_public(private),
            _models(private),
            *(SAMPLERS[name] for name in dict.fromkeys(private["sampler"])),
            _NOT_THIS_PAGE,
        ),
        see=("average-gain",),
    )


_NOT_THIS_PAGE = (
    "All this is about the noisy numbers and the choices that an algorithm would publish. It is not"
    " about this page, which is computed from the true numbers."
)


def _guesses(private: pd.DataFrame) -> str:
    """The best guess at each level, of the mechanisms whose guarantee is a mu."""
    rows = private.dropna(subset="guaranteed_mu")
    if rows.empty:
        return f"{_epsilons(private)}."
    guesses = _at_levels(rows, "guaranteed_mu", lambda mu: _percent(best_guess(mu)))
    return (
        "Right guesses about that person from what an algorithm publishes, not from this page: at"
        f" most {guesses} (a coin: 50%)."
    )


def _epsilons(private: pd.DataFrame) -> str:
    """The largest epsilon at each level; smaller ones count as it."""
    epsilons = _at_levels(private, "epsilon", lambda it: f"ε\xa0≤\xa0{rounded_up(it, 3)}")
    return f"As (ε, δ): {epsilons}, with δ = {each(map(power, private['delta']))}"


def _epsilon_only(private: pd.DataFrame) -> Iterator[str]:
    """A sentence on the mechanisms that lack a guarantee in mu; theirs bounds guesses less."""
    rows = private[private["guaranteed_mu"].isna()]
    if 0 < len(rows) < len(private):
        guess = [
            best_guess_of_epsilon(*it) for it in zip(rows["epsilon"], rows["delta"], strict=True)
        ]
        guesses = _at_levels(rows.assign(guess=guess), "guess", _percent)
        names = ", ".join(dict.fromkeys(rows["algorithm"]))
        yield f"Only an (ε, δ) guarantee is known of {names}: right guesses at most {guesses}."


def _at_levels(private: pd.DataFrame, column: str, text: Callable[[float], str]) -> str:
    """The largest value of a column at each level of privacy, from the least private on."""
    largest = private.groupby("mu")[column].max().sort_index(ascending=False)
    return ", ".join(f"{text(value)} at {_mu(mu)}" for mu, value in largest.items())


def _percent(share: float) -> str:
    return f"{rounded_up(100 * share, 3)}%"


def _models(private: pd.DataFrame) -> str:
    counts = private.groupby("model")["mechanism"].nunique()
    mechanisms = [
        f"{counts[model]} {model} ({text})"
        for model, text in MODELS.items()
        if model in counts.index
    ]
    return (
        f"Mechanisms: {', '.join(mechanisms)}. The notes below the table of total gains say what"
        " each guarantees."
    )


def answer_on_cost(costs: pd.DataFrame) -> Answer:
    """The share of the gain that noise takes; `costs` are rows of `shown_costs`."""
    if costs.empty:
        text = "This run cannot tell: no private algorithm was played both with and without noise."
        return Answer(question=COST, finding=text)
    finding, *more = (
        _cost(system) for _, system in costs.groupby(["algorithm", "noise"], sort=False)
    )
    return Answer(question=COST, finding=finding, more=tuple(more), see=("noise-costs", "beyond"))


def _cost(costs: pd.DataFrame) -> str:
    """One system, over all streams."""
    parts: list[str] = []
    for mu, rows in costs.dropna(subset="noise_cost_share").groupby("mu", sort=False):
        percent = (100 * rows["noise_cost_share"]).round().astype(int)
        both = " to ".join(dict.fromkeys((f"{percent.min()}", f"{percent.max()}")))
        what = "" if parts else " of what it gains above chance"
        parts.append(f"{both}%{what} at {_mu(mu)}".replace("-", "−"))
    if not parts:
        parts.append("nothing: without noise it gains no more than chance")
    first, streams = costs.iloc[0], costs["stream"].nunique()
    noise = f"{first['noise']} noise" + (" (ours)" if first["ours"] else "")
    where = f", over {streams} streams" if streams > 1 else ""
    return f"With {noise}, {first['algorithm']} loses {', '.join(parts)}{where}."


def _mu(mu: object) -> str:
    """A level that no line break divides."""
    return mu_title(float(str(mu))).replace(" ", "\xa0")
