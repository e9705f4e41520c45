"""Write the tables of recorded numbers into README.md and docs/.

A page marks the place of a table with `<!-- numbers: NAME -->` and `<!-- /numbers -->`. The numbers
come from verify/runs, which verify/record.py writes after a run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import get_args

import pandas as pd

from dpol.core.rounding import rounded_up
from dpol.noise.event_streams import MECHANISMS
from dpol.privacy.account import best_guess, guesses_of, noises_for
from dpol.privacy.noise_laws import Promise
from dpol.show.names import name_of
from dpol.show.reported import FILLINGS, PAPER_STATES, load_reported
from dpol.studies.answer.promises import guess_of
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

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARKED = re.compile(r"(<!-- numbers: ([\w-]+) -->\n).*?(<!-- /numbers -->)", re.DOTALL)

WITH_NOISE, LAST = "the baseline with capacity noise", "last week's choice"
NAMES = {
    "the baseline": "baseline (RW-Meta, isotropic noise)",
    WITH_NOISE: "baseline, our noise †",
    LAST: "last week's choice, our noise †",
    "a cautious mean": "cautious mean, our noise †",
    "the tuned baseline": "tuned baseline, in hindsight",
    "the tuned baseline with capacity noise": "tuned baseline, our noise †, in hindsight",
    "ours": "ours †: our noise and filter",
}
"""Names that the tables give to the compared systems."""
FORMS = ["rw-meta", "rw-meta-floor-0", "rw-meta-short", "rw-meta-short-floor-0"]


@cache
def recorded(run: str, name: str) -> pd.DataFrame:
    """Return a result table of a recorded run."""
    return pd.read_csv(ROOT / "verify" / "runs" / run / f"{name}.csv")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Return a Markdown table whose columns after the first `words` are aligned to the right."""
    line = f"|{'---|' * words}{'---:|' * (len(header) - words)}"
    head, *body = (f"| {' | '.join(cells)} |" for cells in (header, *rows))
    return "".join(f"{row}\n" for row in (head, line, *body))


def amount(value: float, half_width: float, digits: int = 1) -> str:
    """Return a number with half the width of its interval, if it has one."""
    bar = f" ± {half_width:.{digits}f}" if half_width > 1e-9 else ""
    return f"{value:.{digits}f}{bar}"


def kept(role: str, *, mu: float) -> float:
    """Share of the possible gain on fifteen states of a role's best system."""
    means = recorded("states", "questions").query("question == 'share'")
    return means[(means["role"] == role) & (means["mu"] == mu)]["gain_share"].max()


def shares() -> str:
    """Share of the possible gain on fifteen states in percent, by system and level."""
    mus = (math.inf, 1.0, 0.25)
    rows = [
        (name, *(f"{100 * kept(role, mu=mu):.1f}" for mu in mus)) for role, name in NAMES.items()
    ]
    means = recorded("states", "questions").query("question == 'share'")
    fixed = f"{100 * means['best_fixed_share'].iloc[0]:.1f}"
    rows.append(("best fixed expert, in hindsight", *[fixed] * len(mus)))
    return table(("share of the possible gain, %", "no noise", "μ = 1", "μ = 0.25"), rows)


REAL = {
    "central-texas": "the paper's weeks",
    "states": "fifteen states",
    "held-out": "eight held-out states",
    "flu": "influenza",
    "intensive-care": "intensive care",
}
"""Runs on real data, by the names that the table gives to the data."""
CURATORS = ["mf-ftpl", "mf-window-8"]
LOCAL_RIVALS = {
    "last choice": ["persistence"],
    "window mean": ["window-mean"],
    "cautious mean": ["cautious-mean"],
    "RW-Meta": FORMS,
}
"""Rivals with `capacity` noise, by the names that the table gives to them."""


def best(shares: pd.DataFrame) -> pd.Series:
    """Return the row with the largest share of the possible gain."""
    return shares.loc[shares["gain_share"].idxmax()]


def best_of(shares: pd.DataFrame, algorithms: Sequence[str]) -> pd.Series:
    """Return the row of the algorithm with the largest share of the possible gain."""
    return best(shares[shares["algorithm"].isin(algorithms)])


def interval(row: pd.Series) -> tuple[float, float]:
    """Return a share of the possible gain and half the width of its interval, in percent."""
    return 100 * row["gain_share"], 100 * row["gain_share_half_width"]


