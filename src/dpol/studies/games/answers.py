"""Answers of the main study: the cost of privacy, the guarantee, and the paper's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pandas as pd

from dpol.core.rounding import percent, rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.privacy.guarantee import MU_OF_STAYS
from dpol.privacy.stays import STAYS
from dpol.show.footers import MODELS, SAMPLERS, describe_public
from dpol.show.names import name_of
from dpol.show.words import each, mu_title, power
from dpol.studies.games.allocation_answer import answer_on_allocation
from dpol.studies.games.setting import setting_answer
from dpol.studies.games.settings import PAPER_NOISE, ROLES, TUNED, Games
from dpol.studies.games.systems import (
    Line,
    headline_levels,
    lines_of,
    mean_share,
    named_systems,
    ordered_levels,
)
from dpol.studies.games.verdicts import ABOVE, BELOW
from dpol.studies.page import COST, PAPERS, PRIVACY, RIGHT, Answer, PageFacts
from dpol.studies.study import Frames

_INFINITE = float("inf")


def answers(frames: Frames, settings: Games, facts: PageFacts) -> list[Answer]:
    """Answer all questions of a reader, and describe the setting."""
    summary = frames["summary"]
    # The page shows the last answer to a question first.
    given = [
        answer_on_privacy(summary),
        Answer(question=PRIVACY, below=describe_stays(summary, settings, facts)),
        answer_on_papers(summary, frames["ranking"]),
        setting_answer(summary, facts),
    ]
    lines = lines_of(summary, settings, facts)
    given.append(answer_on_names(lines, frames.get("replay"), facts, compared=bool(settings.roles)))
    if "allocation" in frames:
        given.append(answer_on_allocation(frames["allocation"], settings, facts))
    if not settings.roles:
        given.append(answer_on_choice(lines, facts))
    elif not facts.asks_several:  # otherwise the comparison answers for each question
        given.append(answer_on_cost(lines, facts))
    return given


def answer_on_papers(summary: pd.DataFrame, ranking: pd.DataFrame) -> Answer:
    """Compare our numbers with the paper's; no finding where the paper reports none.

    Args:
        summary: Table of `dpol.studies.games.findings.conclude`.
        ranking: Table of `dpol.studies.games.findings.rank_meta`.
    """
    reported = summary[summary["reported_mean_gain"].notna()]
    comparable = reported[reported["ci_half_width"] < _INFINITE]  # a single run has no interval
    table, ranked = _table_two(comparable), tuple(_ranking(ranking))
    # What can be compared comes first.
    sentences = (*ranked, table) if comparable.empty else (table, *ranked)
    finding = "" if reported.empty else sentences[0]
    more = sentences if reported.empty else sentences[1:]
    return Answer(question=PAPERS, finding=finding, more=more, see=("average-gain",))


def _table_two(beside: pd.DataFrame) -> str:
    """Say how many numbers of the paper's Table 2 agree with ours."""
    if beside.empty:
        return (
            "Table 2: none of the paper’s numbers can be compared (other streams or periods, or a"
            " single run)."
        )
    met = int((~beside["reported_verdict"].isin((ABOVE, BELOW))).sum())
    ratio = (beside["mean_gain"] / beside["reported_mean_gain"]).median()
    data = " Our numbers come from simulated data." if beside["simulated"].any() else ""
    return (
        f"Table 2: {met} of our {len(beside)} intervals overlap the paper’s numbers. The median"
        f" ratio of our gain to theirs is {ratio:.2f}.{data}"
    )


def _ranking(ranking: pd.DataFrame) -> Iterator[str]:
    """Compare RW-Meta, which is local, with its central rivals: here, and in the paper's table."""
    rows = ranking[ranking["noise"] == PAPER_NOISE]
    ours, theirs = (rows[rows["source"] == source] for source in ("run", "paper"))
    for rival, own in ours.groupby("rival", sort=False):
        verdicts, low, high = own["verdict"].to_list(), own["ratio"].min(), own["ratio"].max()
        above, below = verdicts.count(ABOVE), verdicts.count(BELOW)
        yield (
            f"With {PAPER_NOISE} noise, RW-Meta (local) gains {low:.2f} to {high:.2f} times as much"
            f" as the best central rival in hindsight ({rival}). It clearly wins {above} of"
            f" {len(own)} comparisons and loses {below}; {len(own) - above - below} are too close"
            " to call."
        )
    if not ours.empty:
        reported = theirs["verdict"].to_list()
        yield (
            f"The paper reports that RW-Meta wins {reported.count(ABOVE)} of {len(reported)}"
            f" comparisons with its tree, with {theirs['ratio'].min():.2f} to"
            f" {theirs['ratio'].max():.2f} times its gain."
        )


