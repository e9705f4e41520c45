"""The noise of the binary-tree mechanism."""

from __future__ import annotations

import math

from dpol.privacy.tree_noise import next_nodes
from replicates import many


def test_noise_of_the_tree() -> None:
    """Prefix t has the noise of popcount(t) nodes; two prefixes covary by their shared nodes."""
    n = 20_000
    nodes, totals = {}, {}
    generators = many(n)
    for t in range(1, 14):
        nodes = next_nodes(nodes, 3.0 * generators.standard_normal(1))
        totals[t] = sum(nodes.values())[:, 0]
        assert len(nodes) == t.bit_count()
        variance = 9.0 * t.bit_count()
        assert abs(totals[t].var() / variance - 1) < 5.5 * math.sqrt(2 / n)
    # 12 = {8, 4}, 13 = {8, 4, 1}; 8 and 4 share no node, 12 and 10 share the first.
    for first, second, shared in ((12, 13, 18.0), (4, 8, 0.0), (12, 10, 9.0), (7, 6, 18.0)):
        covariance = (totals[first] * totals[second]).mean()
        assert abs(covariance - shared) < 5.5 * 30 / math.sqrt(n)
