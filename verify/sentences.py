"""Sentences of pages on whole runs, with the numbers of the runs.

The numbers lie in verify/runs/ (see record.py) and benchmarks/. A test looks for each sentence in
its page; run this file to see what is missing:

    python verify/sentences.py
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import verify

from dpol.studies.claims.core import OF_SUBSTANCE
from dpol.studies.claims.headline import of_papers, roots, substance

ROOT = Path(__file__).resolve().parents[1]
STATES = {"NM": "New Mexico", "PA": "Pennsylvania", "CA": "California"}
INF = float("inf")
MUS = (INF, 1.0, 0.5, 0.25)

Sentence = tuple[str, str]
"""A page, and a piece of a line of it."""


@cache
def recorded(run: str, name: str) -> pd.DataFrame:
    """A result of a run, as far as it was kept."""
    return pd.read_csv(ROOT / "verify" / "runs" / run / f"{name}.csv")


@cache
def measured(name: str) -> dict[str, Any]:
    """Numbers that a benchmark wrote."""
    found: dict[str, Any] = json.loads((ROOT / "benchmarks" / f"{name}.json").read_text())
    return found


@cache
def _cells(run: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    rows = recorded(run, "summary").to_dict("records")
    return {(it["stream"], it["algorithm"], it["noise"], it["mu"]): it for it in rows}


def cell(run: str, stream: str, algorithm: str, noise: str, mu: float) -> dict[str, Any]:
    """A row of the summary of a run."""
    return _cells(run)[stream, algorithm, noise, mu]


def gain(run: str, stream: str, algorithm: str, noise: str, mu: float) -> str:
    """A mean gain, as pages print it."""
    return f"{cell(run, stream, algorithm, noise, mu)['mean_gain']:.1f}"


def gains(run: str, algorithm: str, noise: str, mu: float, order: str = "NM PA CA") -> list[str]:
    """The mean gains of the states."""
    return [gain(run, state, algorithm, noise, mu) for state in order.split()]


FORMS = ("rw-meta-floor-0", "rw-meta-short", "rw-meta-short-floor-0")
"""The forms of the tuned way."""


def tuned(state: str, mu: float) -> dict[str, Any]:
    """The row of `beyond` of the tuned form that gains most there."""
    rows = [cell("beyond", state, form, "isotropic", mu) for form in FORMS]
    return max(rows, key=lambda it: float(it["mean_gain"]))


STRICT = 0.25, 0.15, 0.1
"""The levels at which ours is compared with the baseline at mu = 1."""
KINDS = "aim-baseline", "aim-tuned"
PAPER = "rw-meta", "isotropic"
ENDS = 0.25, 0.1


def aims(run: str, kind: str, mu: float, question: str = "share") -> tuple[int, int, int]:
    """The numbers of states in which an aim is reached, not reached, and undecided."""
    rows = recorded(run, "comparison")
    rows = rows[(rows["kind"] == kind) & (rows["mu"] == mu)]
    if run == "states":
        rows = rows[rows["stream"].str.endswith(f"-{question}")]
    found = rows.drop_duplicates("stream")["aim_verdict"].value_counts()
    reached, missed, open_ = (
        int(found.get(it, 0)) for it in ("reached", "not reached", "undecided")
    )
    return reached, missed, open_


def share(run: str, algorithm: str, noise: str, mu: float) -> str:
    """The mean share of the possible gain over all states of a run, with its interval.

    The intervals of all states hold together, so that the interval of their mean is at most as
    wide as they are in the mean.
    """
    rows = recorded(run, "summary").query(
        "algorithm == @algorithm and noise == @noise and mu == @mu"
    )
    half = rows["ci_half_width"] / (rows["oracle_gain"] - rows["uniform_gain"])
    return f"{100 * rows['gain_share'].mean():.1f}% ± {100 * half.mean():.1f}"


def listed(texts: list[str]) -> str:
    """Three texts as one enumeration."""
    return f"{', '.join(texts[:-1])} and {texts[-1]}"


def apart(row: pd.Series, sign: str = "+") -> str:
    """A difference with its interval."""
    difference = f"{row['difference']:{sign}.1f}".replace("-0.0", "0.0")
    return f"{difference} ± {row['difference_half_width']:.1f}"


def the_row(frame: pd.DataFrame, **wanted: Any) -> pd.Series:
    """The only row with these values.

    Raises:
        ValueError: there is none, or there are several.
    """
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    if len(frame) != 1:
        raise ValueError(f"{len(frame)} rows with {wanted}, where one is meant")
    return frame.iloc[0]


def slips() -> tuple[int, pd.DataFrame, pd.DataFrame]:
    """Statements of the papers that need no data, and roots: those of substance, and all others."""
    ledger = recorded("simulated", "claims")
    found = roots(ledger)
    major = found["kind"].isin(OF_SUBSTANCE)
    return len(of_papers(ledger)), found[major], found[~major]


def of_the_readme() -> Iterator[str]:
    """README.md."""
    questions = recorded("states", "questions")

    def kept(question: str, way: str, mu: float) -> str:
        rows = questions.query("question == @question and way == @way and mu == @mu")
        row = rows.loc[rows["gain_share"].idxmax()]  # of tuned forms the best
        bar = f" ± {100 * row['gain_share_half_width']:.1f}" if row["gain_share_half_width"] else ""
        return f"{100 * row['gain_share']:.1f}%{bar}"

    yield f"the published algorithm keeps {kept('share', 'paper', 0.25)} of the possible gain"
    yield f"Without privacy it keeps {kept('share', 'paper', INF)}."
    asked = kept("patients", "paper", 0.25), kept("patients", "paper", INF)
    yield "*where are most patients*, it keeps {} of {}.".format(*asked)
    ours = [kept(it, "ours", mu) for it in ("share", "patients") for mu in (0.25, INF)]
    yield "Ours keeps {} of {}, and {} of {}.".format(*ours)
    first = aims("states", "aim-baseline", 0.25)
    yield "in {} of 15 states, less in {}, and {} are undecided".format(*first)
    kept_at = kept("share", "ours", 0.25), kept("share", "paper", 1.0)
    yield "ours keeps {} of the possible gain, the baseline {}.".format(*kept_at)
    yield "it is {}, {} and {}: ours".format(*aims("held-out", "aim-baseline", 0.25))
    held = [share("held-out", *it) for it in (("random-effects", "capacity", 0.25), (*PAPER, 1.0))]
    yield "ours at μ = 0.25 keeps {} of the possible gain, the baseline at μ = 1 {}".format(*held)
    for mu in (0.15, 0.1):
        both = [aims(run, "aim-baseline", mu)[0] for run in ("states", "held-out")]
        yield "at {} in {} of 15 and {} of 8".format(mu, *both)
    every = [aims(run, "aim-tuned", mu)[0] for run in ("states", "held-out") for mu in STRICT]
    yield "{}, {} and {} of 15, and {}, {} and {} of 8".format(*every)
    asked = [aims("states", it, mu, "patients")[0] for it in KINDS for mu in STRICT]
    yield "counts in the fifteen are {}, {} and {} against the baseline, and {}, {} and {}".format(
        *asked
    )
    central = recorded("states", "comparison").query("other_algorithm == 'mf-ftpl' and mu == 0.25")
    above = central[central["verdict"] == "above"].groupby("stream").size() == 2
    yield f"ours is above a curator's factorised sums in {above.sum()} of 15 states"
    best = [kept(it, "tuned", mu) for it in ("share", "patients") for mu in (0.25, INF)]
    yield "Its best tuned form † keeps {} of {}, and {} of {}.".format(*best)
    fixed = the_row(questions, question="patients", way="ours", mu=1.0)["best_fixed_share"]
    yield f"chosen in hindsight and kept, has {100 * fixed:.0f}% of the possible gain"
    yield substance(recorded("simulated", "claims"))


def of_the_papers() -> Iterator[str]:
    """docs/explanation/papers.md."""
    low, high = _ratios("beyond", "isotropic")["tree"]
    yield f"RW-Meta gains {low} to {high} times as much as the better central tree"
    names = ("rw-meta", "rw-ftpl", "tree-ftpl-min-noise")
    at = {mu: [gain("beyond", "CA", it, "isotropic", mu) for it in names] for mu in (1.0, 0.25)}
    yield "it is {} against {} of RW-FTPL and {} of the tree".format(*at[1.0])
    yield "At μ = 0.25 it is {}, {} and {}".format(*at[0.25])
    yield f"With our noise and learners † it is {_ours_in_california()}"
    regret = recorded("simulated", "claims")
    mine = regret[(regret["statement"] == "Theorem 3") & regret["paper"].str.startswith("Predic")]
    fails, _, papers = (it for _, it in mine.iterrows())
    yield f"mean regret is about {fails['measured']:.2g}, the bound".replace("5.3e+02", "530")
    yield f"the bound {fails['claimed']:.0f}."
    yield f"we found {papers['measured']:.0f}, the bound being {papers['claimed']:.0f}"
    for d, epsilon in ((300, 4), (300, 1), (10, 4), (10, 1)):
        yield f"| {d}, {epsilon} | {' | '.join(_regrets(d, epsilon))} |"
    yield f"a regret of {_chance(300)} with 300 experts, and of {_chance(10)} with 10"


def _ours_in_california() -> str:
    return gain("beyond", "CA", "empirical-bayes", "capacity", 0.25)


def _chance(d: int) -> str:
    rows = recorded("simulated", "lazy")
    rows = rows[(rows["adversary"] == "stochastic") & (rows["T"] == 10_000) & (rows["d"] == d)]
    return f"{rows['uniform_regret'].iloc[0]:.0f}"


def _regrets(d: int, epsilon: float) -> Iterator[str]:
    rows = recorded("simulated", "lazy")
    rows = rows[(rows["adversary"] == "stochastic") & (rows["T"] == 10_000) & (rows["d"] == d)]
    for name in (
        "l2p-sound", "l2p-one-round", "l2p-published", "l2p-theorem-3.10", "tree-ftpl-min-noise",
        "mf-ftpl", "multiplicative-weights",
    ):  # fmt: skip
        row = the_row(rows, epsilon=epsilon, algorithm=name)
        half = f" ± {row['ci_half_width']:.0f}" if row["ci_half_width"] > 1e-9 else ""
        yield f"{int(row['mean_regret'] + 0.5)}{half}"


def _ratios(run: str, noise: str) -> dict[str, tuple[str, str]]:
    """Least and largest gain of RW-Meta over that of each rival."""
    rows = recorded(run, "ranking")
    rows = rows[(rows["source"] == "run") & (rows["noise"] == noise) & rows["mu"].isin(MUS)]
    return {
        str(rival): (f"{own['ratio'].min():.2f}", f"{own['ratio'].max():.2f}")
        for rival, own in rows.groupby("rival")
    }


def of_locality() -> Iterator[str]:
    """docs/explanation/locality.md."""
    rivals = {
        "tree": "the better tree",
        "fresh noise": "`noisy-max` (8 weeks)",
        "factorised prefix sums": "`mf-ftpl`",
        "factorised window sums": "best `mf-window`",
        "factorised decayed sums": "best `mf-discounted`",
    }
    found = [_ratios("panel", noise) for noise in ("isotropic", "capacity")]
    for rival, title in rivals.items():
        yield f"| {title} | {' | '.join(' to '.join(it[rival]) for it in found)} |"
    free, noisy = (cell("panel", "CA", "rw-meta", "isotropic", mu) for mu in (INF, 0.25))
    lost = 1 - noisy["mean_gain"] / free["mean_gain"]
    learned = 1 - noisy["gain_share"] / free["gain_share"]
    yield f"gains {free['mean_gain']:.1f} without noise and {noisy['mean_gain']:.1f} at μ = 0.25"
    yield f"{lost:.0%} less. But a random hospital gains {free['uniform_gain']:.1f}"
    yield f"so that {learned:.0%} of what was learned is lost"
    leader = [
        gain("panel", "CA", "mf-discounted-0.9", it, 0.25) for it in ("isotropic", "capacity")
    ]
    yield "gains {} with isotropic noise and {} with capacity noise".format(*leader)
    last, meta = (gain("panel", "CA", it, "capacity", 1.0) for it in ("persistence", "rw-meta"))
    yield f"gains {last} in California, more than RW-Meta's {meta}"


def of_memory() -> Iterator[str]:
    """docs/explanation/memory.md."""
    rows = recorded("beyond", "memory")
    rows = rows[(rows["weeks"] == 1) & (rows["level"] == 0.1) & (rows["noise"] == "capacity")]
    same, more = (
        [the_row(rows, stream=state, times=times) for state in STATES] for times in (1.0, 1.3)
    )
    yield f"it is {listed([apart(row, '') for row in same])} in New Mexico, Pennsylvania"
    yield f"the differences to that are {listed([apart(row) for row in more])}"
    yield f"memory gains {more_with_memory()}"


def standing(run: str) -> str:
    """The numbers of states in which ours at the strict levels is above the paper's at mu = 1."""
    found = {
        kind: list(zip(*(aims(run, kind, mu) for mu in STRICT), strict=True)) for kind in KINDS
    }
    above, below, _ = ("{}, {} and {}".format(*it) for it in found["aim-baseline"])
    tuned_above, tuned_below, _ = ("{}, {} and {}".format(*it) for it in found["aim-tuned"])
    return (
        f"above in {above} at μ = 0.25, 0.15 and 0.1, below in {below}. Against the tuned way it is"
        f" above in {tuned_above}, below in {tuned_below}"
    )


