"""The answers to the three questions of a reader, computed from what the run found."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.core.words import counted
from dpol.privacy.account import best_guess, best_guess_of_epsilon
from dpol.show.footers import MODELS, SAMPLERS, describe_public
from dpol.show.words import each, joint_confidence, mu_title, power, proved
from dpol.studies import audits as audits_study
from dpol.studies import claims as claims_study
from dpol.studies.audits.bounds import exceeds
from dpol.studies.claims.table import count_verdicts
from dpol.studies.hospitals.reported import PAPER_NOISE
from dpol.studies.hospitals.verdicts import ABOVE, BELOW
from dpol.studies.study import Study

_INFINITE = float("inf")


@dataclass(frozen=True)
class Answer:
    """An answer: its finding in one sentence, further sentences, and the sections with details."""

    question: str
    found: str
    more: tuple[str, ...]
    see: tuple[str, ...]


def answer_on_papers(
    claims: pd.DataFrame | None, summary: pd.DataFrame, ranking: pd.DataFrame
) -> Answer:
    """Answer to "Does the paper hold up?", or all papers if their claims were checked.

    Args:
        claims: the ledger; None if it was not made.
        summary: table of `dpol.studies.hospitals.findings.conclude`.
        ranking: table of `dpol.studies.hospitals.findings.rank_meta`.
    """
    more: list[str] = []
    if claims is not None:
        ours = claims["ours"].astype(bool)
        theirs = claims[~ours]
        found = f"Of {_checks(theirs)} of what the papers state, {count_verdicts(theirs)}."
        for paper, rows in theirs.groupby("paper", sort=False):
            more.append(f"“{paper}”: of {_checks(rows)}, {count_verdicts(rows)}.")
        if ours.any():
            rows = claims[ours]
            more.append(f"Not counted: {_checks(rows)} of ours (†): {count_verdicts(rows)}.")
    beside = summary[summary["reported_mean_gain"].notna()]
    beside = beside[beside["ci_half_width"] < _INFINITE]  # of one run there is no interval
    table, ranked = _table_two(beside), list(_ranking(ranking))
    more += [*ranked, table] if beside.empty else [table, *ranked]  # first what can be compared
    if claims is None:
        found, *more = more
        more.append(f"No statement of the papers was checked: {_no_block(claims_study.STUDY)}")
    question = "Does the paper hold up?" if claims is None else "Do the papers hold up?"
    return Answer(question, found, tuple(more), ("average-gain", "claims"))


def _no_block(study: Study) -> str:
    return f"the config has no block {study.name}."


def _checks(rows: pd.DataFrame) -> str:
    return counted(len(rows), "check")


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


def answer_on_privacy(summary: pd.DataFrame, audits: pd.DataFrame | None) -> Answer:
    """Answer to "How private is it?"; `audits` is None if there were none."""
    private = summary[(summary["epsilon"] < _INFINITE) & (summary["mu"] < _INFINITE)]
    more: list[str] = []
    if private.empty:
        found = "Not at all: no run has privacy noise."
    else:
        unit = each(private["unit"])
        found = f"{unit[0].upper()}{unit[1:]} is protected. {_guesses(private)}"
        more += [f"{_epsilons(private)}.", *_epsilon_only(private)]
        more.append(f"Adjacent inputs: {each(private['adjacency'])}.")
        more += describe_public(private)
        more.append(_models(private))
        more += [SAMPLERS[name] for name in dict.fromkeys(private["sampler"])]
        more.append(_NOT_THIS_PAGE)
    more += _audited(audits)
    return Answer("How private is it?", found, tuple(more), ("audits", "average-gain"))


_NOT_THIS_PAGE = (
    "All this is about the noisy numbers and the choices that an algorithm would publish. It is not"
    " about this page, which is computed from the true numbers."
)


def _guesses(private: pd.DataFrame) -> str:
    """The best guess at each level, of the mechanisms whose guarantee is a mu."""
    rows = private.dropna(subset="guaranteed_mu")
    if rows.empty:
        return f"{_epsilons(private)}."
    found = _at_levels(rows, "guaranteed_mu", lambda mu: _percent(best_guess(mu)))
    return (
        "Right guesses about that person from what an algorithm publishes, not from this page: at"
        f" most {found} (a coin: 50%)."
    )


def _epsilons(private: pd.DataFrame) -> str:
    """The largest epsilon at each level; smaller ones count as it."""
    found = _at_levels(private, "epsilon", lambda it: f"ε\xa0≤\xa0{rounded_up(it, 3)}")
    return f"As (ε, δ): {found}, with δ = {each(map(power, private['delta']))}"


def _epsilon_only(private: pd.DataFrame) -> Iterator[str]:
    """A sentence on the mechanisms that lack a guarantee in mu; theirs bounds guesses less."""
    rows = private[private["guaranteed_mu"].isna()]
    if 0 < len(rows) < len(private):
        guess = [
            best_guess_of_epsilon(*it) for it in zip(rows["epsilon"], rows["delta"], strict=True)
        ]
        found = _at_levels(rows.assign(guess=guess), "guess", _percent)
        names = ", ".join(dict.fromkeys(rows["algorithm"]))
        yield f"Only an (ε, δ) guarantee is known of {names}: right guesses at most {found}."


def _at_levels(private: pd.DataFrame, column: str, text: Callable[[float], str]) -> str:
    """The largest value of a column at each level of privacy, from the least private on."""
    largest = private.groupby("mu")[column].max().sort_index(ascending=False)
    return ", ".join(f"{text(value)} at {_mu(mu)}" for mu, value in largest.items())


def _percent(share: float) -> str:
    return f"{rounded_up(100 * share, 3)}%"


def _models(private: pd.DataFrame) -> str:
    counts = private.groupby("model")["mechanism"].nunique()
    found = [f"{counts[it]} {it} ({text})" for it, text in MODELS.items() if it in counts.index]
    return (
        f"Mechanisms: {', '.join(found)}. The notes below the table of total gains say what each"
        " guarantees."
    )


def _audited(audits: pd.DataFrame | None) -> Iterator[str]:
    if audits is None:
        yield f"Nothing was audited: {_no_block(audits_study.STUDY)}"
        return
    broken = audits[audits["verdict"] == "violated"]
    yield (
        f"Audits: the attacks do not refute {len(audits) - len(broken)} of {len(audits)} claims."
        f" Confidence of all bounds together: {joint_confidence(audits['confidence'])}."
    )
    for row in broken.to_dict("records"):
        yield (
            f"Refuted: {row['mechanism']}, {row['variant']}: {proved(row, digits=4)}"
            f" where {row['claimed']:.4g} is claimed{_admitted(row)}."
        )


def _admitted(audit: Mapping[Hashable, Any]) -> str:
    """Note on a record that admits more than the claim; empty if it does not."""
    recorded, claimed = audit["recorded"], audit["claimed"]
    return f" (its record says {recorded:.4g})" if exceeds(recorded, claimed) else ""


def answer_on_cost(costs: pd.DataFrame) -> Answer:
    """Answer to "What does it cost?"; `costs` are those that the page shows."""
    question = "What does it cost?"
    if costs.empty:
        text = "This run cannot tell: no private algorithm was played both with and without noise."
        return Answer(question, text, (), ())
    found, *more = (_cost(own) for _, own in costs.groupby(["algorithm", "noise"], sort=False))
    return Answer(question, found, tuple(more), ("noise-costs", "beyond"))


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