def real_data() -> str:
    """Share of the possible gain of ours and of its best rival on all real data, at all levels."""
    rows, leads = [], []
    for run, title in REAL.items():
        shares = recorded(run, "shares")
        for mu in sorted(shares["mu"].unique(), reverse=True):
            of_mu = shares[shares["mu"] == mu]
            local = of_mu[of_mu["noise"] == "capacity"]
            rivals = {name: interval(best_of(local, names)) for name, names in LOCAL_RIVALS.items()}
            best = max(rivals, key=lambda name: rivals[name][0])
            ours, half = interval(best_of(local, ["random-effects"]))
            own, theirs = amount(ours, half), amount(*rivals[best])
            if ours - half > max(sum(rival) for rival in rivals.values()):
                own = f"**{own}**"
            if ours + half < rivals[best][0] - rivals[best][1]:
                theirs = f"**{theirs}**"
            leads.append(ours - interval(best_of(of_mu, CURATORS))[0])
            level = "∞" if mu == math.inf else f"{mu:g}"
            rows.append(("" if level != "∞" else title, level, own, f"{theirs} ({best})"))
    curators = " and ".join(f"`{name}`" for name in CURATORS)
    return table(("data", "μ", "ours †", "best rival"), rows, words=2) + (
        f"\nOurs is above the better of {curators}, which a curator plays on true numbers, in"
        f" {sum(lead > 0 for lead in leads)} of {len(leads)} rows, by at least"
        f" {min(leads):.1f} points.\n"
    )


def readings() -> str:
    """Where hidden counts decide, whether ours is above its rivals at every reading of them."""
    cells, titles = dict[str, list[str]](), []
    for run in ("states", "held-out"):
        rivals = recorded(run, "comparison").query("mu < inf and kind in ('baseline', 'rival')")
        states = recorded(run, "readings")["stream"].unique()
        rivals = rivals[rivals["stream"].isin(states)]
        rivals = rivals.drop_duplicates(["stream", "mu", "other_algorithm", "other_noise"])
        titles.append(f"{len(states)} of the {REAL[run]}")
        for name, own in rivals.groupby(
            rivals["other_algorithm"] + ", " + rivals["other_noise"], sort=False
        ):
            above = (own["verdict"] == "above").sum()
            cells.setdefault(str(name), []).append(f"{above} of {len(own)}")
    return table(("rival", *titles), [(f"{name} noise", *row) for name, row in cells.items()])


WORLDS = pd.read_csv(ROOT / "verify" / "runs" / "worlds.csv")


def lost_worlds() -> str:
    """Worlds in which ours loses for certain, and the largest loss in each."""
    names = {
        "rw-meta": "RW-Meta",
        "rw-ftpl": "RW-FTPL",
        "window-mean": "a window mean",
        "persistence": "last week's choice",
    }
    lost = WORLDS[WORLDS["ours_ahead"] < -WORLDS["ours_ahead_half_width"]]
    lost = lost[lost["algorithm"] != "switching"]
    games = len(WORLDS.drop_duplicates(["world", "mu"]))
    cells = len(lost.drop_duplicates(["world", "mu"]))
    said = []
    for world, of in lost.groupby("world", sort=False):
        levels = ", ".join(f"{mu:g}" for mu in sorted(of["mu"].unique(), reverse=True))
        most = of.loc[of["ours_ahead"].idxmin()]
        *some, last = (names[each] for each in of["algorithm"].unique())
        rivals = f"{', '.join(some)} and {last}" if some else last
        said.append(
            f"- {world} (μ = {levels}): to {rivals}, at most by {-100 * most['ours_ahead']:.1f}"
            " points\n"
        )
    head = f"Ours loses for certain in {cells} of {games} pairs of a world and a level:\n\n"
    return head + "".join(said)


def rivals() -> str:
    """Smallest and largest ratio of RW-Meta's gain to the gain of each central rival."""
    titles = {
        "tree": "the better tree",
        "fresh noise": "`noisy-max` (8 weeks)",
        "factorised prefix sums": "`mf-ftpl`",
        "factorised window sums": "best `mf-window`",
        "factorised decayed sums": "best `mf-discounted`",
    }
    runs, noises = {"beyond": "three", "states": "fifteen"}, ("isotropic", "capacity")
    rows = []
    for rival, title in titles.items():
        cells = []
        for run, noise in product(runs, noises):
            every = recorded(run, "ranking").query("source == 'run' and 0.25 <= mu < inf")
            ratio = every[(every["rival"] == rival) & (every["noise"] == noise)]["ratio"]
            cells.append(f"{ratio.min():.2f} to {ratio.max():.2f}" if len(ratio) else "")
        rows.append((title, *cells))
    heads = (f"{noise} noise, {states} states" for states, noise in product(runs.values(), noises))
    return table(("RW-Meta compared with", *heads), rows)


