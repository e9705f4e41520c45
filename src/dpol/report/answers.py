"""The answers to the three questions of a reader, computed from what the run found."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.privacy.audit import exceeds
from dpol.report.costs import Loss
from dpol.show.footers import describe_public
from dpol.show.words import counted, joint_confidence, mu_title, proved
from dpol.studies.claims.table import count_verdicts
from dpol.studies.hospitals.reported import PAPER_NOISE, load_reported

META, TREES = "rw-meta", ("tree-ftpl-min-noise", "tree-ftpl-min-regret")
_INFINITE = float("inf")


@dataclass(frozen=True)
class Answer:
    """What was found in one sentence, more of it, and the sections where all of it stands."""

    question: str
    found: str
    more: tuple[str, ...]
    see: tuple[str, ...]


def answer_on_papers(
    claims: pd.DataFrame | None, gains: pd.DataFrame, summary: pd.DataFrame
) -> Answer:
    """Does the paper hold up?

    Args:
        claims: the ledger; None if it was not made.
        gains: numbers behind the table of average gains (`CSV_COLUMNS`).
        summary: table of `dpol.studies.hospitals.summary`.
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
            more.append(f"Left out: {_checks(rows)} of ours (†), of which {count_verdicts(rows)}.")
    beside = gains.dropna(subset=["reported_mean_gain", "mean_gain"])
    beside = beside[beside["ci_half_width"] < _INFINITE]  # of one run there is no interval
    both = [_table_two(beside), *_ranking(summary)]
    more += both[::-1] if beside.empty else both  # what could be compared comes first
    if claims is None:
        found, *more = more
        more.append("No statement of the papers was checked: the config has no block audit.")
    return Answer("Does the paper hold up?", found, tuple(more), ("average-gain", "claims"))


def _checks(rows: pd.DataFrame) -> str:
    return counted(len(rows), "check")


def _table_two(beside: pd.DataFrame) -> str:
    """How many numbers of the paper's Table 2 lie where ours do."""
    if beside.empty:
        return (
            "Table 2: no number of the paper is comparable (other streams or periods, or a single"
            " run)."
        )
    reach = beside["ci_half_width"] + beside["reported_ci_half_width"].fillna(0)
    apart = (beside["mean_gain"] - beside["reported_mean_gain"]).abs()
    data = " Ours are of simulated data." if beside["simulated"].any() else ""
    ratio = (beside["mean_gain"] / beside["reported_mean_gain"]).median()
    return (
        f"Table 2: {int((apart <= reach).sum())} of {len(beside)} of our intervals meet the paper’s"
        f" numbers; the median of ours over theirs is {ratio:.2f}.{data}"
    )


def _ranking(summary: pd.DataFrame) -> Iterator[str]:
    """RW-Meta, which is local, beside the better central tree: here, and in the paper's table."""
    rows = summary[(summary["noise"] == PAPER_NOISE) & (summary["mu"] < _INFINITE)]
    meta = rows[rows["algorithm"] == META]
    trees = rows[rows["algorithm"].isin(TREES)].sort_values("mean_gain")
    trees = trees.drop_duplicates(["stream", "mu"], keep="last")
    both = meta.merge(trees, on=["stream", "mu"], suffixes=("", "_tree"))
    if both.empty:
        return
    difference = both["mean_gain"] - both["mean_gain_tree"]
    reach = both["ci_half_width"] + both["ci_half_width_tree"]
    reported = load_reported()
    theirs = [
        mean > max(reported[stream, tree, mu][0] for tree in TREES)
        for (stream, algorithm, mu), (mean, _) in reported.items()
        if algorithm == META and mu < _INFINITE
    ]
    yield (
        f"RW-Meta (local) beside the better central tree, with noise: above it in"
        f" {int((difference > reach).sum())} of {len(both)} cells, below it in"
        f" {int((difference < -reach).sum())}, elsewhere their intervals meet. The paper reports it"
        f" above in {sum(theirs)} of {len(theirs)}."
    )


