"""Regret against the best sequence with at most S switches, S on the horizontal axis."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from dpol.privacy.settings import headline_level
from dpol.show import panels
from dpol.show.entries import GREY
from dpol.show.words import mu_title
from dpol.studies.league.systems import BEST, SystemLine, lines_of
from dpol.studies.study import Facts, Frames


def draw_switches(frames: Frames, facts: Facts) -> Figure:
    """Draw a panel per stream, with the regret of each system at the level of headlines.

    Args:
        frames: the standings, and the best sequences.
        facts: titles of the streams, and levels.
    """
    standings, best = frames["standings"], frames["switches"]
    mu, lines = headline_level(facts.levels), lines_of(standings)
    places, alone = shown_switches(int(best["switches"].max())), len(facts.streams) == 1
    size = (panels.WIDTH - 0.4 if alone else 3.1), max(3.2, 0.5 + 2 * panels.NAME_LINE * len(lines))
    name, number = "regret, share of the possible gain", len(facts.streams)
    with panels.panels(number, 2, size, name, form=facts.form, shared="y") as drawn:
        for ax, (stream, title) in zip(drawn.axes, facts.streams.items(), strict=True):
            panels.name_panel(ax, title)
            ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
            for line in lines:
                regrets = regrets_of(line, best[best["stream"] == stream], mu)
                if regrets.empty:
                    continue
                points = regrets[regrets["switches"].isin(places)]
                points = points.assign(place=points["switches"].map(places.index))
                ax.plot(points["place"], points["regret"], **line.look.line)
                last = points[["place", "regret", "half"]].tail(1)
                panels.add_bars(ax, last, line.look, line.name)
                name = line.name.replace(", ", ",\n")
                drawn.name_line(ax, last[["place", "regret"]].iloc[0], name, line.look.colour)
            panels.set_ticks(ax.xaxis, range(len(places)), lambda place: str(places[int(place)]))
        panels.set_percent(drawn.axes[0].yaxis)
        drawn.name_x("most switches S of the best sequence in hindsight")
        data, bars = panels.describe_runs(standings.iloc[0], facts.simulated)
        drawn.caption(data, mu_title(mu), bars)
        stream, title = next(iter(facts.streams.items()))
        for line in [line for line in lines if line.name == BEST] or lines:
            regrets = regrets_of(line, best[best["stream"] == stream], mu)
            if len(regrets):
                drawn.find(f"{title}, {mu_title(mu)}: {finding(line.name, regrets)}")
                break
    return drawn.figure


def shown_switches(most: int) -> list[int]:
    """Return 0, the powers of two below `most`, and `most`.

    >>> shown_switches(9), shown_switches(0)
    ([0, 1, 2, 4, 8, 9], [0])
    """
    return sorted({0, *(2**k for k in range(most.bit_length()) if 2**k < most), most})


def regrets_of(line: SystemLine, best: pd.DataFrame, mu: float) -> pd.DataFrame:
    """Return the regret of a system on a stream, as shares of the possible gain.

    Args:
        line: the system.
        best: the best sequences of the stream.
        mu: the level.

    Returns:
        A row per S, with `regret` and its half-width `half`; none if the system was not played.
    """
    rows = line.rows[line.rows["mu"] == mu].merge(best, on="stream")
    possible = rows["oracle_gain"] - rows["uniform_gain"]
    reached = (rows["best_gain"] - rows["uniform_gain"]) / possible
    return rows.assign(regret=reached - rows["gain_share"], half=rows["gain_share_half_width"])


def finding(name: str, regrets: pd.DataFrame) -> str:
    """Say from how many switches on a sequence surely gains more than a system."""
    above = regrets[regrets["regret"] > regrets["half"]]
    if above.empty:
        return f"no sequence surely gains more than {name}."
    least = above["switches"].min()
    return f"a sequence with {least} switches or more surely gains more than {name}."
