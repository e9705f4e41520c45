"""Table 1 of the first paper: rates of regret, each with its source and what was checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass

import pandas as pd

from dpol.core.rounding import at_most
from dpol.show.table import Column, Line, Table, TableCell, one_section
from dpol.show.words import EXPERTS, LAZY
from dpol.studies.study import Facts, Frames


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
    ours = (f"the tree that we play: {bound}",) if entry.regret and bound else ()
    rest = entry.against, entry.ground, "; ".join(_checks(entry, games))
    rate = TableCell(entry.regret or bound, ours)
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
