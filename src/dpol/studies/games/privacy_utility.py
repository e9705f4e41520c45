"""What privacy costs: the share of the possible gain that is left at each privacy level.

A figure of the systems, a figure of local algorithms and their central rivals, and a table.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.rounding import percent
from dpol.noise import CENTRAL_NOISES
from dpol.privacy.account import best_guess
from dpol.show import panels
from dpol.show.footers import plus_minus
from dpol.show.looks import REFERENCES, looks_of
from dpol.show.names import OURS
from dpol.show.table import Line as TableLine
from dpol.show.table import Table, TableCell, number, one_section
from dpol.show.words import mu_title
from dpol.studies.games.settings import BEST_FIXED, Games
from dpol.studies.games.settings import OURS as OUR_ROLE
from dpol.studies.games.systems import (
    REFERENCE_NAMES,
    Line,
    beside_the_strongest,
    headline_level,
    in_steps,
    keeps_level,
    lines_of,
    mean_share,
    ordered_levels,
    promised,
    sized_titles,
    system_title,
)
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


def draw_privacy_utility(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw a panel per stream, with the systems of `lines_of` and the best fixed expert.

    Args:
        frames: the summary.
        main: the algorithms of the report, and the systems to compare.
        facts: titles of the streams, and whether they are simulated.
    """
    summary = frames["summary"]
    lines, titles = lines_of(summary, main, facts), sized_titles(facts.streams, summary)
    levels, fixed = ordered_levels(facts.levels), REFERENCES[BEST_FIXED]
    of_stream = summary.drop_duplicates("stream").set_index("stream")
    alone = len(facts.streams) == 1
    lines_of_name, divider = (1, ", ") if alone else (2, ",\n")
    height = max(2.4, 0.5 + _NAME * lines_of_name * (len(lines) + 1))
    size = (panels.WIDTH - 0.4 if alone else 3.1), height
    with panels.panels(len(facts.streams), 3, size, Y_LABEL, sharey=True) as drawn:
        for ax, stream in zip(drawn.axes, facts.streams, strict=True):
            panels.name_panel(ax, titles[stream])
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            best, share = of_stream["best_fixed"][stream], of_stream["best_fixed_share"][stream]
            if not math.isnan(share):
                ax.axhline(share, label=REFERENCE_NAMES[BEST_FIXED], **fixed.line)
                name = (
                    REFERENCE_NAMES[BEST_FIXED]
                    if main.roles
                    else textwrap.fill(f"always {best}", 22)
                )
                end = len(levels) - 0.5, share
                drawn.name_line(ax, end, f"{name} {percent(share)}", fixed.colour)
            for line in lines:
                points = points_of(line.rows[line.rows["stream"] == stream], levels)
                if points.empty:
                    continue
                place, last = points[["place", "gain_share"]].iloc[-1]
                if line.model == "none":  # one number for all levels
                    ax.axhline(last, label=line.name, **line.look.line)
                    place, name = len(levels) - 0.5, f"{line.name}{divider}no privacy"
                else:
                    panels.add_bars(ax, points, line.look, line.name)
                    name = line.name.replace(", ", divider)
                drawn.name_line(ax, (place, last), f"{name} {percent(last)}", line.look.colour)
        panels.set_percent(drawn.axes[0].yaxis)
        lowest = min((line.rows["gain_share"].min() - 0.02 for line in lines), default=0.0)
        drawn.axes[0].set_ylim(min(0.0, lowest), 1.0)
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(summary.iloc[0], facts.simulated, "bars")
        # The table has the systems of the thin lines.
        who = [line.explained for line in lines if line.name not in list(main.roles)[1:-1]]
        if not main.roles:
            who = ["dashed: a curator; each with its best noise"]
        drawn.title(data, "0%: uniform random; 100%: oracle", bars, *who)
        compared = [line for line in lines if line.name in main.roles]
        if compared:
            drawn.find(_compared(compared, levels, headline_level(facts.levels)))
        elif lines:
            # Of the first stream: it may be a whole, and the others its parts.
            first = next(iter(facts.streams))
            best, *_ = lines_of(summary[summary["stream"] == first], main, facts)
            where = "" if alone else f", {facts.streams[first]}"
            drawn.find(_finding(best, where, levels))
    return drawn.figure