def beside_memory(run: str, mu: float) -> tuple[list[float], pd.Series]:
    """The lead of noise with memory over ours in each state, sorted, and the verdicts on ours."""
    rows = recorded(run, "comparison")
    rows = rows[(rows["kind"] == "other") & (rows["other_noise"] == "capacity-memory")]
    rows = rows[rows["mu"] == mu]
    return sorted(-rows["difference"]), rows["verdict"].value_counts().reindex(
        ["below", "above", "undecided"], fill_value=0
    )


def more_with_memory() -> str:
    """The gain of noise with memory on fifteen states at mu = 0.1."""
    more, verdicts_on_ours = beside_memory("states", 0.1)
    return (
        f"{more[0]:.1f} to {more[-1]:.1f} more than independent noise at μ = 0.1: it is above in"
        f" {verdicts_on_ours['below']}, undecided in {verdicts_on_ours['undecided']}"
    )


def of_ours() -> Iterator[str]:
    """docs/explanation/ours.md."""
    yield f"Ours against the paper's way at μ = 1: {standing('states')}"
    yield f"Ours against the paper's way at μ = 1: {standing('held-out')}"
    yield f"On fifteen states memory gains {more_with_memory()}"
    counts = [beside_memory("states", mu)[1]["below"] for mu in (0.25, 0.5, 1.0)]
    yield "At μ = 0.25 it is above in {}, at 0.5 in {}, at 1 in {}.".format(*counts)
    kept = (
        listed(
            [share("states", "random-effects", it, mu).split("%")[0] for mu in (1.0, 0.5, *ENDS)]
        )
        for it in ("capacity-memory", "capacity")
    )
    yield f"it keeps {next(kept)}% of the possible gain at μ = 1, 0.5, 0.25 and 0.1"
    yield f"independent noise {next(kept)}%"
    stays = recorded("beyond", "memory").query(
        "weeks == 1 and level == 0.25 and noise == 'capacity-memory'"
    )
    paid = stays[["mu_2_weeks", "mu_4_weeks", "mu_8_weeks"]].max()
    yield f"has a μ of at most {listed([f'{mu:.2f}' for mu in paid])} where one week has 0.25"
    levels = recorded("states", "comparison").query("stream.str.endswith('-share')")
    for kind, whom in (("paper", "the paper's way"), ("tuned", "the tuned way")):
        above = levels[levels["kind"] == kind].groupby(["stream", "mu"])["verdict"]
        every = above.agg(lambda own: set(own) == {"above"}).groupby("mu").sum()
        (noisy,), free = set(every[every.index < INF]), every[INF]
        yield f"above {whom} in {noisy} of 15 at every μ with noise, and in {free} without"
    last = levels.query("other_algorithm == 'persistence' and mu == inf")
    last = last.drop_duplicates("stream")["verdict"].value_counts()
    yield f"gains more than ours in {last['below']} states, less in {last['above']}"
    ways = [("the paper's way", "rw-meta", "isotropic", mu) for mu in (1.0, 0.25)]
    ways += [("ours", "random-effects", "capacity", mu) for mu in STRICT]
    for way, algorithm, noise, mu in ways:
        rows = [cell("beyond", state, algorithm, noise, mu) for state in STATES]
        texts = [f"{it['mean_gain']:.1f} ± {it['ci_half_width']:.1f}" for it in rows]
        yield f"| {way}, μ = {mu:g} | {' | '.join(texts)} |"
    rows = [tuned(state, 1.0) for state in STATES]
    texts = [f"{it['mean_gain']:.1f} ± {it['ci_half_width']:.1f}" for it in rows]
    yield f"| the tuned way, μ = 1 | {' | '.join(texts)} |"
    free = [f"{tuned(state, INF)['mean_gain']:.1f}" for state in STATES]
    yield f"the best of the three gains {listed(free)} in New Mexico"
    yield f"the paper's way {listed(gains('beyond', 'rw-meta', 'isotropic', INF))}"
    aims = recorded("beyond", "comparison")
    aims = aims[aims["kind"].isin(("aim-baseline", "aim-learner"))]
    row = the_row(aims, stream="PA", mu=0.15, other_mu=1.0)
    yield f"in Pennsylvania the difference is {apart(row)}, {row['verdict']}"
    without = aims[(aims["mu"] == 1.0) & (aims["other_mu"] == INF)]
    short = -without.groupby("stream")["difference"].min()
    yield f"gains {short.min():.1f} to {short.max():.1f} more than ours at μ = 1"
    noises = [gain("beyond", "CA", "rw-meta", it, 0.25) for it in ("isotropic", "capacity")]
    yield "RW-Meta gains {} with it and {} with `capacity`".format(*noises)
    memory, independent = (
        listed(gains("beyond", "random-effects", it, 0.1)) for it in ("capacity-memory", "capacity")
    )
    yield f"it gains {memory} in New Mexico, Pennsylvania and California, independent"
    yield f"Pennsylvania and California, independent noise {independent}"
    yield f"empirical Bayes gains {_ours_in_california()}, RW-Meta {noises[1]}"
    known = gain("beyond", "CA", "empirical-bayes", "isotropic", 0.25)
    yield f"there is less to know: {known} against {noises[0]}"
    floors = [listed(gains("beyond", it, "capacity", 1.0)) for it in ("rw-meta-floor-0", "rw-meta")]
    yield f"it gains {floors[0]} in New Mexico, Pennsylvania and California, with the paper's floor"
    yield f"with the paper's floor {floors[1]}"
    correlated = listed(gains("panel", "rw-meta-correlated", "capacity", 1.0, "CA PA NM"))
    even = listed(gains("panel", "rw-meta-floor-0", "capacity", 1.0, "CA PA NM"))
    yield f"gains {correlated} in California, Pennsylvania and New Mexico"
    yield f"with evening out and floor 0 it gains {even}"
    drifting, plain = (
        ", ".join(gains("beyond", it, "capacity", 0.25, "CA PA NM"))
        for it in ("fixed-share", "exponential-weights")
    )
    yield f"noise {drifting} against {plain}"
    chosen = gain("beyond", "CA", "rw-meta-kalman", "capacity", 0.25)
    yield f"gains {chosen} in California at μ = 0.25, their empirical-Bayes average"
    yield from of_ledger()


