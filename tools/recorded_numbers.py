"""Write the tables of recorded numbers into the pages.

A page marks the place of a table with `<!-- numbers: NAME -->` and `<!-- /numbers -->`. The numbers
come from verify/runs, which verify/record.py writes after a run.
"""

from __future__ import annotations

import math
import re
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import get_args

import pandas as pd

from dpol.core.rounding import AtMost
from dpol.noise import find_noise
from dpol.privacy.account import best_guess, noise_facts, noises_for
from dpol.privacy.losses import Promise
from dpol.show.entries import BATCHES, algorithm_entry, noise_entry
from dpol.show.reported import FILLINGS, PAPER_STATES, load_reported
from dpol.studies.comparison.names import OUR_METHOD, THE_BASELINE
from dpol.studies.comparison.promises import promises_of
from dpol.studies.games.names import (
    BEST_LINEAR,
    LINEAR,
    META,
    MIN_NOISE,
    MIN_REGRET,
    PAPER_NOISE,
)
from dpol.studies.ledger.claims.core import Kind
from dpol.studies.ledger.claims.gains import reported_ratios
from dpol.studies.paper1.table_2 import HEADERS
from dpol.studies.verdicts import ABOVE, AHEAD

ROOT = Path(__file__).parents[1]
SYSTEM = ["algorithm", "noise"]
LISTED = ["git", "ls-files", "*.md", "docs/*.ipynb"]
PAGES = subprocess.check_output(LISTED, cwd=ROOT, text=True).split()
"""Paths of all pages in the repository."""
MARKED = re.compile(r"(<!-- numbers: ([\w-]+) -->\n).*?(<!-- /numbers -->)", re.DOTALL)


@cache
def recorded(run: str, name: str) -> pd.DataFrame:
    """Return a result table of a recorded run."""
    frame = pd.read_csv(ROOT / "verify" / "runs" / run / f"{name}.csv")
    texts = frame.columns.intersection(["question", "stream", "role"])
    return frame.assign(**frame[texts].astype(object).fillna(""))


def table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table whose columns after the first `words` are aligned to the right."""
    line = f"|{'---|' * words}{'---:|' * (len(header) - words)}"
    head, *body = (f"| {' | '.join(cells)} |" for cells in (header, *rows))
    return "".join(f"{row}\n" for row in (head, line, *body))


def amount(value: float, half_width: float, digits: int = 1) -> str:
    """Return a number with half the width of its interval, if it has one."""
    bar = f" ± {half_width:.{digits}f}" if half_width > 1e-9 else ""
    return f"{value:.{digits}f}{bar}"


def standings(run: str) -> pd.DataFrame:
    """Return the standings of a run, for its first question: means over streams if it has any."""
    every = recorded(run, "standings")
    rows = every[every["question"] == every["question"].iloc[0]]
    means = rows[rows["stream"] == ""]
    return means if len(means) else rows


def title(row: pd.Series) -> str:
    """Return the name of a row's algorithm and noise, with a mark on noise of ours."""
    return f"`{row['algorithm']}`, {row['noise']}{' †' if noise_entry(row['noise']).ours else ''}"


def level(mu: float) -> str:
    """Return a level as a table shows it."""
    return "∞" if mu == math.inf else f"{mu:g}"


def kept_by(rows: pd.DataFrame) -> list[str]:
    """Return the share of the possible gain of each row with its interval, in percent."""
    columns = 100 * rows[["gain_share", "gain_share_half_width"]]
    return [amount(*pair) for pair in columns.to_numpy()]


def kept(rows: pd.DataFrame, mu: float) -> float:
    """Return the largest share of the possible gain of rows at a level, in percent."""
    return 100 * rows[rows["mu"] == mu]["gain_share"].max()


PAPERS, STRONGEST = "RW-Meta", "strongest rival"


def systems(run: str) -> dict[str, pd.DataFrame]:
    """Return the rows of the systems that the pages name, by title."""
    rows = standings(run)
    ours, papers = rows["role"] == OUR_METHOD, rows["role"] == THE_BASELINE
    noise = rows[ours]["noise"].iloc[0]
    both = rows["algorithm"].eq(META) & rows["noise"].eq(noise)
    return {
        PAPERS: rows[papers],
        "RW-Meta, our noise †": rows[both],
        STRONGEST: rows[rows["strongest"]],
        "our method †": rows[ours],
    }