def points_of(rows: pd.DataFrame, levels: Sequence[float]) -> pd.DataFrame:
    """Return the place of each level, with its share and half-width."""
    points = rows.assign(place=rows["mu"].map(levels.index)).sort_values("place")
    return points[["place", "gain_share", "gain_share_half_width"]]


def _finding(line: Line, where: str, levels: Sequence[float]) -> str:
    """Say what the best system keeps at the weakest and the strictest level that it keeps."""
    shares = {mu: mean_share(line.rows, mu)[0] for mu in levels}
    played = [mu for mu in levels if not math.isnan(shares[mu])]
    ends = dict.fromkeys((played[0], played[-1]))
    kept = ", ".join(f"{percent(shares[mu])} at {mu_title(mu)}" for mu in ends)
    strictest = played[-1]
    guesses = f", where an attacker is right at most {100 * best_guess(strictest):.0f} times in 100"
    return (
        f"Share of the possible gain that the best system keeps ({line.name}){where}:"
        f" {kept}{guesses if strictest < math.inf else ''}."
    )


def _compared(lines: Sequence[Line], levels: Sequence[float], headline: float) -> str:
    """Say what the baseline, its first rival and ours keep, and what the strongest rival does."""

    shares: dict[float, dict[str, tuple[float, float]]] = {}
    for mu in levels:
        each = {line.name: mean_share(line.rows, mu) for line in lines}
        known = {name: share for name, share in each.items() if not math.isnan(share[0])}
        if OUR_ROLE in known and len(known) > 1:
            shares[mu] = known
    if not shares:
        return "Nothing is compared: at no level do ours and a rival keep their guarantee."
    beside = [f"{beside_the_strongest(own)} at {mu_title(mu)}" for mu, own in shares.items()]
    named = (
        f" At {mu_title(headline)} an attacker is right at most"
        f" {100 * best_guess(headline):.0f} times in 100; {in_steps(shares[headline])}."
        if headline in shares
        else ""
    )
    over = ", mean over the panels" if lines[0].rows["stream"].nunique() > 1 else ""
    return (
        f"Share of the possible gain{over}.{named} Ours against its strongest rival in"
        f" hindsight: {'; '.join(beside)}."
    )


# ---- rivals --------------------------------------------------------------------------------------


def draw_rivals(frames: Frames, main: Games, facts: Facts) -> Figure:
    """Draw the share of the possible gain: a row of panels per noise, a column per stream.

    Args:
        frames: the summary.
        main: the rivals of the report.
        facts: titles of the streams, and whether they are simulated.
    """
    summary = frames["summary"]
    rows = promised(summary[summary["algorithm"].isin(main.report.rivals)])
    played = list(rows["noise"].unique())
    noises = [name for name in CENTRAL_NOISES if name in played] or played
    titles, levels = sized_titles(facts.streams, summary), ordered_levels(facts.levels)
    looks, fixed = looks_of(main.report.rivals), REFERENCES[BEST_FIXED]
    cells = list(product(noises, facts.streams))
    with panels.panels(len(cells), len(facts.streams), (2.5, 2.5), Y_LABEL, sharey=True) as drawn:
        for ax, (noise, stream) in zip(drawn.axes, cells, strict=True):
            of_panel = rows[(rows["stream"] == stream) & (rows["noise"] == noise)]
            panels.name_panel(ax, f"{titles[stream]}\n{noise} noise")
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            for share in of_panel["best_fixed_share"].head(1):
                ax.axhline(share, **fixed.line)
                end = len(levels) - 0.5
                drawn.name_line(ax, (end, share), "best fixed,\nin hindsight", fixed.colour)
            for algorithm, look in looks.items():
                points = points_of(of_panel[of_panel["algorithm"] == algorithm], levels)
                if points.empty:
                    continue
                panels.add_bars(ax, points, look, algorithm)
                drawn.name_line(ax, points.iloc[-1, :2], algorithm, look.colour)
        first = drawn.axes[0]
        panels.set_percent(first.yaxis)
        first.set_ylim(bottom=min(0.0, float(rows["gain_share"].min()) - 0.02))
        drawn.name_x(panels.GUESSES)
        data, bars = panels.describe_runs(rows.iloc[0], facts.simulated, "bars")
        drawn.title(data, "0%: uniform random; 100%: oracle", bars)
        drawn.find(_best_rivals(rows))
    return drawn.figure