def of_ledger() -> Iterator[str]:
    """The ledger's part of docs/explanation/ours.md."""
    yield substance(recorded("simulated", "claims"))
    *_, minor = slips()
    yield from (f"- {it.root}: {it.mend} ({it.kind})" for it in minor.itertuples())


def of_performance() -> Iterator[str]:
    """benchmarks/README.md."""
    found = measured("results")
    meta, starts, grid = found["rw_meta"], found["starts"], found["grid"]
    free, noisy = meta["inf"], meta["0.25"]
    times = [it["cost_over_noise_alone"] for it in (free, noisy)]
    yield f"costs {times[0]:.1f} times the noise alone without privacy and {times[1]:.1f} times"
    yield f"({free['ours_us']:.1f} and {noisy['ours_us']:.1f} μs per replicate and round"
    faster = [it["speedup_over_paper_way"] for it in meta.values()]
    yield f"{min(faster):.0f} to {max(faster):.0f} times faster than the paper's own way"
    for row in found["learners"].values():
        yield f"| {row['learners']} | {row['us']:.0f} | {row['eigenvalue_share']:.0%} |"
    for name, row in found["scaling"].items():
        ends = f"{row['values'][0]:,} | {row['values'][-1]:,} | {row['slope']:.2f} |"
        yield f"{name[-1]} ({_kept(name)}) | {ends}"
    yield f"needs {starts['run_suite_s']:.2f} s of processor time until its imports are done"
    yield f"{starts['run_suite_over_numpy']:.1f} times NumPy alone"
    yield f"slowest script {starts['slowest_s']:.2f} s, {starts['slowest_over_numpy']:.1f} times"
    yield f"{grid['jobs']} jobs, {grid['cpu_s']:.0f} s of processor time in all"
    yield f"{grid['wall_s']:.0f} s of wall time: {grid['wall_over_half_cpu']:.2f} times half"
    country = found["country"]
    yield f"drawing of the noise alone: the whole suite {country['cpu_s']:.0f} s"