def shares() -> str:
    """Share of the possible gain on fifteen states in percent, by system and level."""
    mus = (math.inf, 1.0, 0.25)
    rows = [
        (name, *(f"{kept(own, mu):.1f}" for mu in mus)) for name, own in systems("states").items()
    ]
    fixed = f"{100 * standings('states')['best_fixed_share'].iloc[0]:.1f}"
    rows.append(("best fixed expert", *[fixed] * len(mus)))
    return table(("share of the possible gain, %", "no noise", "μ = 1", "μ = 0.25"), rows)


REAL = {
    "central-texas": "the paper's weeks",
    "states": "fifteen states",
    "held-out": "eight held-out states",
    "flu": "influenza",
    "intensive-care": "intensive care",
}
"""Runs on real data, by the names that the table gives to the data."""
VERDICTS = {
    "above": "above",
    "below": "**below**",
    "equal": "equal",
    "ahead at this reading": "ahead",
    "behind at this reading": "**behind**",
    "undecided": "level",
}
"""Words on our method beside a rival."""


def real_data() -> str:
    """Our method beside the strongest rival of each level, on all real data."""
    lines, leads, curators = [], [], set[int]()
    for run, data in REAL.items():
        rows, over = standings(run), recorded(run, "spread").set_index("mu")["half_width"]
        for mu in sorted(rows["mu"].unique(), reverse=True):
            at = rows[rows["mu"] == mu]
            ours, rival = at[at["role"] == OUR_METHOD].iloc[0], at[at["strongest"]].iloc[0]
            (own,), (theirs,) = kept_by(at[at["role"] == OUR_METHOD]), kept_by(at[at["strongest"]])
            gap, half = 100 * ours["to_strongest"], 100 * ours["to_strongest_half_width"]
            verdict = VERDICTS[ours["to_strongest_verdict"]]
            if run in set(ZEROS["run"]) and not in_all_draws(mean_of(run)).loc[mu]:
                verdict = "not so in all draws of zeros"
            lines.append(
                (
                    "" if mu < math.inf else data,
                    level(mu),
                    own,
                    f"{theirs} ({title(rival)})",
                    amount(gap, half).replace("-", "−"),
                    f"± {100 * over[mu]:.1f}",
                    verdict,
                )
            )
            raw = at[at["model"] == "central"]
            best = raw.loc[raw["gain_share"].idxmax()]
            leads.append((ours["gain_share"] - best["gain_share"], data, mu, title(best)))
            curators.add(raw["algorithm"].nunique())
    heads = (
        "data",
        "μ",
        "our method †",
        "strongest rival",
        "difference",
        "over states or weeks",
        "our method is",
    )
    behind = [
        f"{data} ({level(mu)}: {-100 * lead:.1f} points behind {best})"
        for lead, data, mu, best in leads
        if lead <= 0
    ]
    (played,) = curators
    return table(heads, lines, words=2) + (
        f"\nOur method keeps more than the best curator of the level, who sees the raw numbers, in"
        f" {len(leads) - len(behind)} of {len(leads)} rows; not on {'; '.join(behind)}. The same"
        f" {played} curators played everywhere.\n"
    )


ZEROS = recorded("robustness", "zeros").fillna({"question": "", "stream": ""})
HIDDEN = pd.read_csv(ROOT / "verify" / "runs" / "hidden.csv", dtype={"group": str})
QUESTIONS = {
    ("states", "share"): "fifteen states",
    ("states", "large"): "fifteen states, 50 beds or more",
    ("held-out", ""): "eight held-out states",
}
"""Runs and questions that play with hidden zeros, by the names that the table gives to them."""


def mean_of(run: str) -> pd.DataFrame:
    """Return the rows with hidden zeros of the mean over states, for a run's first question."""
    return ZEROS[(ZEROS["run"] == run) & (ZEROS["stream"] == "") & (ZEROS["question"] != "large")]


