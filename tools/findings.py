"""Write what was found, in tables and sentences: blocks of pages, for tools/pages.py.

The rows are those of verify/runs, which verify/record.py writes after a run. Levels and names of a
table are those of its rows. templates/findings.md.j2 has the sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import get_args

import pandas as pd
from manual import TEMPLATES
from tables import minus, read, table

from dpol.core.words import at_most
from dpol.privacy.account import account, best_guess
from dpol.show.entries import noise_entry
from dpol.show.reported import FILLINGS
from dpol.studies.bounds import STRONGEST, cell_of, kept_at, verdict_at
from dpol.studies.comparison.standings import OUR_METHOD, THE_BASELINE
from dpol.studies.games.names import META, MIN_NOISE, PAPER_NOISE
from dpol.studies.ledger.claims.core import OF_SUBSTANCE, Kind
from dpol.studies.ledger.claims.gains import reported_ratios
from dpol.studies.paper1.table_2 import HEADERS, order_in_words
from dpol.studies.verdicts import ABOVE, AHEAD, OPPOSITE, bounded, verdict_on

READ = ["treatment", "read_as"]
FILLED = pd.read_csv(FILLINGS)
READINGS = kept_at(FILLED)
"""Central Texas at each reading."""
KEPT = {"gain_share": 1, "gain_share_half_width": -1}
"""Columns of a share, with the sign of the other's in a difference."""


def recorded(run: str, name: str) -> pd.DataFrame:
    """Return a result table of a recorded run."""
    return read(f"verify/runs/{run}/{name}.csv")


def amount(value: float, half_width: float) -> str:
    """Return a number with half the width of its interval, if it has one."""
    bar = f" ± {half_width:.1f}" if half_width > 1e-9 else ""
    return f"{value:.1f}{bar}"


def levels(of: Iterable[float]) -> list[float]:
    """Return the levels among some numbers, the weakest first."""
    return sorted(set(of), reverse=True)


def level(mu: float) -> str:
    """Return a level as a table shows it."""
    return "∞" if mu == math.inf else f"{mu:g}"


def said(name: str, **values: object) -> str:
    """Return the sentences of a macro of templates/findings.md.j2 with these values."""
    macros = TEMPLATES.get_template("findings.md.j2").module
    return f"{getattr(macros, name)(**values).strip()}\n"


def standings(run: str) -> pd.DataFrame:
    """Return the standings of a run, for its first question: means over streams if it has any."""
    every = recorded(run, "standings")
    own = every[every["question"] == every["question"].iloc[0]]
    means = own[own["stream"] == ""]
    return means if len(means) else own


def title(row: pd.Series) -> str:
    """Return the name of a row's algorithm and noise, with a mark on noise of ours."""
    return f"`{row['algorithm']}`, {row['noise']}{' †' if noise_entry(row['noise']).ours else ''}"


def kept_by(row: pd.Series) -> str:
    """Return the share of the possible gain of a row with its interval, in percent."""
    return amount(100 * row["gain_share"], 100 * row["gain_share_half_width"])


def kept(of: pd.DataFrame, mu: float) -> float:
    """Return the share of the possible gain of the one row at a level, in percent."""
    return float(100 * of[of["mu"] == mu]["gain_share"].item())


def systems(run: str) -> dict[str, pd.DataFrame]:
    """Return the rows of the systems that the pages name, by title."""
    own = standings(run)
    ours, papers = own["role"] == OUR_METHOD, own["role"] == THE_BASELINE
    both = own["algorithm"].eq(META) & own["noise"].eq(own[ours]["noise"].iloc[0])
    return {
        "RW-Meta": own[papers],
        "RW-Meta, our noise †": own[both],
        "strongest rival": own[own["strongest"]],
        "our method †": own[ours],
        "our method, correlated noise †": own[
            own["family"].isin(own[ours]["family"]) & own["noise"].eq("capacity-memory")
        ],
    }


def shares() -> str:
    """docs/explanation/ours.md: the share of the possible gain by system and level."""
    mus = levels(standings("states")["mu"])
    rows = systems("states").items()
    lines = [(name, *(f"{kept(own, mu):.1f}" for mu in mus)) for name, own in rows]
    fixed = f"{100 * standings('states')['best_fixed_share'].iloc[0]:.1f}"
    lines.append(("best fixed expert", *[fixed] * len(mus)))
    heads = [f"μ = {level(mu)}" for mu in mus]
    return table(("share of the possible gain, %", *heads), lines)


