"""Settings of the study of L2P for experts."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from dpol.core.settings import Different, Settings, Several

ADVERSARIES = STOCHASTIC, CLOSE, ALTERNATING = "stochastic", "close stochastic", "alternating"
"""Names of the losses: independent from round to round, where one expert is better by `GAP` or by
`close_gap`; or two good experts take turns."""
GAP = 0.1
TURN = 100
"""Rounds of a turn."""
PRESET, ONE_ROUND, LIMITED = "l2p-theorem-3.10", "l2p-one-round", "limited-updates"
WEIGHTS, LEADER = "multiplicative-weights", "follow-the-leader"
"""Algorithms without privacy."""
LEADERS = ("tree-ftpl-min-noise", "mf-ftpl")
"""Algorithms that store noise for every expert and round; long games leave them out."""
LARGEST_TREE = 3_000_000
"""Largest T times d at which these play."""
Epsilons = Several[Annotated[float, Field(gt=0, le=100)]]


class Lazy(Settings):
    """Regret of L2P and of other algorithms for experts on synthetic losses."""

    n_rounds: Several[Annotated[int, Field(ge=2, le=10_000_000)]]
    """Numbers of rounds T."""
    n_experts: Several[Annotated[int, Field(ge=2, le=100_000)]]
    """Numbers of experts d."""
    epsilons: Epsilons
    """Privacy epsilon for a change of one round's loss vector, on stochastic losses: one expert is
    better by 0.1 in each round, and by √(log d / T) in another set of the longest games."""
    alternating_epsilons: Different[Annotated[float, Field(gt=0, le=100)]] = []
    """The same on alternating losses, in the longest games only; default: no such games. Experts 0
    and 1 take turns of 100 rounds to lose, and all others lose in every round."""
    replicates: Annotated[int, Field(ge=2, le=1_000_000)] = 20
    """Runs of every setting."""


ALGORITHMS = (
    *("l2p-sound", "l2p-published", ONE_ROUND, PRESET),
    *("dartboard-sound", "dartboard-published", WEIGHTS, LEADER, LIMITED, *LEADERS),
)
"""Algorithms in the order of the rows."""


LazyPoint = tuple[Lazy, bool]
"""Games of one T and d, and whether they are the longest."""