def in_all_draws(rows: pd.DataFrame) -> pd.Series:
    """Return whether our method is above by its whole interval in all draws, by level.

    The draws include the zeros as they are.
    """
    return rows["verdict"].eq(ABOVE).groupby(rows["mu"]).all()


def signs_of(rows: pd.DataFrame) -> pd.Series:
    """Return 1 or -1 where our mean lead has this sign in all draws, else 0, by stream, level."""
    key = [rows["stream"], rows["mu"]]
    ahead, behind = rows["lead_least"] > 0, rows["lead_most"] < 0
    return ahead.groupby(key).all().astype(int) - behind.groupby(key).all()


def hidden_zeros() -> str:
    """How many zeros of the states' tables hide counts, where another table tells."""
    rows = []
    for by in ("all", "quarter", "beds"):
        of = HIDDEN[HIDDEN["by"] == by].set_index(["group", "table"])[["hidden", "weeks"]]
        for group in of.index.get_level_values("group").unique():
            cells = [
                "{:.0f} of {:.0f}".format(*of.loc[(group, name)])
                if (group, name) in of.index
                else ""
                for name in HIDDEN["table"].unique()[2:]
            ]
            name = "all" if by == "all" else f"{group} beds" * (by == "beds") or str(group)
            rows.append((name, *cells))
    return table(("zeros", *HIDDEN["table"].unique()[2:]), rows)


def zeros() -> str:
    """Our method beside the strongest rival where zeros of the states' tables hide counts."""
    lines = []
    for (run, question), data in QUESTIONS.items():
        every = ZEROS[(ZEROS["run"] == run) & (ZEROS["question"] == question)]
        over, own = every[every["stream"] == ""], every[every["stream"] != ""]
        for mu, at in over.groupby("mu", sort=False):
            cells = [
                "; ".join(f"{100 * share:.1f}" for share in at[name]).replace("-", "−")
                for name in ("baseline", "rival_share", "ours")
            ]
            ends = (
                f"{100 * it.lead:.1f}"
                + f" ({100 * it.lead_least:.1f} to {100 * it.lead_most:.1f})" * (it.hidden > 0)
                for it in at.itertuples()
            )
            lead = "; ".join(ends).replace("-", "−")
            ahead = "yes" if in_all_draws(at).all() else "no"
            signs = signs_of(own[own["mu"] == mu])
            states = [(signs == sign).sum() for sign in (1, -1)]
            counts = "{}; {}".format(*states)
            lines.append((data if mu == math.inf else "", level(mu), *cells, lead, ahead, counts))
    heads = (
        "data",
        "μ",
        "RW-Meta",
        "strongest rival",
        "our method †",
        "lead",
        "ahead in all draws",
    )
    return table((*heads, "states: ahead; behind"), lines, words=2)


def losses() -> str:
    """Real data and levels at which the strongest rival is clearly better than our method."""
    said = []
    for run, data in REAL.items():
        said.append(_lost(data, standings(run)))
        every = recorded(run, "standings")
        states = every[every["stream"].ne("") & every["question"].isin(standings(run)["question"])]
        if states["stream"].nunique() > 1:
            noisy, free = states[states["mu"] < math.inf], states[states["mu"] == math.inf]
            for state, own in noisy.groupby("stream"):
                said.append(_lost(f"{data}, {str(state)[:2]} alone", own))
            said.append(_lost(f"{data}, {{}} of them each alone", free))
    return "".join(said)


def _lost(where: str, rows: pd.DataFrame) -> str:
    """Say at which levels our method lost, and most to whom; empty text if it did not."""
    lost = rows[rows["strongest"] & rows["to_ours_verdict"].isin([ABOVE, AHEAD])]
    if lost.empty:
        return ""
    most = lost.loc[lost["to_ours"].idxmax()]
    levels = ", ".join(level(mu) for mu in sorted(lost["mu"].unique(), reverse=True))
    points, where = 100 * most["to_ours"], where.format(lost["stream"].nunique())
    at = f" at μ = {level(most['mu'])}" if lost["mu"].nunique() > 1 else ""
    return f"- {where} (μ = {levels}): {title(most)} leads most, by {points:.1f} points{at}\n"