def _kept(name: str) -> str:
    kept = {"n": "T = 148, R = 16", "T": "n = 1,250, R = 16", "R": "n = 1,250, T = 148"}
    return kept[name[-1]]


def of_verify() -> Iterator[str]:
    """The expected values of docs/how-to/verify.md, and the minutes of its commands."""
    # The demo draws what config/beyond.yaml draws: data, seed and numbers are the same.
    paper = listed(gains("beyond", "rw-meta", "isotropic", 1.0))
    ours = listed(gains("beyond", "random-effects", "capacity", 0.25))
    best = listed([f"{tuned(state, 1.0)['mean_gain']:.1f}" for state in STATES])
    best = f"; the tuned way at μ = 1: {best}"
    yield f"ours at μ = 0.25: {ours}; the paper's way at μ = 1: {paper}{best}"
    found = list(_regrets(300, 1.0))
    yield f"L2P with our accounting {found[0]}, with the published one {found[2]} |"
    total, major, minor = slips()
    yield (
        f"among {total} statements of the papers that need no data, {len(major)} slips are of"
        " substance (false, or a hypothesis is missing);"
        f" {len(minor)} others are easily put right |"
    )
    lower = {
        key.split(", ")[2]: row["lower_bound"]
        for key, row in expected("audits").items()
        if "private EXP3, message" in key and "all pairs of 3 labels" in key
    }
    published, exact = lower["published sensitivity"], lower["exact sensitivity"]
    yield f"private EXP3 at ε = 1: {published:.3f} published, {exact:.3f} exact |"
    paper = gains("beyond", "rw-meta", "isotropic", 1.0)
    ours = gains("beyond", "random-effects", "capacity", 0.15)
    yield f"ours at μ = 0.15: {listed(ours)}; the paper's way at μ = 1: {listed(paper)}{best}"
    memory = recorded("beyond", "memory")
    one = memory[(memory["weeks"] == 1) & (memory["level"] == 0.1) & (memory["times"] == 1.0)]
    rows = [the_row(one, stream=it, noise="capacity") for it in STATES]
    yield f"{listed([apart(row) for row in rows])} |"
    ratios = _ratios("panel", "isotropic")
    tree, decayed = ratios["tree"], ratios["factorised decayed sums"]
    yield f"| {' to '.join(tree)} times the better tree, {' to '.join(decayed)} times the best"
    for run, command in RUNS.items():
        minutes = recorded(run, "jobs")["seconds"].sum() / 2 / 60
        yield f"| {command} | {max(minutes, 1):.0f} |"
    times, full = measured("results")["rw_meta"]["0.25"], measured("full")["now"]
    yield f"{times['cost_over_noise_alone']:.1f} times the noise alone |"
    yield f"{full['cpu_s']:.0f} s of processor time |"
    yield f"| {standing('held-out').partition('. Against')[0]} |"


