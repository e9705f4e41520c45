"""The league: every system at every level, among those with the same guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from dpol.core.words import at_most, listed
from dpol.privacy.settings import ordered_levels
from dpol.show.entries import BEYOND_MARK
from dpol.show.table import Group, Table, TableCell, TableSection
from dpol.show.words import describe_data, mu_title
from dpol.studies.league.standings import ONE_WEEK, RAW, SYSTEM, THE_LEVEL
from dpol.studies.league.systems import (
    NOT_TOLD_APART,
    apart_in_words,
    groups_of,
    name_system,
    share_text,
)
from dpol.studies.study import Facts, Frames

GUARANTEES = {
    THE_LEVEL: "sees noisy gains only",
    ONE_WEEK: "keeps the level for one week only",
    RAW: "sees raw gains",
}
"""Titles of the groups, in their order."""


def league_table(frames: Frames, facts: Facts) -> Table:
    """Build the table: a section per question or stream, a group per guarantee, a line per system.

    Args:
        frames: the standings, and the summary, which says what they leave out.
        facts: titles of the streams and questions, and the levels.
    """
    standings, mus = frames["standings"], ordered_levels(facts.levels)
    longest = standings["mu_8_weeks"].notna().any()
    last = (f"μ of 8 weeks, {mu_title(mus[-1])}",) if longest else ()
    return Table(
        caption="Every system at every level",
        corner=("data", "guarantee", "system"),
        headers=(*map(mu_title, mus), *last),
        sections=tuple(
            TableSection(title, "", tuple(_groups(rows.dropna(subset="gain_share"), mus, last)))
            for title, rows in groups_of(standings, facts).items()
        ),
        footers=tuple(_footers(standings, frames["summary"], facts)),
        numbers=standings,
    )


def _groups(rows: pd.DataFrame, mus: Sequence[float], last: Sequence[str]) -> Iterator[Group]:
    """Yield the systems of each guarantee, the best at the strictest level first."""
    for guarantee in sorted(set(rows["guarantee"]), key=[*GUARANTEES].index):
        alike = rows[rows["guarantee"] == guarantee].sort_values(
            ["mu", "gain_share"], ascending=[True, False], kind="stable"
        )
        lines = []
        for _, system in alike.groupby(SYSTEM, sort=False):
            strictest, *_ = of_levels = system.to_dict("records")
            row_at = {row["mu"]: row for row in of_levels}
            cells = [_cell(row_at.get(mu)) for mu in mus]
            stay = row_at.get(mus[-1], {}).get("mu_8_weeks", math.nan)
            cells += [TableCell("—" if math.isnan(stay) else at_most(stay)) for _ in last]
            title = name_system(strictest)
            if system["numerical"].any():
                title += ", numerical μ"
            lines.append((title, tuple(cells)))
        yield Group(GUARANTEES[guarantee], tuple(lines))


def _cell(row: Any) -> TableCell:
    if row is None:
        return TableCell("—")
    notes = [f"rank {row['rank']}"]
    if row["best"]:
        notes.append("the best")
    elif row["not_told_apart"]:
        notes.append(NOT_TOLD_APART)
    share = row["gain_share"]
    return TableCell(share_text(share, row["gain_share_half_width"]), tuple(notes), order=share)


def _footers(standings: pd.DataFrame, summary: pd.DataFrame, facts: Facts) -> Iterator[str]:
    row = standings.iloc[0]
    yield (
        f"Shares of the possible gain, mean over {row['replicates']} runs: 0% is a uniform random"
        " choice, 100% the best of every round. The best is the one that keeps most of those that"
        f" see noisy gains only and guarantee the level, in hindsight. {apart_in_words(row)} A rank"
        " is 1 and the number of systems with the same guarantee that are above a system by their"
        " whole interval, replicate by replicate, so several may share it."
    )
    yield (
        f"±: {100 * row['confidence']:g}% intervals, which hold jointly for all shares and for all"
        " differences between two systems at a level. They cover the noise on these data, not other"
        " places or years."
    )
    if standings["guarantee"].eq(ONE_WEEK).any():
        yield (
            "A system that keeps the level for one week only has correlated noise, and a larger μ"
            " for somebody who is counted in several weeks than independent noise gives."
        )
    left_out = summary[~summary["keeps_level"]].drop_duplicates([*SYSTEM, "level"])
    if len(left_out):
        titles = [f"{name_system(row)} at {row['level']}" for row in left_out.to_dict("records")]
        yield f"Left out, since no μ is proved that keeps the level: {listed(titles)}."
    if standings["numerical"].any():
        yield (
            "Numerical μ: that of zero-concentrated differential privacy. It is computed with the"
            " worst test that a search found; nobody has proved that there is no worse one."
        )
    yield describe_data(facts.simulated)
    yield f"{BEYOND_MARK}."