def readings() -> str:
    """Where hidden counts decide: in how many states our method is above at every reading."""
    rivals = {"baseline": PAPERS, "strongest": "the strongest rival"}
    cells, titles, draws = {name: list[str]() for name in rivals.values()}, [], list[str]()
    cell = ["stream", "mu"]
    for run in ("states", "held-out"):
        every = recorded(run, "standings")
        read = recorded(run, "readings")
        read["above"] = read["difference"] > read["difference_half_width"]
        at_each = read.groupby([*cell, "other_algorithm", "other_noise"])["above"].all()
        played = {*read["stream"]}
        ours = every[
            every["stream"].isin(played) & every["role"].eq(OUR_METHOD) & (every["mu"] < math.inf)
        ]
        titles.append(f"{len(played)} of the {REAL[run]}")
        others = {
            "baseline": every[every["role"] == THE_BASELINE],
            "strongest": every[every["strongest"]],
        }
        above = {}
        for rival, name in rivals.items():
            named = (
                others[rival]
                .set_index(cell)[SYSTEM]
                .loc[[*ours[cell].itertuples(index=False, name=None)]]
            )
            keys = pd.MultiIndex.from_frame(named.reset_index())
            here = ours[f"to_{rival}_verdict"].isin([ABOVE, AHEAD]).to_numpy()
            above[rival] = here & at_each.loc[keys].to_numpy()
            cells[name].append(f"{above[rival].sum()} of {len(ours)}")
        first = ZEROS[(ZEROS["run"] == run) & (ZEROS["question"] != "large")]
        key = pd.MultiIndex.from_arrays([ours["stream"].str[:2], ours["mu"]])
        agreed = above["strongest"] & (signs_of(first).loc[key] == 1).to_numpy()
        draws.append(f"{agreed.sum()} of {len(ours)}")
    rows = [(name, *row) for name, row in cells.items()]
    return table(
        ("rival", *titles), [*rows, ("the strongest rival, in all draws of zeros", *draws)]
    )


WORLDS = recorded("robustness", "worlds")


def lost_worlds() -> str:
    """Worlds in which the strongest rival is clearly better than our method."""
    every = WORLDS[WORLDS["strongest"]]
    said = [_lost(str(world), own) for world, own in every.groupby("stream", sort=False)]
    lost = (every["to_ours_verdict"] == ABOVE).sum()
    return (
        f"The strongest rival is clearly better in {lost} of {len(every)} combinations of world and"
        f" level, in {sum(map(bool, said))} of the worlds:\n\n{''.join(said)}"
    )


def beside_curators(run: str) -> pd.DataFrame:
    """Return RW-Meta's gain over that of each kind of algorithm with a curator.

    A row per stream, noise and level with noise from μ = 0.25 that the noise keeps; of several
    algorithms of a kind, the best counts, in hindsight.
    """
    rows = recorded(run, "standings")
    rows = rows[
        (rows["stream"] != "") & rows["mu"].between(0.25, 1e9) & (rows["promise"] != "less")
    ]
    key = ["stream", "noise", "mu"]
    meta = rows[rows["algorithm"] == META].set_index(key)["gain_per_round"]
    central = rows[rows["model"] == "central"].groupby(["family", *key])["gain_per_round"].max()
    ratios = (meta / central.unstack("family").T).T
    return ratios.dropna(how="all")


def rivals() -> str:
    """Smallest and largest ratio of RW-Meta's gain to that of each algorithm with a curator."""
    runs, noises = {"beyond": "three", "states": "fifteen"}, ("isotropic", "capacity")
    columns = {
        f"{noise} noise, {states} states": beside_curators(run).query(f"noise == '{noise}'")
        for (run, states), noise in product(runs.items(), noises)
    }
    families = dict.fromkeys(name for ratios in columns.values() for name in ratios.dropna(axis=1))
    rows = []
    for family in families:
        found = (ratios.get(family, pd.Series(dtype=float)).dropna() for ratios in columns.values())
        cells = (f"{own.min():.2f} to {own.max():.2f}" if len(own) else "" for own in found)
        rows.append((f"`{family}`", *cells))
    return table(("RW-Meta compared with", *columns), rows)


