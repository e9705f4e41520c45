"""Write what was found, in tables and sentences: blocks of pages, for tools/pages.py.

The rows are those of verify/runs, which verify/record.py writes after a run. Levels and names of a
table are those of its rows. templates/findings.md.j2 has the sentences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import get_args

import pandas as pd
from manual import TEMPLATES
from tables import read, table

from dpol.core.words import at_most
from dpol.privacy.account import account, best_guess
from dpol.show.reported import reported_ratios
from dpol.studies.games.names import FTPL, META, MIN_NOISE, PAPER_NOISE
from dpol.studies.ledger.claims.core import OF_SUBSTANCE, Kind
from dpol.studies.paper1.table_2 import HEADERS, order_in_words


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


SYSTEMS = {
    "RW-Meta": (META, PAPER_NOISE),
    "RW-Meta, capacity noise †": (META, "capacity"),
    "RW-FTPL": (FTPL, PAPER_NOISE),
    "discounted mean †, capacity noise †": ("discounted-mean", "capacity"),
    "random effects †, capacity noise †": ("random-effects", "capacity"),
}
"""Algorithm and noise of the lines of `found`, by name."""


def found() -> str:
    """README.md: what of Table 2 was reproduced, and what systems keep in fifteen states."""
    own = standings("states").set_index(["algorithm", "noise", "mu"])
    mus = 1.0, 0.25
    lines = [
        (name, *(percent(own.loc[(*system, mu)]) for mu in mus)) for name, system in SYSTEMS.items()
    ]
    lines.append(
        ("always the best hospital", *[f"{100 * own['best_fixed_share'].iloc[0]:.1f}"] * 2)
    )
    order = order_in_words(recorded("central-texas", "order"))
    heads = "points kept of 100, mean of fifteen states", *(f"μ = {level(mu)}" for mu in mus)
    return f"{order}.\n\n{table(heads, lines)}"


def percent(row: pd.Series) -> str:
    """Return the share of the possible gain of a row with its interval, in percent."""
    return amount(100 * row["gain_share"], 100 * row["gain_share_half_width"])


def table_2() -> str:
    """README.md: two columns of the first paper's Table 2 on Central Texas, and their ratio."""
    every = recorded("central-texas", "summary")
    every = every[every["noise"] == PAPER_NOISE]
    reported, lines = reported_ratios(META, MIN_NOISE), []
    for mu in levels(reported.index.unique("mu")):
        cells = every[every["mu"] == mu].set_index("algorithm").loc[[META, MIN_NOISE, FTPL]]
        *gains, (classical, _) = cells[["mean_gain", "ci_half_width"]].to_numpy()
        theirs = reported.xs(mu, level="mu")
        ratio = f"{gains[0][0] / gains[1][0]:.2f}"
        ratio += f" ({theirs.min():.2f} to {theirs.max():.2f})"
        name = level(mu) + " (no noise)" * (mu == math.inf)
        right = f"{at_most(100 * best_guess(cells['guaranteed_mu'].max()))}%"
        beside = f"{gains[0][0] / classical:.2f}"
        lines.append((name, right, *(amount(*it) for it in gains), ratio, beside))
    names = HEADERS[META], HEADERS[MIN_NOISE]
    heads = "μ", "attacker right, at most", *names, "ratio (paper)", "ratio to RW-FTPL"
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
    """docs/explanation/papers.md: roots of the statements that do not hold as printed."""
    found = roots(recorded("ledger", "claims"))
    of_substance = found["kind"].isin(OF_SUBSTANCE)
    counts = found[~of_substance]["kind"].value_counts()
    others = ", ".join(f"{count} of the kind *{kind}*" for kind, count in counts.items())
    return said("slips", roots=[*found[of_substance].itertuples()], others=others)


def guesses_of_stays() -> str:
    """docs/explanation/privacy.md: epsilon and right guesses for stays with independent noise."""
    lines, mus = [], (0.25, 0.5, 1.0)
    for weeks in (1, 4, 13, 52):
        of = [account(mu, weeks) for mu in mus]
        cells = ((at_most(it.epsilon), f"{at_most(100 * it.best_guess)}%") for it in of)
        lines.append((f"{weeks}", *(cell for pair in cells for cell in pair)))
    heads = (words for mu in mus for words in (f"μ = {mu:g}: ε", "right guesses"))
    return table(("weeks", *heads), lines, words=0)