def answer_on_privacy(summary: pd.DataFrame) -> Answer:
    """Tell the guarantees of all runs with noise."""
    private = summary[(summary["epsilon"] < _INFINITE) & (summary["mu"] < _INFINITE)]
    if private.empty:
        return Answer(question=PRIVACY, finding="Not at all: no run has privacy noise.")
    unit = each(private["unit"])
    return Answer(
        question=PRIVACY,
        finding=f"Protected: {unit}. {_guesses(private)}",
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
    "All this holds for the noisy numbers and the choices that an algorithm would publish. It does"
    " not hold for this page, which is computed from the true numbers."
)


def describe_stays(summary: pd.DataFrame, settings: Games, facts: PageFacts) -> str:
    """Tell how often an attacker guesses right about a person counted in several rounds.

    Covers the systems compared and correlated noise, by the largest mu of any stream. Systems with
    equal guesses share a clause. Empty where no people are counted.

    Args:
        summary: Table of `dpol.studies.games.findings.conclude`.
        settings: The systems, and the levels that the headline names.
        facts: The name of a round.
    """
    rows = summary[(summary["mu"] < _INFINITE) & summary["mu_1_week"].notna()]
    if rows.empty:
        return ""
    named = {
        name: rows[(rows["algorithm"] == algorithm) & (rows["noise"] == noise)]
        for (algorithm, noise), name in named_systems(summary, settings).items()
    }
    for noise, own in rows[rows["noise_memory"] != ""].groupby("noise"):
        named[name_of(str(noise)).long] = own
    levels = headline_levels(facts.levels, several=facts.asks_several)
    if not settings.roles:
        levels = [min(facts.levels.values())]
    whose: dict[str, list[str]] = {}
    for name, own in named.items():
        guesses = []
        for level in levels:
            at = own[own["mu"] == level]
            if not at.empty:
                often = [_percent(best_guess(float(at[column].max()))) for column in MU_OF_STAYS]
                guesses.append(f"{_listed(often)} at {_mu(level)}")
        if guesses:
            whose.setdefault(", and ".join(guesses), []).append(name)
    guessed = "; ".join(f"{text} ({_listed(names)})" for text, names in whose.items())
    *fewer, most = map(str, STAYS)
    counted = f"{', '.join(fewer)} or {most} {facts.period}s"
    return (
        f"How often an attacker is right about a person counted in {counted}, at most: {guessed}."
    )


def _guesses(private: pd.DataFrame) -> str:
    """Tell an attacker's best guess at each level, for mechanisms with a guarantee in mu."""
    rows = private.dropna(subset="guaranteed_mu")
    if rows.empty:
        return f"{_epsilons(private)}."
    guesses = _at_levels(rows, "guaranteed_mu", lambda mu: _percent(best_guess(mu)))
    return (
        "From what an algorithm publishes, an attacker is right about it at most this often:"
        f" {guesses} (a coin: 50%). This page itself shows true numbers."
    )


def _epsilons(private: pd.DataFrame) -> str:
    """Tell the largest epsilon at each level."""
    epsilons = _at_levels(private, "epsilon", lambda epsilon: f"ε\xa0≤\xa0{rounded_up(epsilon, 3)}")
    return f"As (ε, δ): {epsilons}, with δ = {each(map(power, private['delta']))}"


def _epsilon_only(private: pd.DataFrame) -> Iterator[str]:
    """Tell the guesses of mechanisms with (epsilon, delta) alone, which bounds guesses less."""
    rows = private[private["guaranteed_mu"].isna()]
    if 0 < len(rows) < len(private):
        guess = [
            best_guess_of_epsilon(*row) for row in zip(rows["epsilon"], rows["delta"], strict=True)
        ]
        guesses = _at_levels(rows.assign(guess=guess), "guess", _percent)
        names = ", ".join(dict.fromkeys(rows["algorithm"]))
        yield f"For {names} only (ε, δ) is known: an attacker is right at most {guesses}."


