"""Answer on divided help: what privacy costs, how much the reading of counts matters, who pays."""

from __future__ import annotations

import pandas as pd

from dpol.core.rounding import percent
from dpol.show.words import mu_title
from dpol.studies.games.allocation import EQUAL, EXACT, FLOOR, GUARANTEE, LAST, SMALL
from dpol.studies.games.allocation_table import BLOCK, shown_rows
from dpol.studies.games.settings import Games
from dpol.studies.games.systems import headline_levels
from dpol.studies.page import DIVIDED, Answer, PageFacts
from dpol.studies.study import Facts


def answer_on_allocation(allocation: pd.DataFrame, main: Games, facts: PageFacts) -> Answer:
    """Tell what noise costs if help is divided, for the first need and the most units.

    Args:
        allocation: Table of `dpol.studies.games.allocation_table.allocation_rows`.
        main: The noise of the report.
        facts: The levels, and the names of an entity, a count, a capacity and a round.
    """
    rows, period = shown_rows(allocation, main), facts.period
    at, free = _headlines(rows, facts)
    weakest = mu_title(max(facts.levels.values()))
    called = facts.columns.called if facts.columns else str
    unmet, lost = at["unmet"], at["unmet"] - free["unmet"]
    small, others = (
        ", ".join(percent(share) for share in at.loc[[EQUAL, GUARANTEE, EXACT], f"served_{who}"])
        for who in ("small", "others")
    )
    return Answer(
        question=DIVIDED,
        finding=finding_of(rows, facts),
        more=(
            f"In a {period}, {at['total_need'].iloc[0]:,.0f} {called('count')} need help, in all"
            f" streams together. {unmet[FLOOR]:,.0f} get none if units follow {called('capacity')}"
            f" alone, {unmet[LAST]:,.0f} by the last noisy counts, and {unmet[EQUAL]:,.0f} by equal"
            f" chances: {lost[LAST]:,.0f} and {lost[EQUAL]:,.0f} more than at {weakest}.",
            f"Who pays: each {called('entity')} with fewer than {SMALL:g} {called('capacity')}."
            f" Equal chances, the same with a guarantee, and the last exact counts meet {small} of"
            f" its need, and {others} of the need of the others.",
            "Limits: the number of units is fixed in advance. If it follows the need of each"
            f" {period}, the order of the rules may differ: where it equals the forecast need,"
            " equal chances and the forecast divide alike.",
        ),
        see=("allocation",),
    )


def finding_of(rows: pd.DataFrame, facts: Facts) -> str:
    """Compare equal chances with the last noisy counts, with noise and without.

    Args:
        rows: Rows of `shown_rows`.
        facts: The levels.
    """
    at, free = _headlines(rows, facts)
    equal, share = at.to_dict("index")[EQUAL], at["avoided"]
    return (
        f"With units for {percent(equal['units_share'])} of the mean need ({equal['need']}), at"
        f" {mu_title(equal['mu'])}: equal chances avoid {percent(share[EQUAL])} of the avoidable"
        f" unmet need, the last noisy counts {percent(share[LAST])} (0%: units by capacity alone;"
        " 100%: the next need is known). The reading of the counts changes"
        f" {100 * equal['over_last']:.0f} points (±{100 * equal['over_last_rounds_half_width']:.0f}"
        f" if rounds are resampled in blocks of {BLOCK}); noise costs equal chances"
        f" {100 * (free['avoided'][EQUAL] - share[EQUAL]):.0f}, from"
        f" {mu_title(max(facts.levels.values()))} on."
    )


def _headlines(rows: pd.DataFrame, facts: Facts) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows of the first need and the most units by rule: with noise, and without.

    The level with noise is the middle one; without noise, or else the weakest.
    """
    (middle,) = headline_levels(facts.levels, several=False)
    need, share = rows["need"] == rows["need"].iloc[0], rows["units_share"]
    first = rows[need & (share == share.max())]
    at, free = (
        first[(first["mu"] == mu) | first["mu"].isna()].set_index("rule")
        for mu in (middle, max(facts.levels.values()))
    )
    return at, free