LAZY_GAMES = ((300, 4), (300, 1), (10, 4), (10, 1))
"""Experts d and epsilon of its lines."""


def of_lazy(table: str, d: int, epsilon: float) -> pd.DataFrame:
    """Return the rows of a recorded game with stochastic losses, T = 10,000."""
    rows = recorded("simulated", table)
    return rows[
        (rows["adversary"] == "stochastic")
        & (rows["T"] == 10_000)
        & (rows["d"] == d)
        & (rows["epsilon"] == epsilon)
    ]


def shown(label: str) -> str:
    """Return the name of an algorithm of the second paper's games, with a mark if it is ours."""
    return algorithm_entry(label).marked


def lazy_regret() -> str:
    """Regret of L2P and its rivals on stochastic losses, T = 10,000."""
    rows = []
    for d, epsilon in LAZY_GAMES:
        every = of_lazy("lazy", d, epsilon)
        found = every.set_index("algorithm")[["mean_regret", "ci_half_width"]]
        cells = [amount(mean, half, digits=0) for mean, half in found.to_numpy()]
        rows.append((f"{d}, {epsilon}", *cells, f"{every['uniform_regret'].iloc[0]:.0f}"))
    return table(("d, ε", *map(shown, found.index), "uniform random"), rows)


def lazy_pairs() -> str:
    """Differences of regret on the same losses: the two best, and the best L2P from its rivals."""
    rows = []
    for d, epsilon in LAZY_GAMES:
        means = of_lazy("lazy", d, epsilon).set_index("algorithm")["mean_regret"]
        private = means[[not shown(it).endswith("no privacy") for it in means.index]]
        best, after = private.sort_values().index[:2]
        least = f"{shown(best)}; {compared(d, epsilon, best, after)} {shown(after)}"
        l2p = private.index.map(shown).str.startswith("L2P")
        own, rivals = private[l2p].idxmin(), private[~l2p].index
        cells = (compared(d, epsilon, own, it).removesuffix(" with") for it in rivals)
        rows.append((f"{d}, {epsilon}", least, shown(own), *cells))
    heads = (shown(it) for it in rivals)
    return table(("d, ε", "smallest regret", "best L2P", *heads), rows, words=3)


def compared(d: int, epsilon: float, one: str, other: str) -> str:
    """Say by how much the regret of one algorithm is below or above that of another."""
    pairs = of_lazy("lazy_pairs", d, epsilon).set_index(["algorithm", "other_algorithm"])
    swapped = (one, other) not in pairs.index
    pair = pairs.loc[(other, one) if swapped else (one, other)]
    difference, half = (-1 if swapped else 1) * pair["difference"], pair["difference_half_width"]
    if pair["verdict"] == "undecided":
        return f"level ({round(difference):+d} ± {half:.0f}) with".replace("-", "−")
    return f"{abs(difference):.0f} ± {half:.0f} {'below' if difference < 0 else 'above'}"


def correlated_noise() -> str:
    """Share of the possible gain on fifteen states in percent, with two kinds of noise."""
    every = standings("states").query("algorithm == 'random-effects'")
    rows = []
    for noise, name in (("capacity", "independent"), ("capacity-memory", "correlated")):
        own = every[every["noise"] == noise]
        rows.append((name, *(f"{kept(own, mu):.1f}" for mu in (1.0, 0.5, 0.25, 0.1))))
    return table(("noise", "μ = 1", "μ = 0.5", "μ = 0.25", "μ = 0.1"), rows)


def promises() -> str:
    """Standard deviation of the least noise of each law for some promises, by stay."""
    asked = {
        "μ = 0.25": Promise(mu=0.25),
        "right at most 60%": Promise(delta=0.2),
        "ε = 1, δ = 10⁻⁶": Promise(epsilon=1.0, delta=1e-6),
        "ε = 1": Promise(epsilon=1.0),
    }
    laws = "Gaussian", "correlated Gaussian", "Laplace", "staircase", "uniform"
    rows = []
    for (title, promise), weeks in product(asked.items(), (1, 8)):
        found, kept = noises_for(promise, weeks), noise_facts(promise, weeks)
        noises = (
            f"{AtMost(found[law])} ({AtMost(100 * kept[law].best_guess)}%, {AtMost(kept[law].mu)})"
            if found[law] < math.inf
            else "no"
            for law in laws
        )
        rows.append((title if weeks == 1 else "", f"{weeks}", *noises))
    return table(("promise", "weeks", *laws), rows)


