"""Fill and check the numbers in sentences of the pages.

    python tools/sentences.py

writes the numbers of today into them. tools/sentences.yaml gives the numbers of all pages, in
digits or as words, their grounds: it has the sentences that hold them, or parts of these, word for
word. Braces stand for a number of `numbers`, which is computed from the rows in verify/runs or by
dpol. A page is a Markdown file, the prose of the notebook, or what the code writes on the page of a
run. `faults` finds sentences that are not on their page, and numbers that have no ground and none
of `SHAPES`.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pandas as pd
import yaml
from recorded_numbers import (
    HIDDEN,
    PAGES,
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
    signs_of,
    systems,
)

from dpol.core.rounding import AtLeast, AtMost
from dpol.labels.bounds import exp3_bound, informative_from
from dpol.privacy.account import best_guess, noises_for
from dpol.privacy.losses import Promise
from dpol.show.reported import load_reported
from dpol.studies.comparison.promises import promises_of
from dpol.studies.games.names import BEST_LINEAR, META, PAPER_NOISE
from dpol.studies.paper1.table_2 import HEADERS, undecided

EVERYWHERE, SENTENCES = yaml.safe_load_all(
    (ROOT / "tools" / "sentences.yaml").read_text(encoding="utf-8")
)
"""Sentences with numbers, or parts of them: by ground on all pages, and by page and ground."""
WORDS, COMPARISONS = yaml.safe_load_all(
    (ROOT / "tools" / "comparisons.yaml").read_text(encoding="utf-8")
)
"""Patterns of words, and sentences that compare by page and ground; `rows` have expressions."""
CAPTIONS, WRITING = "src/dpol", ("report", "show", "studies")
"""The code that writes the page of a run, which is one page here, and its packages."""
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
    single = ZEROS.query("run == 'states' and question == 'share' and stream != '' and mu == 0.25")
    told = HIDDEN[HIDDEN["by"] == "all"].set_index("table").astype({"hidden": int, "weeks": int})
    by = HIDDEN.set_index(["by", "table"])
    lonely = by.loc["nothing else within four weeks"]
    rules = by.loc["every other week", ["right", "right_if_none", "right_if_all"]]
    return {
        "hidden": found,
        "single states": (int((signs_of(single) == 1).sum()), single["stream"].nunique()),
        "zeros": told.loc[:, ["hidden", "weeks"]].T.to_dict(),
        "hidden cells": HIDDEN[HIDDEN["by"].isin(["cells", "all"])].set_index("table").T.to_dict(),
        "quartiles": by.loc["hidden averages", "value"].tolist()[2:5],
        "rule": (100 * rules).T.to_dict(),
        "alone": (100 * lonely["hidden"] / lonely["weeks"]).to_dict(),
    }


def of_rivals() -> dict[str, Any]:
    """Return numbers of RW-Meta beside algorithms with a curator in three states."""
    ratios = beside_curators("beyond").query(f"noise == '{PAPER_NOISE}'")
    tree = ratios.filter(like="tree-ftpl-").min(axis=1)
    gains = recorded("beyond", "summary").query("noise == 'isotropic' and 0.25 <= mu < inf")
    central = gains[gains["family"].str.match("mf|noisy")]
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
        "guess of a year": {
            times: AtMost(100 * best_guess(0.5 * math.sqrt(52 * times))) for times in (1, 2)
        },
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
    unclear = undecided(recorded("central-texas", "order"))
    theirs = reported.set_index(["algorithm", "stream", "mu"])["mean_gain"]
    return {
        "undecided columns": ", ".join(
            f"{HEADERS[row['column']]} and {HEADERS[row['other']]} at μ = {level(row['mu'])}"
            for row in unclear.to_dict("records")
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
TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
WORD = (
    rf"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|(?:{TENS})(?:-\w+)?"
    r"|(?:a |one )?(?:hundred|thousand|million|dozen)s?|twice|thrice|half(?!-width)|halves|doubled?"
    r"|(?:a|one|two|three|four|nine) (?:third|quarter|fifth|tenth)s?)\b"
)
MADE = (
    r"(?s)<!-- (numbers|exhibits|works|dry runs|\w+(?=: made by)).*?<!-- (?:/\1|end of \1) -->"
    r"|<!--.*?-->"
)
"""A part of a page that a tool makes, and a test compares with what the tool makes today."""
SHAPES = {
    "a block of code": r"(?ms)^ *(```|~~~).*?^ *\1[^\n]*",
    "code": r"`+[^`\n]+`+",
    "an address": r"https?://\S+",
    "an arXiv number": r"\b\d{4}\.\d{5}\b",
    "the number of an item": r"(?m)^\s*\d+\. ",
}
"""What is no result, by kind; numbers of all other kinds have a ground."""
EDGE = r"(?<![\w.,]){}(?!\w|[.,]\d)"


def prose(name: str, page: str) -> str:
    """Return the plain text of a page, without what a tool makes and the code of a notebook."""
    if name.endswith(".ipynb"):
        cells = json.loads(page)["cells"]
        page = "\n\n".join("".join(it["source"]) for it in cells if it["cell_type"] == "markdown")
    return plain(re.sub(MADE, "\n\n", page))


def captions() -> str:
    """Return the texts in the code of a run's page, which has captions, cells and findings."""
    texts = []
    for path in (it for of in WRITING for it in (ROOT / CAPTIONS / of).rglob("*.py")):
        if path.parent.name == "robustness":  # it writes nothing on the page
            continue
        every = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
        docstrings = {it.value for it in every if isinstance(it, ast.Expr)}
        strings = (it for it in every if isinstance(it, ast.Constant) and it not in docstrings)
        texts += [it.value for it in strings if isinstance(it.value, str)]
    return "\n\n".join(each for each in texts if re.search(r"\w \w", each) and "<" not in each)


def plain(text: str) -> str:
    """Return a text without emphasis and the targets of links."""
    return re.sub(r"!?\[([^\]]*)\]\([^)\s]*\)", r"\1", text).replace("*", "")


def known(*of: Mapping[str, Sequence[Any]]) -> list[str]:
    """Return sentences, and parts of them, that have a ground, longest first."""
    every = (each for by in of for its in by.values() for each in its)
    said = (each["says"] if isinstance(each, Mapping) else each for each in every)
    return sorted((plain(each.format_map(numbers())) for each in said), key=len, reverse=True)


def faults(name: str, page: str) -> list[str]:
    """Return what is wrong with the numbers of a page, digits and words.

    These are sentences of tools/sentences.yaml that do not stand there, and numbers of no shape
    that none of them has, with the words around.

    Args:
        name: path of the page in the repository.
        page: its text.
    """
    text, of = prose(name, page), known(SENTENCES.get(name, {}), COMPARISONS.get(name, {}))
    lacking = [each for each in of if each not in text]
    if name not in [*PAGES, CAPTIONS]:
        return lacking
    for each in [*of, *known(EVERYWHERE)]:
        text = re.sub(EDGE.format(re.escape(each)), "¶", text)
    for pattern in SHAPES.values():
        text = re.sub(pattern, "¶", text)
    bare = re.finditer(rf"{NUMBER}|{WORD}", text, re.IGNORECASE)
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
    for name in SENTENCES.keys() - {CAPTIONS}:
        path = ROOT / name
        path.write_text(filled(name, path.read_text(encoding="utf-8")), encoding="utf-8")
