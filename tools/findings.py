"""Write what README says was found, and what stays cost: blocks of pages, for tools/pages.py.

templates/findings.md.j2 has the sentences.
"""

from __future__ import annotations

import math

import numpy as np
from recorded_numbers import (
    ZEROS,
    kept,
    ours_at,
    recorded,
    roots,
    said,
    signs_of,
    standings,
    systems,
    verdict_of,
)
from tables import table

from dpol.checks.settings import stream_of
from dpol.core.rounding import at_most
from dpol.experts.matrix_ftpl import MatrixFTPL
from dpol.experts.play import RawGains, guarantee_of
from dpol.experts.tree_ftpl import TreeFTPL
from dpol.privacy.account import account
from dpol.privacy.chains import chain_norm
from dpol.privacy.stays import STAYS
from dpol.studies.ledger.claims.core import OF_SUBSTANCE
from dpol.studies.paper1.table_2 import order_in_words


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


def mus_of_stays() -> str:
    """docs/explanation/privacy.md: mu of a person counted in several weeks, by mechanism."""
    source = RawGains(stream_of(np.full((148, 3), 0.1), beds=40.0), mu=0.5)
    norms = [chain_norm(0.2, 0.6, weeks) for weeks in STAYS]
    mus = {
        "independent noise": [0.5 * weeks**0.5 for weeks in STAYS],
        "correlated noise (0.2, 0.6)": [0.5 * norm / norms[0] for norm in norms],
    }
    for name, it in {"factorised prefix sums": MatrixFTPL(), "tree": TreeFTPL()}.items():
        mus[f"{name}, T = 148"] = [loss.mu for loss in guarantee_of(it, source).stays]
    lines = [(name, *(f"{mu:.2f}" for mu in own)) for name, own in mus.items()]
    return table(("μ of a person counted in weeks", *map(str, STAYS)), lines)