def guess_under(noise: str, promise: Promise, mu: float, weeks: int) -> float:
    """Return how often an attacker is right at most, under the noise that keeps a promise.

    Gaussian noise has the level mu, at which it keeps all promises of mu but the pure one.
    """
    made = find_noise(noise)
    level = made.mechanism.level(promise, weeks) if made.mechanism else mu
    return made.best_guess(level, weeks)


def readers(run: str) -> tuple[pd.Series, pd.Series]:
    """Return the largest share of our reader, and of any other, for stays of 1 and 8 weeks.

    Both are by noise, level, stay and promise.
    """
    every = recorded(run, "promises").query("weeks in (1, 8)")
    ours = every["algorithm"] == "random-effects"
    keys = ["noise", "level", "weeks", "same"]
    best, others = (own.groupby(keys)["share"].max() for own in (every[ours], every[~ours]))
    return best, others


READ = "capacity", "capacity-memory", "laplace-uniform", "staircase"
"""Noises that our reader reads."""
PROMISES = {"mu": "μ = 0.25", "guess": "best guess", "epsilon": "(ε, δ)", "pure": "pure ε"}


def promises_kept() -> str:
    """Share of the possible gain in percent, by data, noise, stay and promise; in brackets the
    largest of another reader; last the right guesses."""
    rows = []
    for run, data in {"promises": "fifteen states", "flu": "influenza"}.items():
        best, others = readers(run)
        for noise in READ:
            made = find_noise(noise)
            law = f"{'correlated ' if made.memory == 'chains' else ''}{made.law.name}"
            for weeks in best.index.unique("weeks"):
                cells = []
                for same in PROMISES:
                    ours, other = (
                        of.get((noise, 0.25, weeks, same), math.nan) for of in (best, others)
                    )
                    of_other = "" if math.isnan(other) else f" ({100 * other:.1f})"
                    guess = guess_under(noise, promises_of(0.25, 1e-6)[same], 0.25, int(weeks))
                    kept = f"{100 * ours:.1f}{of_other}; {AtMost(100 * guess)}%"
                    cells.append("cannot" if math.isnan(ours) else kept)
                rows.append((data, law if weeks == 1 else "", f"{weeks}", *cells))
                data = ""
    return table(("data", "noise", "weeks", *PROMISES.values()), rows, words=2)


def long_stays() -> str:
    """Share of the possible gain in percent, by noise, reader, level and unit of several weeks; in
    brackets at the same epsilon, with the right guesses there."""
    best, others = readers("promises")
    shares = 100 * best.combine_first(others)
    noises = {
        "capacity": "independent †, `random-effects` †",
        "laplace-sample": "Laplace in one week of w",
        "budget-distribution": "budget distribution",
        "budget-absorption": "budget absorption",
        "fast": "FAST",
        "pegasus": "PeGaSus",
    }
    rows = []
    for noise, title in noises.items():
        cells = []
        for mu, weeks in product((1.0, 0.25), (1, 8)):
            guess, epsilon = (f"{shares[noise, mu, weeks, of]:.1f}" for of in ("guess", "epsilon"))
            cell = guess
            if find_noise(noise).mechanism:
                promise = promises_of(mu, 1e-6)["epsilon"]
                right = AtMost(100 * guess_under(noise, promise, mu, weeks))
                cell += f" ({epsilon}; {right}%)"
            cells.append(cell.replace("-", "−"))
        rows.append((title, *cells))
    names = []
    for mu in (1.0, 0.25):
        right = AtMost(100 * best_guess(mu))
        names += [f"μ = {mu:g}, right at most {right}%: 1 week", "8 weeks"]
    return table(("noise, reader", *names), rows)


