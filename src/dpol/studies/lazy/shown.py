"""What the table and the figure of measured regrets share, for experts and for convex losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from dpol.core.randomness import Floats
from dpol.show.papers import LAZY

PAPER = f"“{LAZY}”"
OURS = "†: ours, not in the paper"
TITLES: Mapping[str, str] = {
    "l2p-sound": "L2P, sound accountant †",
    "l2p-published": "L2P, published accountant",
    "l2p-theorem-3.10": "L2P, Theorem 3.10",
    "l2p-theorem-3.12": "L2P, Theorem 3.12",
    "tree-ftpl-min-noise": "tree FTPL",
    "dp-ftrl": "DP-FTRL",
    "multiplicative-weights": "multiplicative weights, no privacy",
    "gradient-descent": "gradient descent, no privacy",
}
"""How algorithms are called, in the order in which they are shown."""


@dataclass(frozen=True)
class Game:
    """What the games of a study have in common.

    Args:
        name: in titles and messages.
        against: what regret is measured against.
        losses: names of the losses by adversary; one alone has no column.
        rates: the paper's Table 1: rates of L2P and of prior work; logarithms of T and 1/delta
            left out.
        rate: a curve (rounds, d, epsilon, delta) to draw through the first point of L2P.
        rate_title: its name.
    """

    name: str
    against: str
    losses: Mapping[str, str]
    rates: tuple[str, str]
    rate: Callable[[Floats, float, float, float], Floats] | None = None
    rate_title: str = ""

    def checked(self, regrets: pd.DataFrame) -> pd.DataFrame:
        """The regrets, with an adversary in every row."""
        several = len(self.losses) > 1
        return regrets if several else regrets.assign(adversary=next(iter(self.losses)))


EXPERTS = Game(
    "experts",
    "the best of d experts",
    {"stochastic": "stochastic losses", "lower-bound": "adversary of the lower bound"},
    (
        "sqrt(T log d) + T^(1/3) log(d) / ε^(2/3)",
        "sqrt(T log d) + min(sqrt(d), T^(1/3)) log(d) / ε",
    ),
)