def answer_on_privacy(summary: pd.DataFrame, audits: pd.DataFrame | None) -> Answer:
    """How private is it? `audits` is None if there were none."""
    private = summary[(summary["epsilon"] < _INFINITE) & (summary["mu"] < _INFINITE)]
    more: list[str] = []
    if private.empty:
        found = "Not at all: no run has privacy noise."
    else:
        found = f"Protected is {_each(private['unit'])}: {_levels(private)}."
        more.append(f"Adjacent: {_each(private['adjacency'])}.")
        more += describe_public(private)
        more.append(_models(private))
        more += [_SAMPLERS[name] for name in dict.fromkeys(private["sampler"])]
    more += _audited(audits)
    return Answer("How private is it?", found, tuple(more), ("audits", "average-gain"))


_SAMPLERS = {
    "seeded": "The noise is seeded so that anybody can repeat the run: this is what secret noise"
    " would guarantee, and whoever has the seed can take it off.",
    "secure": "The noise came from the operating system and cannot be repeated.",
}


def _levels(private: pd.DataFrame) -> str:
    """The largest epsilon at each level; smaller ones count as it."""
    largest = private.groupby("mu", sort=True)["epsilon"].max().iloc[::-1]
    texts = [
        f"{_mu(mu)} means ε\xa0≤\xa0{rounded_up(epsilon, 3)}" for mu, epsilon in largest.items()
    ]
    delta = " / ".join(f"{value:g}" for value in dict.fromkeys(private["delta"]))
    return f"{', '.join(texts)} at δ = {delta}"


def _models(private: pd.DataFrame) -> str:
    counts = private.groupby("model")["mechanism"].nunique()
    texts = {
        "local": "local (nobody sees the gains themselves)",
        "central": "central (a curator does)",
    }
    found = [f"{counts[model]} {text}" for model, text in texts.items() if model in counts.index]
    return (
        f"Mechanisms: {', '.join(found)}. What each guarantees stands below the table of total"
        " gains."
    )


def _audited(audits: pd.DataFrame | None) -> Iterator[str]:
    if audits is None:
        yield "Nothing was audited: the config has no block audit."
        return
    broken = audits[audits["verdict"] == "violated"]
    yield (
        f"Audits: {len(audits) - len(broken)} of {len(audits)} claims stand. Confidence of all"
        f" bounds together: {joint_confidence(audits['confidence'])}."
    )
    for row in broken.to_dict("records"):
        yield (
            f"Refuted: {row['mechanism']}, {row['variant']}: {proved(row, digits=4)}"
            f" where {row['claimed']:.4g} is claimed{_admitted(row)}."
        )


def _admitted(audit: Mapping[Hashable, Any]) -> str:
    """What the record of a mechanism admits beyond the claim, if it does."""
    recorded, claimed = audit["recorded"], audit["claimed"]
    return f" (its record says {recorded:.4g})" if exceeds(recorded, claimed) else ""


def answer_on_cost(found: Sequence[Loss]) -> Answer:
    """What does it cost?"""
    question = "What does it cost?"
    if not found:
        text = "This run cannot tell: no private algorithm was played both with and without noise."
        return Answer(question, text, (), ())
    systems = list(dict.fromkeys(loss.system for loss in found))
    texts = [_cost([loss for loss in found if loss.system == system]) for system in systems]
    return Answer(question, texts[0], tuple(texts[1:]), ("noise-costs", "beyond"))


def _cost(found: Sequence[Loss]) -> str:
    """One system, over all streams."""
    parts: list[str] = []
    for mu in dict.fromkeys(loss.mu for loss in found):
        shares = sorted({round(100 * it.share) for it in found if it.mu == mu})
        both = " to ".join(str(it) for it in dict.fromkeys((shares[0], shares[-1])))
        parts.append(f"{both}%{'' if parts else ' of its gain'} at {_mu(mu)}".replace("-", "−"))
    first, streams = found[0], len({loss.stream for loss in found})
    noise = f"{first.noise} noise" + (" (ours)" if first.ours else "")
    where = f", over {streams} streams" if streams > 1 else ""
    return f"With {noise}, {first.algorithm} loses {', '.join(parts)}{where}."


def _mu(mu: object) -> str:
    """A level that no line break divides."""
    return mu_title(float(str(mu))).replace(" ", "\xa0")


def _each(values: pd.Series) -> str:
    return " / ".join(dict.fromkeys(values))