def table_2() -> str:
    """Two columns of the first paper's Table 2 on Central Texas; their ratio beside the paper's."""
    every = recorded("central-texas", "summary")
    every, reported = every[every["noise"] == PAPER_NOISE], reported_ratios(META, MIN_NOISE)
    rows = []
    for mu in (math.inf, 1.0, 0.5, 0.25):
        cells = every[every["mu"] == mu].set_index("algorithm")[["mean_gain", "ci_half_width"]]
        meta, tree = (cells.loc[algorithm] for algorithm in (META, MIN_NOISE))
        theirs = reported.xs(mu, level="mu")
        ours = meta["mean_gain"] / tree["mean_gain"]
        ratio = f"{ours:.2f} ({theirs.min():.2f} to {theirs.max():.2f})"
        level = "∞ (no noise)" if mu == math.inf else f"{mu:g}"
        right = f"{AtMost(100 * best_guess(mu))}%"
        rows.append((level, right, amount(*meta), amount(*tree), ratio))
    header = "μ", "attacker right, at most", HEADERS[META], HEADERS[MIN_NOISE], "ratio (paper)"
    return table(header, rows)


def papers_columns(gains: pd.DataFrame) -> pd.Series:
    """Return the total gains of the paper's four columns, by stream, algorithm and level."""
    names = gains["algorithm"].where(gains["family"] != LINEAR, BEST_LINEAR)
    keys = [gains["stream"], names, gains["mu"]]
    return gains["mean_gain"].where(gains["noise"] == PAPER_NOISE).groupby(keys).max()


def ratios() -> str:
    """Ratios of the first paper's Table 2, which need no scale, beside those of runs."""
    paper = load_reported().set_index(["stream", "algorithm", "mu"])["mean_gain"]
    states, texas = (
        papers_columns(recorded(run, "summary")) for run in ("beyond", "central-texas")
    )
    columns = {
        f"{state}: {name}": gains[state]
        for state in PAPER_STATES
        for name, gains in {"paper": paper, "dpol": states}.items()
    } | {"Central Texas": texas.droplevel("stream")}
    pairs = {
        "Min Noise / Min Regret": ((MIN_NOISE, math.inf), (MIN_REGRET, math.inf)),
        "best linear / Min Noise": ((BEST_LINEAR, math.inf), (MIN_NOISE, math.inf)),
        "best linear, μ = 0.25 / ∞": ((BEST_LINEAR, 0.25), (BEST_LINEAR, math.inf)),
    }
    rows = [
        (title, *(f"{gains[above] / gains[below]:.2f}" for gains in columns.values()))
        for title, (above, below) in pairs.items()
    ]
    return table(("ratio", *columns), rows)


def figure_1() -> str:
    """The error of the first paper's Figure 1 where both rates are equal."""
    every = recorded("central-texas", "amplification").query("bound == 'borell-tis'")
    kinds = {kind: BATCHES[kind].long for kind in ("un-amplified", "analytic", "monte-carlo")}
    rows = []
    for (n, mu), curves in every.groupby(["n", "mu"]):
        errors = 100 * curves.set_index("kind")[["false_negative", "false_negative_half_width"]]
        rows.append((f"{n}", f"{mu:g}", *(f"{amount(*errors.loc[kind])}%" for kind in kinds)))
    header = ("experts", "μ", *kinds.values())
    return table(header, rows, words=0)


def regressors() -> str:
    """How the first paper's totals depend on the regressors of its linear models."""
    every = recorded("robustness", "regressors")
    rows = []
    for reading, of_reading in every.groupby("regressors", sort=False):
        gains = of_reading.set_index(["mu", "algorithm"])["mean_gain"]
        pairs = ((gains[mu, META], gains[mu, BEST_LINEAR]) for mu in of_reading["mu"].unique())
        rows.append((str(reading), *(f"{meta:.1f} of {best:.1f}" for meta, best in pairs)))
    mus = ("∞" if mu == math.inf else f"{mu:g}" for mu in every["mu"].unique())
    return table(("regressors", *(f"μ = {mu}" for mu in mus)), rows)


