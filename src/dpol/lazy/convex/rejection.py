"""Rejection sampling for many replicates, each by its own generator."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dpol.core.randomness import Floats, ReplicateGenerators

Rows = NDArray[np.intp]
Accepted = NDArray[np.bool_]


def first_accepted(
    generators: ReplicateGenerators,
    propose: Callable[[Rows, ReplicateGenerators], tuple[Floats, Accepted]],
) -> Floats:
    """(R, ...) the first proposal of each replicate that is accepted.

    Args:
        generators: one for each replicate.
        propose: takes the numbers of the replicates that still need a draw, and their
            generators; gives a proposal for each, and whether it is accepted.
    """
    pending = np.arange(generators.n_replicates)
    out, accepted = propose(pending, generators)
    while len(pending := pending[~accepted]):
        drawn, accepted = propose(pending, generators.of(pending))
        out[pending] = drawn
    return out
