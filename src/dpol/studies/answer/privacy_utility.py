"""What privacy costs: the share of the possible gain that is left at each privacy level.

A figure of the systems, and a table.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.looks import REFERENCES
from dpol.show.names import OURS
from dpol.show.table import Line as TableLine
from dpol.show.table import Table, TableCell, number, one_section
from dpol.show.words import mu_title
from dpol.studies.answer.systems import (
    Line,
    attacked,
    lines_of,
    mean_share,
    share_text,
    sized_titles,
    system_title,
)
from dpol.studies.games.levels import ordered_levels
from dpol.studies.games.names import BEST_FIXED, REFERENCE_NAMES, Shown
from dpol.studies.games.names import OURS as OUR_ROLE
from dpol.studies.study import Facts, Frames

Y_LABEL = "share of the possible gain"
_NAME = 0.13
"""Height of a line of a name, in inches."""
_KEPT = ["gain_share", "gain_share_half_width", "named_right", "named_right_half_width"]
COLUMNS = [
    "question", "stream", "system", "algorithm", "noise", "model", "level", "mu", "right_guesses",
    *_KEPT, "best_fixed", "best_fixed_share",
]  # fmt: skip
"""Columns of the numbers. Rows without a stream are means over the streams of a question; their
half-widths are means of half-widths. They are only there if systems or questions are compared."""


def draw_privacy_utility(frames: Frames, main: Shown, facts: Facts) -> Figure:
    """Draw a panel per stream, with the systems of `lines_of` and the best fixed expert.

    Args:
        frames: the summary.
        main: the algorithms of the report, and the systems to compare.
        facts: titles of the streams, and whether they are simulated.
    """
    summary, first = frames["summary"], next(iter(facts.streams))
    lines, titles = lines_of(summary, main, facts), sized_titles(facts.streams, summary)
    alone = len(facts.streams) == 1
    height = max(3.2, 0.5 + _NAME * (2 - alone) * (len(lines) + 1))
    size = (panels.WIDTH - 0.4 if alone else 3.1), height
    with panels.panels(len(facts.streams), 3, size, Y_LABEL, sharey=True) as drawn:
        for ax, stream in zip(drawn.axes, facts.streams, strict=True):
            panels.name_panel(ax, titles[stream])
            own = summary[summary["stream"] == stream]
            fixed = REFERENCE_NAMES[BEST_FIXED]
            if not main.roles:
                fixed = textwrap.fill(f"always {own['best_fixed'].iloc[0]}", 22)
            _draw_panel(drawn, ax, own, lines, facts, fixed)
        kept = [summary["best_fixed_share"], *(line.rows["gain_share"] for line in lines)]
        if (shares := pd.concat(kept).dropna()).size:
            drawn.axes[0].set_ylim(shares.min() - 0.05, shares.max() + 0.05)
        # The table has the systems of the thin lines.
        who = [line.explained for line in lines if line.name not in list(main.roles)[1:-1]]
        if not main.roles:
            who = ["dashed: a curator; each with its best noise"]
            # Of the first stream: it may be a whole, and the others its parts.
            lines = lines_of(summary[summary["stream"] == first], main, facts)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(summary.iloc[0], facts.simulated, "bars")
        drawn.title(data, "0%: uniform random; 100%: oracle", bars, *who)
        if named := [line for line in lines if line.name == OUR_ROLE] or lines:
            where = "" if alone or main.roles else f", {facts.streams[first]}"
            drawn.find(_finding(named[0], where, facts, best=not main.roles))
    return drawn.figure


def _draw_panel(
    drawn: panels.Panels,
    ax: Axes,
    rows: pd.DataFrame,
    lines: Sequence[Line],
    facts: Facts,
    fixed: str,
) -> None:
    """Draw the systems of a stream, and its best fixed expert; each line is named at its end.

    Args:
        drawn: the figure.
        ax: the panel.
        rows: rows of the stream.
        lines: the systems, with their rows for all streams.
        facts: the levels.
        fixed: name of the best fixed expert.
    """
    levels, look = ordered_levels(facts.levels), REFERENCES[BEST_FIXED]
    divider, end = ", " if len(facts.streams) == 1 else ",\n", len(levels) - 0.5
    panels.set_guesses(ax, [best_guess(mu) for mu in levels])
    for share in rows["best_fixed_share"].dropna().head(1):
        ax.axhline(share, label=REFERENCE_NAMES[BEST_FIXED], **look.line)
        drawn.name_line(ax, (end, share), f"{fixed} {percent(share)}", look.colour)
    for line in lines:
        points = points_of(line.rows[line.rows["stream"].isin(rows["stream"])], levels)
        if points.empty:
            continue
        place, last = points[["place", "gain_share"]].iloc[-1]
        if line.model == "none":  # one number for all levels
            ax.axhline(last, label=line.name, **line.look.line)
            place, name = end, f"{line.name}{divider}no privacy"
        else:
            panels.add_bars(ax, points, line.look, line.name)
            name = line.name.replace(", ", divider)
        drawn.name_line(ax, (place, last), f"{name} {percent(last)}", line.look.colour)


def points_of(rows: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """Return the place of each level, with its share and half-width."""
    points = rows.assign(place=rows["mu"].map(levels.index)).sort_values("place")
    return points[["place", "gain_share", "gain_share_half_width"]]


def _finding(line: Line, where: str, facts: Facts, *, best: bool) -> str:
    """Say what a system keeps at the weakest and the strictest level that it keeps.

    Args:
        line: the system.
        where: words on the streams.
        facts: the levels.
        best: whether it is the best of all systems at the strictest level, if it keeps that.
    """
    shares = {mu: mean_share(line.rows, mu) for mu in ordered_levels(facts.levels)}
    played = [mu for mu, (share, _) in shares.items() if not math.isnan(share)]
    ends = dict.fromkeys((played[0], played[-1]))
    said = ", ".join(f"{share_text(*shares[mu])} at {mu_title(mu)}" for mu in ends)
    over = line.rows["stream"].nunique()
    mean = f", mean over {over} streams" if over > 1 else ""
    guesses = f" {attacked(played[-1])}" if played[-1] < math.inf else ""
    named = line.name if best else f"{line.name} ({line.explained.partition(': ')[2]})"
    if best and played[-1] == min(shares):
        named += f", the best at {mu_title(played[-1])} in hindsight,"
    return f"Of the possible gain{where}{mean}, {named} keeps {said}.{guesses}"


# ---- table ---------------------------------------------------------------------------------------


def answer_table(frames: Frames, settings: Shown, facts: Facts) -> Table:
    """Build the table: a section per question or stream, a line per system, a column per level.

    Args:
        frames: the summary.
        settings: the algorithms of the report, and the systems to compare.
        facts: the questions, the streams of each, and the levels.
    """
    summary = frames["summary"]
    table = table_of_shares(shares_of(summary, settings, facts), summary.iloc[0], facts)
    shown = summary["algorithm"].isin(settings.algorithms)
    weak = ~summary["keeps_level"] & (shown | (summary["guaranteed_mu"] > summary["mu"]))
    weaker = summary.loc[weak, ["algorithm", "noise", "guaranteed_mu", "mu"]].drop_duplicates()
    left_out = [
        f"{system_title(*system)} at {mu_title(mu)}" + f" ({mu_title(own)})" * (own > 0)
        for *system, own, mu in weaker.itertuples(index=False)
    ]
    first, *others = table.footers
    if left_out:
        first += f" Left out, since the guarantee (in brackets) is weaker: {'; '.join(left_out)}."
    return replace(table, footers=(first, *others))


def shares_of(summary: pd.DataFrame, settings: Shown, facts: Facts) -> pd.DataFrame:
    """Compute the shares of every system by stream, with `COLUMNS`.

    Also their means, if systems or questions are compared. Otherwise the streams may be a whole and
    its parts, whose mean would count everybody twice.
    """
    asked = {stream: facts.question_of.get(stream, "") for stream in facts.streams}
    parts = []
    for line in lines_of(summary, settings, facts):
        rows = line.rows.assign(question=line.rows["stream"].map(asked), system=line.explained)
        over = rows.groupby(["question", "mu"], sort=False)
        means = over[[*_KEPT, "best_fixed_share"]].mean()
        first = over[["system", "algorithm", "noise", "model", "level", "best_fixed"]].first()
        first["best_fixed"] = first["best_fixed"].where(over["best_fixed"].nunique() == 1, "")
        if settings.roles or facts.asks_several:
            parts.append(first.join(means).reset_index().assign(stream=""))
        parts.append(rows)
    if not parts:
        return pd.DataFrame(columns=COLUMNS)
    frame = pd.concat(parts, ignore_index=True)
    return frame.assign(right_guesses=frame["mu"].map(best_guess))[COLUMNS]


def groups_of(numbers: pd.DataFrame, facts: Facts) -> dict[str, pd.DataFrame]:
    """Return the means of each question, or the rows of each stream if there are none, by title."""
    means = numbers[numbers["stream"] == ""]
    shown = {
        title: means[means["question"] == question]
        for question, title in (facts.questions or {"": ""}).items()
    }
    if means.empty:
        shown = {title: numbers[numbers["stream"] == it] for it, title in facts.streams.items()}
    return {title: rows for title, rows in shown.items() if len(rows)}


def level_title(mu: float) -> str:
    """Name a level, with the right guesses that it allows.

    >>> level_title(0.25)
    'μ = 0.25 (55%)'
    """
    return mu_title(mu) + f" ({best_guess(mu):.0%})" * (mu < math.inf)


def table_of_shares(numbers: pd.DataFrame, row: pd.Series[Any], facts: Facts) -> Table:
    """Build the table of these numbers.

    Args:
        numbers: rows with `COLUMNS`.
        row: replicates, confidence and number of comparisons of the intervals.
        facts: the questions, the streams of each, and the levels.
    """
    mus, shown = ordered_levels(facts.levels), groups_of(numbers, facts)
    kind = "question" if facts.asks_several else "stream"
    named = bool(numbers["named_right"].notna().any())
    strictest = mu_title(mus[-1])
    return Table(
        caption="Share of the possible gain kept",
        corner=(kind, "system") if len(shown) > 1 else ("system",),
        headers=(
            *map(level_title, mus),
            *([f"how often it names the best, {strictest}"] if named else []),
        ),
        sections=tuple(
            one_section(_lines(rows, mus, named=named), title if len(shown) > 1 else "")
            for title, rows in shown.items()
        )
        or (one_section([("—", tuple(TableCell("—") for _ in mus))]),),
        footers=tuple(_footers(numbers, row, facts)),
        numbers=numbers,
    )


def _lines(means: pd.DataFrame, mus: Sequence[float], *, named: bool) -> Iterator[TableLine]:
    for system, rows in means.groupby("system", sort=False):
        of_level = {row["mu"]: row for row in rows.to_dict("records")}
        cells = [_share(of_level.get(mu), "gain_share") for mu in mus]
        if named:
            cells.append(_share(of_level.get(mus[-1]), "named_right"))
        yield str(system), tuple(cells)
    always, share = means[["best_fixed", "best_fixed_share"]].iloc[0]
    if not math.isnan(share):
        fixed = number(share, percent(share, 1))
        name = f"{REFERENCE_NAMES[BEST_FIXED]}, in hindsight" + (
            f": always {always}" if always else ""
        )
        yield name, (*[fixed] * len(mus), *[TableCell("—")] * named)


def _share(row: Any, column: str) -> TableCell:
    if row is None or math.isnan(row[column]):
        return TableCell("—")
    return number(row[column], share_text(row[column], row[f"{column}_half_width"]))


def _footers(numbers: pd.DataFrame, row: pd.Series[Any], facts: Facts) -> Iterator[str]:
    streams = len(set(numbers["stream"]) - {""}) // max(1, len(facts.questions))
    over = f" Means over {streams} streams." * (streams > 1 and "" in set(numbers["stream"]))
    yield (
        "0% is the gain of uniform random choices, 100% is the gain of the oracle, which picks the"
        f" best expert of every round.{over} In brackets: how often, at most, an attacker guesses"
        f" right (a coin: 50%). ±: joint {100 * row['confidence']:g}% intervals for the noise on"
        " these data. —: not played, or its guarantee is weaker than the level."
    )
    if numbers["system"].str.contains("†").any():
        yield f"{OURS}."
