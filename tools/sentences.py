"""Fill and check the numbers in sentences of the pages.

    python tools/sentences.py

writes the numbers of today into them. tools/sentences.yaml has each sentence that quotes a number,
by page and ground. Braces stand for a number of `numbers`, which is computed from the rows in
verify/runs or by dpol. Each sentence must stand on its page word for word, and `faults` finds every
number of a page that none of them has.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd
import yaml
from recorded_numbers import (
    HIDDEN,
    QUESTIONS,
    READ,
    ROOT,
    STRONGEST,
    WORLDS,
    ZEROS,
    beside_curators,
    guess_under,
    kept,
    level,
    papers_columns,
    recorded,
    systems,
)

from dpol.core.rounding import AtLeast, AtMost
from dpol.labels.bounds import exp3_bound, informative_from
from dpol.privacy.account import best_guess, noises_for
from dpol.privacy.noise_laws import Promise
from dpol.show.reported import load_reported
from dpol.studies.comparison.promises import promises_of
from dpol.studies.games.names import BEST_LINEAR, META, PAPER_NOISE, TITLES
from dpol.studies.paper1.table_2 import orders_of

SENTENCES: Mapping[str, Mapping[str, Sequence[str]]] = yaml.safe_load(
    (ROOT / "tools" / "sentences.yaml").read_text(encoding="utf-8")
)
"""Sentences with numbers, or parts of them, by page and ground."""
DURATIONS = ROOT / "verify" / "runs" / "durations.csv"
GAUSSIAN = ["Gaussian noise on gains", "tree-aggregated prefix sums", "factorised sums"]
"""Audited mechanisms that add Gaussian noise."""


@cache
def numbers() -> dict[str, Any]:
    """Return all numbers that sentences quote, by the names that tools/sentences.yaml has."""
    runs = pd.read_csv(DURATIONS, index_col="command").astype("Int64")
    return {
        **{
            f"minutes of {name}": math.ceil(of / 60)
            for name, of in runs["seconds"].dropna().items()
        },
        **{f"MB of {name}": of for name, of in runs["mb"].dropna().items()},
        **of_states(),
        **of_zeros(),
        "worlds": WORLDS["stream"].nunique(),
        **of_rivals(),
        **of_promises(),
        **of_papers(),
        **of_audits(),
    }


def ends(values: pd.Series) -> tuple[float, float]:
    """Return the smallest and the largest of some values."""
    return values.min(), values.max()


def of_states() -> dict[str, Any]:
    """Return numbers of fifteen states."""
    named = systems("states")
    every = recorded("states", "summary").query(f"noise == '{PAPER_NOISE}'")
    of = every.set_index(["mu", "stream"]).sort_index()
    free, private, beside = (of.loc[mu] for mu in (math.inf, 0.25, 1.0))
    lost = free["mean_gain"] - private["mean_gain"]
    above = beside["mean_gain"] - beside["best_fixed_gain"]
    widest = beside["ci_half_width"]
    return {
        "share": {name: kept(own, 0.25) for name, own in named.items()},
        "cost to RW-Meta": ends(100 * lost / (free["mean_gain"] - free["uniform_gain"])),
        "below the fixed": (above < -widest).sum(),
        "above the fixed": (above > widest).sum(),
        "beside the fixed": (above.abs() <= widest).sum(),
    }


def of_zeros() -> dict[str, Any]:
    """Return the ends, over all draws with hidden zeros, of what is kept at mu = 0.25 in percent.

    With what is kept of the question about large hospitals, whose zeros hardly matter.
    """
    at = ZEROS.query("stream == '' and mu == 0.25 and hidden > 0")
    names = {
        "baseline": "RW-Meta",
        "rival_share": STRONGEST,
        "ours": "our method †",
        "lead": "lead",
    }
    found = {
        f"{names[column]} of {data}": (
            100 * own[f"{column}_least"].min(),
            100 * own[f"{column}_most"].max(),
        )
        for (run, question), data in QUESTIONS.items()
        for own in [at[(at["run"] == run) & (at["question"] == question)]]
        for column in names
    }
    told = HIDDEN[HIDDEN["by"] == "all"].set_index("table").astype({"hidden": int, "weeks": int})
    return {
        "hidden": found,
        "zeros": told.loc[:, ["hidden", "weeks"]].T.to_dict(),
    }


def of_rivals() -> dict[str, Any]:
    """Return numbers of RW-Meta beside algorithms with a curator in three states."""
    ratios = beside_curators("beyond").query(f"noise == '{PAPER_NOISE}'")
    tree = ratios.filter(like="tree-ftpl-").min(axis=1)
    gains = recorded("beyond", "summary").query("noise == 'isotropic' and 0.25 <= mu < inf")
    curators = recorded("beyond", "standings").query("model == 'central'")["family"]
    central = gains[gains["family"].isin({*curators} - {*TITLES})]
    return {
        "ratio to the tree": ends(tree),
        "kept of mu": ends(central["guaranteed_mu"] / central["mu"]),
    }


def of_promises() -> dict[str, Any]:
    """Return numbers of noises for promises, and of noise that adapts."""
    every = recorded("promises", "promises")
    keys = ["same", "level", "weeks"]
    ours = every.query("algorithm == 'random-effects'").set_index(["noise", *keys])["share"]
    adapts = every["noise"].isin(["budget-distribution", "budget-absorption", "fast", "pegasus"])
    best = every[adapts & every["weeks"].isin([1, 4, 8])].groupby(keys)["share"].max()
    behind = 100 * (ours["capacity"] - best).dropna()
    shown = f"level == 0.25 and weeks in (1, 8) and noise in {READ}"
    widths = (recorded(run, "promises").query(shown)["half"].max() for run in ("promises", "flu"))
    return {
        "Laplace": 100 * ours["laplace-uniform", "epsilon", 0.25, 1],
        "kept": 100 * ours.xs(("guess", 0.25, 1), level=["same", "level", "weeks"]),
        "widest of promises": AtMost(100 * max(widths), digits=2),
        "widest of streams": AtMost(100 * every["half"].max(), digits=2),
        "adaptive": ends(behind["guess"]),
        "guess": {f"mu {mu:.3g}": AtMost(100 * best_guess(mu)) for mu in (0.25, 0.35, 0.5, 1)},
        "stay": {days: AtMost(100 * best_guess(0.25 * math.sqrt(days))) for days in (7, 14)},
        "guess under Laplace": AtMost(
            100 * guess_under("laplace-uniform", promises_of(0.25, 1e-6)["epsilon"], 0.25, 1)
        ),
        "guess of days": AtMost(100 * best_guess(0.25 * 7 / 6)),
        "guess of averages": AtMost(100 * best_guess(0.25 * 2.9)),
        "mean of eight": noises_for(Promise(mu=0.25), 1, over=8),
    }


def of_papers() -> dict[str, Any]:
    """Return numbers of the ledger, of the paper's table and of its weeks in Central Texas."""
    claims = recorded("ledger", "claims").set_index("statement")
    regret = claims.loc["Theorem 3"]
    hard = regret[regret["paper"].str.startswith("Online Distribution")].iloc[0]
    gains = papers_columns(recorded("central-texas", "summary")).groupby(["algorithm", "mu"]).sum()
    reported = load_reported()
    orders = orders_of(recorded("central-texas", "order")).set_index("mu")["order"]
    theirs = reported.set_index(["algorithm", "stream", "mu"])["mean_gain"]
    return {
        "undecided columns": ", ".join(
            f"{order.removeprefix('undecided: ')} at μ = {level(mu)}"
            for mu, order in orders.items()
            if order != "yes"
        ),
        "within the best linear": AtMost(
            100 * (1 - (gains[META] / gains[BEST_LINEAR]).min()), digits=2
        ),
        "within, in the paper": AtMost(
            100 * (1 - (theirs[META] / theirs[BEST_LINEAR]).min()), digits=2
        ),
        "hard class": {**hard, "ratio": hard["measured"] / hard["claimed"]},
        "reported": ends(reported[reported["algorithm"] == META]["mean_gain"]),
        "bound of RW-FTPL": 2 * math.sqrt(2) * math.sqrt(2 * 148 * math.log(24)),
        "regret": regret[regret["paper"].str.startswith("Prediction")]["measured"].tolist(),
        "bounds": regret[regret["paper"].str.startswith("Prediction")]["claimed"].tolist(),
        "coins": claims.at["Theorem 7", "measured"],
        "below L2P": AtLeast(
            100 * (1 - claims.at["Theorems 2 and 5, against L2P", "measured"]), digits=2
        ),
        "informative": round(informative_from(lambda T: exp3_bound(4, T, 4.0), 4), -4),
        "left": AtMost(
            100 * (claims.at["correlated noise, unit of one week", "claimed"] - 1), digits=2
        ),
    }