def lazy_regret() -> str:
    """Regret of L2P and its rivals on stochastic losses, T = 10,000."""
    names = {
        "l2p-sound": "L2P, ours",
        "l2p-one-round": "batches of one round",
        "l2p-published": "L2P, published",
        "l2p-theorem-3.10": "Theorem 3.10",
        "dartboard-sound": "dartboard, our accounting",
        "limited-updates": "limited updates",
        "tree-ftpl-min-noise": "tree, least noise",
        "mf-ftpl": "factorised sums",
        "multiplicative-weights": "no privacy",
    }
    every = recorded("simulated", "lazy")
    every = every[(every["adversary"] == "stochastic") & (every["T"] == 10_000)]
    rows = []
    for d, epsilon in ((300, 4), (300, 1), (10, 4), (10, 1)):
        found = every[(every["d"] == d) & (every["epsilon"] == epsilon)].set_index("algorithm")
        found = found.loc[list(names), ["mean_regret", "ci_half_width"]]
        cells = [amount(int(mean + 0.5), half, digits=0) for mean, half in found.to_numpy()]
        uniform = every[every["d"] == d]["uniform_regret"].iloc[0]
        rows.append((f"{d}, {epsilon}", *cells, f"{uniform:.0f}"))
    return table(("d, ε", *names.values(), "uniform random"), rows)


def correlated_noise() -> str:
    """Share of the possible gain on fifteen states in percent, with two kinds of noise."""
    every = recorded("states", "summary").query("algorithm == 'random-effects'")
    rows = []
    for noise, title in (("capacity", "independent"), ("capacity-memory", "correlated")):
        shares = every[every["noise"] == noise].groupby("mu")["gain_share"].mean()
        rows.append((title, *(f"{100 * shares[mu]:.1f}" for mu in (1.0, 0.5, 0.25, 0.1))))
    return table(("noise", "μ = 1", "μ = 0.5", "μ = 0.25", "μ = 0.1"), rows)


def promises() -> str:
    """Standard deviation of the least noise of each law for some promises, by stay."""
    asked = {
        "μ = 0.25": Promise(mu=0.25),
        "right at most 60%": Promise(delta=0.2),
        "ε = 1, δ = 10⁻⁶": Promise(epsilon=1.0, delta=1e-6),
        "ε = 1": Promise(epsilon=1.0),
    }
    laws = (
        "Gaussian",
        "correlated Gaussian",
        "Laplace",
        "staircase",
        "discrete Laplace",
        "uniform",
    )
    rows = []
    for (title, promise), weeks in product(asked.items(), (1, 8)):
        found, guesses = noises_for(promise, weeks), guesses_of(promise, weeks)
        noises = (
            f"{rounded_up(found[law], 3)} ({rounded_up(100 * guesses[law], 3)}%)"
            if found[law] < math.inf
            else "no"
            for law in laws
        )
        rows.append((title if weeks == 1 else "", f"{weeks}", *noises))
    return table(("promise", "weeks", *laws), rows)


PROMISES = {"mu": "μ = 0.25", "guess": "best guess", "epsilon": "(ε, δ)", "pure": "pure ε"}


def promises_kept() -> str:
    """Share of the possible gain in percent, by data, noise, stay and promise; in brackets the
    cautious mean; last the right guesses."""
    laws = {
        "capacity": "Gaussian",
        "capacity-memory": "correlated Gaussian",
        "laplace-uniform": "Laplace",
        "staircase": "staircase",
    }
    rows = []
    for run, data in {"promises": "fifteen states", "flu": "influenza"}.items():
        every = recorded(run, "promises").query("level == 0.25 and weeks in (1, 8)")
        shares = every.set_index(["algorithm", "noise", "weeks", "same"])["share"]
        for noise, law in laws.items():
            for weeks in sorted(every["weeks"].unique()):
                cells = []
                for same in PROMISES:
                    ours, mean = (
                        shares.get((reader, noise, weeks, same), math.nan)
                        for reader in ("random-effects", "cautious-mean")
                    )
                    of_mean = "" if math.isnan(mean) else f" ({100 * mean:.1f})"
                    guess = guess_of(noise, 0.25, promises_of(0.25, 1e-6)[same], int(weeks))
                    kept = f"{100 * ours:.1f}{of_mean}; {rounded_up(100 * guess, 3)}%"
                    cells.append("cannot" if math.isnan(ours) else kept)
                rows.append((data, law if weeks == 1 else "", f"{weeks}", *cells))
                data = ""
    return table(("data", "noise", "weeks", *PROMISES.values()), rows, words=2)