REAL = {
    "central-texas": "the paper's weeks",
    "states": "fifteen states",
    "held-out": "eight held-out states",
    "flu": "influenza",
    "intensive-care": "intensive care",
}
"""Runs on real data, by the names that the table gives to the data."""


def ours_at(run: str, mu: float) -> pd.Series:
    """Return the row of our method at a level, for the first question of a run."""
    return standings(run).query("role == @OUR_METHOD and mu == @mu").iloc[0]


def verdict_of(run: str, row: pd.Series) -> str:
    """Return the verdict on our method in a recorded run, with all that bounds it.

    Args:
        run: name of the run.
        row: the row of our method, for its first question.
    """
    readings = [verdict_at(it, cell_of(row), STRONGEST) for it in READINGS]
    own = ZEROS.query("run == @run and stream == '' and question != 'large'")
    bounds = readings * (run == "central-texas") + [*own[own["mu"] == row["mu"]]["verdict"]]
    over = recorded(run, "spread").set_index("mu").loc[row["mu"]]
    wide = over["difference"], over["half_width"]
    return bounded(row["to_strongest_verdict"], bounds, wide, over["units"].split()[-1])


def real_data() -> str:
    """verify/runs/README.md: our method beside the strongest rival and curator of each level."""
    lines = []
    for run, data in REAL.items():
        over = recorded(run, "spread").set_index("mu")["half_width"]
        for mu, at in sorted(standings(run).groupby("mu"), reverse=True):
            own, rival = (at[it].iloc[0] for it in (at["role"] == OUR_METHOD, at["strongest"]))
            raw = at[at["model"] == "central"]
            curator = raw.loc[raw["gain_share"].idxmax()]
            theirs, others = (f"{kept_by(it)} ({title(it)})" for it in (rival, curator))
            gap = amount(100 * own["to_strongest"], 100 * own["to_strongest_half_width"])
            first, wider = data if mu == math.inf else "", f"± {100 * over[mu]:.1f}"
            cells = first, level(mu), kept_by(own), theirs, minus(gap), wider
            lines.append((*cells, verdict_of(run, own), others))
    heads = "data", "μ", "our method †", "strongest rival", "difference", "over states or weeks"
    return table((*heads, "our method is", "best curator"), lines, words=2)


ZEROS = recorded("robustness", "zeros")
QUESTIONS = {
    ("states", "share"): "fifteen states",
    ("states", "large"): "fifteen states, 50 beds or more",
    ("held-out", ""): "eight held-out states",
}
"""Runs and questions that play with hidden zeros, by the names that the table gives to them."""


def signs_of(of: pd.DataFrame) -> pd.Series:
    """Return 1 or -1 where our mean lead has this sign in all draws, else 0, by stream, level."""
    key = [of["stream"], of["mu"]]
    ahead, behind = of["lead_least"] > 0, of["lead_most"] < 0
    return ahead.groupby(key).all().astype(int) - behind.groupby(key).all()


def losses() -> str:
    """docs/explanation/ours.md: every recorded table in which the strongest rival is better.

    A line says at which levels, and to whom our method lost most.
    """
    lines = ""
    for where, rivals in _compared():
        lost = rivals[rivals["to_ours_verdict"].isin([ABOVE, AHEAD])]
        if len(lost):
            most, mus = lost.loc[lost["to_ours"].idxmax()], levels(lost["mu"])
            at = f" at μ = {level(most['mu'])}" if len(mus) > 1 else ""
            lines += (
                f"- {where.format(lost['stream'].nunique())} (μ = {', '.join(map(level, mus))}):"
                f" {title(most)} leads most, by {100 * most['to_ours']:.1f} points{at}\n"
            )
    return lines


