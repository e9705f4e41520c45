"""Costs of noise: the rows of the summary that have one, and their table."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import pandas as pd

from dpol.core.rounding import percent
from dpol.show.footers import COVERS, amount
from dpol.show.names import marked
from dpol.show.table import Column, Entry, Table, number, one_section
from dpol.show.words import mu_title
from dpol.studies.games.settings import Games
from dpol.studies.games.systems import systems_of
from dpol.studies.study import Facts, Frames

_KEYS = ["algorithm", "noise", "stream", "mu"]
_COSTS = ["noise_cost", "noise_cost_half_width", "noise_cost_share"]


def shown_costs(summary: pd.DataFrame, settings: Games, facts: Facts) -> pd.DataFrame:
    """The rows with a cost of the systems compared, or of the best local algorithm.

    They are in the order of systems, streams and levels; none if no cost is known.
    """
    costs = summary[summary["noise_cost"].notna()].set_index(_KEYS, drop=False)
    order = product(systems_of(summary, settings), facts.streams, facts.levels.values())
    shown = [(*system, stream, mu) for system, stream, mu in order]
    return costs.loc[[cell for cell in shown if cell in costs.index]].reset_index(drop=True)


def cost_table(frames: Frames, settings: Games, facts: Facts) -> Table:
    """Gains lost to noise, a line per system and stream; no line if no cost is known."""
    costs = shown_costs(frames["summary"], settings, facts)
    mus = list(costs["mu"].unique())
    lines = []
    for _, own in costs.groupby(["algorithm", "noise", "stream"], sort=False):
        row = own.iloc[0]
        words = Entry(row["algorithm"]), Entry(marked(row["noise"], row["ours"]))
        gain = number(row["gain_without_noise"], f"{row['gain_without_noise']:.2f}")
        of_level = {row["mu"]: _lost(row) for row in own.to_dict("records")}
        lost = (of_level.get(mu, Entry("—")) for mu in mus)
        lines.append((facts.streams[row["stream"]], (*words, gain, *lost)))
    none = Entry("—")
    return Table(
        caption="Total gain lost to noise",
        name="cost",
        corner=("stream",),
        headers=(
            Column("algorithm", prose=True),
            Column("noise", prose=True),
            "gain without noise",
            *(f"lost at {mu_title(mu)}" for mu in mus),
        ),
        sections=(one_section(lines or [("—", (none, none, none))]),),
        footers=(
            "Lost: mean gain without noise minus mean gain at the level. In brackets: the loss as a"
            " share of the gain above chance without noise."
            " ±: the sum of the half widths of both means, so that all intervals hold together like"
            f" those of the table of total gains. {COVERS} †: ours, not in the paper."
            " —: not played both with and without noise.",
        ),
        numbers=costs[[*_KEYS, "ours", "gain_without_noise", *_COSTS]],
    )


def _lost(row: Mapping[Any, Any]) -> Entry:
    text = amount(row["noise_cost"], row["noise_cost_half_width"])
    if pd.notna(row["noise_cost_share"]):  # there may be nothing to lose above chance
        text += f" ({percent(row['noise_cost_share'])})"
    return number(row["noise_cost"], text.replace("-", "−"))
