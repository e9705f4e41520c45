"""The league: every system at every level, among those with the same guarantee."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from dpol.core.words import at_most, fixed, listed
from dpol.privacy.settings import ordered_levels
from dpol.show.entries import OUR_MARK
from dpol.show.table import Group, Table, TableCell, TableSection
from dpol.show.words import describe_data, mu_title, plus_minus
from dpol.studies.answer.systems import groups_of, names_ours, share_text, system_title
from dpol.studies.bounds import with_bounds
from dpol.studies.comparison.standings import ONE_WEEK, RAW, THE_LEVEL
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
        frames: the standings; the summary, which says what they leave out; and the curves of all
            systems if the run makes them.
        facts: titles of the streams and questions, and the levels.
    """
    standings, mus = with_bounds(frames), ordered_levels(facts.levels)
    beside = "ours" if names_ours(standings) else "strongest"
    longest = standings["mu_8_weeks"].notna().any()
    last = (f"μ of 8 weeks, {mu_title(mus[-1])}",) if longest else ()
    return Table(
        caption="Every system at every level",
        corner=("data", "guarantee", "system"),
        headers=(*map(mu_title, mus), *last),
        sections=tuple(
            TableSection(
                title, "", tuple(_groups(rows.dropna(subset="gain_share"), mus, beside, last))
            )
            for title, rows in groups_of(standings, facts).items()
        ),
        footers=tuple(_footers(standings, frames["summary"], beside, facts)),
        numbers=standings,
    )


def _groups(
    rows: pd.DataFrame, mus: Sequence[float], beside: str, last: Sequence[str]
) -> Iterator[Group]:
    """Yield the systems of each guarantee, the best at the strictest level first."""
    for guarantee in sorted(set(rows["guarantee"]), key=[*GUARANTEES].index):
        own = rows[rows["guarantee"] == guarantee].sort_values(
            ["mu", "gain_share"], ascending=[True, False], kind="stable"
        )
        lines = []
        for (algorithm, noise), system in own.groupby(["algorithm", "noise"], sort=False):
            at = {row["mu"]: row for row in system.to_dict("records")}
            cells = [_cell(at.get(mu), beside) for mu in mus]
            stay = at.get(mus[-1], {}).get("mu_8_weeks", math.nan)
            cells += [TableCell("—" if math.isnan(stay) else at_most(stay)) for _ in last]
            title = system_title(str(algorithm), str(noise))
            title += ", numerical μ" * bool(system["numerical"].any())
            lines.append((title, tuple(cells)))
        yield Group(GUARANTEES[guarantee], tuple(lines))


def _cell(row: Any, beside: str) -> TableCell:
    if row is None:
        return TableCell("—")
    gap, half = row[f"to_{beside}"], row[f"to_{beside}_half_width"]
    notes = [f"rank {row['rank']}"]
    if not (math.isnan(gap) or gap == half == 0):
        difference = f"{fixed(100 * gap, 1, '+')}{plus_minus(100 * half, 1)}"
        notes.append(f"{difference}, {row[f'to_{beside}_verdict']}")
    share = row["gain_share"]
    return TableCell(share_text(share, row["gain_share_half_width"]), tuple(notes), order=share)


def _footers(
    standings: pd.DataFrame, summary: pd.DataFrame, beside: str, facts: Facts
) -> Iterator[str]:
    row = standings.iloc[0]
    other = "our method’s" if beside == "ours" else "that of the strongest, in hindsight"
    yield (
        f"Shares of the possible gain, mean over {row['replicates']} runs. Below each: its rank,"
        " which is 1 and the number of systems with the same guarantee that are above it by"
        " their whole interval, so several may share it; and its difference to"
        f" {other}, in points of 100, taken replicate by replicate. Undecided: the interval of the"
        " difference contains 0. In these weeks (or streams): so does a wider one, which takes"
        " blocks of 13 weeks (or the streams) as a sample. At this reading: unmeasured numbers may"
        " decide it otherwise."
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
    if len(left := summary[~summary["keeps_level"]]):
        cells = left[["algorithm", "noise", "level"]].drop_duplicates().to_numpy().tolist()
        titles = [f"{system_title(*system)} at {level}" for *system, level in cells]
        yield f"Left out, since no μ is proved that keeps the level: {listed(titles)}."
    if standings["numerical"].any():
        yield (
            "Numerical μ: that of zero-concentrated differential privacy. It is computed with the"
            " worst test that a search found; nobody has proved that there is no worse one."
        )
    yield describe_data(facts.simulated)
    if standings["ours"].any():
        yield f"{OUR_MARK}."
