"""Throw coins, and show how often they fell on heads."""

from __future__ import annotations

import pandas as pd
from dpol.studies.coins import Coins
from matplotlib.figure import Figure

from dpol.core.intervals import add_intervals, standard_error
from dpol.core.randomness import replicate_generators
from dpol.show import style
from dpol.show.table import Table, number, one_section
from dpol.studies.study import Facts, Frames, Inputs, Point


def run(settings: Coins, point: Point, inputs: Inputs) -> dict[str, pd.DataFrame]:
    """One coin."""
    generators = replicate_generators(inputs.seed, (point["bias"],), range(settings.throws), "coin")
    heads = (generators.uniform() < point["bias"]).astype(float)
    row = {
        "bias": point["bias"],
        "heads": heads.mean(),
        "standard_error": float(standard_error(heads)),
        "replicates": settings.throws,
    }
    return {"coins": pd.DataFrame([row])}


def collect(frames: Frames, settings: Coins, facts: Facts) -> dict[str, pd.DataFrame]:
    """All coins, with intervals that hold together."""
    errors = {"standard_error": "half_width"}
    return {"coins": add_intervals(frames["coins"], errors, facts.confidence)}


def draw(frames: Frames, settings: Coins, facts: Facts) -> Figure:
    """Heads against bias."""
    with style.figure_style():
        figure = style.new_figure(3.0, 2.0)
        coins = frames["coins"]
        figure.subplots().errorbar(coins["bias"], coins["heads"], coins["half_width"], fmt="o")
    return figure


def build(frames: Frames, settings: Coins, facts: Facts) -> Table:
    """A line for each coin."""
    coins = frames["coins"]
    lines = (
        (f"{row.bias:g}", (number(row.heads), number(row.half_width))) for row in coins.itertuples()
    )
    return Table(
        caption="Heads of each coin",
        name="coins",
        corner=("bias",),
        headers=("heads", "half-width"),
        sections=(one_section(lines),),
        numbers=coins,
    )