def of_audits() -> dict[str, Any]:
    """Return what audits reach of the claims, in percent, and the exact ε of private EXP3."""
    every = recorded("simulated", "audits")
    every = every.assign(reached=100 * every["lower_bound"] / every["claimed"])
    exact = every.query("mechanism == 'private EXP3, message' and method == 'exact'")
    normal = every[every["mechanism"].isin(GAUSSIAN)].groupby("method")["reached"].min()
    others = every.groupby(["mechanism", "parameter"])["reached"].min()
    return {
        "audited": {method: AtLeast(least, digits=2) for method, least in normal.items()},
        "actions": others["RW-AdaBatch, actions", "mu"],
        "WMA": others["private WMA, message", "epsilon"],
        "EXP3": exact.set_index("variant")["lower_bound"],
        "reacting": AtLeast(every.query("verdict == 'outside the promise'")["lower_bound"].max()),
    }


NUMBER = r"√?\d[\d.,]*(?<![.,])"
WORD = (
    "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    "|forty|fifty|sixty|hundred)"
)
NAMED = (
    r"(?:[Tt]able|[Ff]igure|[Tt]heorem|[Ll]emma|[Pp]roposition|[Cc]orollar|[Cc]laim|[Rr]emark"
    r"|[Ss]ection|[Ff]ootnote|[Ee]quation|[Ee]xercise|Python|Snakemake|PVLDB|PMLR|CC BY|SHA|SP"
    r"|Slurm|plugin|jax-privacy|issue)"
)
NO_PROSE = {
    "a block of code": r"(?ms)^ *(```|~~~).*?^ *\1[^\n]*",
    "code": r"`+[^`]+`+",
    "a table that is made": r"(?s)<!-- (\w+).*?<!-- (?:/\1|end of).*?-->|<!--.*?-->",
    "a table": r"(?m)^\s*\|.*$",
    "the target of a link": r"\]\([^)\s]*\)|https?://\S+",
    "the number of an item": r"(?m)^\s*\d+\. |\*\*\d+\. ",
    "a name": rf"\b{NAMED}\w*[ -]{NUMBER}(?:(?:,| and| to|,? or) {NUMBER})*|\b[A-Z]\.\d[\d.]*"
    r"|\d{4}\.\d{5}",
    "a date": r"\b(?:19|20)\d\d(?:-[QW]?\d\d?)*\b",
    "a parameter": rf"(?<=[=<>≤≥]) ?[−-]?{NUMBER}(?:(?:,? (?:and|to|or)|,) {NUMBER})*(?![\w%])",
    "the size of an experiment": r"\b\d{1,3} (?:weeks|Fridays|runs|experts|hospitals)\b",
    "an end of a scale": r"\b(?:0|50|100)% (?:is|means|before)\b|\b0%: random; 100%:",
    "a confidence": r"95% intervals?|with 95%|are 95%",
    "mathematics": r"[√^]\(?−?[\d./]+|\w/\d[\d,]*|\((?:[\d.]+, )+[\d.]+\)|\b\d+[ⁿ²⁻^·]"
    r"|(?<=[−+·×]) \d+(?![.\d])",
}
"""What is no number of a sentence, by kind."""
A_NUMBER = (
    r"\d[\d,]*\.\d+%?|\d[\d,]*%|\d{1,3}(?:,\d{3})+|(?<![\w.])\d{2,}\b|± ?\d+"
    rf"|\b(?:\d+|{WORD}) to \d+\b|\b\d+ (?:points|times|percent|states|cells|nats)\b"
    rf"|\b{WORD} (?:third|quarter|fifth|tenth)s\b"
    rf"|\b(?:\d+|{WORD})[ -](?:minute|second|hour)s?\b|\b(?:half )?an? (?:minute|hour)\b"
    rf"|\b(?:\d+|{WORD}) (?:of|in) (?:the )?(?:\d+|{WORD})\b"
)
"""A decimal, a percentage, a number of two digits or more, a range, a duration or a quota."""