def treatments() -> str:
    """The first paper's Table 2 on Central Texas, by what is done about cells nobody measured."""
    every, rows = pd.read_csv(FILLINGS), []
    papers = every[every["noise"].eq("isotropic") & every["read_as"].eq(2)]
    for treatment, own in papers.groupby("treatment", sort=False):
        first = own.iloc[0]
        bounds = (first[f"{name}_gain"] for name in ("uniform", "best_fixed", "oracle"))
        cells = []
        for family in (META, MIN_NOISE, MIN_REGRET, LINEAR):
            of_family = own[own["family"] == family].sort_values("mu", ascending=False)
            cells.append(
                "<br>".join(
                    amount(*cell) for cell in of_family[["mean_gain", "ci_half_width"]].to_numpy()
                )
            )
        size = f"{first['n_experts']}; {', '.join(f'{bound:.1f}' for bound in bounds)}"
        rows.append((treatment, size, *cells))
    header = ("treatment", "hospitals; uniform, best fixed, oracle")
    return table((*header, *(HEADERS[name] for name in (META, MIN_NOISE, MIN_REGRET, BEST_LINEAR))),
                 rows)  # fmt: skip


def fillings() -> str:
    """Our method and its strongest rival on Central Texas, by treatment and reading."""
    every, rows = pd.read_csv(FILLINGS), []
    local = every[every["model"] == "local"]
    mus = sorted(local["mu"].unique(), reverse=True)
    for (treatment, reading), own in local.groupby(["treatment", "read_as"], sort=False):
        first, cells = own.iloc[0], []
        for mu in mus:
            of_mu = own[own["mu"] == mu]
            best = of_mu[of_mu["strongest"]]
            (mine,), (theirs,) = kept_by(of_mu[of_mu["role"] == OUR_METHOD]), kept_by(best)
            cells.append(f"{mine} of {theirs} ({', '.join(best[SYSTEM].iloc[0])})")
        weeks = f"{first['unmeasured_periods']} ({100 * first['unmeasured_share']:.0f}%)"
        rows.append((treatment, f"{reading}", weeks, *cells))
    levels = (f"μ = {mu:g}" if mu < math.inf else "μ = ∞" for mu in mus)
    return table(("treatment", "read as", "weeks", *levels), rows, words=3)


def roots(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the first failing row of each root, worst kind first.

    Only the papers' own statements that need no data are counted.
    """
    theirs = ledger[~ledger["ours"] & ~ledger["on_data"]]
    failing = theirs[theirs["root"].fillna("") != ""].drop_duplicates("root")
    worst_first = get_args(Kind).index
    return failing.sort_values("kind", key=lambda kinds: kinds.map(worst_first), kind="stable")


def slips() -> str:
    """Roots of the statements that do not hold as printed; the smaller ones are counted."""
    found = roots(recorded("ledger", "claims"))
    of_substance = found["kind"].isin(["false", "hypothesis missing"])
    listed = "".join(
        f"- {row.root} ({row.kind}): {row.mend}\n" for row in found[of_substance].itertuples()
    )
    counts = found[~of_substance]["kind"].value_counts()
    others = ", ".join(f"{count} of the kind *{kind}*" for kind, count in counts.items())
    return f"{listed}\nThe others: {others}.\n"


TABLES: dict[str, Callable[[], str]] = {
    "table-2": table_2,
    "treatments": treatments,
    "readings": readings,
    "fillings": fillings,
    "ratios": ratios,
    "figure-1": figure_1,
    "regressors": regressors,
    "real-data": real_data,
    "losses": losses,
    "hidden-zeros": hidden_zeros,
    "zeros": zeros,
    "lost-worlds": lost_worlds,
    "shares": shares,
    "rivals": rivals,
    "lazy-regret": lazy_regret,
    "lazy-pairs": lazy_pairs,
    "correlated-noise": correlated_noise,
    "long-stays": long_stays,
    "promises": promises,
    "promises-kept": promises_kept,
    "slips": slips,
}


def renewed(page: str) -> str:
    """Return a page with its marked tables made from the recorded numbers."""
    return MARKED.sub(lambda mark: f"{mark[1]}{TABLES[mark[2]]()}{mark[3]}", page)


if __name__ == "__main__":
    for path in (ROOT / name for name in PAGES):
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
