"""Exhibits of RW-AdaBatch: Figure 1 and Table 1 of the first paper, and two tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass

import pandas as pd
import scipy
from matplotlib.figure import Figure

from dpol.core.words import at_most, fixed
from dpol.show import panels
from dpol.show.entries import ALGORITHMS, BATCHES, BEYOND_MARK, DASHED, REFERENCES, Look
from dpol.show.table import Column, Group, Line, Table, TableCell, TableSection, one_section
from dpol.show.words import EXPERTS, LAZY, describe_interval, mu_title, plus_minus
from dpol.studies.study import Facts, Frames

_COLOUR = ALGORITHMS["rw-adabatch"].colour
_CURVES: Mapping[str, Look] = {
    "un-amplified": REFERENCES["not-amplified"],
    "analytic": Look(_COLOUR),
    "monte-carlo": Look(_COLOUR, DASHED),
}


def draw_figure_1(frames: Frames, facts: Facts) -> Figure:
    """Draw trade-off curves by the paper's bound, a panel for each number of experts and mu."""
    curves = frames["amplification"]
    first, bound = curves.iloc[0], BATCHES[curves["bound"].iloc[0]]
    shown = curves[curves["bound"] == first["bound"]]
    cells = list(shown.groupby(["n", "mu"]))
    columns, rises = shown["mu"].nunique(), dict[str, float]()
    size = panels.WIDTH / max(columns, 2), 2.1
    with panels.panels(
        len(cells), columns, size, "rate of false negatives", form=facts.form, shared="xy"
    ) as drawn:
        for ax, ((n, mu), rows) in zip(drawn.axes, cells, strict=True):
            panels.name_panel(ax, name := f"n = {n}, {mu_title(mu)}")
            for kind, curve in rows.groupby("kind"):
                if kind in _CURVES:
                    errors = curve["false_positive"], curve["false_negative"]
                    ax.plot(*errors, **_CURVES[str(kind)].line, label=str(kind))
            curve = rows[rows["kind"] == "analytic"]
            # Without batches, G_mu(x) = Phi(-(Phi^-1(x) + mu)).
            plain = scipy.special.ndtr(-scipy.special.ndtri(curve["false_positive"]) - curve["mu"])
            rises[name] = float((curve["false_negative"] - plain).max())
            ax.set(xlim=(0, 1), ylim=(0, 1))
        for ax in drawn.grid[-1]:
            ax.set_xlabel("rate of false positives")
        keys = (panels.key(BATCHES[kind].long, **look.line) for kind, look in _CURVES.items())
        drawn.legend(list(keys))
        drawn.caption(
            f"Tests for the gains of round t = {first['t']:,} of T = {first['T']:,}",
            f"α = {first['alpha']:g}",
            "all-zero gains (the worst case)",
            f"{bound.long} ({'not in the paper' if bound.beyond else 'paper'})",
            f"Monte Carlo: {frames['batching']['replicates'].iloc[0]:,} runs",
            "higher is more private",
        )
        most = max(rises, key=lambda name: rises[name])
        points = at_most(100 * rises[most], digits=2)
        drawn.find(
            "At the same rate of false positives, batches raise an attacker’s"
            f" false negatives by up to {points} percentage points ({most}, by the"
            " analytic lower bound)."
        )
    return drawn.figure


# ---- Table 1 -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RegretRate:
    """A row of Table 1.

    Args:
        algorithm: the algorithm.
        family: its registered name in dpol, if it is played.
        privacy: model and kind of its guarantee.
        regret: its rate; if empty, the bound that dpol has for the algorithm.
        against: what the regret is measured against.
        ground: where we have the rate from.
        ledger: statements of the ledger that check it.
        played: name of the columns of its regret and bound in the games of the study, if any.
        remark: what else was checked, or why nothing was.
    """

    algorithm: str
    family: str = ""
    privacy: str
    regret: str = ""
    against: str
    ground: str
    ledger: tuple[str, ...] = ()
    played: str = ""
    remark: str = ""


