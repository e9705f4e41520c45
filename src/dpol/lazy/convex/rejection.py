"""Rejection sampling for many replicates, each with its own generator."""

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
    """Return the (R, ...) first accepted proposals of the replicates.

    Args:
        generators: one for each replicate.
        propose: takes the indices and generators of the replicates that still need a draw; returns
            a proposal for each, and whether it is accepted.
    """
    pending = np.arange(generators.n_replicates)
    out, accepted = propose(pending, generators)
    while len(pending := pending[~accepted]):
        drawn, accepted = propose(pending, generators.of(pending))
        out[pending] = drawn
    return out