def _at_levels(private: pd.DataFrame, column: str, text: Callable[[float], str]) -> str:
    """Tell the largest value of a column at each level of privacy, the least private first."""
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
        f"Mechanisms: {', '.join(mechanisms)}. The table of mechanisms, below the total gains, has"
        " the guarantee of each."
    )


def answer_on_cost(lines: Sequence[Line], facts: PageFacts) -> Answer:
    """Tell the share of the possible gain that each system of the comparison keeps.

    Shares are means over the streams. The intervals of the streams hold jointly, so the mean of
    their half-widths is valid for the mean.
    """
    if not any(mu < _INFINITE for mu in facts.levels.values()):
        return _NO_COST
    middle = headline_levels(facts.levels, several=facts.asks_several)[-1]
    shown = [*lines[:2], *(line for line in lines[2:] if line.name == ROLES[TUNED])]
    kept = [f"{line.name} keeps {_share(line.rows, middle)}" for line in shown]
    kept[0] += _POSSIBLE
    free = [_share(line.rows, _INFINITE) for line in shown]
    return Answer(
        question=COST,
        finding=f"{_limit(shown, middle, facts)} Then {_listed(kept)}. Without privacy:"
        f" {_listed(free)}. {_data(facts)}",
        see=("beyond",),
    )


def answer_on_choice(lines: Sequence[Line], facts: PageFacts) -> Answer:
    """Tell the best private algorithm at the strictest level, its cost, and the best fixed expert.

    For the owner of a table: considers every algorithm that was played.
    """
    private = [one for one in lines if one.model != "none" and (one.rows["mu"] < _INFINITE).any()]
    if not private:
        return _NO_COST
    levels = [mu for mu in ordered_levels(facts.levels) if mu < _INFINITE]
    *others, strictest = levels
    said, more = [_limit(private, strictest, facts)], list[str]()
    for label, title in (facts.questions or {"": ""}).items():
        asked = [stream for stream in facts.streams if facts.asked.get(stream, "") == label]
        own = [replace(line, rows=line.rows[line.rows["stream"].isin(asked)]) for line in private]
        local = [line for line in own if line.model == "local"] or own
        best = _best_at(local, strictest)
        whom = f"For “{title}”, the" if facts.asks_several else "Then the"
        said.append(
            f"{whom} best of {counted(len(local), f'{best.model} algorithm')} is {best.name}. It"
            f" keeps {_share(best.rows, strictest)}{_POSSIBLE}; without privacy it keeps"
            f" {_share(best.rows, _INFINITE)}. {_fixed(best.rows, facts)}"
        )
        of_levels = [(mu, _best_at(local, mu)) for mu in others]
        more += [f"Best at {_mu(mu)}: {one.name}, {_share(one.rows, mu)}." for mu, one in of_levels]
        if central := [line for line in own if line.model == "central" and line not in local]:
            curated = _best_at(central, strictest)
            more.append(
                f"Best with a trusted curator, at {_mu(strictest)}: {curated.name},"
                f" {_share(curated.rows, strictest)}."
            )
    more.append("The best was chosen in hindsight; on other data, another may be best.")
    finding = " ".join([*said, _data(facts)])
    return Answer(question=COST, finding=finding, more=tuple(more), see=("average-gain",))


_NO_COST = Answer(
    question=COST,
    finding="This run cannot tell: no private algorithm was played with noise.",
)
_POSSIBLE = " of the possible gain"


def _limit(lines: Sequence[Line], mu: float, facts: PageFacts) -> str:
    rows = pd.concat([line.rows for line in lines])
    unit = each(rows.loc[rows["mu"] == mu, "unit"]).replace("round", facts.period)
    return (
        f"Suppose an attacker may be right about {unit} at most {_guess(mu)} times in 100 (a coin:"
        " 50)."
    )


def _best_at(lines: Sequence[Line], mu: float) -> Line:
    """Return the line with the largest mean share at a level; the first if none was played."""
    shares = [mean_share(line.rows, mu)[0] for line in lines]
    return lines[max(range(len(lines)), key=lambda i: -1e9 if math.isnan(shares[i]) else shares[i])]