def _compared() -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the strongest rivals of every recorded table; `{}` stands for the number of streams."""
    for world, own in recorded("robustness", "worlds").groupby("stream", sort=False):
        yield f"simulated, {world}", own[own["strongest"]]
    for run, data in REAL.items():
        every = recorded(run, "standings").query("strongest")
        yield data, standings(run).query("strongest")
        states = every[every["stream"].ne("") & every["question"].isin(standings(run)["question"])]
        if states["stream"].nunique() > 1:
            yield f"{data}, {{}} of them each alone", states
    both = FILLED.merge(FILLED[FILLED["role"] == OUR_METHOD], on=[*READ, "mu"], suffixes=("", "_"))
    ahead, half = (both[it] - sign * both[f"{it}_"] for it, sign in KEPT.items())
    both = both.assign(to_ours=ahead, to_ours_verdict=list(map(verdict_on, ahead, half)))
    both["stream"] = both[READ].astype(str).agg(", ".join, axis=1)
    yield f"the paper's weeks, at {{}} of {len(READINGS)} readings", both[both["strongest"]]
    hidden = ZEROS[ZEROS["hidden"] > 0].rename(
        columns={"rival": "algorithm", "rival_noise": "noise"}
    )
    hidden = hidden.assign(to_ours=-hidden["lead"], to_ours_verdict=hidden["verdict"].map(OPPOSITE))
    for (run, question), data in QUESTIONS.items():
        own = hidden[(hidden["run"] == run) & (hidden["question"] == question)]
        yield f"{data}, with zeros hidden", own[own["stream"] == ""]
        yield f"{data}, with zeros hidden, {{}} of them each alone", own[own["stream"] != ""]


def table_2() -> str:
    """README.md: two columns of the first paper's Table 2 on Central Texas, and their ratio."""
    every = recorded("central-texas", "summary")
    every = every[every["noise"] == PAPER_NOISE]
    reported, lines = reported_ratios(META, MIN_NOISE), []
    for mu in levels(reported.index.unique("mu")):
        cells = every[every["mu"] == mu].set_index("algorithm").loc[[META, MIN_NOISE]]
        gains = cells[["mean_gain", "ci_half_width"]].to_numpy()
        theirs = reported.xs(mu, level="mu")
        ratio = f"{gains[0, 0] / gains[1, 0]:.2f}"
        ratio += f" ({theirs.min():.2f} to {theirs.max():.2f})"
        name = level(mu) + " (no noise)" * (mu == math.inf)
        right = f"{at_most(100 * best_guess(cells['guaranteed_mu'].max()))}%"
        lines.append((name, right, *(amount(*it) for it in gains), ratio))
    heads = "μ", "attacker right, at most", HEADERS[META], HEADERS[MIN_NOISE], "ratio (paper)"
    return table(heads, lines)


def roots(ledger: pd.DataFrame) -> pd.DataFrame:
    """Return the first failing row of each root, worst kind first.

    Only the papers' own statements that need no data are counted.
    """
    failing = ledger[~ledger["on_data"] & ledger["root"].notna()]
    return failing.drop_duplicates("root").sort_values(
        "kind", key=lambda kinds: kinds.map(get_args(Kind).index), kind="stable"
    )


def slips() -> str:
    """verify/runs/README.md: roots of the statements that do not hold as printed."""
    found = roots(recorded("ledger", "claims"))
    of_substance = found["kind"].isin(OF_SUBSTANCE)
    counts = found[~of_substance]["kind"].value_counts()
    others = ", ".join(f"{count} of the kind *{kind}*" for kind, count in counts.items())
    return said("slips", roots=[*found[of_substance].itertuples()], others=others)


def found() -> str:
    """README.md: what of Table 2 was reproduced, what our method keeps, and what fails."""
    single = ZEROS.query("run == 'states' and question == 'share' and stream != '' and mu == 0.25")
    hidden = ZEROS.query("run == 'states' and question == 'share' and stream == '' and mu == 0.25")
    leads = hidden.loc[hidden["hidden"] > 0, ["lead_least", "lead_most"]].stack()
    # Rounded outwards.
    least, most = math.floor(1000 * leads.min()) / 10, math.ceil(1000 * leads.max()) / 10
    failing = roots(recorded("ledger", "claims"))["kind"].isin(OF_SUBSTANCE)
    return said(
        "found",
        order=order_in_words(recorded("central-texas", "order")["verdict"]),
        share={name: f"{kept(own, 0.25):.0f}" for name, own in systems("states").items()},
        fixed=f"{100 * standings('states')['best_fixed_share'].iloc[0]:.0f}",
        verdict=verdict_of("states", ours_at("states", 0.25)),
        lead=f"{least:.1f} to {most:.1f}",
        ahead=(signs_of(single) == 1).sum(),
        behind=(signs_of(single) == -1).sum(),
        states=single["stream"].nunique(),
        failing=failing.sum(),
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
