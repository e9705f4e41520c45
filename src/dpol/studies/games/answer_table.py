"""First table: the share of the possible gain that each system keeps at each privacy level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from dpol.core.rounding import percent
from dpol.privacy.account import best_guess
from dpol.show.footers import plus_minus
from dpol.show.names import OURS
from dpol.show.table import Line, Table, TableCell, number, one_section
from dpol.show.words import mu_title
from dpol.studies.games.bounds import NAMES
from dpol.studies.games.settings import BEST_FIXED, Games
from dpol.studies.games.systems import lines_of, ordered_levels
from dpol.studies.study import Facts, Frames

_KEPT = ["gain_share", "gain_share_half_width", "named_right", "named_right_half_width"]
COLUMNS = [
    "question", "stream", "system", "algorithm", "noise", "model", "level", "mu", "right_guesses",
    *_KEPT, "best_fixed", "best_fixed_share",
]  # fmt: skip
"""Columns of the numbers. Rows without a stream are means over the streams of a question; their
half-widths are means of half-widths."""


def build(frames: Frames, settings: Games, facts: Facts) -> Table:
    """Build the table: a section per question, a line per system, a column per level.

    Args:
        frames: the summary.
        settings: the algorithms of the report, and the systems to compare.
        facts: the questions, the streams of each, and the levels.
    """
    summary = frames["summary"]
    return table_of(numbers_of(summary, settings, facts), summary.iloc[0], facts)


def numbers_of(summary: pd.DataFrame, settings: Games, facts: Facts) -> pd.DataFrame:
    """Compute the shares of every system by stream and on average, with `COLUMNS`."""
    asked = {stream: facts.asked.get(stream, "") for stream in facts.streams}
    parts = []
    for line in lines_of(summary, settings, facts):
        rows = line.rows.assign(question=line.rows["stream"].map(asked), system=line.explained)
        over = rows.groupby(["question", "mu"], sort=False)
        means = over[[*_KEPT, "best_fixed_share"]].mean()
        first = over[["system", "algorithm", "noise", "model", "level", "best_fixed"]].first()
        first["best_fixed"] = first["best_fixed"].where(over["best_fixed"].nunique() == 1, "")
        parts += [first.join(means).reset_index().assign(stream=""), rows]
    if not parts:
        return pd.DataFrame(columns=COLUMNS)
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(right_guesses=frame["mu"].map(best_guess))[COLUMNS]


def table_of(numbers: pd.DataFrame, row: pd.Series[Any], facts: Facts) -> Table:
    """Build the table of these numbers.

    Args:
        numbers: rows with `COLUMNS`.
        row: replicates, confidence and number of comparisons of the intervals.
        facts: the questions, the streams of each, and the levels.
    """
    mus = ordered_levels(facts.levels)
    means = numbers[numbers["stream"] == ""]
    named = bool(means["named_right"].notna().any())
    strictest = mu_title(mus[-1])
    return Table(
        caption="Share of the possible gain kept",
        name="answer",
        corner=("question", "system") if facts.asks_several else ("system",),
        headers=(
            *(f"{mu_title(mu)}{_guesses(mu)}" for mu in mus),
            *([f"right one named, {strictest}"] if named else []),
        ),
        sections=tuple(
            one_section(_lines(means[means["question"] == question], mus, named=named), title)
            for question, title in (facts.questions or {"": ""}).items()
        )
        if len(means)
        else (one_section([("—", tuple(TableCell("—") for _ in mus))]),),
        footers=tuple(_footers(numbers, row, facts)),
        numbers=numbers,
    )


def _guesses(mu: float) -> str:
    return "" if mu == math.inf else f" ({best_guess(mu):.0%})"


def _lines(means: pd.DataFrame, mus: Sequence[float], *, named: bool) -> Iterator[Line]:
    for system, rows in means.groupby("system", sort=False):
        of_level = {row["mu"]: row for row in rows.to_dict("records")}
        cells = [_share(of_level.get(mu), "gain_share") for mu in mus]
        if named:
            cells.append(_share(of_level.get(mus[-1]), "named_right"))
        yield str(system), tuple(cells)
    always, share = means[["best_fixed", "best_fixed_share"]].iloc[0]
    if not math.isnan(share):
        fixed = number(share, percent(share, 1))
        name = f"{NAMES[BEST_FIXED]}, in hindsight" + (f": always {always}" if always else "")
        yield name, (*[fixed] * len(mus), *[TableCell("—")] * named)


def _share(row: Any, column: str) -> TableCell:
    if row is None or math.isnan(row[column]):
        return TableCell("—")
    half = 100 * row[f"{column}_half_width"]
    text = percent(row[column], 1)
    return number(row[column], text + plus_minus(half, 1) if 0 < half < math.inf else text)


def _footers(numbers: pd.DataFrame, row: pd.Series[Any], facts: Facts) -> Iterator[str]:
    streams = len(set(numbers["stream"]) - {""}) // max(1, len(facts.questions))
    over = f" Means over {streams} streams." if streams > 1 else ""
    yield (
        "0% is the gain of uniform random choices, 100% is the gain of the oracle, which picks the"
        f" best expert of every round.{over} In brackets: how often, at most, an attacker guesses"
        f" right (a coin: 50%). ±: joint {100 * row['confidence']:g}% intervals for the noise on"
        " these data. —: not played, or its guarantee is weaker than the level."
    )
    if numbers["system"].str.contains("†").any():
        yield f"{OURS}."
