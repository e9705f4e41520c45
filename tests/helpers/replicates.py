"""Generators of many replicates for statistical tests."""

from __future__ import annotations

import numpy as np

from dpol.core.randomness import ReplicateGenerators


def many(n: int, seed: int = 0) -> ReplicateGenerators:
    """Return n rows that share one generator: n independent draws in one call."""
    return ReplicateGenerators((np.random.default_rng(seed),) * n)
