"""Write what came out, in sentences and small tables: blocks of pages, for tools/pages.py.

templates/findings.md.j2 has the sentences. What a sentence says without a number stands here behind
`must`, with what makes it true of the rows.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from recorded_numbers import (
    LAZY,
    ROOT,
    ZEROS,
    at,
    beside_curators,
    kept,
    ours_at,
    papers_columns,
    recorded,
    roots,
    rows,
    said,
    signs_of,
    standings,
    systems,
    table,
    verdict_of,
)

from dpol.core.rounding import at_least, at_most
from dpol.data.stream import GainStream
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, guarantee_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.labels.bounds import exp3_bound, informative_from
from dpol.privacy.account import account, best_guess
from dpol.privacy.chains import chain_norm
from dpol.show.entries import algorithm_entry
from dpol.show.reported import load_reported
from dpol.studies.games.names import BEST_LINEAR, META, MIN_NOISE, PAPER_NOISE
from dpol.studies.ledger.claims.gains import reported_ratios
from dpol.studies.paper1.table_2 import order_in_words
from dpol.studies.verdicts import ABOVE, BELOW, OPPOSITE

META_ROWS = f"algorithm == '{META}' and noise == '{PAPER_NOISE}'"
STAYS = (1, 2, 4, 8)


def must(**true: object) -> None:
    """Check what sentences say without a number.

    Raises:
        ValueError: it is not true of the rows.
    """
    if false := [name.replace("_", " ") for name, it in true.items() if not it]:
        raise ValueError(f"the rows do not show any more: {', '.join(false)}; change the sentence")


def span(of: pd.Series, digits: int) -> str:
    """Return the smallest and the largest of some numbers, rounded outwards."""
    unit = 10.0**-digits
    ends = unit * math.floor(of.min() / unit + 1e-9), unit * math.ceil(of.max() / unit - 1e-9)
    least, most = (f"{it:.{digits}f}" for it in ends)
    return least if least == most else f"{least} to {most}"


def hold(query: str) -> bool:
    """Return whether all these statements of the ledger hold."""
    found = rows("ledger", "claims", query)["verdict"]
    return len(found) > 0 and bool(found.isin(["holds", "holds loosely"]).all())


def beside_fixed() -> dict[str, str]:
    """Return the levels at which RW-Meta clearly beats the best fixed hospital, and the others."""
    every = rows("central-texas", "summary", META_ROWS)
    above = every["mean_gain"] - every["ci_half_width"] > every["best_fixed_gain"]
    return {"beaten": at(every[above]["mu"]), "others": at(every[~above]["mu"])}


def found() -> str:
    """README.md: what of Table 2 was reproduced, what our method keeps, and what fails."""
    single = ZEROS.query("run == 'states' and question == 'share' and stream != '' and mu == 0.25")
    hidden = ZEROS.query("run == 'states' and question == 'share' and stream == '' and mu == 0.25")
    leads = hidden.loc[hidden["hidden"] > 0, ["lead_least", "lead_most"]].stack()
    failing = roots(recorded("ledger", "claims"))["kind"].isin(["false", "hypothesis missing"])
    return said(
        "found",
        order=order_in_words(recorded("central-texas", "order")["verdict"]),
        share={name: f"{kept(own, 0.25):.0f}" for name, own in systems("states").items()},
        fixed=f"{100 * standings('states')['best_fixed_share'].iloc[0]:.0f}",
        verdict=verdict_of("states", ours_at("states", 0.25)),
        lead=span(100 * leads, 1),
        ahead=(signs_of(single) == 1).sum(),
        behind=(signs_of(single) == -1).sum(),
        states=single["stream"].nunique(),
        failing=failing.sum(),
    )


def durations() -> str:
    """docs/how-to/verify.md: minutes of the recorded runs."""
    took = pd.read_csv(ROOT / "verify/runs/durations.csv").dropna(subset="seconds")
    took = took[took["command"] != "the tutorial"].sort_values("seconds")
    names = took["command"].replace("central-texas", "config")
    names = names.where(names.str.startswith("make "), names + ".yaml")
    minutes = (
        f"`{name}` {math.ceil(it / 60)}" for name, it in zip(names, took["seconds"], strict=True)
    )
    return said("durations", minutes=", ".join(minutes))


def table_2_reproduced() -> str:
    """docs/how-to/verify.md: what of Table 2 and Figure 2 was reproduced, and what was not."""
    gains = papers_columns(recorded("central-texas", "summary")).droplevel("stream")
    theirs = load_reported().set_index(["algorithm", "stream", "mu"])["mean_gain"]
    ours, paper = (1 - (of[META] / of[BEST_LINEAR]).min() for of in (gains, theirs))
    least = reported_ratios(META, MIN_NOISE).groupby("mu").min()
    dpol = papers_columns(recorded("beyond", "summary"))["CA"]
    california, linear = (
        f"{it[BEST_LINEAR, math.inf] / it[MIN_NOISE, math.inf]:.2f}"
        for it in (dpol, theirs.xs("CA", level="stream"))
    )
    return said(
        "table_2_reproduced",
        order=order_in_words(recorded("central-texas", "order")["verdict"]),
        **beside_fixed(),
        ours=at_most(100 * ours, digits=2),
        theirs=at_most(100 * paper, digits=2),
        smaller=((gains[META] / gains[MIN_NOISE])[least.index] < least).sum(),
        ratios=len(least),
        california=california,
        linear=linear,
    )


def experts_measured() -> str:
    """docs/explanation/papers.md: what we measured of the first paper."""
    beside = beside_curators("beyond").query(f"noise == '{PAPER_NOISE}'")
    of = rows("states", "summary", META_ROWS).set_index(["mu", "stream"]).sort_index()
    free, private, weak = (of.loc[mu] for mu in (math.inf, 0.25, 1.0))
    lost = (free["mean_gain"] - private["mean_gain"]) / (free["mean_gain"] - free["uniform_gain"])
    lead, half = weak["mean_gain"] - weak["best_fixed_gain"], weak["ci_half_width"]
    regrets = rows("ledger", "claims", "statement == 'Theorem 3' and paper.str.contains('Expert')")
    (failing,) = regrets[regrets["kind"] == "hypothesis missing"].itertuples()
    reported = load_reported().set_index("algorithm").loc[META, "mean_gain"]
    return said(
        "experts_measured",
        bound=f"{2 * math.sqrt(2) * math.sqrt(2 * 148 * math.log(24)):.0f}",
        reported=f"{reported.max():.0f}",
        tree=span(beside.filter(like="tree-ftpl-").min(axis=1), 2),
        best=span(beside.min(axis=1), 2),
        kinds=beside.shape[1],
        cost=span(100 * lost, 0),
        below=(lead < -half).sum(),
        above=(lead > half).sum(),
        between=(lead.abs() <= half).sum(),
        followers=f"{failing.measured:.0f} where the bound is {failing.claimed:.0f}",
    )


def lazy_measured() -> str:
    """docs/explanation/papers.md: what we measured of the second paper and its predecessors."""
    pairs, games = (rows("simulated", name, LAZY) for name in ("lazy_pairs", "lazy"))
    sides = {"algorithm": "other_algorithm", "other_algorithm": "algorithm"}
    both = pd.concat([pairs, pairs.rename(columns=sides).replace({"verdict": OPPOSITE})])
    wins = both[both["verdict"] == BELOW].groupby(["algorithm", "other_algorithm"]).size()
    names = games["algorithm"].map(lambda it: algorithm_entry(it).marked)
    private = games[~names.str.endswith("no privacy")]
    among = both[both[[*sides]].isin([*private["algorithm"]]).all(axis=1)]
    of_game = among.groupby(["adversary", "d", "epsilon", "algorithm"])["verdict"]
    least = of_game.agg(lambda it: it.eq(BELOW).all()).groupby("algorithm").sum()
    many = games.query("adversary == 'stochastic' and d == 300 and algorithm == 'l2p-published'")
    told = (many["mean_regret"] - many["uniform_regret"]).abs() > many["ci_half_width"]
    must(
        theorem_3_2_was_safe=hold("statement in ('Theorem 3.2', 'Theorem 3.10, privacy')"),
    )
    return said(
        "lazy_measured",
        ours=wins.get(("l2p-sound", "l2p-published"), 0),
        games=len(games[["adversary", "d", "epsilon"]].drop_duplicates()),
        least="; ".join(algorithm_entry(it).marked for it in least.index[least > 0]),
        sure=least.sum(),
        dartboard=wins.get(("dartboard-sound", "l2p-sound"), 0),
        told=told.sum(),
        many=len(many),
    )


def labels_measured() -> str:
    """docs/explanation/papers.md: what we measured of the third paper."""
    every = rows("simulated", "labels", "sweep == 'labels'")
    least = (every["mean_kl_risk"] - every["ci_half_width"]).groupby(
        [every["algorithm"], every["M"]]
    )
    most = (every["mean_kl_risk"] + every["ci_half_width"]).groupby(
        [every["algorithm"], every["M"]]
    )
    papers = least.min().loc[["wma", "exp3"]].groupby("M").min()
    ours = most.max().loc[["exp3-bayes", "membership"]].groupby("M").max()
    worse = papers > most.max()["randomised-response"]
    exact = rows("simulated", "audits", "method == 'exact' and verdict == 'violated'").iloc[0]
    return said(
        "labels_measured",
        rounds=f"{round(informative_from(lambda T: exp3_bound(4, T, 4.0), 4), -4):,.0f}",
        most=f"{worse[worse].index.max():,}",
        times=at_least((papers / ours).min(), digits=2),
        exact=exact,
    )


def guesses_of_stays() -> str:
    """docs/explanation/privacy.md: epsilon and right guesses for stays with independent noise."""
    lines, mus = [], (0.25, 0.5, 1.0)
    for weeks in (1, 4, 13, 52):
        of = [account(mu, weeks) for mu in mus]
        cells = ((at_most(it.epsilon), f"{at_most(100 * it.best_guess)}%") for it in of)
        lines.append((f"{weeks}", *(cell for pair in cells for cell in pair)))
    heads = (words for mu in mus for words in (f"μ = {mu:g}: ε", "right guesses"))
    return table(("weeks", *heads), lines, words=0)


def mus_of_stays() -> str:
    """docs/explanation/privacy.md: mu of a person counted in several weeks, by mechanism."""
    stream = GainStream(
        label="three",
        gains=np.full((148, 3), 0.1),
        capacity=np.full((148, 3), 40.0),
        entities=("a", "b", "c"),
        periods=np.datetime64("2021-01-03") + 7 * np.arange(148),
    )
    norms = [chain_norm(0.2, 0.6, weeks) for weeks in STAYS]
    mus = {
        "independent noise": [0.5 * weeks**0.5 for weeks in STAYS],
        "correlated noise (0.2, 0.6)": [0.5 * norm / norms[0] for norm in norms],
    }
    for name, it in {"factorised prefix sums": MatrixFTPL(), "tree": TreeFTPL()}.items():
        stays = guarantee_of(it, RawGains(stream, mu=0.5)).stays
        mus[f"{name}, T = 148"] = [loss.mu for loss in stays]
    lines = [(name, *(f"{mu:.2f}" for mu in own)) for name, own in mus.items()]
    return table(("μ of a person counted in weeks", *map(str, STAYS)), lines)


def taken_as_public() -> str:
    """docs/explanation/privacy.md: what a suppressed cell costs a person at mu = 0.25."""
    moves = {"asked": 1, "days": 7 / 6, "averages": 2.9}
    right = {name: at_most(100 * best_guess(0.25 * by)) for name, by in moves.items()}
    return said("taken_as_public", **right)


def audits_found() -> str:
    """docs/explanation/privacy.md: what audits reach of the claims, and what they refute."""
    every = recorded("simulated", "audits")
    every = every.assign(reached=100 * every["lower_bound"] / every["claimed"])
    several = every.groupby("mechanism")["method"].transform(lambda of: "covariance" in {*of})
    least = every[several].groupby("method")["reached"].min()
    weakest = every.loc[every["reached"].idxmin()]
    return said(
        "audits_found",
        **{name: at_least(it, digits=2) for name, it in least.items()},
        weakest=weakest["mechanism"],
        reached=f"{weakest['reached']:.0f}",
        refuted=[*every[every["verdict"] == "violated"].itertuples()],
    )


def memory_found() -> str:
    """docs/explanation/ours.md: what correlated noise costs and gains people who stay."""
    of = rows("beyond", "memory", "noise == 'capacity-memory'")
    one = of.query("weeks == 1 and level == 0.25")
    times = one["mu_8_weeks"] / (8**0.5 * one["mu_1_week"])
    longer = rows("beyond", "memory", "weeks > 1 and same == 'mu'")["verdict"]
    return said(
        "memory_found",
        times=span(times, 1),
        gained=(longer == ABOVE).sum(),
        cells=len(longer),
    )