def prose(page: str) -> str:
    """Return the sentences of a page, with everything else blank."""
    for pattern in NO_PROSE.values():
        page = re.sub(pattern, " ", page)
    return page


def faults(name: str, page: str) -> list[str]:
    """Return what is wrong with the numbers in the sentences of a page.

    These are sentences of tools/sentences.yaml that do not stand there, and numbers that none of
    them has, with the words around.

    Args:
        name: path of the page in the repository.
        page: its text.
    """
    known = [each.format_map(numbers()) for of in SENTENCES.get(name, {}).values() for each in of]
    lacking = [each for each in known if each not in page]
    for each in sorted(known, key=len, reverse=True):
        page = page.replace(each, " ")
    text = prose(page) if name.endswith(".md") else ""
    bare = re.finditer(A_NUMBER, text, re.IGNORECASE)
    return lacking + [text[max(0, it.start() - 40) : it.end() + 30].strip() for it in bare]


def filled(name: str, page: str) -> str:
    """Return a page with the numbers of today in its sentences that quote some.

    Args:
        name: path of the page in the repository.
        page: its text.
    """
    for template in (each for of in SENTENCES.get(name, {}).values() for each in of):
        said = re.split(r"(\{[^}]*\})", template)
        values = [it.format_map(numbers()) for it in said[1::2]]
        known = (rf"(?<![\d.]){NUMBER}" if it[:1].isdigit() else r"[^\n]+?" for it in values)
        pattern = [*map(re.escape, said)]
        pattern[1::2] = known
        page = re.sub("".join(pattern), lambda _, it=template: it.format_map(numbers()), page)
    return page


if __name__ == "__main__":
    for name in SENTENCES:
        path = ROOT / name
        path.write_text(filled(name, path.read_text(encoding="utf-8")), encoding="utf-8")
