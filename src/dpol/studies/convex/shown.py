"""What the table and the figure of `dpol.studies.lazy` show of the regrets of this study."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from dpol.core.randomness import Floats
from dpol.show.table import Table
from dpol.studies.convex.settings import Convex
from dpol.studies.lazy.figures import draw_regret
from dpol.studies.lazy.shown import Game
from dpol.studies.lazy.table import regret_table
from dpol.studies.study import Facts, Frames


def convex_rate(rounds: Floats, dimension: float, epsilon: float, delta: float) -> Floats:
    """The rate of Theorem 3.12, sqrt(T) + T^(1/3) sqrt(d log T) log(T/delta) / eps^(2/3)."""
    private = np.cbrt(rounds) * np.sqrt(dimension * np.log(rounds)) * np.log(rounds / delta)
    return np.asarray(np.sqrt(rounds) + private / epsilon ** (2 / 3))


CONVEX = Game(
    "convex",
    "the best point of a ball",
    {"linear": "linear losses"},
    (
        "sqrt(T) + T^(1/3) sqrt(d) / ε^(2/3)",
        "min(d^(1/4) sqrt(T) / sqrt(ε), sqrt(T) + T^(1/3) sqrt(d) / ε + T^(3/8) sqrt(d) / ε^(3/4))",
    ),
    convex_rate,
    "rate of Theorem 3.12, scaled to the first point",
)


def draw(frames: Frames, settings: Convex, facts: Facts) -> Figure:
    """The figure of regrets, see `draw_regret`."""
    return draw_regret(frames["convex"], CONVEX)


def build(frames: Frames, settings: Convex, facts: Facts) -> Table:
    """The table of regrets."""
    return replace(regret_table(frames["convex"], CONVEX), numbers=frames["convex"])
