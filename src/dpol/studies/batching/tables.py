"""The tables of amplified privacy and of the regret that batching costs."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from dpol.core.frames import check_frame
from dpol.core.rounding import rounded_up
from dpol.show import footers
from dpol.show.papers import EXPERTS
from dpol.show.table import Entry, Group, Section, TextTable
from dpol.show.words import mu_title
from dpol.studies.batching.settings import Batching
from dpol.studies.study import Facts, Frames

PAPER = f"“{EXPERTS}”"
BOUND_TITLES = {"borell-tis": "Borell-TIS", "reflection": "reflection †"}
_BATCHING = [
    *("stream", "n", "T", "mu", "alpha", "bound", "replicates", "ftpl_regret"),
    *("ftpl_half_width", "extra_regret", "extra_half_width", "factor", "ftpl_bound", "mean_batch"),
    *("confidence", "ci_comparisons"),
]
_OURS = "†: ours, not in the paper."
_COVERS = "The intervals cover the randomness of the runs on these streams, not other streams."


def settings_of(curves: pd.DataFrame) -> pd.DataFrame:
    """One row per setting and kind: what the table of amplification shows.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    columns = ["n", "T", "t", "mu", "alpha", "bound", "kind", "delta_reported"]
    numbers = [*columns, "epsilon_at_delta", "mean_batch"]
    check_frame(curves, numbers, "amplification")
    return curves[numbers].drop_duplicates(columns)


def amplification(frames: Frames, study: Batching, facts: Facts) -> tuple[TextTable, pd.DataFrame]:
    """The table of amplified privacy, and its numbers."""
    curves = frames["amplification"]
    return amplification_table(curves), settings_of(curves)


def batching(frames: Frames, study: Batching, facts: Facts) -> tuple[TextTable, pd.DataFrame]:
    """The table of regrets, and its numbers."""
    return batching_table(frames["batching"]), frames["batching"]


def amplification_table(curves: pd.DataFrame) -> TextTable:
    """Epsilon at the reported delta: not amplified, analytic bound and Monte Carlo estimate."""
    settings = settings_of(curves)
    bounds = list(dict.fromkeys(settings["bound"]))
    first = settings.iloc[0]

    def entries(rows: pd.DataFrame) -> tuple[Entry, ...]:
        plain = rows.loc[rows["kind"] == "un-amplified", "epsilon_at_delta"].iloc[0]
        cells = [Entry(rounded_up(plain, 4))]
        for bound in bounds:
            for kind in ("analytic", "monte-carlo"):
                found = rows[(rows["bound"] == bound) & (rows["kind"] == kind)].iloc[0]
                batch = f"mean batch {found['mean_batch']:.1f}"
                cells.append(Entry(rounded_up(found["epsilon_at_delta"], 4), (batch,)))
        return tuple(cells)

    return TextTable(
        caption=f"ε at δ = {first['delta_reported']:g} of RW-AdaBatch in the central model",
        name="amplification",
        corner=("experts", "round", "privacy of one round"),
        headers=(
            "not amplified",
            *(
                f"{BOUND_TITLES[bound]}, {kind}"
                for bound in bounds
                for kind in ("analytic bound", "Monte Carlo")
            ),
        ),
        sections=_sections(settings, "t", lambda t: f"t = {t}", entries),
        footers=(
            f"All-zero gains, the worst case for privacy; α = {first['alpha']:g}. Adjacent: two"
            " streams that differ in one round's whole gain vector in [0, 1]^n; Gaussian noise of"
            " scale sqrt(n) / μ on every gain vector (local model: the ε that is not amplified).",
            "Analytic bound: holds on every stream, for an oblivious adversary. Monte Carlo: the"
            " batch sizes of simulated runs; an estimate, not a guarantee.",
            f"Method: {PAPER}, section 3.1. {_OURS}",
        ),
    )


def batching_table(batching: pd.DataFrame) -> TextTable:
    """Regret of RW-AdaBatch beside RW-FTPL with the same noise, and the bound of Corollary 2.

    Raises:
        DataError: a column is missing, or the table is empty.
    """
    check_frame(batching, _BATCHING, "batching")
    bounds = list(dict.fromkeys(batching["bound"]))
    first = batching.iloc[0]

    def entries(rows: pd.DataFrame) -> tuple[Entry, ...]:
        plain = rows.iloc[0]
        half = footers.plus_minus(plain["ftpl_half_width"], 1)
        cells = [Entry(f"{plain['ftpl_regret']:.1f}{half}")]
        for bound in bounds:
            found = rows[rows["bound"] == bound].iloc[0]
            half = footers.plus_minus(found["extra_half_width"], 3)
            extra = f"{round(found['extra_regret'], 3) + 0.0:+.3f}{half}"
            cells.append(Entry(extra, (f"mean batch {found['mean_batch']:.1f}",)))
        cells.append(Entry(f"{plain['ftpl_bound']:.0f}", (f"× {plain['factor']:g}",)))
        return tuple(cells)

    return TextTable(
        caption="What batching costs: regret of RW-FTPL and extra regret of RW-AdaBatch",
        name="batching",
        corner=("experts", "stream", "privacy of one round"),
        headers=(
            "RW-FTPL",
            *(f"extra, {BOUND_TITLES[bound]}" for bound in bounds),
            "bound on regret",
        ),
        sections=_sections(batching, "stream", str, entries),
        footers=(
            f"Means over {first['replicates']} runs of T = {first['T']} rounds, α ="
            f" {first['alpha']:g}. Both algorithms see the same noise, so the interval of the"
            " difference is that of pairs.",
            footers.describe_interval(
                first["confidence"], first["ci_comparisons"], "regrets", _COVERS
            ),
            "Bound on regret: (η + 2/η) sqrt(2 T log n) for RW-FTPL, times 1 + α/2 for"
            f" RW-AdaBatch. {PAPER}, Corollary 2. {_OURS}",
        ),
    )


def _sections(
    frame: pd.DataFrame,
    group: str,
    title: Callable[[object], str],
    entries: Callable[[pd.DataFrame], tuple[Entry, ...]],
) -> tuple[Section, ...]:
    """A section per number of experts, a group per value of `group`, a line per mu."""
    sections = []
    for n, of_size in frame.groupby("n", sort=False):
        groups = []
        for value, rows in of_size.groupby(group, sort=False):
            lines = [
                (mu_title(mu), entries(rows[rows["mu"] == mu])) for mu in sorted(set(rows["mu"]))
            ]
            groups.append(Group(title(value), tuple(lines)))
        sections.append(Section(f"n = {n}", f"T = {of_size['T'].iloc[0]}", tuple(groups)))
    return tuple(sections)
