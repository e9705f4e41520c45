"""Write the block of docs/reference/league.md, for tools/pages.py."""

from __future__ import annotations

import pandas as pd
from recorded_numbers import amount, kept_by, level, minus, standings, table, title

from dpol.core.safe_text import escape_markdown
from dpol.experts.registry import REGISTRY, Registration
from dpol.studies.comparison.standings import THE_BASELINE, THE_LEVEL

RUNS = {
    "states": "Fifteen states",
    "held-out": "Eight held-out states",
    "central-texas": "Central Texas, on the paper's weeks",
}
"""Titles of the recorded runs."""
BEST = 5
"""Systems of a level that are shown, besides the baseline."""


def looked_at(entry: Registration) -> str:
    """Return on which data an algorithm was chosen, and which had been seen before it changed."""
    return "; ".join(filter(None, [entry.chosen_on, entry.seen and f"seen: {entry.seen}"]))


def rows_of(run: str) -> pd.DataFrame:
    """Return the standings of a recorded run, the best first."""
    rows = standings(run)
    rows["looked_at"] = rows["family"].map(lambda family: looked_at(REGISTRY[family]))
    rows = rows[(rows["guarantee"] == THE_LEVEL) & rows["gain_share"].notna()]
    return rows.sort_values("gain_share", ascending=False, ignore_index=True, kind="stable")


def table_of(rows: pd.DataFrame) -> str:
    """Return the table of a run: the best systems of each level, and the baseline."""
    lines = []
    for mu, at in sorted(rows.groupby("mu"), reverse=True):
        best = at["gain_share"].rank(ascending=False, method="first") <= BEST
        shown = at[best | (at["role"] == THE_BASELINE)]
        kept = kept_by(shown)
        for place, (_, row) in enumerate(shown.iterrows()):
            apart = amount(100 * row["to_strongest"], 100 * row["to_strongest_half_width"])
            apart = "—" if row["strongest"] else minus(apart)
            looked = escape_markdown(row["looked_at"])
            first = "" if place else level(mu)
            lines.append((first, title(row), kept[place], str(row["rank"]), apart, looked))
    head = "μ", "system", "share", "rank", "to the strongest rival", "looked at"
    return table(head, lines, words=6)


def tables() -> str:
    """docs/reference/league.md: a table for each run."""
    return "\n".join(f"## {title}\n\n{table_of(rows_of(run))}" for run, title in RUNS.items())
