"""Write league/README.md: the systems of the recorded runs, and those that others sent.

    dpol league random-effects --on states --with league/ann.parquet
    python tools/league.py league/ann.parquet league-states/standings.parquet

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
from recorded_numbers import ROOT, amount, level, standings, table, title

from dpol.core.safe_text import escape_markdown
from dpol.experts.registry import REGISTRY, Registration
from dpol.report.rows import Row, facts_of
from dpol.studies.comparison.names import THE_BASELINE, THE_LEVEL

FOLDER = ROOT / "league"
PAGE = FOLDER / "README.md"
RUNS = {
    "states": ("Fifteen states", "states"),
    "held-out": ("Eight held-out states", "held-out"),
    "central-texas": ("Central Texas, on the paper's weeks", "config"),
    "flu": ("Influenza admissions in 52 jurisdictions", "flu"),
    "intensive-care": ("Intensive care in 16 German states", "intensive-care"),
}
"""Titles of the recorded runs, and names of their configs."""
BEST = 5
"""Systems of a level that are shown, besides the baseline and those that were sent."""
HEAD = """\
# League

<!-- league: made by tools/league.py -->

What each system keeps of the possible gain, in percent: 0 is a random choice, 100 the best of every
period. A system is an algorithm with its noise (†: ours). All of these see noisy gains only, and
promise at least what independent noise of the level promises. The largest share at each level:

{best}
Below are the five largest of each level, the first paper's RW-Meta, and all systems that others
sent ([send yours](../docs/how-to/send-a-row.md)). Intervals hold jointly with 95%, and cover only
the noise on these data; many zeros of the states' tables hide counts, so [these
shares](../docs/reference/recorded.md) have a range. *Rank* is 1 and the number of systems of the
table and level that are above for certain, so a smaller share may share a rank.

dpol's own rows are *recorded*. All rows that others sent on the same data stand in the same table,
*as sent*: choices as sent, scored here. That they were made from noisy numbers, with the promise
that their row states, is the sender's word. So is *looked at* (and the number of variants tried):
nobody can check it, so held-out data have a table of their own. We changed our method once we knew
[all recorded results](../docs/explanation/ours.md): no table is a clean test of it.
"""


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
    rows = rows[(rows["promise"] == THE_LEVEL) & rows["gain_share"].notna()]
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
            apart = "—" if row["strongest"] else apart.replace("-", "−")
            words = (escape_markdown(row[it]) for it in ("sender", "code", "looked_at"))
            first, how = "" if place else level(mu), "as sent" if row["sender"] else "recorded"
            lines.append((first, title(row), share(row), str(row["rank"]), apart, how, *words))
    head = "μ", "system", "share", "rank", "to the strongest rival", "choices", "sender", "code"
    return table((*head, "looked at"), lines, words=9)


def page() -> str:
    """Return the page."""
    others = sent()
    rows = {run: rows_of(run, others) for run in RUNS}
    mus = sorted({mu for own in rows.values() for mu in own["mu"]}, reverse=True)
    best = []
    for run, own in rows.items():
        first = {mu: at.iloc[0] for mu, at in own.groupby("mu")}
        cells = (f"{title(first[mu])} {share(first[mu])}" if mu in first else "" for mu in mus)
        best.append((RUNS[run][0], *cells))
    summary = table(("data", *(f"μ = {level(mu)}" for mu in mus)), best, words=len(mus) + 1)
    parts = (f"## {RUNS[run][0]}\n\n{table_of(own)}" for run, own in rows.items())
    return "\n".join([HEAD.format(best=summary), *parts, "<!-- end of league -->\n"])


if __name__ == "__main__":
    if sys.argv[1:]:
        add(Path(sys.argv[1]), [*map(pd.read_parquet, sys.argv[2:])])
    PAGE.write_text(page(), encoding="utf-8")
