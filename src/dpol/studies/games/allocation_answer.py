"""Answer on divided help: what privacy costs, how much the reading of counts matters, who pays."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from dpol.core.rounding import percent
from dpol.show.words import mu_title
from dpol.studies.games.allocation import EQUAL, EXACT, FLOOR, GUARANTEE, LAST, SMALL
from dpol.studies.games.allocation_table import BLOCK, middle_level, shown_rows
from dpol.studies.games.settings import Games
from dpol.studies.page import DIVIDED, Answer, PageFacts
from dpol.studies.study import Facts


def answer_on_allocation(allocation: pd.DataFrame, main: Games, facts: PageFacts) -> Answer:
    """Tell what noise costs if help is divided, for the first need and the most units.

    Args:
        allocation: Table of `dpol.studies.games.allocation_table.allocation_rows`.
        main: The systems compared.
        facts: The levels, and the names of an entity, a count, a capacity and a round.
    """
    rows = shown_rows(allocation, main)
    at, free = _headline(rows, middle_level(facts)), _headline(rows, math.inf)
    unmet, words, period = at["unmet"], facts.columns, facts.period
    entity, counts, capacity = (
        words.called(name) if words else name for name in ("entity", "count", "capacity")
    )
    small, others = (
        ", ".join(percent(share) for share in at.loc[[EQUAL, GUARANTEE, EXACT], f"served_{who}"])
        for who in ("small", "others")
    )
    costs = ""
    if EQUAL in free.index:
        lost = unmet - free["unmet"]
        costs = f" Noise costs the former {lost[LAST]:,.0f}, equal chances {lost[EQUAL]:,.0f}."
    return Answer(
        question=DIVIDED,
        finding=finding_of(rows, facts),
        more=(
            f"In a {period}, {at['total_need'].iloc[0]:,.0f} {counts} need help, in all streams"
            f" together. {unmet[FLOOR]:,.0f} get none if units follow {capacity} alone. At"
            f" {mu_title(middle_level(facts))}, {unmet[LAST]:,.0f} get none by the last noisy"
            f" counts, and {unmet[EQUAL]:,.0f} by equal chances.{costs}",
            f"Who pays: each {entity} with fewer than {SMALL:g} {capacity}. Equal chances, the"
            f" same with a guarantee, and the last exact counts meet {small} of its need, and"
            f" {others} of the need of the others.",
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
    at, free = _headline(rows, middle_level(facts)), _headline(rows, math.inf)
    equal: Any = at.loc[EQUAL]
    text = (
        f"{equal['need']}, units: {percent(equal['units_share'])} of the mean need. At"
        f" {mu_title(middle_level(facts))}, equal chances avoid {percent(equal['avoided'])} of the"
        f" avoidable unmet need, the last noisy counts {percent(at['avoided'][LAST])} (0%: units by"
        " capacity alone; 100%: the next need is known)."
    )
    if EQUAL in free.index:
        text += (
            f" The reading of the counts changes {100 * equal['over_last']:.0f} points (±"
            f"{100 * equal['over_last_rounds_half_width']:.0f} if rounds are resampled in blocks of"
            f" {BLOCK}); privacy costs equal chances"
            f" {100 * (free['avoided'][EQUAL] - equal['avoided']):.0f}."
        )
    return text[0].upper() + text[1:]


def _headline(rows: pd.DataFrame, mu: float) -> pd.DataFrame:
    """Return the rows of the first need and the most units at a level, by rule."""
    need, share = rows["need"] == rows["need"].iloc[0], rows["units_share"]
    at = (rows["mu"] == mu) | rows["mu"].isna()
    return pd.DataFrame(rows[need & (share == share.max()) & at]).set_index("rule")
