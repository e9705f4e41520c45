"""Table of the guarantees of each algorithm of a run: privacy, and regret with its comparator."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from dpol.experts.registry import regret_bounds
from dpol.show.footers import MODELS
from dpol.show.names import ACCOUNTED, OURS, marked
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.studies.games.settings import Games
from dpol.studies.study import Facts, Frames

_NO_BOUND = "none known"
_ON_REGRET = (
    "Regret: expected regret against the best in hindsight, for gains in [0, 1] over T rounds, with"
    " n experts, m learners and noise of scale η on every gain. “none known”: we know no bound."
)
_ON_META = (
    "The bound of rw-meta fails for learners that see the noisy gains, as the learners here do: see"
    " the ledger of claims."
)


def guarantees_table(frames: Frames, main: Games, facts: Facts) -> Table:
    """Build a table with each algorithm's guarantee, from its records in the run, and regret bound.

    Args:
        frames: the summary.
        main: settings of the main study.
        facts: facts of the run.
    """
    summary = frames["summary"]
    bounds = regret_bounds()
    rows = []
    for family, runs in summary.groupby("family", sort=False):
        regret, against = bounds.get(str(family), ("", ""))
        rows.append(
            {
                "algorithm": family,
                "ours": bool(runs["ours"].all()),
                "model": "/".join(sorted(set(runs["model"]))),
                "mechanism": "; ".join(sorted(set(runs["mechanism"]))),
                "guarantee": _guarantee(runs),
                "amplified": bool(runs["amplified_epsilon"].notna().any()),
                "regret": regret,
                "against": against,
            }
        )
    numbers = pd.DataFrame(rows)
    return Table(
        caption="Guarantees of each algorithm",
        name="guarantees",
        corner=("algorithm",),
        headers=tuple(Column(h, prose=True) for h in ("privacy", "regret, at most", "against")),
        sections=(one_section(list(_lines(numbers))),),
        footers=tuple(_footers(numbers)),
        numbers=numbers,
    )


def _guarantee(runs: pd.DataFrame) -> str:
    """Name the kind of guarantee of an algorithm's records, relative to the requested level."""
    private = runs[(runs["model"] != "none") & (runs["epsilon"] < math.inf)]
    if private.empty:
        return "none"
    if private["guaranteed_mu"].isna().any():
        return "(ε, δ)-DP"
    above = private["guaranteed_mu"] > private["mu"] * (1 + 1e-9)
    return "μ-Gaussian DP" if not above.any() else "Gaussian DP, not at the requested μ"


def _lines(numbers: pd.DataFrame) -> Iterator[Line]:
    for row in numbers.to_dict("records"):
        model = "" if row["model"] == "none" else f"{row['model']}, "
        mechanism = row["mechanism"][0].upper() + row["mechanism"][1:]
        notes = [mechanism] if model else []
        if row["amplified"]:
            notes.append("Actions alone: amplified by batches")
        privacy = TableCell(f"{model}{row['guarantee']}", tuple(notes))
        bound = TableCell(row["regret"] or _NO_BOUND), TableCell(row["against"] or "—")
        ours = row["ours"] and row["algorithm"] not in ACCOUNTED
        yield marked(row["algorithm"], ours), (privacy, *bound)


def _footers(numbers: pd.DataFrame) -> Iterator[str]:
    yield (
        "μ: the requested level. "
        + " ".join(f"{model.capitalize()}: {text}." for model, text in MODELS.items())
    )
    yield _ON_REGRET
    if (numbers["algorithm"] == "rw-meta").any():
        yield _ON_META
    if numbers["ours"].any():
        yield f"{OURS}."
