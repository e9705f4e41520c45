"""What privacy costs: the share of the possible gain that is left at each privacy level.

A figure of the systems, and a table; both are drawn from the standings.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from dpol.core.words import at_most, percent
from dpol.privacy.account import best_guess
from dpol.privacy.settings import ordered_levels
from dpol.show import panels
from dpol.show.entries import OUR_MARK, REFERENCES, reference
from dpol.show.table import Line, Table, TableCell, number, one_section
from dpol.show.words import mu_title
from dpol.studies.answer.privacy import attacked, guesses_title, record_of
from dpol.studies.answer.systems import (
    CHOSEN,
    CURATOR,
    PLAYS_TOO,
    STRONGEST,
    SystemLine,
    first_level,
    groups_of,
    lines_of,
    names_ours,
    share_text,
    sized_titles,
    system_title,
)
from dpol.studies.bounds import with_bounds
from dpol.studies.comparison.standings import OUR_METHOD
from dpol.studies.games.names import BEST_FIXED
from dpol.studies.study import Facts, Frames

Y_LABEL = "share of the possible gain"
COLUMNS = [
    "question", "stream", "system", "algorithm", "noise", "model", "sees", "level", "mu",
    "right_guesses", "gain_share", "gain_share_half_width", "named_right",
    "named_right_half_width", "to_strongest", "to_strongest_half_width", "to_strongest_verdict",
    "best_fixed", "best_fixed_share",
]  # fmt: skip
"""Columns of the numbers. Rows without a stream are means over the streams of a question."""


def draw_privacy_utility(frames: Frames, facts: Facts) -> Figure:
    """Draw a panel per stream, or per question, with the systems and the best fixed expert.

    Args:
        frames: the standings and the summary.
        facts: titles of the streams and questions, and whether the streams are simulated.
    """
    standings = frames["standings"]
    lines, levels = lines_of(standings), ordered_levels(facts.levels)
    groups, named = groups_of(standings, facts), names_ours(standings)
    if not facts.asks_several:
        titles = sized_titles(facts.streams, standings[standings["stream"] != ""])
        groups = {title: standings[standings["stream"] == it] for it, title in titles.items()}
    alone, look = len(groups) == 1, REFERENCES[BEST_FIXED]
    height = max(3.2, 0.5 + panels.NAME_LINE * (2 - alone) * (len(lines) + 1))
    size = (panels.WIDTH - 0.4 if alone else 3.1), height
    with panels.panels(len(groups), 2, size, Y_LABEL, form=facts.form, shared="y") as drawn:
        for ax, (title, rows) in zip(drawn.axes, groups.items(), strict=True):
            panels.name_panel(ax, title)
            fixed = reference(BEST_FIXED)
            if not named and rows["best_fixed"].iloc[0]:
                fixed = textwrap.fill(f"always {rows['best_fixed'].iloc[0]}", 22)
            panels.set_guesses(ax, [best_guess(mu) for mu in levels])
            for share in rows["best_fixed_share"].dropna().head(1):
                ax.axhline(share, label=reference(BEST_FIXED), **look.line)
                end = len(levels) - 0.5
                drawn.name_line(ax, (end, share), f"{fixed} {percent(share)}", look.colour)
            for line in lines:
                own = line.among(rows)
                if own.empty:
                    continue
                own = own.assign(place=own["mu"].map(levels.index)).sort_values("place")
                points = own[["place", "gain_share", "gain_share_half_width"]]
                place, last = points[["place", "gain_share"]].iloc[-1]
                panels.add_bars(ax, points, line.look, line.name)
                name = line.name.replace(", ", ",\n")
                drawn.name_line(ax, (place, last), f"{name} {percent(last)}", line.look.colour)
        shown = pd.concat(groups.values())
        kept = [shown["best_fixed_share"]]
        kept += [line.among(shown)["gain_share"] for line in lines]
        if (shares := pd.concat(kept).dropna()).size:
            drawn.axes[0].set_ylim(min(0.0, shares.min() - 0.05), shares.max() + 0.05)
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x(f"privacy: {guesses_title(standings)}")
        row = next(iter(groups.values())).iloc[0]
        data, bars = panels.describe_runs(row, facts.simulated)
        who = [line.explained for line in lines] if named else ["each with its best noise"]
        drawn.caption(data, "0%: uniform random; 100%: oracle", bars, *who)
        local = [line for line in lines if line.rows["model"].iloc[0] == "local"]
        if told := [line for line in lines if line.name == OUR_METHOD] or local or lines:
            drawn.find(_finding(told, frames, facts, best=not named))
    return drawn.figure


def _finding(lines: Sequence[SystemLine], frames: Frames, facts: Facts, *, best: bool) -> str:
    """Say what a system keeps at a level and without privacy, and how well it hides a person.

    The level is that of the first lead; if no system keeps it, the strictest that one keeps.

    Args:
        lines: the systems.
        frames: the standings, whose first group the finding describes, and the summary.
        facts: titles of the streams and questions, and the levels.
        best: whether to tell of the system that keeps most there, else of the first.
    """
    groups = groups_of(standings := frames["standings"], facts)
    title, rows = next(iter(groups.items()))
    mu = ordered_levels(facts.levels)[first_level(standings, facts)]
    where = f" ({title})" * (len(groups if facts.asks_several else facts.streams) > 1)
    of_line = [line.among(rows).assign(line=k) for k, line in enumerate(lines)]
    kept = pd.concat(of_line).sort_values("mu", ascending=False)
    mu = mu if (kept["mu"] == mu).any() else kept["mu"].min()
    at = kept[kept["mu"] == mu]
    row = at.iloc[int(at["gain_share"].argmax()) if best else 0]
    line = lines[row["line"]]
    named = f"{line.name} ({line.explained.partition(': ')[2]})"
    named = f"{line.name}, the best in hindsight," if best else named
    said = f"At {mu_title(mu)} {named} keeps {_kept(row)} of the possible gain{where}"
    if mu == math.inf:
        return f"{said}."
    for _, free in kept[(kept["line"] == row["line"]) & (kept["mu"] == math.inf)].iterrows():
        said += f", and {_kept(free)} without privacy"
    return f"{said}. {attacked(record_of(row, frames['summary']))}"


def _kept(row: pd.Series) -> str:
    return share_text(row["gain_share"], row["gain_share_half_width"])


# ---- table ---------------------------------------------------------------------------------------


def answer_table(frames: Frames, facts: Facts) -> Table:
    """Build the table: a section per question or stream, a line per system, a column per level.

    Args:
        frames: the standings, and the curves of all systems if the run makes them.
        facts: the questions, the streams of each, and the levels.
    """
    standings, mus = with_bounds(frames), ordered_levels(facts.levels)
    lines, groups = lines_of(standings), groups_of(standings, facts)
    sections = [
        one_section(_lines(rows, lines, mus), title if len(groups) > 1 else "")
        for title, rows in groups.items()
    ]
    kind = "question" if facts.asks_several else "stream"
    numbers = [line.rows.assign(system=line.explained) for line in lines]
    return Table(
        caption="Share of the possible gain kept",
        corner=(kind, "system") if len(groups) > 1 else ("system",),
        headers=tuple(map(level_title, mus)),
        sections=tuple(sections),
        footers=tuple(_footers(standings, facts)),
        numbers=pd.concat(numbers).reindex(columns=COLUMNS)
        if numbers
        else pd.DataFrame(columns=COLUMNS),
    )


def level_title(mu: float) -> str:
    """Name a level, with the right guesses that it allows.

    >>> level_title(0.25)
    'μ = 0.25 (55%)'
    """
    return mu_title(mu) + f" ({at_most(100 * best_guess(mu))}%)" * (mu < math.inf)


def _lines(rows: pd.DataFrame, lines: Sequence[SystemLine], mus: Sequence[float]) -> Iterator[Line]:
    for line in lines:
        of_level = {row["mu"]: row for row in line.among(rows).to_dict("records")}
        if not of_level:
            continue
        yield (
            line.name if line.name in CHOSEN else line.explained,
            tuple(_share(of_level.get(mu), line) for mu in mus),
        )
    always, share = rows[["best_fixed", "best_fixed_share"]].iloc[0]
    if not math.isnan(share):
        fixed = number(share, percent(share, 1))
        yield reference(BEST_FIXED) + (f": always {always}" if always else ""), (fixed,) * len(mus)


def _share(row: Any, line: SystemLine) -> TableCell:
    if row is None or math.isnan(row["gain_share"]):
        return TableCell("—")
    notes = (system_title(row["algorithm"], row["noise"]),) * (line.name in CHOSEN)
    notes += (PLAYS_TOO,) * (line.name == CURATOR and row["model"] == "local")
    return TableCell(_kept(row), notes, order=row["gain_share"])


def _footers(standings: pd.DataFrame, facts: Facts) -> Iterator[str]:
    row = standings.iloc[0]
    means = standings["stream"].eq("").any()
    streams = len(facts.streams) // max(1, len(facts.questions))
    over = f" Means over {streams} streams." * bool(means)
    mark = f" {OUR_MARK}." * bool(standings["ours"].any())
    yield (
        "0% is the gain of uniform random choices, 100% is the gain of the oracle, which picks the"
        f" best expert of every round.{over} In brackets, {guesses_title(standings)}."
        f" ±: joint {100 * row['confidence']:g}% intervals for the noise on these data. —: not"
        f" played, or its guarantee is weaker than the level.{mark}"
    )
    names = {line.name for line in lines_of(standings)}
    if STRONGEST in names:
        yield "The strongest rival of a level is the best other family that guarantees the same."
    if CURATOR in names:
        yield (
            "The best curator of a level is the best family but our method’s. It may be a local"
            " rule: a curator, who sees raw numbers, can add noise to them and play any rule."
        )
