"""The noise of the binary-tree mechanism, which releases the prefix sums of a sequence.

A node holds the sum of 2^level consecutive rounds, with noise of its own. The prefix of the
first t rounds is the sum of the open nodes, one for every digit 1 of t in binary. Source: Dwork,
Naor, Pitassi and Rothblum, "Differential privacy under continual observation" (2010), and Chan,
Shi and Song, "Private and continual release of statistics" (2011).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import count

import numpy as np

from dpol.core.randomness import Floats


def tree_levels(n_rounds: int) -> int:
    """Return L, the largest number of nodes over rounds 1..T-1 that one round enters; 0 for T = 1.

    >>> tree_levels(1), tree_levels(148)
    (0, 8)
    """
    return (n_rounds - 1).bit_length()


def tree_nodes(n_rounds: int) -> Floats:
    """Return a (T - 1, T) matrix of 0 and 1: row t, column r is 1 if round t's node holds round r.

    Round t, counted from 1, closes the node of the rounds after t & (t - 1), up to t.

    >>> tree_nodes(4).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 0]]
    """
    t, r = np.ogrid[1:n_rounds, 1 : n_rounds + 1]
    return np.asarray((r > (t & (t - 1))) & (r <= t), dtype=float)


def tree_total(n_rounds: int, stay: int = 1) -> float:
    """Return the noise on every prefix over Delta / mu: L, or sqrt(L) N_w for stays of w rounds.

    N_w is how far the first w rounds move the nodes; no w rounds, in a row or not, move them more.

    >>> tree_total(148), round(tree_total(148, stay=3), 2)
    (8.0, 21.91)
    """
    levels = tree_levels(n_rounds)
    if stay == 1 or levels == 0:
        return float(levels)
    t = np.arange(1, n_rounds)
    held = np.maximum(np.minimum(t, stay) - (t & (t - 1)), 0)  # of the first w rounds, by node
    return math.sqrt(levels) * float(np.linalg.norm(held))


def next_nodes(nodes: Mapping[int, Floats], noise: Floats) -> dict[int, Floats]:
    """Return the open nodes a round later: lower nodes are closed, and one with `noise` is opened.

    Args:
        nodes: (R, d) noise of each open node, by level; their sum is the noise of the prefix.
        noise: (R, d) noise of the new node.

    >>> nodes = {}
    >>> for _ in range(5):
    ...     nodes = next_nodes(nodes, np.ones((1, 2)))
    >>> list(nodes), sum(nodes.values()).tolist()
    ([2, 0], [[2.0, 2.0]])
    """
    opened = next(level for level in count() if level not in nodes)
    return {level: old for level, old in nodes.items() if level > opened} | {opened: noise}