def of_open_questions() -> Iterator[str]:
    """docs/explanation/open-questions.md."""
    ledger = recorded("simulated", "claims")

    def row(place: str) -> pd.Series:
        return the_row(ledger, statement=place)

    week, month = (
        100 * (row(f"noise with memory, {it}")["measured"] - 1)
        for it in ("unit of one week", "stays of four weeks")
    )
    yield f"is at most {week:.1f}% above the best with one number of memory"
    yield f"For stays of four weeks up to {month:.1f}% is left."
    swaps = row("RW-AdaBatch for the top k")
    yield f"the bound is {swaps['claimed']:.3f} where {swaps['measured']:.3f} of the walks swap"
    yield f"the sum can be {row('Lemma 4.3')['measured']:.2f} times the bound"
    passed = re.search(r"T = 10\^[\d.]+", row("Theorem 3.10, regret")["note"])
    yield f"is above 1 from {passed[0] if passed else ''} on only"
    rounds, epsilon = (row(f"Theorem 3.10, proven regret, {it}")["measured"] for it in "Tε")
    yield f"is T^{rounds:.3f} and ε^(−{-epsilon:.3f})"
    few = row("section 3, fewer labels than hypotheses")
    yield f"The bound for few labels is {few['claimed']:.2f} nats"
    yield f"Total variation is then {row('section 6, T_α')['measured']:.2f}."


RUNS = {
    "simulated": "`snakemake --cores 2 --configfile config/simulated.yaml`",
    "beyond": "`snakemake --cores 2 --configfile config/beyond.yaml`",
    "panel": "`snakemake --cores 2 --configfile config/panel.yaml`",
}


@cache
def expected(check: str) -> dict[str, dict[str, Any]]:
    """The values that `make verify` expects."""
    return verify.read_expected()[check]


PAGES = {
    "docs/how-to/verify.md": of_verify,
    "README.md": of_the_readme,
    "docs/explanation/papers.md": of_the_papers,
    "docs/explanation/locality.md": of_locality,
    "docs/explanation/memory.md": of_memory,
    "docs/explanation/open-questions.md": of_open_questions,
    "docs/explanation/ours.md": of_ours,
    "benchmarks/README.md": of_performance,
}


def missing(page: str) -> list[str]:
    """The sentences that a page should hold and does not."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [sentence for sentence in PAGES[page]() if sentence not in text]


def main() -> int:
    """Print what is missing, page by page; 1 if anything is."""
    found = [f"{page}: {sentence}" for page in PAGES for sentence in missing(page)]
    print("\n".join(found) or "every sentence is in its page")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
