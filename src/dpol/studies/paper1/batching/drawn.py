"""The tables of RW-AdaBatch: amplified privacy, and the regret that batching costs."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from dpol.core.rounding import at_most, fixed
from dpol.show import footers
from dpol.show.entries import BATCHES, OUR_MARK
from dpol.show.table import Group, Line, Table, TableCell, TableSection
from dpol.show.words import EXPERTS, mu_title
from dpol.studies.study import Facts, Frames

PAPER = f"“{EXPERTS}”"
_COVERS = "The intervals cover the randomness of the runs on these streams, not other streams."


def amplification(frames: Frames, facts: Facts) -> Table:
    """Build the table of epsilon: not amplified, by analytic bounds, and by Monte Carlo."""
    key = ["n", "T", "t", "mu", "alpha", "bound", "kind", "delta_reported"]
    curves = frames["amplification"][[*key, "epsilon_at_delta", "mean_batch"]].drop_duplicates(key)
    first = curves.iloc[0]
    amplified = curves.loc[curves["kind"] != "un-amplified", ["bound", "kind"]]
    shown = list(amplified.drop_duplicates().itertuples(index=False, name=None))

    def entries(rows: pd.DataFrame) -> tuple[TableCell, ...]:
        plain = rows.loc[rows["kind"] == "un-amplified", "epsilon_at_delta"].iloc[0]
        cells = [TableCell(at_most(plain, digits=4))]
        for _, row in rows.set_index(["bound", "kind"]).loc[shown].iterrows():
            batch = f"mean batch {row['mean_batch']:.1f}"
            cells.append(TableCell(at_most(row["epsilon_at_delta"], digits=4), (batch,)))
        return tuple(cells)

    return Table(
        caption=f"ε at δ = {first['delta_reported']:g} of RW-AdaBatch in the central model",
        corner=("experts", "round", "privacy of one round"),
        headers=(
            BATCHES["un-amplified"].short,
            *(f"{BATCHES[bound].marked}, {BATCHES[kind].short}" for bound, kind in shown),
        ),
        sections=_sections(curves, "t", lambda t: f"t = {t}", entries),
        footers=(
            f"All-zero gains, the worst case for privacy; α = {first['alpha']:g}. Adjacent: two"
            " streams that differ in one round's whole gain vector in [0, 1]^n; Gaussian noise of"
            " scale sqrt(n) / μ on every gain vector (in the local model, ε is not amplified).",
            "Analytic bound: holds on every stream, for an oblivious adversary. Monte Carlo: from"
            " batch sizes of simulated runs; an estimate, not a guarantee.",
            "Heuristic: section A.11 of the paper, with constants that we derived again. It is not"
            " proved and may promise too much; never use it as a bound.",
            f"Method: {PAPER}, section 3.1. {OUR_MARK}.",
        ),
        numbers=curves,
    )


def batching(frames: Frames, facts: Facts) -> Table:
    """Build the table of regret of RW-AdaBatch and RW-FTPL, with the bound of Corollary 2."""
    costs = frames["batching"]
    proved = frames["rates"].set_index("algorithm")["regret"]
    bounds = list(costs["bound"].unique())
    first = costs.iloc[0]

    def entries(rows: pd.DataFrame) -> tuple[TableCell, ...]:
        plain = rows.iloc[0]
        half = footers.plus_minus(plain["ftpl_half_width"], 1)
        cells = [TableCell(f"{plain['ftpl_regret']:.1f}{half}")]
        for _, row in rows.set_index("bound").loc[bounds].iterrows():
            batch = f"mean batch {row['mean_batch']:.1f}"
            cells.append(TableCell(_extra(row), (batch,)))
        cells.append(TableCell(f"{plain['ftpl_bound']:.0f}", (f"× {plain['factor']:g}",)))
        return tuple(cells)

    return Table(
        caption="The cost of batching: regret of RW-FTPL and extra regret of RW-AdaBatch",
        corner=("experts", "stream", "privacy of one round"),
        headers=(
            "RW-FTPL",
            *(f"extra, {BATCHES[bound].marked}" for bound in bounds),
            "bound on regret",
        ),
        sections=_sections(costs, "stream", str, entries),
        footers=(
            f"Means over {first['replicates']} runs of T = {first['T']} rounds, α ="
            f" {first['alpha']:g}. Both algorithms see the same noise, so the interval of the"
            " difference is for paired runs.",
            footers.describe_interval(
                first["confidence"], first["ci_comparisons"], "regrets", _COVERS
            ),
            f"Bound on regret: {proved['rw-ftpl']} for RW-FTPL, {proved['rw-adabatch']} for"
            f" RW-AdaBatch. {PAPER}, Corollary 2. {OUR_MARK}.",
        ),
        numbers=costs,
    )


def _extra(row: pd.Series) -> str:
    """Format the extra regret of a row, with its half-width."""
    if row["extra_regret"] == row["extra_half_width"] == 0:
        return "none"
    half = footers.plus_minus(row["extra_half_width"], 3)
    return f"{fixed(row['extra_regret'], 3, '+')}{half}"


def _sections(
    frame: pd.DataFrame,
    group: str,
    title: Callable[[object], str],
    entries: Callable[[pd.DataFrame], tuple[TableCell, ...]],
) -> tuple[TableSection, ...]:
    """Return a section per number of experts, a group per `group`, a line per mu."""

    def lines(rows: pd.DataFrame) -> tuple[Line, ...]:
        return tuple((mu_title(float(str(mu))), entries(part)) for mu, part in rows.groupby("mu"))

    def groups(rows: pd.DataFrame) -> tuple[Group, ...]:
        parts = rows.groupby(group, sort=False)
        return tuple(Group(title(value), lines(part)) for value, part in parts)

    return tuple(
        TableSection(f"n = {n}", f"T = {rows['T'].iloc[0]}", groups(rows))
        for n, rows in frame.groupby("n", sort=False)
    )
