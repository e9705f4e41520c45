"""Write the blocks of league/README.md, for tools/pages.py, and add rows that others sent.

    dpol league random-effects --on states --with league/ann.parquet
    python tools/league.py league/ann.parquet league-states/standings.parquet && make pages

The second command writes beside the file what standings have of it: a sender has two files in
league/, ann.parquet with the rows, and ann.csv with their standings.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import yaml
from recorded_numbers import ROOT, amount, at_levels, level, levels, minus, standings, table, title

from dpol.core.safe_text import escape_markdown
from dpol.experts.registry import REGISTRY, Registration
from dpol.report.rows import Row, facts_of
from dpol.studies.comparison.standings import THE_BASELINE, THE_LEVEL

FOLDER = ROOT / "league"
RUNS = {
    "states": "Fifteen states",
    "held-out": "Eight held-out states",
    "central-texas": "Central Texas, on the paper's weeks",
    "flu": "Influenza admissions in 52 jurisdictions",
    "intensive-care": "Intensive care in 16 German states",
}
"""Titles of the recorded runs."""
BEST = 5
"""Systems of a level that are shown, besides the baseline and those that were sent."""


def about(file: Path) -> Iterator[Row]:
    """Yield the rows of a file, without their choices."""
    with pq.ParquetFile(file) as opened:
        yield from (facts_of(opened, place) for place in range(opened.num_row_groups))


def add(file: Path, frames: list[pd.DataFrame]) -> None:
    """Write the rows of a file in standings beside it.

    Raises:
        ValueError: some are not there.
    """
    rows, senders = pd.concat(frames), {row.sender for row in about(file)}
    rows = rows[rows["sender"].isin(senders)]
    if {*rows["sender"]} != senders:
        raise ValueError(f"{file}: the standings lack its rows; dpol league says why")
    rows.to_csv(file.with_suffix(".csv"), index=False)


def sent() -> pd.DataFrame:
    """Return the standings of rows that others sent, with what their files say."""
    frames = [pd.DataFrame({"run": []})]
    for file in sorted(FOLDER.glob("*.csv")):
        said = {(row.run, row.label): row for row in about(file.with_suffix(".parquet"))}
        rows = pd.read_csv(file, keep_default_na=False, na_values=[""])
        rows["algorithm"] = rows["algorithm"].str.partition(" (")[0]
        of = [said[key] for key in zip(rows["run"], rows["algorithm"], strict=True)]
        rows["code"] = [f"{row.code['package']} {row.code['version']}, {row.date}" for row in of]
        rows["looked_at"] = [f"{row.looked_at} ({row.tried})" for row in of]
        frames.append(rows)
    return pd.concat(frames, ignore_index=True)


def looked_at(entry: Registration) -> str:
    """Return on which data an algorithm was chosen, and which had been seen before it changed."""
    return "; ".join(filter(None, [entry.chosen_on, entry.seen and f"seen: {entry.seen}"]))


def rows_of(run: str, others: pd.DataFrame) -> pd.DataFrame:
    """Return the standings of a recorded run and of rows that others sent, the best first."""
    own = standings(run)
    made_with = yaml.safe_load((ROOT / "verify/runs/made-with.yaml").read_text())[run]["dpol"]
    own = own.assign(sender="", code=f"dpol {made_with}")
    own["looked_at"] = own["family"].map(lambda family: looked_at(REGISTRY[family]))
    rows = pd.concat([own, others[others["run"] == f"league-{run}"]], ignore_index=True)
    rows = rows[(rows["guarantee"] == THE_LEVEL) & rows["gain_share"].notna()]
    return rows.sort_values("gain_share", ascending=False, ignore_index=True, kind="stable")


def share(row: pd.Series) -> str:
    """Return the share of the possible gain of a row with its interval, in percent."""
    return amount(100 * row["gain_share"], 100 * row["gain_share_half_width"])


def table_of(rows: pd.DataFrame) -> str:
    """Return the table of a run: the best systems of each level, the baseline, and sent rows."""
    lines = []
    for mu, at in sorted(rows.groupby("mu"), reverse=True):
        best = at["gain_share"].rank(ascending=False, method="first") <= BEST
        shown = at[best | (at["role"] == THE_BASELINE) | (at["sender"] != "")]
        for place, (_, row) in enumerate(shown.iterrows()):
            apart = amount(100 * row["to_strongest"], 100 * row["to_strongest_half_width"])
            apart = "—" if row["strongest"] else minus(apart)
            words = (escape_markdown(row[it]) for it in ("sender", "code", "looked_at"))
            first, how = "" if place else level(mu), "as sent" if row["sender"] else "recorded"
            lines.append((first, title(row), share(row), str(row["rank"]), apart, how, *words))
    head = "μ", "system", "share", "rank", "to the strongest rival", "choices", "sender", "code"
    return table((*head, "looked at"), lines, words=9)


def ranked() -> dict[str, pd.DataFrame]:
    """Return the rows of each recorded run and those that others sent, the best first."""
    others = sent()
    return {run: rows_of(run, others) for run in RUNS}


def largest() -> str:
    """league/README.md: the largest share of each run and level."""
    every, lines = ranked(), []
    mus = levels(mu for own in every.values() for mu in own["mu"])
    for run, own in every.items():
        first = {mu: at.iloc[0] for mu, at in own.groupby("mu")}
        cells = (f"{title(first[mu])} {share(first[mu])}" if mu in first else "" for mu in mus)
        lines.append((RUNS[run], *cells))
    return table(("data", *at_levels(mus)), lines, words=len(mus) + 1)


def tables() -> str:
    """league/README.md: a table for each run."""
    return "\n".join(f"## {RUNS[run]}\n\n{table_of(own)}" for run, own in ranked().items())


if __name__ == "__main__":
    add(Path(sys.argv[1]), [*map(pd.read_parquet, sys.argv[2:])])