def _best_rivals(rows: pd.DataFrame) -> str:
    """Name the best algorithm with its noise, without privacy and at the strictest level."""
    ends = []
    for mu in sorted({rows["mu"].max(), rows["mu"].min()}, reverse=True):
        means = rows[rows["mu"] == mu].groupby(["algorithm", "noise"])["gain_share"].mean()
        (algorithm, noise), share = means.idxmax(), means.max()
        guesses = f"{100 * best_guess(mu):.0f} right guesses of 100"
        ends.append(f"at {guesses}, {algorithm} with {noise} noise keeps {percent(share)}")
    return f"The best by the mean share of the possible gain: {'; '.join(ends)}."


# ---- table ---------------------------------------------------------------------------------------


def answer_table(frames: Frames, settings: Games, facts: Facts) -> Table:
    """Build the table: a section per question or stream, a line per system, a column per level.

    Args:
        frames: the summary.
        settings: the algorithms of the report, and the systems to compare.
        facts: the questions, the streams of each, and the levels.
    """
    summary = frames["summary"]
    table = table_of_shares(shares_of(summary, settings, facts), summary.iloc[0], facts)
    weak = ~keeps_level(summary) & summary["algorithm"].isin(settings.report.algorithms)
    weaker = summary.loc[weak, ["algorithm", "noise", "guaranteed_mu", "mu"]].drop_duplicates()
    left_out = [
        f"{system_title(*system)} at {mu_title(mu)}" + f" ({mu_title(own)})" * (own > 0)
        for *system, own, mu in weaker.itertuples(index=False)
    ]
    first, *others = table.footers
    if left_out:
        first += f" Left out, since the guarantee (in brackets) is weaker: {'; '.join(left_out)}."
    return replace(table, footers=(first, *others))


def shares_of(summary: pd.DataFrame, settings: Games, facts: Facts) -> pd.DataFrame:
    """Compute the shares of every system by stream, with `COLUMNS`.

    Also their means, if systems or questions are compared. Otherwise the streams may be a whole and
    its parts, whose mean would count everybody twice.
    """
    asked = {stream: facts.asked.get(stream, "") for stream in facts.streams}
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


def table_of_shares(numbers: pd.DataFrame, row: pd.Series[Any], facts: Facts) -> Table:
    """Build the table of these numbers.

    Args:
        numbers: rows with `COLUMNS`.
        row: replicates, confidence and number of comparisons of the intervals.
        facts: the questions, the streams of each, and the levels.
    """
    mus = ordered_levels(facts.levels)
    means = numbers[numbers["stream"] == ""]
    shown = {
        title: means[means["question"] == question]
        for question, title in (facts.questions or {"": ""}).items()
    }
    if means.empty:
        shown = {title: numbers[numbers["stream"] == it] for it, title in facts.streams.items()}
    shown = {title: rows for title, rows in shown.items() if len(rows)}
    kind = "question" if facts.asks_several else "stream"
    named = bool(numbers["named_right"].notna().any())
    strictest = mu_title(mus[-1])
    return Table(
        caption="Share of the possible gain kept",
        name="answer",
        corner=(kind, "system") if len(shown) > 1 else ("system",),
        headers=(
            *(mu_title(mu) + f" ({best_guess(mu):.0%})" * (mu < math.inf) for mu in mus),
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
    half = 100 * row[f"{column}_half_width"]
    text = percent(row[column], 1)
    return number(row[column], text + plus_minus(half, 1) if 0 < half < math.inf else text)


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