def long_stays() -> str:
    """Share of the possible gain in percent, by noise, reader, level and unit of several weeks; in
    brackets at the same epsilon, with the right guesses there."""
    keys = ["noise", "algorithm", "level", "weeks", "same"]
    shares = 100 * recorded("promises", "promises").set_index(keys)["share"]
    readers = {
        ("capacity", "random-effects"): "independent †, `random-effects` †",
        ("laplace-sample", "persistence"): "Laplace in one week of w",
        ("budget-distribution", "persistence"): "budget distribution",
        ("budget-absorption", "persistence"): "budget absorption",
        ("fast", "persistence"): "FAST",
        ("pegasus", "persistence"): "PeGaSus",
    }
    rows = []
    for reader, title in readers.items():
        cells = []
        for mu, weeks in product((1.0, 0.25), (1, 8)):
            guess, epsilon = (
                f"{shares[(*reader, mu, weeks, of)]:.1f}" for of in ("guess", "epsilon")
            )
            cell = guess
            if mechanism := MECHANISMS.get(reader[0]):
                level = mechanism.level(promises_of(mu, 1e-6)["epsilon"], weeks)
                right = rounded_up(100 * mechanism.best_guess(level, weeks), 3)
                cell += f" ({epsilon}; {right}%)"
            cells.append(cell.replace("-", "−"))
        rows.append((title, *cells))
    names = []
    for mu in (1.0, 0.25):
        right = rounded_up(100 * best_guess(mu), 3)
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
        right = f"{100 * best_guess(mu):.0f}%"
        rows.append((level, right, amount(*meta), amount(*tree), ratio))
    header = "μ", "attacker right, at most", HEADERS[META], HEADERS[MIN_NOISE], "ratio (paper)"
    return table(header, rows)


REGRESSORS = ROOT / "verify" / "runs" / "regressors.csv"
"""Total gains by the regressors of the linear models; verify/regressors.py writes them."""


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
    kinds = {kind: name_of(kind) for kind in ("un-amplified", "analytic", "monte-carlo")}
    rows = []
    for (n, mu), curves in every.groupby(["n", "mu"]):
        errors = 100 * curves.set_index("kind")[["false_negative", "false_negative_half_width"]]
        rows.append((f"{n}", f"{mu:g}", *(f"{amount(*errors.loc[kind])}%" for kind in kinds)))
    header = ("experts", "μ", *(name.long or name.short for name in kinds.values()))
    return table(header, rows, words=0)


def regressors() -> str:
    """How the first paper's totals depend on the regressors of its linear models."""
    every = pd.read_csv(REGRESSORS)
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


def fillings(read_as: Sequence[int] = (1, 2, 3)) -> str:
    """Ours and its best local rival on Central Texas, by treatment and reading."""
    every, rows = pd.read_csv(FILLINGS), []
    local = every[(every["model"] == "local") & every["read_as"].isin(read_as)]
    mus = sorted(local["mu"].unique(), reverse=True)
    for (treatment, reading), own in local.groupby(["treatment", "read_as"], sort=False):
        first, cells = own.iloc[0], []
        for mu in mus:
            of_mu = own[own["mu"] == mu]
            ours = of_mu["algorithm"] == "random-effects"
            (mine, my_half), rival = interval(of_mu[ours].iloc[0]), best(of_mu[~ours])
            theirs, half = interval(rival)
            cells.append(
                f"{amount(mine, my_half)} of {amount(theirs, half)} ({rival['algorithm']},"
                f" {rival['noise']})"
            )
        weeks = f"{first['unmeasured_periods']} ({100 * first['unmeasured_share']:.0f}%)"
        rows.append((treatment, f"{reading}", weeks, *cells))
    levels = (f"μ = {mu:g}" if mu < math.inf else "μ = ∞" for mu in mus)
    return table(("treatment", "read as", "weeks", *levels), rows, words=3)


def treatments_of_ours() -> str:
    """The same, with suppressed numbers read as 2."""
    return fillings((2,))


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
    found = roots(recorded("simulated", "claims"))
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
    "treatments-of-ours": treatments_of_ours,
    "ratios": ratios,
    "figure-1": figure_1,
    "regressors": regressors,
    "real-data": real_data,
    "lost-worlds": lost_worlds,
    "shares": shares,
    "rivals": rivals,
    "lazy-regret": lazy_regret,
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
    for path in PAGES:
        path.write_text(renewed(path.read_text(encoding="utf-8")), encoding="utf-8")
