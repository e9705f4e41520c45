"""Costs of noise: the rows of the summary that the page shows, and their table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

import pandas as pd

from dpol.config.models import Config
from dpol.noise.noises import CAPACITY
from dpol.show.footers import COVERS, plus_minus
from dpol.show.names import marked
from dpol.show.table import Column, Entry, Table, number, one_section
from dpol.show.words import mu_title


def shown_costs(summary: pd.DataFrame, config: Config) -> pd.DataFrame:
    """The rows with a cost of the systems compared, or of the first private algorithm shown.

    They are in the order of systems, streams and levels; none if no cost is known.
    """
    keys = ["algorithm", "noise", "stream", "mu"]
    known = summary[summary["noise_cost"].notna()].set_index(keys, drop=False)
    order = product(_systems(summary, config), config.streams, config.privacy.levels.values())
    shown = [(*system, stream, mu) for system, stream, mu in order]
    return known.loc[[it for it in shown if it in known.index]].reset_index(drop=True)


def _systems(summary: pd.DataFrame, config: Config) -> Iterator[tuple[str, str]]:
    if config.comparison is not None:
        for system in (config.comparison.paper, config.comparison.ours):
            yield system.algorithm, system.noise
        return
    for label in config.report.algorithms:
        private = (summary["algorithm"] == label) & (summary["model"] != "none")
        played = list(summary.loc[private, "noise"].unique())
        if played:
            first = config.report.noise if config.report.noise in played else played[0]
            names = dict.fromkeys((first, CAPACITY.name))
            yield from ((label, name) for name in names if name in played)
            return


def cost_table(costs: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Gains lost to noise, a line per system and stream.

    Args:
        costs: rows of the summary, at least one.
        titles: of the streams.
    """
    mus = list(costs["mu"].unique())
    lines = []
    for _, own in costs.groupby(["algorithm", "noise", "stream"], sort=False):
        row = own.iloc[0]
        words = Entry(row["algorithm"]), Entry(marked(row["noise"], row["ours"]))
        gain = number(row["gain_without_noise"], f"{row['gain_without_noise']:.2f}")
        of_level = {row["mu"]: _lost(row) for row in own.to_dict("records")}
        lost = (of_level.get(mu, Entry("—")) for mu in mus)
        lines.append((titles[row["stream"]], (*words, gain, *lost)))
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
        sections=(one_section(lines),),
        footers=(
            "Lost: mean gain without noise minus mean gain at the level. In brackets: the loss as a"
            " share of the gain above chance without noise."
            " ±: the sum of the half widths of both means, so that all intervals hold together like"
            f" those of the table of total gains. {COVERS} †: ours, not in the paper.",
        ),
    )


def _lost(row: Mapping[Any, Any]) -> Entry:
    text, share = f"{row['noise_cost']:.2f}{plus_minus(row['noise_cost_half_width'])}", ""
    if pd.notna(row["noise_cost_share"]):  # there is nothing to lose above chance
        share = f" ({100 * row['noise_cost_share']:.0f}%)"
    text += share
    return number(row["noise_cost"], text.replace("-", "−"))