_FIXED, _LOCAL = "best fixed action", "μ-Gaussian, local"
_SUMMARY = "third-party summaries"
TABLE_1 = (
    RegretRate(
        algorithm="sums in a tree (Agarwal and Singh, 2017)",
        family="tree-ftpl-min-noise",
        privacy="central",
        regret="not in our copy",
        against=_FIXED,
        ground=f"Table 1 of “{LAZY}” has sqrt(T log n) + sqrt(n) log(n)/ε",
        remark="audits attack its noise; its rate is not checked",
    ),
    RegretRate(
        algorithm="RW-FTPL",
        family="rw-ftpl",
        privacy=_LOCAL,
        against=_FIXED,
        ground=_SUMMARY,
        ledger=("Table 1, RW-FTPL",),
        played="ftpl",
    ),
    RegretRate(
        algorithm="“Tracking the Best Expert Privately” (Asi, Raman and Saha, 2025)",
        privacy="central",
        regret="O(sqrt(S T log(n T)) + S T^(1/3) log(T/δ) log(n T) / ε^(2/3))",
        against="best sequence with at most S switches",
        ground="abstract of that paper, for oblivious adversaries",
        remark="not played: the algorithm for shifting stochastic losses is not described in what"
        " we could read",
    ),
    RegretRate(
        algorithm="RW-AdaBatch with tolerance α",
        family="rw-adabatch",
        privacy=f"{_LOCAL}; amplified, central",
        against=_FIXED,
        ground=_SUMMARY,
        ledger=("Corollary 2", "section 3.1.2, Figure 1"),
        played="adabatch",
    ),
    RegretRate(
        algorithm="RW-Meta with m learners",
        family="rw-meta",
        privacy=_LOCAL,
        against="best learner",
        ground=_SUMMARY,
        ledger=("Theorem 3", "section 3.2.1, best case"),
        remark="Theorem 3 has a row for each kind of learners",
    ),
)
"""Rows of Table 1, in the paper's order."""


def table_1(frames: Frames, facts: Facts) -> Table:
    """Build the table of rates, with the share of a bound that regret reached in the games."""
    games = frames["batching"]
    bounds = dict(zip(frames["rates"]["algorithm"], frames["rates"]["regret"], strict=True))
    first = games.iloc[0]
    return Table(
        caption="The paper’s Table 1: regret of five algorithms",
        corner=("algorithm",),
        headers=tuple(
            Column(header, prose=True)
            for header in ("privacy", "regret, at most", "against", "source of the rate", "checked")
        ),
        sections=(one_section(_line(entry, games, bounds) for entry in TABLE_1),),
        footers=(
            "Our copy of the paper has the rows of its table, but lost the rates. Third-party"
            " summaries: two of the published version, not independent of each other, print it.",
            "n experts or m learners, T rounds of gains in [0, 1]; η: standard deviation of the"
            " noise. O: without constants.",
            "Ledger: statements that judge the row. config/ledger.yaml checks them."
            f" Games: the largest mean regret over {first['replicates']:,} runs of"
            f" T = {first['T']:,} rounds, all streams of “The cost of batching”. A game can refute"
            " a rate; it cannot prove one.",
            f"“{EXPERTS}”, Table 1. The authors name, and do not play, “Tracking the Best Expert"
            " Privately” (arXiv 2503.09889).",
        ),
        numbers=pd.DataFrame(map(asdict, TABLE_1)),
    )


def _line(entry: RegretRate, games: pd.DataFrame, bounds: Mapping[str, str]) -> Line:
    bound = bounds[entry.family] if entry.family else ""
    played = (f"the tree that dpol plays: {bound}",) if entry.regret and bound else ()
    rest = entry.against, entry.ground, "; ".join(_checks(entry, games))
    rate = TableCell(entry.regret or bound, played)
    return entry.algorithm, (TableCell(entry.privacy), rate, *map(TableCell, rest))


def _checks(entry: RegretRate, games: pd.DataFrame) -> Iterator[str]:
    """Yield what was checked of a row."""
    if entry.ledger:
        yield f"ledger: {', '.join(f'“{statement}”' for statement in entry.ledger)}"
    if entry.played:
        share = (games[f"{entry.played}_regret"] / games[f"{entry.played}_bound"]).max()
        yield f"games: at most {at_most(100 * share, digits=2)}% of it"
    if entry.remark:
        yield entry.remark


# ---- amplified privacy, and the regret that batching costs ---------------------------------------

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
            f"Method: {PAPER}, section 3.1. {BEYOND_MARK}.",
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
        half = plus_minus(plain["ftpl_half_width"], 1)
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
            describe_interval(first["confidence"], first["ci_comparisons"], "regrets", _COVERS),
            f"Bound on regret: {proved['rw-ftpl']} for RW-FTPL, {proved['rw-adabatch']} for"
            f" RW-AdaBatch. {PAPER}, Corollary 2. {BEYOND_MARK}.",
        ),
        numbers=costs,
    )


def _extra(row: pd.Series) -> str:
    """Format the extra regret of a row, with its half-width."""
    if row["extra_regret"] == row["extra_half_width"] == 0:
        return "none"
    half = plus_minus(row["extra_half_width"], 3)
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
