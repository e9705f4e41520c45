"""The noise of the binary-tree mechanism, which releases the prefix sums of a sequence.

A node holds the sum of 2^level consecutive rounds, with noise of its own. The prefix of the
first t rounds is the sum of the open nodes, one for every binary digit 1 of t. Source: Dwork,
Naor, Pitassi and Rothblum, "Differential privacy under continual observation" (2010), and Chan,
Shi and Song, "Private and continual release of statistics" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from dpol.core.randomness import Floats


def tree_levels(n_rounds: int) -> int:
    """L: the most nodes of the tree over rounds 1..T-1 that one round enters; 0 for T = 1.

    >>> tree_levels(1), tree_levels(148)
    (0, 8)
    """
    return (n_rounds - 1).bit_length()


def tree_nodes(n_rounds: int) -> Floats:
    """(T - 1, T): whether the node that round t closes holds round r.

    Round t, counted from 1, closes the node of the rounds after t & (t - 1), up to t.

    >>> tree_nodes(4).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]]
    """
    t, r = np.ogrid[1:n_rounds, 1 : n_rounds + 1]
    return np.asarray((r > (t & (t - 1))) & (r <= t), dtype=float)


def tree_total(n_rounds: int, stay: int = 1) -> float:
    """Noise on every prefix, over Delta / mu: L, or sqrt(L) N_w for stays of w rounds.

    No w rounds, in a row or not, move the nodes farther than the first w: N_w is theirs.

    >>> tree_total(148), round(tree_total(148, stay=3), 2)
    (8.0, 21.91)
    """
    levels = tree_levels(n_rounds)
    if stay == 1 or levels == 0:
        return float(levels)
    t = np.arange(1, n_rounds)
    held = np.maximum(np.minimum(t, stay) - (t & (t - 1)), 0)  # of the first w rounds, by node
    return math.sqrt(levels) * float(np.linalg.norm(held))


@dataclass(frozen=True)
class TreeNoise:
    """The noise on the sum of the rounds so far.

    Args:
        rounds: number of rounds so far; its binary digits are the open nodes.
        nodes: (R, d) noise of each open node, by level.

    >>> import numpy as np
    >>> noise = TreeNoise()
    >>> for _ in range(5):
    ...     noise = noise.next(np.ones((1, 2)))
    >>> list(noise.nodes), noise.total().tolist()
    ([2, 0], [[2.0, 2.0]])
    """

    rounds: int = 0
    nodes: Mapping[int, Floats] = field(default_factory=dict)

    def next(self, noise: Floats) -> TreeNoise:
        """The tree a round later: it closes the nodes below its own and opens one with `noise`."""
        rounds = self.rounds + 1
        own = (rounds & -rounds).bit_length() - 1
        nodes = {level: old for level, old in self.nodes.items() if level > own}
        return TreeNoise(rounds, {**nodes, own: noise})

    def total(self) -> Floats | float:
        """(R, d) noise of the prefix: that of all open nodes together; 0 if there is none."""
        return sum(self.nodes.values(), start=0.0)