_NAMED = 3  # most streams whose best fixed experts a sentence names


def _fixed(rows: pd.DataFrame, facts: PageFacts) -> str:
    """Name the best fixed expert in hindsight, and tell the share that it keeps."""
    entity = facts.columns.called("entity") if facts.columns else "expert"
    known = rows.drop_duplicates("stream").dropna(subset="best_fixed_share")
    if known.empty:
        return ""
    if len(known) > _NAMED:
        mean = known["best_fixed_share"].mean()
        return f"The best fixed {entity} in hindsight keeps {percent(mean)}, mean over the streams."
    always = []
    for row in known.to_dict("records"):
        where = f" in {facts.streams[row['stream']]}" if len(known) > 1 else ""
        always.append(f"{percent(row['best_fixed_share'])}{where} (always {row['best_fixed']})")
    return f"The best fixed {entity}, known only in hindsight, keeps {_listed(always)}."


def _data(facts: PageFacts) -> str:
    streams = list(facts.streams.values())
    where = f"{'mean over ' if len(streams) > 1 else ''}{_listed(streams)}"
    return f"{'Simulated' if facts.simulated else 'Real'} data, {where}."


def _begun(text: str) -> str:
    return text[0].upper() + text[1:]


def _share(rows: pd.DataFrame, mu: float, column: str = "gain_share") -> str:
    if not (rows["mu"] == mu).any():
        return "not played"
    share, half = mean_share(rows, mu, column)
    low, high = percent(share - half), percent(share + half)
    if not half < _INFINITE or low == high:
        return percent(share)
    return f"{percent(share)} ({low.removesuffix('%')} to {high})"


def _guess(mu: float) -> str:
    return f"{100 * best_guess(mu):.0f}"


def _listed(texts: Sequence[str]) -> str:
    *others, last = texts
    return f"{', '.join(others)} and {last}" if others else last


def answer_on_names(
    lines: Sequence[Line], replay: pd.DataFrame | None, facts: PageFacts, *, compared: bool
) -> Answer:
    """Tell how often the systems compared, or the best one, named the right expert.

    If the run asks several questions, the answer is for the first.

    Args:
        lines: The systems; without a comparison, the best one first.
        replay: One run round by round; None if it is not shown.
        facts: The streams, and the names of an entity and of a round.
        compared: Whether systems are compared.
    """
    entity = facts.columns.called("entity") if facts.columns else "expert"
    levels, asked = ordered_levels(facts.levels), ""
    if facts.asks_several:
        question, title = next(iter(facts.questions.items()))
        streams = [stream for stream in facts.streams if facts.asked[stream] == question]
        lines = [replace(line, rows=line.rows[line.rows["stream"].isin(streams)]) for line in lines]
        asked = f"For “{title}”, the"
    named = [
        f"{line.name}: {', '.join(_named_at(line.rows, mu) for mu in levels)}."
        for line in lines
        if line.rows["named_right"].notna().any() and line.model != "none"
    ]
    if not named:
        return Answer(question=RIGHT)
    rows = lines[0].rows.drop_duplicates("stream")
    share = f"{asked or 'The'} right {entity} is named in this share of the {facts.period}s"
    uniform = f"Uniform random: {percent((1 / rows['n_experts']).mean())}."
    often = []
    if replay is not None:
        best = replay[replay["oracle"]].drop_duplicates("round")["name"].value_counts()
        rounds = f"{best.iloc[0]} of {replay['round'].nunique()} {facts.period}s"
        title = facts.streams[replay["stream"].iloc[0]]
        often.append(f"{best.index[0]} was the right one most often: in {rounds} ({title}).")
    return Answer(
        question=RIGHT,
        finding=f"{share} by {named[0]} {uniform}",
        more=(*map(_begun, named[1:] if compared else ()), *often),
        see=("replay",),
    )


def _named_at(rows: pd.DataFrame, mu: float) -> str:
    where = "without privacy" if mu == _INFINITE else f"at {_mu(mu)}"
    share, _ = mean_share(rows, mu, "named_right")
    return f"{percent(share)} {where}" if (rows["mu"] == mu).any() else f"none {where}"


def _mu(mu: object) -> str:
    """Write a level that no line break divides."""
    return mu_title(float(str(mu))).replace(" ", "\xa0")
